//===- DevicePlanner.h - Plans made where the lengths are -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For batches whose lengths or counts are born on the device, or change inside
// a captured graph. A small kernel reads them there and writes the bytes of the
// plan where the persistent kernel reads them. The host compiles the same
// source, so that it writes the same bytes (`planOnHost`).
//
// What is fixed beforehand is stated by a batch, the *bound*: its shapes are
// those of all batches, no task is longer than its longest task, and all tasks
// called tile by tile have together no more tiles than it has. Capacity, launch
// shape and workspace follow from it. A batch beyond it is refused: its plan is
// empty, nothing is computed, and the report says why.
//
// Programs that can be planned so (others are refused with what speaks against
// them):
//   - one to four stages with a range, each
//       a map into pieces without inputs, whose one reader is a reduce, whose
//       one reader is a finalize, all three over the same tasks; or
//       a map or finalize called for each tile, without inputs or reading all
//       tiles (`collect`) of an earlier such map; the broadcast of a task's
//       tiles to tasks with more axes included;
//   - domains that are products of axes, without lists of points and weights;
//   - clusters of one CTA, static queues, records in global memory.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_DEVICEPLANNER_H
#define DFRT_DEVICEPLANNER_H

#include "dataflow/Schedule/Schedulers.h"
#include "dfrt/PlanImage.h"

#include <memory>

namespace dfrt {

namespace planning {
struct Launch;
struct Report;
} // namespace planning

/// The name of the solver in plans that are made so.
inline constexpr const char *kLineSolver = "line";

/// What a planner of this kind made or refused.
struct DevicePlanReport {
  uint64_t plans = 0; ///< made or refused so far
  uint64_t refusals = 0;
  /// Ok, or what was wrong with the first batch that was refused since the
  /// report was read last.
  Status status;
};

/// Fixed at its making; thread-safe.
class DevicePlanner {
public:
  /// `bound` is the batch that bounds all others. Fails as `instantiate` of it,
  /// with `unsupported`, naming the stage and what it would have to be, and
  /// with `resourceExhausted` when a table has no room for the bound.
  static Expected<DevicePlanner> create(const Program &program,
                                        ArrayView<PlanInput> bound,
                                        const Topology &topology,
                                        const CostModel &costs = CostModel());
  /// The same of a bound that is instantiated already, from `batch`.
  static Expected<DevicePlanner> create(const Problem &bound,
                                        ArrayView<PlanInput> batch);

  explicit operator bool() const { return state != nullptr; }
  const Program &program() const;
  const Topology &topology() const;

  /// Room in each section: that of all plans.
  const PlanMaxima &capacity() const;
  uint64_t planBytes() const;
  /// Most that plans use: flags, bytes of global slots, records that a call
  /// stacks, by stage (0 where it stacks none).
  uint32_t mostFlags() const;
  uint64_t mostSlotBytes() const;
  const std::vector<uint64_t> &stackedRecords() const;

  /// Arguments that planning reads, in the order of `planning::Launch::inputs`.
  const std::vector<uint32_t> &inputs() const;
  /// Fails unless `shape` is what input `input` has in the bound: planning
  /// would read other elements, or beyond the last one.
  Status checkShape(size_t input, const std::vector<int64_t> &shape) const;
  /// Fails unless `shape` has, in the dimensions of this argument that say how
  /// many tasks there are or how long they are, the extents of the bound.
  Status checkExtents(uint32_t argument,
                      const std::vector<int64_t> &shape) const;
  /// The same of all arguments of a batch; fails where one is missing.
  Status checkExtents(ArrayView<PlanInput> inputs) const;
  /// Input `input` of a batch. Fails where it is missing or of another shape.
  Expected<const PlanInput *> inputOf(size_t input,
                                      ArrayView<PlanInput> inputs) const;

  /// Makes the plan of a batch on the host, from the source that the device
  /// runs. `bytes` is as the device leaves it: not sealed. Fails as the device
  /// would; `bytes` is then the empty plan.
  Status planOnHost(ArrayView<PlanInput> inputs,
                    std::vector<uint8_t> &bytes) const;

  /// For the device: everything of the kernel's parameter but the addresses;
  /// the bytes that `Launch::frame` refers to; the memory of a planning CTA;
  /// and what a report says.
  const planning::Launch &launch() const;
  const std::vector<uint8_t> &frame() const;
  uint64_t arenaBytes() const;
  Status statusOf(const planning::Report &report) const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

/// The schedule of a planner that this very batch bounds: what the solver name
/// `kLineSolver` stands for on the host. Fails as `DevicePlanner::create` and
/// `checkLineChoices`.
Expected<Schedule> scheduleLine(const Problem &problem,
                                ArrayView<PlanInput> inputs,
                                const ScheduleOptions &options);

/// Fails with `unsupported`, naming the option, when one asks for what such
/// plans do not have.
Status checkLineChoices(const ScheduleOptions &options);

/// Adds the checksum that a plan made on the device does not have, so that
/// `readPlan` takes it. Fails when the bytes do not begin with a plan's header
/// for so many bytes.
Status sealPlan(std::vector<uint8_t> &bytes);

} // namespace dfrt

#endif // DFRT_DEVICEPLANNER_H
