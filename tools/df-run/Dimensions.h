//===- Dimensions.h - Sizes computed from the lists of a point --*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the expressions of a workload file: an integer, a name, or
// {"count": list}, {"sum": list}, {"max": list}, {"sum_ceildiv": [list, tile]},
// {"max_ceildiv": [list, tile]}, {"product": [...]}, {"add": [...]},
// {"ceildiv": [a, b]}.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_DIMENSIONS_H
#define DF_RUN_DIMENSIONS_H

#include "Workload.h"

#include <optional>

namespace dfrt {

/// The names that are visible at one point of a workload.
class Dimensions {
public:
  /// `definitions` is the file's "dimensions" object, or has no value.
  Dimensions(const Point &point, const Node &definitions,
             const std::map<std::string, int64_t> &overrides)
      : point(point), definitions(definitions), overrides(overrides) {}

  /// Value of an expression: in order an override, an integer of the point, a
  /// definition. Fails on unknown names, cycles and overflow.
  Expected<int64_t> evaluate(const Node &node) { return evaluate(node, 0); }

  /// An integer list: of the point by name, or written out.
  Expected<std::vector<int64_t>> list(const Node &node) const;

private:
  Expected<int64_t> evaluate(const Node &node, int depth);
  Expected<int64_t> lookUp(const Node &node, int depth);
  Expected<int64_t> reduceList(const Node &node, const std::string &word,
                               int depth);
  Expected<int64_t> combine(const Node &node, const std::string &word,
                            int depth);

  const Point &point;
  Node definitions;
  const std::map<std::string, int64_t> &overrides;
  /// Values of definitions; none while it is being evaluated.
  std::map<std::string, std::optional<int64_t>> values;
};

} // namespace dfrt

#endif // DF_RUN_DIMENSIONS_H
