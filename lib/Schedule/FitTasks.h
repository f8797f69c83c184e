//===- FitTasks.h - Tasks that fill the room of a lane ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where tasks lie end to end and lanes take equal stretches of them, most lanes
// end within a task, and each such cut makes a record more that is written,
// published and read. In another order many lanes end where a task does: next
// to the rest of a long task there is room that some other task just fills.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_FITTASKS_H
#define DATAFLOW_LIB_SCHEDULE_FITTASKS_H

#include "WorkItems.h"

namespace dfrt {
namespace detail {

/// Items that have no place yet, and which of them comes next. Tables are kept.
class FitTasks {
public:
  /// Begins with all `items`. With `inOrder` they come as they are.
  void begin(const std::vector<WorkItem> &items, bool inOrder);

  bool empty() const { return left == 0; }

  /// The next item of a lane that has `room`; `first`: it has nothing yet, and
  /// `share` is what an empty lane has. Greedy: one item that fills the room,
  /// or two; else a long one to be cut, rather one beside whose rest another
  /// fills a lane; else the longest of all.
  const WorkItem &take(double room, bool first, double share);

private:
  static constexpr size_t kNoItem = SIZE_MAX;

  /// An item that has no place yet.
  struct Rest {
    double cost;
    uint32_t item;
  };

  size_t longestWithin(double room) const;
  size_t filling(double room) const;
  size_t fillingWithAnother(double room);
  size_t longToCut(double room, double share) const;
  const WorkItem &remove(size_t index);

  const std::vector<WorkItem> *items = nullptr;
  bool inOrder = true;
  size_t left = 0;         ///< items that have no place yet
  std::vector<Rest> rest;  ///< these, by cost, unless they come in order
  size_t second = kNoItem; ///< in `rest`: fills the room beside the last one
  double further = 0;      ///< what a segment costs that is not the first
  double over = 0;         ///< by which a lane may exceed its share
  double under = 0;        ///< what may be left of the room of a full lane
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_FITTASKS_H
