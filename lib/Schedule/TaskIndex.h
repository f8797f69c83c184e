//===- TaskIndex.h - From coordinates to the task ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `TaskSet` maps a task to its coordinates; this is the inverse, for product
// domains by arithmetic, for listed ones by binary search.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_TASKINDEX_H
#define DATAFLOW_LIB_SCHEDULE_TASKINDEX_H

#include "dataflow/Schedule/Problem.h"

#include <algorithm>

namespace dfrt {
namespace detail {

/// Finds tasks of one domain by their coordinates. Refers to the task set that
/// was read last.
class TaskIndex {
public:
  TaskIndex() = default;
  TaskIndex(const TaskSet &set, bool listed) { read(set, listed); }

  void read(const TaskSet &taskSet, bool isListed) {
    tasks = &taskSet;
    listed = isListed;
    order.clear();
    const TaskSet &set = taskSet;
    if (!listed)
      return;
    order.resize(set.tasks);
    for (uint64_t t = 0; t < set.tasks; ++t)
      order[t] = static_cast<uint32_t>(t);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return less(set.at(a), set.at(b));
    });
  }

  /// The task at `point`, or UINT64_MAX.
  uint64_t find(ArrayView<int64_t> point) const {
    const TaskSet &set = *tasks;
    if (!listed) {
      uint64_t task = 0;
      for (size_t a = 0; a < point.size(); ++a) {
        if (point[a] < 0 || point[a] >= set.extents[a])
          return UINT64_MAX;
        task = task * static_cast<uint64_t>(set.extents[a]) +
               static_cast<uint64_t>(point[a]);
      }
      return task;
    }
    auto at = std::lower_bound(
        order.begin(), order.end(), point,
        [&](uint32_t t, ArrayView<int64_t> p) { return less(set.at(t), p); });
    if (at == order.end() || less(point, set.at(*at)))
      return UINT64_MAX;
    return *at;
  }

  /// A task that shares its coordinates with another, or UINT64_MAX.
  uint64_t duplicate() const {
    const TaskSet &set = *tasks;
    for (size_t i = 1; i < order.size(); ++i)
      if (!less(set.at(order[i - 1]), set.at(order[i])))
        return order[i];
    return UINT64_MAX;
  }

private:
  static bool less(ArrayView<int64_t> a, ArrayView<int64_t> b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
  const TaskSet *tasks = nullptr;
  bool listed = false;
  std::vector<uint32_t> order;
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_TASKINDEX_H
