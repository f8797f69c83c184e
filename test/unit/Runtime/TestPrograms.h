//===- TestPrograms.h - Programs with handlers by hand ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small programs that between them use every arity, slices, rows and
// empty ranges, with inputs, expected outputs and an artifact that holds the
// code of Handlers.c.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_RUNTIME_TESTPROGRAMS_H
#define DATAFLOW_TEST_UNIT_RUNTIME_TESTPROGRAMS_H

#include "dataflow/Schedule/Schedulers.h"
#include "dfrt/Artifact.h"
#include "dfrt/PlanImage.h"
#include "dfrt/dfrt.h"

#include <string>
#include <vector>

namespace dfrt::test {

/// One argument: integers or f32, and what an output should hold.
struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<int64_t> expectedIntegers;
  std::vector<double> expectedFloats;
};

/// A program with one batch.
struct TestCase {
  Artifact artifact;
  std::vector<TestTensor> tensors;

  const Program &program() const { return artifact.program; }
  /// The tensors as the C API takes them; they point into `tensors`.
  std::vector<dfrt_tensor> arguments();
  Problem problem(const Topology &topology) const;
  /// Fills the outputs with a value that no result has.
  void clearOutputs();
  /// Empty if all outputs are as expected, else what differs first.
  std::string differences() const;
};

/// A rolling hash of every row of `lengths`; separable, with offsets.
TestCase raggedCase(const std::vector<int64_t> &lengths);
/// The same, with a variant of the map for rows of at most 6 elements, which is
/// the generic code under another number.
TestCase boundedCase(const std::vector<int64_t> &lengths);
/// Per tile, collected per task, then per tile again.
TestCase spreadCase(const std::vector<int64_t> &lengths);
/// `targets` tasks receive the rows of `index`, four a source, in order.
TestCase routeCase(int64_t targets, const std::vector<int64_t> &index);

/// 16 sums of every row of `lengths`, in f32: other orders give other bits.
/// What a row holds depends on its length alone. Separable; expects nothing.
TestCase sumsCase(const std::vector<int64_t> &lengths);

/// The code of Handlers.c.
CodeBlob testCode(CodeBlob::Kind kind);

/// A schedule made by hand for raggedCase({8, 8}) on two CTAs of one cluster:
/// both rows are split, row r is merged and stored by CTA r. With `crossed`
/// each CTA waits for its peer before it does what the peer waits for.
Schedule handSchedule(bool crossed);
Topology handTopology();

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_RUNTIME_TESTPROGRAMS_H
