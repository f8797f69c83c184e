//===- StressBatches.cpp - Batches whose results are exact ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StressBatches.h"

#include <algorithm>
#include <cstring>

using namespace stress;
using dfrt::ArtifactHandle;
using dfrt::PlanHandle;
using dfrt::Status;
using dfrt::StatusCode;

namespace {
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {
    next();
  }
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 20;
  }
  uint32_t below(uint32_t limit) { return uint32_t(next() % limit); }
};

/// Bits of a whole number from 0 to 15 as f16.
uint16_t halfOf(uint8_t digit) {
  if (digit == 0)
    return 0;
  uint32_t power = 0;
  while (digit >> (power + 1))
    ++power;
  return uint16_t((power + 15) << 10 | (digit - (1u << power)) << (10 - power));
}

Tensor halves(const std::vector<uint8_t> &digits, std::vector<int64_t> shape) {
  Tensor result;
  result.shape = std::move(shape);
  result.element = DFRT_F16;
  result.bytes.resize(digits.size() * 2);
  for (size_t i = 0; i < digits.size(); ++i) {
    uint16_t half = halfOf(digits[i]);
    std::memcpy(&result.bytes[2 * i], &half, 2);
  }
  return result;
}

Tensor ofSize(uint32_t element, std::vector<int64_t> shape) {
  Tensor result;
  result.shape = std::move(shape);
  result.element = element;
  size_t count = 1;
  for (int64_t extent : result.shape)
    count *= size_t(extent);
  result.bytes.assign(count * 4, 0xff); // NaN, -1
  return result;
}
} // namespace

Batches::Batches() {
  Random random(1);
  digits.resize(size_t(kPages * kPage * kKey));
  for (uint8_t &digit : digits)
    digit = uint8_t(random.below(16));
  queryDigits.resize(size_t(kRequests * kHeads * kKey));
  for (uint8_t &digit : queryDigits)
    digit = uint8_t(random.below(16));
  tensors[Query] = halves(queryDigits, {kRequests, kHeads, kKey});
  tensors[Pages] = halves(digits, {kPages, kPage, kKey});
  tensors[Table] = ofSize(DFRT_I32, {kRequests, kColumns});
  tensors[Lengths] = ofSize(DFRT_I32, {kRequests});
  tensors[Sums] = ofSize(DFRT_F32, {kRequests, kSums});
  tensors[Tiles] = ofSize(DFRT_I32, {kRequests});
  std::vector<int32_t> order(static_cast<size_t>(kPages));
  for (size_t i = 0; i < order.size(); ++i) {
    size_t other = random.below(uint32_t(i + 1));
    order[i] = order[other];
    order[other] = int32_t(i);
  }
  std::memcpy(tensors[Table].bytes.data(), order.data(), order.size() * 4);
}

std::vector<int32_t> Batches::lengthsOf(uint32_t batch) const {
  constexpr int32_t kMost = int32_t(kColumns * kPage);
  std::vector<int32_t> result(kRequests, 0);
  if (batch == 0)
    return result;
  Random random(batch);
  for (int64_t r = 0; r < kRequests; ++r) {
    int32_t &length = result[size_t(r)];
    if (batch == 1)
      length = 1;
    else if (batch == 2)
      length = int32_t(kPage);
    else if (batch == 3)
      length = kMost;
    else if (batch == 4)
      length = r == 5 ? kMost : 0;
    else if (random.below(4) == 0)
      length = int32_t(random.below(3)) * 65;
    else
      length = int32_t(random.below(random.below(kMost) + 1));
  }
  return result;
}

Result Batches::expected(const std::vector<int32_t> &lengths) const {
  Result result;
  result.sums.assign(size_t(kRequests * kSums), 0);
  result.tiles.assign(size_t(kRequests), 0);
  const int32_t *numbers =
      reinterpret_cast<const int32_t *>(tensors[Table].bytes.data());
  for (int64_t r = 0; r < kRequests; ++r) {
    int64_t count = (lengths[size_t(r)] + kPage - 1) / kPage;
    result.tiles[size_t(r)] = int32_t(count);
    for (int64_t c = 0; c < kSums; ++c) {
      uint32_t sum = queryDigits[size_t((r * kHeads + r % kHeads) * kKey + c)];
      for (int64_t t = 0; t < count; ++t)
        sum += digit(numbers[r * kColumns + t], t % kPage, c);
      result.sums[size_t(r * kSums + c)] = float(sum);
    }
  }
  return result;
}

dfrt::Expected<PlanHandle>
Batches::plan(const ArtifactHandle &artifact, uint32_t batch,
              const dfrt_plan_options &options) const {
  std::vector<int32_t> values = lengthsOf(batch);
  std::vector<dfrt_tensor> views;
  for (const Tensor &tensor : tensors)
    views.push_back(tensor.view(nullptr));
  views[Lengths].data = values.data();
  return PlanHandle::make(artifact, views, &options);
}

Status Batches::plans(const ArtifactHandle &artifact, uint32_t count,
                      dfrt_plan_options &options, dfrt_capacity &capacity,
                      std::vector<PlanHandle> &result) const {
  capacity = {};
  for (bool measured : {false, true}) {
    options.capacity = measured ? &capacity : nullptr;
    options.verify = !measured;
    result.clear();
    for (uint32_t batch = 0; batch < count; ++batch) {
      TAKE(made, plan(artifact, batch, options));
      dfrt_capacity needs;
      TRY(made.needs(needs));
      for (uint32_t s = 0; s < DFRT_SECTION_COUNT && !measured; ++s)
        capacity.entries[s] = std::max(capacity.entries[s], needs.entries[s]);
      result.push_back(std::move(made));
    }
  }
  return Status::success();
}

Status Batches::compare(uint32_t batch, const void *sums,
                        const void *tiles) const {
  Result right = expected(lengthsOf(batch));
  const float *sum = static_cast<const float *>(sums);
  const int32_t *tile = static_cast<const int32_t *>(tiles);
  for (size_t i = 0; i < right.sums.size(); ++i)
    if (std::memcmp(&sum[i], &right.sums[i], 4) != 0)
      return Status(StatusCode::verificationFailed,
                    "batch " + std::to_string(batch) + ": sums[" +
                        std::to_string(i / kSums) + ", " +
                        std::to_string(i % kSums) + "] is " +
                        std::to_string(sum[i]) + ", expected " +
                        std::to_string(right.sums[i]));
  for (size_t i = 0; i < right.tiles.size(); ++i)
    if (tile[i] != right.tiles[i])
      return Status(StatusCode::verificationFailed,
                    "batch " + std::to_string(batch) + ": tiles[" +
                        std::to_string(i) + "] is " + std::to_string(tile[i]) +
                        ", expected " + std::to_string(right.tiles[i]));
  return Status::success();
}
