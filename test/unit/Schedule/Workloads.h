//===- Workloads.h - Recorded batches as planner problems -------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The programs and batches of workloads/*.json as the planner sees them:
// stages, records, costs and lengths, no code.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_SCHEDULE_WORKLOADS_H
#define DATAFLOW_TEST_UNIT_SCHEDULE_WORKLOADS_H

#include "Examples.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace dfrt {
namespace test {

/// 32 heads of 512 + 64 16-bit values; pages of 64 tokens.
inline Program latentAttention() {
  Program p = splitReduce(true);
  Record r = record(
      {field("max", {32}), field("sum", {32}), field("acc", {32, 512}, 1)}, 16);
  p.stages[0].record = p.stages[1].record = r;
  p.stages[0].cost.fixedBytes = 36864;
  p.stages[0].cost.tileBytes = 64 * 1152;
  p.stages[0].cost.tileFlops = 64ull * 2176 * 32;
  p.stages[2].cost.fixedBytes = 32 * 512 * 2 + 32 * 4;
  return p;
}

/// Grouped matrix products: groups of 16 rows with one expert each, in
/// `blocks` blocks of columns; the rows then go to their tokens and are added
/// there.
inline Program groupedExperts(int64_t hidden, int64_t width, int64_t blocks) {
  Program p;
  p.name = "grouped";
  p.arguments = {argument("index", ElementType::i32, {-1, 16}),
                 argument("out", ElementType::f32, {-1, hidden}, true)};
  Domain groups, tokens;
  groups.name = "groups";
  groups.axes = {Axis{"g", dimensionOf(0, 0)},
                 Axis{"n", constantValue(blocks)}};
  tokens.name = "tokens";
  tokens.axes = {Axis{"t", dimensionOf(1, 0)}};
  p.domains = {groups, tokens};
  Stage apply = stage("apply", StageKind::map, Arity::one,
                      record({field("rows", {16, hidden / blocks})}));
  apply.cost.fixedBytes = static_cast<uint64_t>(3 * hidden * width / blocks);
  apply.cost.fixedFlops =
      static_cast<uint64_t>(6 * 16 * hidden * width / blocks);
  Record row = record({field("row", {hidden / blocks})});
  Stage route = stage("route", StageKind::reshard, Arity::keyed, row);
  route.reshard = ReshardKind::rekey;
  route.domain = 1;
  route.inputs = {input(0, {})};
  route.rekey.argument = 0;
  route.rekey.axes = {0};
  route.rekey.rows = true;
  Stage add = stage("add", StageKind::reduce, Arity::one, row);
  add.domain = 1;
  add.inputs = {input(1)};
  Stage store = stage("store", StageKind::finalize, Arity::none);
  store.domain = 1;
  store.inputs = {input(2)};
  store.outputs = {1};
  store.cost.fixedBytes = static_cast<uint64_t>(hidden * 2);
  p.stages = {apply, route, add, store};
  return p;
}

/// The inputs of `groupedExperts`: `rows` of each expert, which tokens
/// receive in turn.
inline std::vector<PlanInput> expertInputs(const std::vector<int64_t> &rows,
                                           int64_t tokens) {
  std::vector<int64_t> index;
  int64_t next = 0;
  for (int64_t count : rows)
    for (int64_t row = 0; row < (count + 15) / 16 * 16; ++row)
      index.push_back(row < count ? next++ % tokens : -1);
  int64_t groups = static_cast<int64_t>(index.size()) / 16;
  return {{"index", {groups, 16}, index}, {"out", {tokens, 7168}, {}}};
}

/// Lengths of one recorded batch.
struct Trace {
  int id;
  std::vector<int64_t> lengths;
};

/// Rows of each of 32 experts for some number of tokens.
struct Routing {
  int64_t tokens;
  std::vector<int64_t> rows;
};

inline nlohmann::json workloadFile(const char *name) {
  std::ifstream file(std::string(DATAFLOW_SOURCE_DIR "/workloads/") + name);
  return nlohmann::json::parse(file, nullptr, false);
}

inline std::vector<Trace> traces() {
  nlohmann::json json = workloadFile("mla_decode.json");
  std::vector<Trace> result;
  if (json.is_object())
    for (const auto &trace : json["traces"])
      result.push_back({trace["id"].get<int>(),
                        trace["lengths"].get<std::vector<int64_t>>()});
  return result;
}

inline std::vector<Routing> routings() {
  nlohmann::json json = workloadFile("fused_moe.json");
  std::vector<Routing> result;
  if (json.is_object())
    for (const auto &point : json["points"])
      result.push_back({point["tokens"].get<int64_t>(),
                        point["rows_per_expert"].get<std::vector<int64_t>>()});
  return result;
}

/// `count` lengths that repeat those of `trace`, each time a little longer, so
/// that no two requests are alike.
inline std::vector<int64_t> manyLengths(const Trace &trace, size_t count) {
  std::vector<int64_t> lengths(count);
  for (size_t i = 0; i < count; ++i)
    lengths[i] = trace.lengths[i % trace.lengths.size()] +
                 static_cast<int64_t>(37 * (i / trace.lengths.size()));
  return lengths;
}

} // namespace test
} // namespace dfrt

#endif // DATAFLOW_TEST_UNIT_SCHEDULE_WORKLOADS_H
