//===- Workload.h - Inputs of a program, read from a JSON file --*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workload file lists points (batches), and says for every argument of a
// program which shape it has at a point and how its elements come about. It
// knows nothing about operators; docs/workload.md describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_WORKLOAD_H
#define DF_RUN_WORKLOAD_H

#include "Fill.h"
#include "Json.h"

#include "dataflow/Schedule/Program.h"

#include <map>
#include <string>
#include <vector>

namespace dfrt {

/// One batch: named integers and integer lists.
struct Point {
  std::string name;
  std::map<std::string, int64_t> integers;
  std::map<std::string, std::vector<int64_t>> lists;
};

/// An argument of the program at one point.
struct BoundArgument {
  std::string name;
  ElementType element = ElementType::f32;
  bool output = false;
  std::vector<int64_t> shape;
  Fill fill; ///< not of an output

  uint64_t elements() const;
  uint64_t bytes() const { return elements() * elementBytes(element); }
};

class Workload {
public:
  /// Reads and validates the file at `path`. `overrides` replaces the values of
  /// dimensions and of points' integers of the same names.
  static Expected<Workload> read(const std::string &path,
                                 std::map<std::string, int64_t> overrides);

  /// The same of a document. `path` is what messages call it, and where files
  /// that it refers to are looked for.
  static Expected<Workload> make(Json document, std::string path,
                                 std::map<std::string, int64_t> overrides);

  const std::vector<Point> &points() const { return pointList; }

  /// Indices of the points that `word` names: "all", a name, or an index.
  Expected<std::vector<size_t>> select(const std::string &word) const;

  /// Shapes and fills of all arguments of `program` at a point, in the order of
  /// the program. Fails when arguments, ranks, extents or types disagree.
  Expected<std::vector<BoundArgument>> bind(size_t point,
                                            const Program &program) const;

private:
  Status readPoints(const Node &node);
  Status addPoint(const Node &node, const std::string &nameKey, bool foreign);
  Status checkOverrides() const;
  Node root() const { return {&document, path + ": "}; }

  std::string path;
  Json document;
  std::map<std::string, int64_t> overrides;
  std::vector<Point> pointList;
};

/// The elements of an integer argument; none for any other.
std::vector<int64_t> integerValues(const BoundArgument &argument,
                                   const void *data);

/// Which arguments `program` reads when a plan is made, by index.
std::vector<bool> plannedArguments(const Program &program);

} // namespace dfrt

#endif // DF_RUN_WORKLOAD_H
