//===- PlanCache.h - Plans of the batches seen last -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule depends on the tiles of a range, not on its elements. So a batch
// whose tasks have the tiles of an earlier one has that one's plan, but for the
// elements at which pieces begin and end: the usual case where lengths grow by
// one a step.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANCACHE_H
#define DFRT_LIB_PLANCACHE_H

#include "Handles.h"

#include "dataflow/Schedule/Planner.h"
#include "dfrt/LinePlanner.h"

#include <optional>

namespace dfrt {

/// The plans used last, least recently used first out. Touches the heap for
/// plans that are larger than those before only.
class PlanCache {
public:
  struct Settings {
    Topology topology;
    CostModel costs;
    ScheduleOptions options;
    std::optional<PlanMaxima> maxima; ///< none: what each plan needs
    bool verify = true, predict = false;
    uint32_t capacity = 1; ///< plans that are kept, at least 1
  };

  PlanCache(std::shared_ptr<ArtifactState> artifact, Planner planner,
            Settings settings);

  /// The plan of a batch, which is the cache's, and whether it was made,
  /// updated or found (dfrt_plan_origin). Fails as making a plan does; plans
  /// that were given out before stay as they are then, but for the oldest.
  Status plan(ArrayView<PlanInput> inputs, const dfrt_plan *&result,
              uint32_t &origin);

private:
  /// An instruction over a range: where its record is, and of which task.
  struct Piece {
    uint64_t task;
    uint32_t instruction, range;
  };
  struct Entry {
    std::vector<int64_t> key, elements; ///< empty key: no plan
    uint64_t hash = 0, lastUse = 0;
    std::vector<Piece> pieces;
    dfrt_plan plan;
  };

  void readKey();
  PlanState &writable(Entry &entry);
  Status make(Entry &entry, ArrayView<PlanInput> inputs);
  Status planLine(ArrayView<PlanInput> inputs, PlanState &plan);
  Status prove(PlanState &plan, const Schedule &schedule);
  void findPieces(Entry &entry);
  void update(Entry &entry);

  std::shared_ptr<ArtifactState> artifact;
  Planner planner;
  PlanPacker packer;
  std::optional<LinePlanner> line; ///< of solver `line`, for the last shapes
  Settings settings;
  std::vector<uint8_t> exact; ///< [ranges]: plans depend on the elements
  std::vector<Entry> entries;
  std::shared_ptr<PlanState> spare;
  std::vector<int64_t> key, elements; ///< of the batch at hand
  uint64_t hash = 0, uses = 0;
};

} // namespace dfrt

#endif // DFRT_LIB_PLANCACHE_H
