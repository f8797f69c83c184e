//===- ReadBatch.h - This batch's inputs in a problem -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `instantiate` does for every batch, in place: tables are kept, so that a
// second batch of the same size needs no memory.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_READBATCH_H
#define DATAFLOW_LIB_SCHEDULE_READBATCH_H

#include "TaskIndex.h"

namespace dfrt {
namespace detail {

/// Evaluates the problem's program, which must have passed `check`.
class BatchReader {
public:
  explicit BatchReader(Problem &problem)
      : problem(problem), program(problem.program) {}

  /// Fails as `instantiate`; the problem then holds no batch.
  Status read(ArrayView<PlanInput> inputs);

private:
  /// What a value is for, as messages say it.
  struct Subject {
    const char *what; ///< "length of range '"
    const std::string &name;
    const std::string *owner = nullptr; ///< domain

    std::string text() const;
  };

  Status bindInputs(ArrayView<PlanInput> inputs);
  Status valuesOf(const Subject &what, uint32_t argument,
                  const PlanInput *&input) const;
  Status evaluate(const Subject &what, const PlanValue &v,
                  int64_t &result) const;
  Status evaluate(const Subject &what, const PlanValue &v, const TaskSet &set,
                  std::vector<int64_t> &results) const;
  Status domain(const Domain &d, TaskSet &set);
  void enumerate(TaskSet &set, uint64_t tasks);
  Status listed(const Domain &d, TaskSet &set);
  Status weights(const Domain &d, TaskSet &set);
  Status range(const Range &r, RangeSet &result);
  Status keys(uint32_t index);

  Problem &problem;
  const Program &program;
  std::vector<const PlanInput *> bound; ///< [arguments]
  TaskIndex taskIndex;
  std::vector<int64_t> point;
  // Of `keys`: the source axis that gives each target axis, and what is sent.
  std::vector<uint32_t> axis;
  std::vector<std::pair<uint64_t, KeyedSource>> found;
  std::vector<uint64_t> next;
};

/// Tests, of a problem that was read as above, what depends on several parts of
/// it: every record read has a producer, and there are not too many.
class BatchChecker {
public:
  Status run(const Problem &problem);

private:
  Status checkProducers(const Problem &problem, uint32_t index);

  TaskIndex taskIndex;
  std::vector<int64_t> point;
};

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_READBATCH_H
