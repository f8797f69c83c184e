//===- Memory.cpp - What a plan and a kernel keep where -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Memory.h. It adds up slots itself: the arena sizes in the schedule
// are what is tested here.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Report.h"

#include "dfrt/cuda/Kernel.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dfrt;

MemoryLayout dfrt::layOutMemory(const Problem &problem,
                                const Schedule &schedule,
                                const std::vector<Kernel> &kernels,
                                const std::vector<uint8_t> &plan) {
  const Topology &topology = problem.topology;
  MemoryLayout layout;
  layout.limit = topology.sharedBytes;
  layout.reserved = topology.reservedBytes;
  layout.flags = schedule.flags;
  auto complain = [&](std::string text) {
    layout.problems.push_back(std::move(text));
  };

  std::vector<MemoryLayout::Cta> ctas(topology.ctas);
  // A slot of a ticket list is on whichever CTA makes the draw.
  MemoryLayout::Cta drawn;
  uint64_t globalEnd = 0;
  for (uint32_t s = 0; s < schedule.slots.size(); ++s) {
    const Slot &slot = schedule.slots[s];
    uint64_t end = slot.offset + slotBytes(problem, slot);
    if (slot.space == Space::global) {
      ++layout.globalSlots;
      globalEnd = std::max(globalEnd, end);
      continue;
    }
    if (slot.space != Space::shared) {
      complain(fmt::format("slot {} has no place", s));
      continue;
    }
    MemoryLayout::Cta &cta = slot.cta < ctas.size() ? ctas[slot.cta] : drawn;
    ++cta.slots;
    cta.bytes = std::max(cta.bytes, end);
    if (end > topology.slotBytes())
      complain(fmt::format("slot {} ends at byte {} of the shared memory for "
                           "slots, which has {}",
                           s, end, topology.slotBytes()));
  }
  for (const Barrier &barrier : schedule.barriers)
    if (barrier.cta < ctas.size())
      ++ctas[barrier.cta].barriers;
  for (uint32_t c = 0; c < ctas.size(); ++c) {
    ctas[c].cta = c;
    if (ctas[c].slots || ctas[c].barriers)
      layout.ctas.push_back(ctas[c]);
    layout.fullest = std::max(layout.fullest, ctas[c].bytes);
  }
  layout.fullest = std::max(layout.fullest, drawn.bytes);
  layout.globalBytes = schedule.globalBytes;
  if (globalEnd > schedule.globalBytes)
    complain(fmt::format("global slots end at byte {} of an arena of {}",
                         globalEnd, schedule.globalBytes));
  if (layout.fullest > schedule.sharedBytes)
    complain(fmt::format("shared slots end at byte {} of an arena of {}",
                         layout.fullest, schedule.sharedBytes));
  if (layout.total() > layout.limit)
    complain(fmt::format("a cta needs {} bytes of shared memory ({} reserved, "
                         "{} for slots) and has {}",
                         layout.total(), layout.reserved, layout.fullest,
                         layout.limit));

  cuda::PlanFacts facts = cuda::planFacts(problem.program, plan.data());
  for (const Kernel &kernel : kernels)
    layout.kernels.push_back(
        {kernel.symbol, kernel.reservedBytes, kernel.reserved,
         kernel.scratchBytes, kernel.maxBarriers,
         cuda::planDifferences(kernel, facts), kernel.remarks});
  return layout;
}

std::string dfrt::toText(const MemoryLayout &layout) {
  std::string out =
      fmt::format("{:<12} shared: {} reserved, {} for slots of the fullest "
                  "CTA, {} of {} in "
                  "all; global: {} for {} slots, {} flags\n",
                  "memory", formatBytes(layout.reserved),
                  formatBytes(layout.fullest), formatBytes(layout.total()),
                  formatBytes(layout.limit), formatBytes(layout.globalBytes),
                  formatCount(layout.globalSlots), layout.flags);
  for (const MemoryLayout::Fit &fit : layout.kernels)
    if (fit.differences.empty() && fit.parts.total()) {
      out += fmt::format("{:<12} reserved by '{}': rings {}, barriers {}, "
                         "exchange of fragments {}, scratch of handlers {}\n",
                         "", fit.kernel, formatBytes(fit.parts.rings),
                         formatBytes(fit.parts.barriers),
                         formatBytes(fit.parts.exchange),
                         formatBytes(fit.parts.scratch));
      break;
    }
  for (const std::string &problem : layout.problems)
    out += fmt::format("{:<12} WRONG: {}\n", "", problem);
  return out;
}

Json dfrt::toJson(const MemoryLayout &layout) {
  Json ctas = Json::array(), kernels = Json::array();
  for (const MemoryLayout::Cta &cta : layout.ctas)
    ctas.push_back({{"cta", cta.cta},
                    {"slots", cta.slots},
                    {"slot_bytes", cta.bytes},
                    {"barriers", cta.barriers},
                    {"total_bytes", layout.reserved + cta.bytes}});
  for (const MemoryLayout::Fit &fit : layout.kernels)
    kernels.push_back({{"kernel", fit.kernel},
                       {"reserved_bytes", fit.reserved},
                       {"ring_bytes", fit.parts.rings},
                       {"barrier_bytes", fit.parts.barriers},
                       {"exchange_bytes", fit.parts.exchange},
                       {"handler_bytes", fit.parts.scratch},
                       {"scratch_bytes", fit.scratchBytes},
                       {"max_barriers", fit.maxBarriers},
                       {"executes_plan", fit.differences.empty()},
                       {"differences", fit.differences},
                       {"remarks", fit.remarks}});
  return {{"shared_limit", layout.limit},
          {"reserved_bytes", layout.reserved},
          {"slot_bytes", layout.fullest},
          {"total_bytes", layout.total()},
          {"global_slots", layout.globalSlots},
          {"global_bytes", layout.globalBytes},
          {"flags", layout.flags},
          {"ctas", ctas},
          {"kernels", kernels},
          {"problems", layout.problems}};
}
