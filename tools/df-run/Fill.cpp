//===- Fill.cpp - How the elements of a tensor come about -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs fills; ReadFill.cpp reads them, CheckFill.cpp tests them.
//
//===----------------------------------------------------------------------===//

#include "Fill.h"

#include "Convert.h"
#include "Random.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

using namespace dfrt;

uint64_t dfrt::elementsOf(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<uint64_t>(extent);
  return count;
}

// Calls store(begin, end) on disjoint ranges that cover 0 .. count - 1.
template <typename Function>
static void inParallel(uint64_t count, unsigned threads, Function store) {
  const uint64_t block = 1 << 20;
  if (count <= block || threads <= 1)
    return store(uint64_t(0), count);
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back([=] {
      for (uint64_t begin = t * block; begin < count; begin += threads * block)
        store(begin, std::min(begin + block, count));
    });
  for (std::thread &thread : pool)
    thread.join();
}

// Stores value(index) in all elements; the type is decided outside the loop.
template <typename Function>
static void storeAll(ElementType element, uint64_t count, unsigned threads,
                     void *base, Function value) {
  auto small = [&](const SmallFloat &format, auto *data) {
    inParallel(count, threads, [=](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        data[i] = static_cast<std::remove_reference_t<decltype(data[0])>>(
            encodeSmall(format, value(i)));
    });
  };
  switch (element) {
  case ElementType::f16:
    return small(kF16, static_cast<uint16_t *>(base));
  case ElementType::bf16:
    return small(kBF16, static_cast<uint16_t *>(base));
  case ElementType::f8E4M3FN:
    return small(kF8E4M3FN, static_cast<uint8_t *>(base));
  case ElementType::f8E5M2:
    return small(kF8E5M2, static_cast<uint8_t *>(base));
  case ElementType::f32: {
    float *data = static_cast<float *>(base);
    return inParallel(count, threads, [=](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        data[i] = static_cast<float>(value(i));
    });
  }
  default:
    return inParallel(count, threads, [=](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        storeElement(element, base, i, value(i));
    });
  }
}

// A random order of 0 .. count - 1.
static std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[randomBelow(randomBits(seed, i), i + 1)]);
  return order;
}

// Calls store(tile, owner, begin, length) for the tiles of all lengths, which
// lie end to end.
template <typename Function>
static void forEachTile(const Fill &fill, Function store) {
  int64_t tile = 0, begin = 0;
  for (size_t owner = 0; owner < fill.integers.size(); ++owner)
    for (int64_t left = fill.integers[owner]; left > 0; left -= fill.tile) {
      int64_t length = std::min(left, fill.tile);
      store(tile++, static_cast<int64_t>(owner), begin, length);
      begin += length;
    }
}

// Elements take the keys in turn, in a random order that begins again when all
// keys are used: no two elements of one owner have the same key unless it has
// more elements than there are keys. Those of an owner ascend.
static std::vector<int64_t> keysOfElements(const Fill &fill, uint64_t seed) {
  std::vector<int64_t> order = shuffled(fill.keys, seed), keys;
  for (int64_t length : fill.integers) {
    size_t first = keys.size();
    for (int64_t i = 0; i < length; ++i)
      keys.push_back(order[keys.size() % order.size()]);
    std::sort(keys.begin() + first, keys.end());
  }
  return keys;
}

static void fillElements(const Fill &fill, ElementType element,
                         const std::vector<int64_t> &shape, uint64_t seed,
                         unsigned threads, void *base) {
  uint64_t elements = elementsOf(shape);
  uint64_t stream = scramble(fill.seed + 1) ^ seed;
  int64_t row = shape.empty() ? 1 : shape.back();
  uint64_t rows = row ? elements / row : 0;
  switch (fill.kind) {
  case Fill::Kind::constant:
    return storeAll(element, elements, threads, base,
                    [v = fill.number](uint64_t) { return v; });
  case Fill::Kind::values:
    for (uint64_t i = 0; i < fill.integers.size(); ++i)
      storeInteger(element, base, i, fill.integers[i]);
    for (uint64_t i = 0; i < fill.numbers.size(); ++i)
      storeElement(element, base, i, fill.numbers[i]);
    return;
  case Fill::Kind::normal:
    return storeAll(element, elements, threads, base,
                    [stream, m = fill.number, s = fill.scale](uint64_t i) {
                      return m + s * randomNormal(randomBits(stream, i));
                    });
  case Fill::Kind::uniform:
    return storeAll(
        element, elements, threads, base,
        [stream, l = fill.low, w = fill.high - fill.low](uint64_t i) {
          return l + w * randomUnit(randomBits(stream, i));
        });
  case Fill::Kind::iota:
    return storeAll(element, elements, threads, base,
                    [b = fill.number, s = fill.scale](uint64_t i) {
                      return b + s * static_cast<double>(i);
                    });
  case Fill::Kind::prefixSum: {
    int64_t sum = 0;
    for (uint64_t i = 0; i < elements; ++i) {
      storeInteger(element, base, i, sum);
      sum += i < fill.integers.size() ? fill.integers[i] : 0;
    }
    return;
  }
  case Fill::Kind::pageTable: {
    std::vector<int64_t> order = shuffled(fill.pages, stream);
    size_t next = 0;
    for (uint64_t r = 0; r < rows; ++r) {
      int64_t used = pagesOf(fill.integers[r], fill.tile);
      for (int64_t c = 0; c < row; ++c)
        storeInteger(element, base, r * row + c,
                     c < used ? order[next++] : fill.unused);
    }
    return;
  }
  case Fill::Kind::tiles:
    return forEachTile(
        fill, [&](int64_t tile, int64_t owner, int64_t begin, int64_t length) {
          storeInteger(element, base, tile,
                       fill.fact == Fill::TileFact::owner   ? owner
                       : fill.fact == Fill::TileFact::begin ? begin
                                                            : length);
        });
  case Fill::Kind::tileKeys: {
    std::vector<int64_t> keys = keysOfElements(fill, stream);
    return forEachTile(
        fill, [&](int64_t tile, int64_t, int64_t begin, int64_t length) {
          for (int64_t c = 0; c < row; ++c)
            storeInteger(element, base, tile * row + c,
                         c < length ? keys[begin + c] : fill.unused);
        });
  }
  case Fill::Kind::keyPlaces: {
    std::vector<int64_t> keys = keysOfElements(fill, stream), used(rows);
    for (uint64_t i = 0; i < elements; ++i)
      storeInteger(element, base, i, fill.unused);
    return forEachTile(
        fill, [&](int64_t tile, int64_t, int64_t begin, int64_t length) {
          for (int64_t c = 0; c < length; ++c) {
            int64_t key = keys[begin + c];
            storeInteger(element, base, key * row + used[key]++,
                         tile * fill.tile + c);
          }
        });
  }
  case Fill::Kind::permutation:
    for (uint64_t r = 0; r < rows; ++r) {
      std::vector<int64_t> order = shuffled(row, scramble(stream + r));
      for (int64_t c = 0; c < row; ++c)
        storeInteger(element, base, r * row + c, order[c]);
    }
    return;
  case Fill::Kind::randomIntegers: {
    uint64_t count = fill.integersHigh - fill.integersLow + 1;
    for (uint64_t r = 0; r < rows; ++r) {
      std::vector<int64_t> taken;
      for (int64_t c = 0; c < row; ++c) {
        uint64_t draw = r * row + c;
        int64_t pick = randomBelow(randomBits(stream, draw), count);
        // Probe on from a value that is taken: always ends, see checkFill.
        while (fill.distinct &&
               std::find(taken.begin(), taken.end(), pick) != taken.end())
          pick = (pick + 1) % count;
        if (fill.distinct)
          taken.push_back(pick);
        storeInteger(element, base, draw, fill.integersLow + pick);
      }
    }
    return;
  }
  }
}

void dfrt::runFill(const Fill &fill, ElementType element,
                   const std::vector<int64_t> &shape, uint64_t seed,
                   unsigned threads, void *base) {
  fillElements(fill, element, shape, seed, threads, base);
  if (!fill.padded)
    return;
  uint64_t inner =
      elementsOf(std::vector<int64_t>(shape.begin() + 2, shape.end()));
  for (size_t r = 0; r < fill.valid.size(); ++r) {
    uint64_t first = (r * shape[1] + fill.valid[r]) * inner;
    uint64_t count = (shape[1] - fill.valid[r]) * inner;
    storeAll(element, count, threads,
             static_cast<uint8_t *>(base) + first * elementBytes(element),
             [v = fill.padding](uint64_t) { return v; });
  }
}

void dfrt::poison(ElementType element, uint64_t elements, void *base) {
  if (isInteger(element)) {
    std::memset(base, 0x55, elements * elementBytes(element));
    return;
  }
  Fill fill;
  fill.number = std::numeric_limits<double>::quiet_NaN();
  runFill(fill, element, {static_cast<int64_t>(elements)}, 0, 1, base);
}
