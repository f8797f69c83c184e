//===- StressBatches.h - Batches whose results are exact --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One set of tensors of the program consume_pages and many lists of lengths for
// it. All elements are small whole numbers, so sums are exact in any order and
// every bit of a result can be compared, however the work was cut and
// combined.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_STRESSBATCHES_H
#define DATAFLOW_TEST_SM90_STRESSBATCHES_H

#include "Try.h"

#include "dfrt/dfrt.hpp"

namespace stress {

inline constexpr int64_t kRequests = 16, kHeads = 32, kPage = 64, kKey = 576,
                         kColumns = 16, kPages = kRequests * kColumns,
                         kSums = 128;

/// What the program has to write for one list of lengths.
struct Result {
  std::vector<float> sums;    ///< [kRequests][kSums]
  std::vector<int32_t> tiles; ///< [kRequests]
};

/// A tensor in host memory.
struct Tensor {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> shape;
  uint32_t element = DFRT_F32;

  dfrt_tensor view(void *data) const {
    return {data, shape.data(), uint32_t(shape.size()), element};
  }
};

/// In the order of the program's arguments.
enum Argument { Query, Pages, Table, Lengths, Sums, Tiles, kArguments };

class Batches {
public:
  Batches();

  /// The first batches are the edges: nothing, one token, whole pages, all
  /// there is. The others are random, and different for every number.
  std::vector<int32_t> lengthsOf(uint32_t batch) const;
  Result expected(const std::vector<int32_t> &lengths) const;

  /// A plan of the batch.
  dfrt::Expected<dfrt::PlanHandle> plan(const dfrt::ArtifactHandle &artifact,
                                        uint32_t batch,
                                        const dfrt_plan_options &options) const;
  /// `count` plans of different batches with one capacity, which `options`
  /// receives as well.
  dfrt::Status plans(const dfrt::ArtifactHandle &artifact, uint32_t count,
                     dfrt_plan_options &options, dfrt_capacity &capacity,
                     std::vector<dfrt::PlanHandle> &result) const;

  /// Success if both outputs are those of the batch.
  dfrt::Status compare(uint32_t batch, const void *sums,
                       const void *tiles) const;

  Tensor tensors[kArguments];

private:
  const uint8_t &digit(int64_t page, int64_t row, int64_t column) const {
    return digits[size_t((page * kPage + row) * kKey + column)];
  }
  std::vector<uint8_t> digits; ///< of the pages
  std::vector<uint8_t> queryDigits;
};

} // namespace stress

#endif // DATAFLOW_TEST_SM90_STRESSBATCHES_H
