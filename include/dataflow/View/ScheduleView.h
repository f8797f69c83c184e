//===- ScheduleView.h - A schedule to look at -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a picture of a schedule shows: which CTA runs what and when, which slots
// hold a record meanwhile, and who waits for whom. It is made of a plan image,
// so that `df-translate` (from IR) and `df-run` (from plan bytes) show the
// same, and written as a page (`toHtml`) or as a graph (`toDot`).
//
// Times are those of a simulation, or of a launch that was recorded; without
// either they are steps: an instruction takes one, and begins when its CTA is
// free and its operands are written. That
// needs no problem and no costs, so schedules written by hand, even wrong ones,
// can be looked at.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_VIEW_SCHEDULEVIEW_H
#define DATAFLOW_VIEW_SCHEDULEVIEW_H

#include "dataflow/Schedule/Simulator.h"
#include "dfrt/PlanImage.h"

#include <string>
#include <vector>

namespace dfrt {

struct ScheduleView {
  /// One row of the picture holds the instructions of one CTA.
  struct Instruction {
    uint32_t cta = kNone; ///< kNone: a recorded launch says nothing of it
    /// Nanoseconds, or steps times 1000.
    int64_t wait = 0, begin = 0, end = 0;
    std::string name; ///< "stage (3, 0) [512, 2816) slices 0 to 4"
  };
  /// Storage of a record from its first byte to its last reader.
  struct Slot {
    uint64_t bytes = 0;
    uint32_t cta = kNone;    ///< owner; of a global slot its writer's
    uint32_t writer = kNone; ///< instruction that writes it, or whose transfer
    std::vector<uint32_t> readers;
    int64_t from = 0, to = 0;
  };

  const PlanImage *image = nullptr; ///< outlives the view
  std::string title;
  bool timed = false;                      ///< not steps
  bool measured = false;                   ///< recorded, not simulated
  int64_t total = 0, floor = 0;            ///< of the launch; `floor` if timed
  std::vector<Instruction> instructions;   ///< as in the schedule
  std::vector<Slot> slots;                 ///< as in the schedule
  std::vector<std::vector<uint32_t>> rows; ///< by CTA, in order of execution
  /// Instructions that wait, directly or not, for themselves; such a schedule
  /// is illegal. Empty if simulated.
  std::vector<uint32_t> stuck;
};

/// `times` may be null; `measured` says that they are of a recorded launch, in
/// which instructions may be missing. `image` has to be valid (packed, read or
/// made from a verified schedule): indices are not tested.
ScheduleView viewSchedule(const PlanImage &image, std::string title,
                          const SimulationResult *times = nullptr,
                          bool measured = false);

/// A page that needs nothing else: rows, slots, transfers, details, search.
std::string toHtml(const ScheduleView &view);

/// A graph for Graphviz: CTAs as clusters, instructions as nodes; program order
/// is dashed, a transfer is an edge with its transport.
std::string toDot(const ScheduleView &view);

} // namespace dfrt

#endif // DATAFLOW_VIEW_SCHEDULEVIEW_H
