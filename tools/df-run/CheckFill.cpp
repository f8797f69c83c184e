//===- CheckFill.cpp - Does a fill fit its tensor? ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fill that passes writes exactly what its description says: no value is cut
// to the width of the element type.
//
//===----------------------------------------------------------------------===//

#include "Fill.h"

#include "Convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace dfrt;

namespace {
/// Tests values against the range of an integer type.
struct IntegerRange {
  ElementType element;
  const Node &node;

  int64_t most() const {
    if (element == ElementType::i1)
      return 1;
    return static_cast<int64_t>(~uint64_t(0) >>
                                (65 - 8 * elementBytes(element)));
  }
  int64_t least() const { return element == ElementType::i1 ? 0 : -most() - 1; }

  Status check(int64_t value) const {
    if (value >= least() && value <= most())
      return Status::success();
    return node.error(fmt::format("{} is not a value of type {}", value,
                                  elementName(element)));
  }
  Status check(double value) const {
    // The largest integers are no doubles: their successors are.
    if (value == std::floor(value) && value >= static_cast<double>(least()) &&
        value < static_cast<double>(most()) + 1)
      return Status::success();
    return node.error(fmt::format("{} is not a value of type {}", value,
                                  elementName(element)));
  }
};
} // namespace

/// Every value that the fill writes into integer elements fits them.
static Status checkIntegers(const Fill &fill, ElementType element,
                            uint64_t elements, int64_t row, const Node &node) {
  IntegerRange range{element, node};
  if (fill.padded)
    if (Status s = range.check(fill.padding); !s)
      return s;
  switch (fill.kind) {
  case Fill::Kind::constant:
    return range.check(fill.number);
  case Fill::Kind::values:
    for (int64_t value : fill.integers)
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  case Fill::Kind::iota: {
    if (fill.scale != std::floor(fill.scale))
      return node.error(fmt::format("step {} makes fractions, the elements "
                                    "have type {}",
                                    fill.scale, elementName(element)));
    double last = fill.number + fill.scale * static_cast<double>(elements - 1);
    for (double value : {fill.number, last})
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  }
  case Fill::Kind::prefixSum: {
    int64_t sum = 0;
    for (uint64_t i = 0; i + 1 < elements; ++i) {
      if (__builtin_add_overflow(sum, fill.integers[i], &sum))
        return node.error("the sums do not fit 64 bits");
      if (Status s = range.check(sum); !s)
        return s;
    }
    return Status::success();
  }
  case Fill::Kind::pageTable:
    for (int64_t value : {std::max<int64_t>(fill.pages, 1) - 1, fill.unused})
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  case Fill::Kind::tiles: {
    int64_t sum = 0;
    for (int64_t length : fill.integers)
      sum += length;
    return range.check(fill.fact == Fill::TileFact::owner
                           ? static_cast<int64_t>(fill.integers.size())
                       : fill.fact == Fill::TileFact::begin ? sum
                                                            : fill.tile);
  }
  case Fill::Kind::tileKeys:
    for (int64_t value : {std::max<int64_t>(fill.keys, 1) - 1, fill.unused})
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  case Fill::Kind::keyPlaces: {
    int64_t places;
    if (__builtin_mul_overflow(pagesOf(fill.integers, fill.tile), fill.tile,
                               &places))
      return node.error("the places do not fit 64 bits");
    for (int64_t value : {std::max<int64_t>(places, 1) - 1, fill.unused})
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  }
  case Fill::Kind::permutation:
    return range.check(row - 1);
  case Fill::Kind::randomIntegers:
    for (int64_t value : {fill.integersLow, fill.integersHigh})
      if (Status s = range.check(value); !s)
        return s;
    return Status::success();
  case Fill::Kind::normal:
  case Fill::Kind::uniform:
    break; // refused before
  }
  return Status::success();
}

Status dfrt::checkFill(const Fill &fill, ElementType element,
                       const std::vector<int64_t> &shape, const Node &node) {
  uint64_t elements = elementsOf(shape);
  int64_t row = shape.empty() ? 1 : shape.back();
  if (fill.padded) {
    if (shape.size() < 2 || shape[0] != static_cast<int64_t>(fill.valid.size()))
      return node.error(fmt::format(
          "padding behind {} lengths needs the shape [{}, extent, ...]",
          fill.valid.size(), fill.valid.size()));
    for (int64_t length : fill.valid)
      if (length < 0 || length > shape[1])
        return node.error(fmt::format(
            "padding: length {} is not within 0 to {}", length, shape[1]));
  }
  switch (fill.kind) {
  case Fill::Kind::values: {
    uint64_t given = fill.integers.size() + fill.numbers.size();
    if (given != elements)
      return node.error(
          fmt::format("{} values given for {} elements", given, elements));
    if (isInteger(element) && !fill.numbers.empty())
      return node.error(fmt::format("fractions given for elements of type {}",
                                    elementName(element)));
    break;
  }
  case Fill::Kind::normal:
  case Fill::Kind::uniform:
    if (isInteger(element))
      return node.error(
          fmt::format("this fill makes fractions, the elements have type {}; "
                      "use random_integers",
                      elementName(element)));
    break;
  case Fill::Kind::prefixSum:
    if (elements != fill.integers.size() &&
        elements != fill.integers.size() + 1)
      return node.error(fmt::format(
          "prefix sums of {} values need {} or {} elements, the shape has {}",
          fill.integers.size(), fill.integers.size(), fill.integers.size() + 1,
          elements));
    break;
  case Fill::Kind::pageTable: {
    if (shape.size() != 2 ||
        shape[0] != static_cast<int64_t>(fill.integers.size()))
      return node.error(
          fmt::format("a page table of {} rows needs the shape [{}, columns]",
                      fill.integers.size(), fill.integers.size()));
    for (int64_t length : fill.integers)
      if (pagesOf(length, fill.tile) > row)
        return node.error(
            fmt::format("length {} needs {} pages, the table has {} columns",
                        length, pagesOf(length, fill.tile), row));
    break;
  }
  case Fill::Kind::tiles:
  case Fill::Kind::tileKeys: {
    int64_t tiles = pagesOf(fill.integers, fill.tile);
    std::vector<int64_t> expected = {tiles};
    if (fill.kind == Fill::Kind::tileKeys)
      expected.push_back(fill.tile);
    if (shape != expected)
      return node.error(fmt::format("the lengths have {} tiles: the shape must "
                                    "be [{}]",
                                    tiles, fmt::join(expected, ", ")));
    break;
  }
  case Fill::Kind::keyPlaces: {
    int64_t count = 0; // readFill tested that there are few
    for (int64_t length : fill.integers)
      count += length;
    if (shape.size() != 2 || shape[0] != fill.keys)
      return node.error(
          fmt::format("places of {} keys need the shape [{}, columns]",
                      fill.keys, fill.keys));
    if (count > 0 && pagesOf(count, fill.keys) > row)
      return node.error(fmt::format(
          "{} elements with {} keys need {} columns, the shape has {}", count,
          fill.keys, pagesOf(count, fill.keys), row));
    break;
  }
  case Fill::Kind::randomIntegers:
    if (fill.distinct && fill.integersHigh - fill.integersLow < row - 1)
      return node.error(
          fmt::format("{} distinct integers do not exist between {} and {}",
                      row, fill.integersLow, fill.integersHigh));
    break;
  case Fill::Kind::constant:
  case Fill::Kind::iota:
  case Fill::Kind::permutation:
    break;
  }
  if (isInteger(element) && elements > 0)
    return checkIntegers(fill, element, elements, row, node);
  return Status::success();
}
