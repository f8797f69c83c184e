//===- Compare.cpp - Outputs against a float64 reference ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Compare.h.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include "Convert.h"

#include <fmt/format.h>

#include <cmath>

using namespace dfrt;

double dfrt::defaultTolerance(ElementType element) {
  switch (element) {
  case ElementType::f64:
  case ElementType::f32:
    return 1e-4;
  case ElementType::f16:
    return 1e-3;
  case ElementType::bf16:
    return 4e-3;
  case ElementType::f8E4M3FN:
    return 5e-2;
  case ElementType::f8E5M2:
    return 1e-1;
  default:
    return 0;
  }
}

std::string dfrt::formatIndex(const std::vector<int64_t> &shape,
                              uint64_t element) {
  std::vector<uint64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

OutputCheck dfrt::compareOutput(const BoundArgument &output, const void *values,
                                const void *reference, double tolerance) {
  OutputCheck check;
  check.name = output.name;
  check.elements = output.elements();
  check.tolerance = tolerance;
  bool integers = isInteger(output.element);
  double difference = 0, norm = 0;
  auto mismatch = [&](uint64_t element, const std::string &text) {
    if (check.mismatched++ == 0)
      check.firstMismatch = formatIndex(output.shape, element) + ": " + text;
  };
  for (uint64_t e = 0; e < check.elements; ++e) {
    if (integers) {
      int64_t value = loadInteger(output.element, values, e);
      int64_t expected = loadInteger(output.element, reference, e);
      if (value != expected)
        mismatch(e, fmt::format("{} instead of {}", value, expected));
      continue;
    }
    double value = loadElement(output.element, values, e);
    double expected = loadElement(ElementType::f64, reference, e);
    if (std::isfinite(value) && std::isfinite(expected)) {
      difference += (value - expected) * (value - expected);
      norm += expected * expected;
      continue;
    }
    check.special += !std::isfinite(expected);
    bool same = std::isnan(value) ? std::isnan(expected) : value == expected;
    if (!same)
      mismatch(e, fmt::format("{} instead of {}", value, expected));
  }
  check.relativeL2 = std::sqrt(difference);
  if (norm > 0)
    check.relativeL2 /= std::sqrt(norm);
  check.passed = check.mismatched == 0 && check.relativeL2 <= tolerance;
  return check;
}
