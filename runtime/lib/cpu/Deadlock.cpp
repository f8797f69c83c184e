//===- Deadlock.cpp - Who waits for what ----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::cpu;

/// CTAs named in one message; the first of them nearly always tell enough.
static constexpr uint32_t kMostNamed = 16;

std::string Progress::describeProducer(uint32_t identity) const {
  for (uint32_t q = 0; q < plan.queues.size(); ++q)
    for (uint32_t j = 0; j < plan.queues[q].count; ++j) {
      const dfrt_instruction &instruction = plan.at(q, j);
      if (instruction.identity != identity)
        continue;
      std::string where = plan.queues[q].cta == DFRT_NONE
                              ? std::string()
                              : textOf(" on cta ", plan.queues[q].cta);
      return textOf(describe(launch.program, instruction), where,
                    done[identity] ? ", which has run" : ", which has not run");
    }
  return "nobody";
}

std::string Progress::describeWait(uint32_t index) const {
  const CtaState &cta = ctas[index];
  std::string text = textOf(
      "cta ", index, ": ",
      describe(launch.program, plan.at(cta.queue, cta.next)), " waits for ");
  if (cta.wait.kind == Wait::Kind::release) {
    for (const dfrt_release &release : plan.releases)
      if (release.identity == cta.wait.index)
        return textOf(
            text, "release ", release.identity, " of slot ", release.slot, " (",
            launch.program.stages[plan.slots[release.slot].stage].name, ") by ",
            describeProducer(release.from));
    return text;
  }
  text += textOf("slot ", cta.wait.index, " (",
                 launch.program.stages[plan.slots[cta.wait.index].stage].name,
                 ") ");
  for (const dfrt_transfer &transfer : plan.transfers)
    for (const dfrt_destination &destination : plan.destinationsOf(transfer))
      if (destination.slot == cta.wait.index)
        return textOf(text, "by transfer ", transfer.identity, " of ",
                      describeProducer(transfer.instruction));
  return text + "that no transfer writes";
}

Status Progress::describeDeadlock() const { return describeDeadlock(0); }

Status Progress::describeDeadlock(size_t waiting) const {
  std::string text = textOf("cpu: ", unfinished - waiting, " ctas cannot move");
  if (waiting)
    text += textOf(", ", waiting, " find no room");
  uint32_t named = 0;
  for (uint32_t c = 0; c < ctas.size(); ++c) {
    if (!ctas[c].blocked)
      continue;
    if (++named > kMostNamed) {
      text += "; and so on";
      break;
    }
    text += "; " + describeWait(c);
  }
  return Status(StatusCode::deadlock, text);
}
