//===- TestPrograms.cpp - Programs with handlers by hand ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPrograms.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>

using namespace dfrt;
using namespace dfrt::test;

namespace {
constexpr uint64_t kMultiplier = 1000003;

PlanValue dimension(uint32_t argument, uint32_t dim) {
  PlanValue value;
  value.kind = PlanValue::Kind::dimension;
  value.argument = argument;
  value.dimension = dim;
  return value;
}

PlanValue element(uint32_t argument) {
  PlanValue value;
  value.kind = PlanValue::Kind::element;
  value.argument = argument;
  value.axes = {0};
  return value;
}

Record record(std::vector<Field> fields, uint32_t slices = 1) {
  Record result;
  result.fields = std::move(fields);
  result.slices = slices;
  EXPECT_TRUE(layoutRecord(result).ok());
  return result;
}

Stage stage(const char *name, StageKind kind, uint32_t domain) {
  Stage result;
  result.name = name;
  result.kind = kind;
  result.domain = domain;
  result.cost.fixedBytes = 64;
  result.cost.tileBytes = 256;
  if (kind == StageKind::finalize)
    result.arity = Arity::none;
  return result;
}

Variant variant(const char *symbol,
                Variant::Kind kind = Variant::Kind::generic) {
  Variant result;
  result.kind = kind;
  result.symbol = symbol;
  return result;
}

std::vector<int64_t> offsetsOf(const std::vector<int64_t> &lengths) {
  std::vector<int64_t> offsets(lengths.size());
  int64_t sum = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    offsets[i] = sum;
    sum += lengths[i];
  }
  return offsets;
}

TestTensor integers(std::vector<int64_t> shape, std::vector<int64_t> values) {
  TestTensor tensor;
  tensor.shape = std::move(shape);
  tensor.integers = std::move(values);
  return tensor;
}

TestTensor expectIntegers(std::vector<int64_t> shape,
                          std::vector<int64_t> values) {
  TestTensor tensor;
  tensor.shape = std::move(shape);
  tensor.integers.resize(values.size());
  tensor.expectedIntegers = std::move(values);
  return tensor;
}

TestCase finish(Program program, std::vector<TestTensor> tensors) {
  TestCase result;
  result.artifact.producer = "test";
  result.artifact.program = std::move(program);
  result.artifact.code = {testCode(CodeBlob::Kind::cpu),
                          testCode(CodeBlob::Kind::cpuReference)};
  result.tensors = std::move(tensors);
  Status status = check(result.program());
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}
} // namespace

CodeBlob test::testCode(CodeBlob::Kind kind) {
  bool reference = kind == CodeBlob::Kind::cpuReference;
  std::ifstream file(reference ? DATAFLOW_TEST_REFERENCE_HANDLERS
                               : DATAFLOW_TEST_HANDLERS,
                     std::ios::binary);
  CodeBlob blob;
  blob.kind = kind;
  blob.target = "x86-64";
  blob.bytes.assign(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(blob.bytes.empty());
  for (const char *symbol :
       {"ragged_part", "ragged_merge", "ragged_merge_sliced", "ragged_identity",
        "ragged_store", "ragged_store_sliced", "spread_tile", "spread_whole",
        "spread_emit", "route_pick", "route_merge", "route_identity",
        "route_put", "sums_part", "sums_add", "sums_add_sliced",
        "sums_identity", "sums_store", "sums_store_sliced"})
    blob.functions.push_back({symbol, 72});
  return blob;
}

TestCase test::raggedCase(const std::vector<int64_t> &lengths) {
  Program program;
  program.name = "ragged";
  program.arguments = {{"values", ElementType::i64, {-1}, false},
                       {"offsets", ElementType::i64, {-1}, false},
                       {"lengths", ElementType::i64, {-1}, false},
                       {"out", ElementType::i64, {-1, 8}, true},
                       {"weights", ElementType::i64, {-1}, true}};
  program.domains = {{"rows", {{"row", dimension(2, 0)}}, kNone, kNone}};
  program.ranges = {{"span", 0, element(2), element(1), 4}};
  Record partial = record({{"weight", ElementType::i64, {}, -1, 0},
                           {"hash", ElementType::i64, {8}, 0, 0}},
                          4);

  Stage part = stage("part", StageKind::map, 0);
  part.range = 0;
  part.arity = Arity::pieces;
  part.record = partial;
  part.operands = {0};
  part.variants = {variant("ragged_part")};
  Stage merge = stage("merge", StageKind::reduce, 0);
  merge.inputs = {{0, {0}}};
  merge.record = partial;
  merge.separable = true;
  merge.variants = {variant("ragged_merge"),
                    variant("ragged_merge_sliced", Variant::Kind::sliced)};
  merge.identitySymbol = "ragged_identity";
  Stage store = stage("store", StageKind::finalize, 0);
  store.inputs = {{1, {0}}};
  store.separable = true;
  store.outputs = {3, 4};
  store.variants = {variant("ragged_store"),
                    variant("ragged_store_sliced", Variant::Kind::sliced)};
  program.stages = {part, merge, store};

  int64_t rows = int64_t(lengths.size());
  std::vector<int64_t> offsets = offsetsOf(lengths);
  int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  std::vector<int64_t> values(static_cast<size_t>(total));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i * 7919 % 1009);
  std::vector<int64_t> hashes, weights;
  for (size_t row = 0; row < lengths.size(); ++row) {
    uint64_t weight = 1, hash[8] = {};
    for (int64_t i = offsets[row]; i < offsets[row] + lengths[row]; ++i) {
      weight *= kMultiplier;
      for (uint64_t j = 0; j < 8; ++j)
        hash[j] = hash[j] * kMultiplier + uint64_t(values[size_t(i)]) * (j + 1);
    }
    hashes.insert(hashes.end(), hash, hash + 8);
    weights.push_back(int64_t(weight));
  }
  return finish(program,
                {integers({total}, values), integers({rows}, offsets),
                 integers({rows}, lengths), expectIntegers({rows, 8}, hashes),
                 expectIntegers({rows}, weights)});
}

TestCase test::sumsCase(const std::vector<int64_t> &lengths) {
  Program program;
  program.name = "sums";
  program.arguments = {{"values", ElementType::f32, {-1}, false},
                       {"offsets", ElementType::i64, {-1}, false},
                       {"lengths", ElementType::i64, {-1}, false},
                       {"out", ElementType::f32, {-1, 16}, true}};
  program.domains = {{"rows", {{"row", dimension(2, 0)}}, kNone, kNone}};
  program.ranges = {{"span", 0, element(2), element(1), 4}};
  Record partial = record({{"total", ElementType::f32, {16}, 0, 0}}, 4);

  Stage part = stage("part", StageKind::map, 0);
  part.cost.tileBytes = 1 << 16; // worth cutting
  part.range = 0;
  part.arity = Arity::pieces;
  part.record = partial;
  part.operands = {0};
  part.variants = {variant("sums_part")};
  Stage add = stage("add", StageKind::reduce, 0);
  add.inputs = {{0, {0}}};
  add.record = partial;
  add.separable = true;
  add.variants = {variant("sums_add"),
                  variant("sums_add_sliced", Variant::Kind::sliced)};
  add.identitySymbol = "sums_identity";
  Stage store = stage("store", StageKind::finalize, 0);
  store.inputs = {{1, {0}}};
  store.separable = true;
  store.outputs = {3};
  store.variants = {variant("sums_store"),
                    variant("sums_store_sliced", Variant::Kind::sliced)};
  program.stages = {part, add, store};

  int64_t rows = int64_t(lengths.size());
  TestTensor values, out;
  for (int64_t length : lengths)
    for (int64_t i = 0; i < length; ++i)
      values.floats.push_back(1.0f / float(1 + i * 7919 % 1009));
  values.shape = {int64_t(values.floats.size())};
  out.shape = {rows, 16};
  out.floats.resize(size_t(rows) * 16);
  return finish(program, {values, integers({rows}, offsetsOf(lengths)),
                          integers({rows}, lengths), out});
}

TestCase test::boundedCase(const std::vector<int64_t> &lengths) {
  TestCase result = raggedCase(lengths);
  Program &program = result.artifact.program;
  Range few = program.ranges[0];
  few.name = "few";
  few.tile = int64_t(1) << 20;
  program.ranges.push_back(few);
  Stage &part = program.stages[0];
  part.bound = 1;
  Variant narrow = part.variants[0];
  narrow.kind = Variant::Kind::bounded;
  narrow.value = 6;
  narrow.cost.tileBytes = 64;
  part.variants.push_back(narrow);
  return result;
}

TestCase test::spreadCase(const std::vector<int64_t> &lengths) {
  Program program;
  program.name = "spread";
  program.arguments = {{"values", ElementType::f32, {-1}, false},
                       {"offsets", ElementType::i64, {-1}, false},
                       {"lengths", ElementType::i64, {-1}, false},
                       {"out", ElementType::f32, {-1}, true}};
  program.domains = {{"rows", {{"row", dimension(2, 0)}}, kNone, kNone}};
  program.ranges = {{"span", 0, element(2), element(1), 4}};
  Record totals = record({{"total", ElementType::f32, {2}, -1, 0},
                          {"count", ElementType::i64, {}, -1, 0}});

  Stage tile = stage("tile", StageKind::map, 0);
  tile.range = 0;
  tile.each = true;
  tile.arity = Arity::tiles;
  tile.record = totals;
  tile.operands = {0};
  tile.variants = {variant("spread_tile")};
  Stage gather = stage("gather", StageKind::reshard, 0);
  gather.reshard = ReshardKind::collect;
  gather.inputs = {{0, {0}}};
  gather.arity = Arity::collected;
  gather.record = totals;
  Stage whole = stage("whole", StageKind::map, 0);
  whole.inputs = {{1, {0}}};
  whole.record = totals;
  whole.variants = {variant("spread_whole")};
  Stage emit = stage("emit", StageKind::finalize, 0);
  emit.range = 0;
  emit.each = true;
  emit.inputs = {{0, {0}}, {2, {0}}};
  emit.operands = {0};
  emit.outputs = {3};
  emit.variants = {variant("spread_emit")};
  program.stages = {tile, gather, whole, emit};

  int64_t rows = int64_t(lengths.size());
  std::vector<int64_t> offsets = offsetsOf(lengths);
  int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  TestTensor values, out;
  values.shape = out.shape = {total};
  for (int64_t i = 0; i < total; ++i)
    values.floats.push_back(float(i * 31 % 17));
  out.floats.resize(size_t(total));
  for (size_t row = 0; row < lengths.size(); ++row) {
    int64_t end = offsets[row] + lengths[row], code = 0;
    double sums = 0, maxima = 0;
    std::vector<std::pair<double, double>> tiles;
    for (int64_t b = offsets[row]; b < end; b += 4) {
      int64_t e = std::min(b + 4, end);
      double sum = 0, maximum = values.floats[size_t(b)];
      for (int64_t i = b; i < e; ++i) {
        sum += values.floats[size_t(i)];
        maximum = std::max(maximum, double(values.floats[size_t(i)]));
      }
      tiles.push_back({sum, maximum});
      sums += sum * double(tiles.size());
      maxima += maximum;
      code = int64_t(uint64_t(code) * 31 + uint64_t(e - b));
    }
    for (int64_t i = offsets[row]; i < end; ++i) {
      auto [sum, maximum] = tiles[size_t((i - offsets[row]) / 4)];
      out.expectedFloats.push_back(values.floats[size_t(i)] + 2 * sum +
                                   maximum + sums - maxima + double(code % 64));
    }
  }
  return finish(program, {values, integers({rows}, offsets),
                          integers({rows}, lengths), out});
}

TestCase test::routeCase(int64_t targets, const std::vector<int64_t> &index) {
  Program program;
  program.name = "route";
  program.arguments = {{"values", ElementType::i64, {-1, 4}, false},
                       {"index", ElementType::i32, {-1, 4}, false},
                       {"out", ElementType::i64, {-1, 2}, true}};
  program.domains = {{"sources", {{"source", dimension(0, 0)}}, kNone, kNone},
                     {"targets", {{"target", dimension(2, 0)}}, kNone, kNone}};
  Record rows = record({{"hash", ElementType::i64, {4, 2}, -1, 0},
                        {"weight", ElementType::i64, {4}, -1, 0}});
  Record row = record({{"hash", ElementType::i64, {2}, -1, 0},
                       {"weight", ElementType::i64, {}, -1, 0}});

  Stage pick = stage("pick", StageKind::map, 0);
  pick.record = rows;
  pick.operands = {0};
  pick.variants = {variant("route_pick")};
  Stage send = stage("send", StageKind::reshard, 1);
  send.reshard = ReshardKind::rekey;
  send.inputs = {{0, {}}};
  send.arity = Arity::keyed;
  send.record = row;
  send.rekey.argument = 1;
  send.rekey.axes = {0};
  send.rekey.axis = 0;
  send.rekey.rows = true;
  Stage merge = stage("merge", StageKind::reduce, 1);
  merge.inputs = {{1, {0}}};
  merge.record = row;
  merge.variants = {variant("route_merge")};
  merge.identitySymbol = "route_identity";
  Stage put = stage("put", StageKind::finalize, 1);
  put.inputs = {{2, {0}}};
  put.outputs = {2};
  put.variants = {variant("route_put")};
  program.stages = {pick, send, merge, put};

  int64_t sources = int64_t(index.size() / 4);
  std::vector<int64_t> values(index.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int64_t(i * 613 % 977);
  std::vector<int64_t> expected(size_t(targets) * 2);
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0)
      continue;
    int64_t *out = &expected[size_t(index[i]) * 2];
    out[0] = int64_t(uint64_t(out[0]) * kMultiplier + uint64_t(values[i]));
    out[1] =
        int64_t(uint64_t(out[1]) * kMultiplier + 3 * uint64_t(values[i]) + 1);
  }
  return finish(program,
                {integers({sources, 4}, values), integers({sources, 4}, index),
                 expectIntegers({targets, 2}, expected)});
}

std::vector<dfrt_tensor> TestCase::arguments() {
  static thread_local std::vector<std::vector<int32_t>> narrow;
  narrow.assign(tensors.size(), {});
  std::vector<dfrt_tensor> result;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TestTensor &tensor = tensors[i];
    const Argument &argument = program().arguments[i];
    void *data = tensor.integers.data();
    if (argument.element == ElementType::f32)
      data = tensor.floats.data();
    if (argument.element == ElementType::i32) {
      narrow[i].assign(tensor.integers.begin(), tensor.integers.end());
      data = narrow[i].data();
    }
    result.push_back({data, tensor.shape.data(), uint32_t(tensor.shape.size()),
                      uint32_t(argument.element)});
  }
  return result;
}

Problem TestCase::problem(const Topology &topology) const {
  std::vector<PlanInput> inputs;
  for (size_t i = 0; i < tensors.size(); ++i)
    inputs.push_back(
        {program().arguments[i].name, tensors[i].shape, tensors[i].integers});
  for (size_t i = 0; i < inputs.size(); ++i)
    if (program().arguments[i].output)
      inputs[i].values.clear();
  Expected<Problem> problem = instantiate(program(), inputs, topology);
  EXPECT_TRUE(bool(problem)) << problem.status().message();
  return *problem;
}

void TestCase::clearOutputs() {
  for (TestTensor &tensor : tensors) {
    if (!tensor.expectedIntegers.empty())
      std::fill(tensor.integers.begin(), tensor.integers.end(), -1);
    if (!tensor.expectedFloats.empty())
      std::fill(tensor.floats.begin(), tensor.floats.end(), -1.0f);
  }
}

std::string TestCase::differences() const {
  for (size_t t = 0; t < tensors.size(); ++t) {
    const TestTensor &tensor = tensors[t];
    for (size_t i = 0; i < tensor.expectedIntegers.size(); ++i)
      if (tensor.integers[i] != tensor.expectedIntegers[i])
        return program().arguments[t].name + "[" + std::to_string(i) +
               "] differs";
    for (size_t i = 0; i < tensor.expectedFloats.size(); ++i)
      if (!(double(tensor.floats[i]) == tensor.expectedFloats[i]))
        return program().arguments[t].name + "[" + std::to_string(i) +
               "] differs";
  }
  return "";
}

Topology test::handTopology() {
  Topology topology;
  topology.ctas = 2;
  topology.clusterSize = 2;
  return topology;
}

Schedule test::handSchedule(bool crossed) {
  Schedule s;
  s.solver = "hand";
  s.exitBarrier = true;
  s.sharedBytes = 4 * 96;
  s.queues.resize(2);
  s.barriers = {{0, 1}, {1, 1}};
  auto addSlot = [&](uint32_t stage, uint32_t cta, uint32_t place,
                     uint32_t barrier) {
    Slot slot;
    slot.stage = stage;
    slot.sliceEnd = 4;
    slot.space = Space::shared;
    slot.cta = cta;
    slot.offset = place * 96;
    slot.barrier = barrier;
    s.slots.push_back(slot);
    return uint32_t(s.slots.size() - 1);
  };
  auto addInstruction = [&](uint32_t cta, uint32_t stage, uint32_t row,
                            std::vector<Operand> operands,
                            std::vector<uint32_t> outputs) {
    Instruction i;
    i.stage = stage;
    i.task = row;
    i.sliceEnd = 4;
    if (stage == 0) {
      // Row r's first tile is always done by CTA 0.
      i.tileBegin = cta;
      i.tileEnd = cta + 1;
    }
    i.firstOperand = uint32_t(s.operands.size());
    i.operandCount = uint32_t(operands.size());
    s.operands.insert(s.operands.end(), operands.begin(), operands.end());
    i.firstOutput = uint32_t(s.outputs.size());
    i.outputCount = uint32_t(outputs.size());
    s.outputs.insert(s.outputs.end(), outputs.begin(), outputs.end());
    s.instructions.push_back(i);
    s.queues[cta].cta = cta;
    s.queues[cta].instructions.push_back(uint32_t(s.instructions.size() - 1));
    return uint32_t(s.instructions.size() - 1);
  };
  for (uint32_t cta = 0; cta < 2; ++cta) {
    uint32_t peer = 1 - cta;
    uint32_t own = addSlot(0, cta, 0, kNone);
    uint32_t sent = addSlot(0, cta, 1, kNone);
    // Where the peer's part of row `cta` arrives, and the merged record.
    uint32_t arrived = addSlot(0, cta, 2, cta);
    uint32_t merged = addSlot(1, cta, 3, kNone);
    Operand first{own, kNone, false}, second{arrived, kNone, true};
    if (cta == 1)
      std::swap(first, second);
    uint32_t sender = kNone;
    auto work = [&] { sender = addInstruction(cta, 0, peer, {}, {sent}); };
    if (!crossed)
      work();
    addInstruction(cta, 0, cta, {}, {own});
    addInstruction(cta, 1, cta, {first, second}, {merged});
    addInstruction(cta, 2, cta, {{merged, kNone, false}}, {});
    if (crossed)
      work();
    Transfer transfer;
    transfer.transport = Transport::clusterShared;
    transfer.instruction = sender;
    transfer.source = sent;
    transfer.firstDestination = uint32_t(s.destinations.size());
    transfer.destinationCount = 1;
    s.transfers.push_back(transfer);
    // Slots are numbered alike on both CTAs: 2 is `arrived` of CTA 0.
    s.destinations.push_back(peer * 4 + 2);
  }
  return s;
}
