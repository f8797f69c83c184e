//===- Watchdog.cpp - Who waits for what when a kernel is stuck -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/cuda/Watchdog.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

Expected<Watchdog> Watchdog::create(const Device &device, uint32_t ctas) {
  if (!ctas)
    return failure(StatusCode::invalidArgument,
                   "watchdog: 0 CTAs leave no record");
  Expected<PinnedBuffer> memory = PinnedBuffer::allocate(
      device, uint64_t(ctas) * DFRT_WATCHDOG_ROLES * sizeof(WatchdogRecord),
      "watchdog");
  if (!memory)
    return memory.status();
  Watchdog watchdog;
  watchdog.memory = *memory;
  watchdog.launched = ctas;
  watchdog.clear();
  return watchdog;
}

void Watchdog::clear() const {
  if (memory.data())
    std::memset(memory.data(), 0, memory.bytes());
}

std::vector<WatchdogRecord> Watchdog::records() const {
  std::vector<WatchdogRecord> complete;
  if (!memory.data())
    return complete;
  for (uint64_t i = 0; i < uint64_t(launched) * DFRT_WATCHDOG_ROLES; ++i) {
    WatchdogRecord record;
    std::memcpy(&record, memory.data() + i * sizeof(record), sizeof(record));
    if (record.state == DFRT_WATCHDOG_COMPLETE)
      complete.push_back(record);
  }
  return complete;
}

namespace {
/// Finds names in a plan. Every index of a record may be garbage: the kernel
/// that wrote it went wrong.
class Names {
public:
  Names(const PlanImage &plan, const std::vector<WatchdogRecord> &records)
      : plan(plan), schedule(plan.schedule), records(records) {}

  std::string instruction(uint32_t identity) const {
    if (identity >= schedule.instructions.size())
      return textOf("instruction ", identity, ", which the plan does not have");
    const Instruction &it = schedule.instructions[identity];
    return textOf("instruction ", identity, " ('", stage(it.stage), "', task ",
                  it.task, ", tiles ", it.tileBegin, " to ", it.tileEnd, ")");
  }

  std::string object(const WatchdogRecord &record) const {
    switch (record.wait) {
    case DFRT_WAIT_SLOT:
      for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
        const Slot &slot = schedule.slots[s];
        if (slot.cta == record.cta && slot.phase == record.expected &&
            slot.barrier == barrier(record))
          return arrival(s);
      }
      break;
    case DFRT_WAIT_FLAG:
      for (uint32_t s = 0; s < schedule.slots.size(); ++s)
        if (schedule.slots[s].flag == record.object)
          return arrival(s);
      break;
    case DFRT_WAIT_SENTINEL:
      if (record.object < schedule.slots.size())
        return arrival(record.object);
      break;
    case DFRT_WAIT_RELEASE:
      for (uint32_t r = 0; r < schedule.releases.size(); ++r) {
        const Release &release = schedule.releases[r];
        if (release.to == record.instruction &&
            release.barrier == barrier(record) &&
            release.phase == record.expected)
          return textOf(": release ", r, " of ", slot(release.slot), " by ",
                        producer(release.from));
      }
      break;
    default:
      return std::string();
    }
    return ": nothing of the plan, which is a fault of the kernel or its plan";
  }

private:
  /// The schedule's number of a barrier that the record numbers in its CTA.
  uint32_t barrier(const WatchdogRecord &record) const {
    uint32_t number = record.object;
    for (uint32_t b = 0; b < schedule.barriers.size(); ++b)
      if (schedule.barriers[b].cta == record.cta && number-- == 0)
        return b;
    return kNone - 1;
  }
  std::string stage(uint32_t index) const {
    return index < plan.stages.size() ? plan.stages[index].name : "unknown";
  }
  std::string slot(uint32_t index) const {
    if (index >= schedule.slots.size())
      return textOf("slot ", index);
    return textOf("slot ", index, " ('", stage(schedule.slots[index].stage),
                  "')");
  }
  std::string producer(uint32_t identity) const {
    std::string text = instruction(identity);
    for (const Queue &queue : schedule.queues) {
      if (queue.cta == kNone ||
          std::find(queue.instructions.begin(), queue.instructions.end(),
                    identity) == queue.instructions.end())
        continue;
      text += textOf(" on cta ", queue.cta);
      for (const WatchdogRecord &other : records)
        if (other.cta == queue.cta)
          return text + ", which waits itself";
      return text + ", which left no record";
    }
    return text;
  }
  std::string arrival(uint32_t index) const {
    std::string text = textOf(": ", slot(index));
    for (uint32_t t = 0; t < schedule.transfers.size(); ++t) {
      const Transfer &transfer = schedule.transfers[t];
      for (uint32_t destination : schedule.destinationsOf(transfer))
        if (destination == index)
          return text + textOf(" by transfer ", t, " of ",
                               producer(transfer.instruction));
    }
    return text + ", which no transfer writes";
  }

  const PlanImage &plan;
  const Schedule &schedule;
  const std::vector<WatchdogRecord> &records;
};

std::string roleOf(uint32_t role) {
  static constexpr const char *kNames[] = {"load", "compute", "store"};
  return role < 3 ? kNames[role] : textOf("unknown (", role, ")");
}

std::string waitOf(const WatchdogRecord &record) {
  std::string numbers = textOf(record.object, ", expected ", record.expected,
                               ", seen ", record.seen);
  switch (record.wait) {
  case DFRT_WAIT_SLOT:
    return "a slot's barrier " + numbers;
  case DFRT_WAIT_RELEASE:
    return "a release on barrier " + numbers;
  case DFRT_WAIT_FLAG:
    return "global flag " + numbers;
  case DFRT_WAIT_SENTINEL:
    return textOf("the data of slot ", record.object);
  case DFRT_WAIT_RING:
    return textOf("stream ", record.object / 256, " stage ",
                  record.object % 256, ", expected ", record.expected,
                  ", seen ", record.seen);
  case DFRT_WAIT_CLUSTER:
    return "the cluster's barrier";
  case DFRT_WAIT_GRID:
    return "the grid's counter " + numbers;
  }
  return textOf("something unknown (", record.wait, ") ", numbers);
}
} // namespace

std::string cuda::describeWatchdog(const std::vector<WatchdogRecord> &records,
                                   uint32_t ctas, const PlanImage *plan) {
  if (records.empty())
    return "watchdog: no wait ran out";
  std::vector<uint32_t> named;
  for (const WatchdogRecord &record : records)
    if (std::find(named.begin(), named.end(), record.cta) == named.end())
      named.push_back(record.cta);
  std::string text = textOf("watchdog: ", records.size(), " waits of ",
                            named.size(), " of ", ctas, " ctas ran out");
  for (const WatchdogRecord &record : records) {
    text += textOf("\n  cta ", record.cta, ", role ", roleOf(record.role));
    if (plan && record.instruction != DFRT_NONE)
      text += ", " + Names(*plan, records).instruction(record.instruction);
    else if (record.instruction != DFRT_NONE)
      text += textOf(", instruction ", record.instruction);
    text += " waits for " + waitOf(record);
    if (plan)
      text += Names(*plan, records).object(record);
  }
  return text;
}
