//===- StateFunctionsTest.cpp - A record of a reduce in registers ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merges slices of two records by the functions that a fold uses, lane by lane,
// and compares with the same arithmetic on arrays, bit by bit.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Threads.h"
#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace conversiontest;
using namespace mlir;
using df::HandlerFunction;

// The record: scale [8], rows [8, 64], cut into 16 slices of four columns.
static constexpr char kHandler[] = R"mlir(
#scale = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4, _, _]>
#rows = #dataflow.fragment<[8, 4] block [8, 4] registers [1:1, 1:2] lanes [0:1, 0:2, 0:4, _, _]>
#spread = #dataflow.fragment<[8, 4] block [8, 4] lanes [1:1, 1:2, 0:1, 0:2, 0:4]>
#mapI = affine_map<(i, j) -> (i)>
#mapIJ = affine_map<(i, j) -> (i, j)>
func.func @two(%slice: index, %as: tensor<8xf32>, %a: tensor<8x4xf32>, %bs: tensor<8xf32>, %b: tensor<8x4xf32>)
    -> (tensor<8xf32, #scale>, tensor<8x4xf32, LAYOUT>) {
  %0 = dataflow.convert_layout %as : tensor<8xf32> to tensor<8xf32, #scale>
  %1 = dataflow.convert_layout %bs : tensor<8xf32> to tensor<8xf32, #scale>
  %2 = arith.addf %0, %1 : tensor<8xf32, #scale>
  %3 = dataflow.convert_layout %a : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  %4 = dataflow.convert_layout %b : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  %5 = tensor.empty() : tensor<8x4xf32, #rows>
  %s32 = arith.index_cast %slice : index to i32
  %number = arith.sitofp %s32 : i32 to f32
  %6 = linalg.generic {indexing_maps = [#mapI, #mapIJ, #mapIJ, #mapIJ], iterator_types = ["parallel", "parallel"]}
      ins(%1, %3, %4 : tensor<8xf32, #scale>, tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>) outs(%5 : tensor<8x4xf32, #rows>) {
  ^bb0(%s: f32, %p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %m = arith.mulf %d, %s : f32
    %n = arith.addf %m, %number : f32
    linalg.yield %n : f32
  } -> tensor<8x4xf32, #rows>
  MOVE
}
)mlir";

/// Registers and functions are those of the caller's handler.
static constexpr char kWrapper[] = R"mlir(
llvm.func @two$load(!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32, f32)>
llvm.func @two$merge(!llvm.ptr, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
llvm.func @two$store(f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr)
llvm.func @two$head(f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr)
llvm.func @fold(%packed: !llvm.ptr, %ah: !llvm.ptr, %as: !llvm.ptr, %bh: !llvm.ptr, %bs: !llvm.ptr, %oh: !llvm.ptr, %os: !llvm.ptr) {
  %a = llvm.call @two$load(%ah, %as) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  %b = llvm.call @two$load(%bh, %bs) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  %a0 = llvm.extractvalue %a[0] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a1 = llvm.extractvalue %a[1] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a2 = llvm.extractvalue %a[2] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a3 = llvm.extractvalue %a[3] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a4 = llvm.extractvalue %a[4] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b0 = llvm.extractvalue %b[0] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b1 = llvm.extractvalue %b[1] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b2 = llvm.extractvalue %b[2] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b3 = llvm.extractvalue %b[3] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b4 = llvm.extractvalue %b[4] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m = llvm.call @two$merge(%packed, %a0, %a1, %a2, %a3, %a4, %b0, %b1, %b2, %b3, %b4)
      : (!llvm.ptr, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  %m0 = llvm.extractvalue %m[0] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m1 = llvm.extractvalue %m[1] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m2 = llvm.extractvalue %m[2] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m3 = llvm.extractvalue %m[3] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m4 = llvm.extractvalue %m[4] : !llvm.struct<(f32, f32, f32, f32, f32)>
  // Each stores its own part, and nothing of the other.
  %none = llvm.mlir.zero : !llvm.ptr
  llvm.call @two$store(%m0, %m1, %m2, %m3, %m4, %none, %os) : (f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr) -> ()
  llvm.call @two$head(%m0, %m1, %m2, %m3, %m4, %oh, %none) : (f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
)mlir";

/// The same where rows lie in memory as f16: what was loaded has them in two
/// words.
static constexpr char kNarrowWrapper[] = R"mlir(
llvm.func @two$load(!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, i32, i32)>
llvm.func @two$widen(f32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
llvm.func @two$merge(!llvm.ptr, f32, f32, f32, f32, f32, f32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
llvm.func @two$store(f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr)
llvm.func @fold(%packed: !llvm.ptr, %ah: !llvm.ptr, %as: !llvm.ptr, %bh: !llvm.ptr, %bs: !llvm.ptr, %oh: !llvm.ptr, %os: !llvm.ptr) {
  %n = llvm.call @two$load(%ah, %as) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, i32, i32)>
  %b = llvm.call @two$load(%bh, %bs) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, i32, i32)>
  %n0 = llvm.extractvalue %n[0] : !llvm.struct<(f32, i32, i32)>
  %n1 = llvm.extractvalue %n[1] : !llvm.struct<(f32, i32, i32)>
  %n2 = llvm.extractvalue %n[2] : !llvm.struct<(f32, i32, i32)>
  %a = llvm.call @two$widen(%n0, %n1, %n2) : (f32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  %a0 = llvm.extractvalue %a[0] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a1 = llvm.extractvalue %a[1] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a2 = llvm.extractvalue %a[2] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a3 = llvm.extractvalue %a[3] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %a4 = llvm.extractvalue %a[4] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %b0 = llvm.extractvalue %b[0] : !llvm.struct<(f32, i32, i32)>
  %b1 = llvm.extractvalue %b[1] : !llvm.struct<(f32, i32, i32)>
  %b2 = llvm.extractvalue %b[2] : !llvm.struct<(f32, i32, i32)>
  %m = llvm.call @two$merge(%packed, %a0, %a1, %a2, %a3, %a4, %b0, %b1, %b2)
      : (!llvm.ptr, f32, f32, f32, f32, f32, f32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  %m0 = llvm.extractvalue %m[0] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m1 = llvm.extractvalue %m[1] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m2 = llvm.extractvalue %m[2] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m3 = llvm.extractvalue %m[3] : !llvm.struct<(f32, f32, f32, f32, f32)>
  %m4 = llvm.extractvalue %m[4] : !llvm.struct<(f32, f32, f32, f32, f32)>
  llvm.call @two$store(%m0, %m1, %m2, %m3, %m4, %oh, %os) : (f32, f32, f32, f32, f32, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
)mlir";

/// A handler that reads slices and updates a tensor.
static constexpr char kConsumer[] = R"mlir(
#scale = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4, _, _]>
#rows = #dataflow.fragment<[8, 4] block [8, 4] registers [1:1, 1:2] lanes [0:1, 0:2, 0:4, _, _]>
#mapI = affine_map<(i, j) -> (i)>
#mapIJ = affine_map<(i, j) -> (i, j)>
func.func @put(%slice: index, %as: tensor<8xf32>, %a: tensor<8x4xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c4 = arith.constant 4 : index
  %at = arith.muli %slice, %c4 : index
  %0 = dataflow.convert_layout %as : tensor<8xf32> to tensor<8xf32, #scale>
  %1 = dataflow.convert_layout %a : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  %2 = tensor.empty() : tensor<8x4xf32, #rows>
  %3 = linalg.generic {indexing_maps = [#mapI, #mapIJ, #mapIJ], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<8xf32, #scale>, tensor<8x4xf32, #rows>) outs(%2 : tensor<8x4xf32, #rows>) {
  ^bb0(%s: f32, %p: f32, %o: f32):
    %m = arith.subf %p, %s : f32
    linalg.yield %m : f32
  } -> tensor<8x4xf32, #rows>
  %4 = dataflow.convert_layout %3 : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  %r = tensor.insert_slice %4 into %y[0, %at] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
)mlir";

/// Loads two slices before it applies the handler to them.
static constexpr char kAhead[] = R"mlir(
llvm.func @put$common(!llvm.ptr, !llvm.ptr) -> f32
llvm.func @put$slice(!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32)>
llvm.func @put$apply(!llvm.ptr, f32, f32, f32, f32, f32)
llvm.func @ahead(%head: !llvm.ptr, %packed0: !llvm.ptr, %slice0: !llvm.ptr, %packed1: !llvm.ptr, %slice1: !llvm.ptr) {
  // Neither needs the pointer to what the other loads.
  %none = llvm.mlir.zero : !llvm.ptr
  %c = llvm.call @put$common(%head, %none) : (!llvm.ptr, !llvm.ptr) -> f32
  %a = llvm.call @put$slice(%none, %slice0) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32)>
  %b = llvm.call @put$slice(%none, %slice1) : (!llvm.ptr, !llvm.ptr) -> !llvm.struct<(f32, f32, f32, f32)>
  %a0 = llvm.extractvalue %a[0] : !llvm.struct<(f32, f32, f32, f32)>
  %a1 = llvm.extractvalue %a[1] : !llvm.struct<(f32, f32, f32, f32)>
  %a2 = llvm.extractvalue %a[2] : !llvm.struct<(f32, f32, f32, f32)>
  %a3 = llvm.extractvalue %a[3] : !llvm.struct<(f32, f32, f32, f32)>
  %b0 = llvm.extractvalue %b[0] : !llvm.struct<(f32, f32, f32, f32)>
  %b1 = llvm.extractvalue %b[1] : !llvm.struct<(f32, f32, f32, f32)>
  %b2 = llvm.extractvalue %b[2] : !llvm.struct<(f32, f32, f32, f32)>
  %b3 = llvm.extractvalue %b[3] : !llvm.struct<(f32, f32, f32, f32)>
  llvm.call @put$apply(%packed0, %c, %a0, %a1, %a2, %a3) : (!llvm.ptr, f32, f32, f32, f32, f32) -> ()
  llvm.call @put$apply(%packed1, %c, %b0, %b1, %b2, %b3) : (!llvm.ptr, f32, f32, f32, f32, f32) -> ()
  llvm.return
}
)mlir";

namespace {

class StateFunctionsTest : public ::testing::Test {
protected:
  StateFunctionsTest() {
    loadHandlerDialects(context);
    record.fields.resize(2);
    record.fields[0].shape = {8};
    record.fields[1].shape = {8, 64};
    record.fields[1].separable = 1;
    record.slices = 16;
    EXPECT_TRUE(dfrt::layoutRecord(record));
  }

  /// The functions of the handler, with `layout` and `move` in their places;
  /// its records have rows as `narrow` in memory.
  OwningOpRef<ModuleOp>
  convert(StringRef layout, StringRef move,
          std::optional<dfrt::ElementType> narrow = std::nullopt) {
    std::string text = kHandler;
    auto replace = [&](StringRef what, StringRef with) {
      text.replace(text.find(what.str()), what.size(), with.str());
    };
    replace("LAYOUT", layout);
    replace("MOVE", move);
    source = parseSourceString<ModuleOp>(text, &context);
    if (!source)
      return {};
    auto two = source->lookupSymbol<func::FuncOp>("two");
    HandlerFunction function;
    function.symbol = "two";
    function.body = &two.getBody();
    function.indices = 1;
    function.inputs = {{record, false, narrow}, {record, false, narrow}};
    function.output = record;
    function.narrow = narrow;
    function.sliced = function.fragments = function.warp = true;
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    if (failed(df::convertHandlersToLLVM({function}, df::HandlerTarget::device,
                                         *module)))
      return {};
    return module;
  }

  MLIRContext context;
  dfrt::Record record;
  OwningOpRef<ModuleOp> source;
};

} // namespace

TEST_F(StateFunctionsTest, MergeAsTheHandlerDoes) {
  OwningOpRef<ModuleOp> module =
      convert("#rows", "return %2, %6 : tensor<8xf32, #scale>, "
                       "tensor<8x4xf32, #rows>");
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> wrapper =
      parseSourceString<ModuleOp>(kWrapper, &context);
  ASSERT_TRUE(wrapper);
  Operation *fold = wrapper->lookupSymbol("fold");
  fold->moveBefore(module->getBody(), module->getBody()->end());

  std::unique_ptr<ExecutionEngine> engine =
      conversiontest::makeEngine(*module, {{"dfk_lane", dfk_thread}});
  ASSERT_TRUE(engine);
  auto address = engine->lookup("fold");
  ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
  auto run = reinterpret_cast<void (*)(void *, float *, float *, float *,
                                       float *, float *, float *)>(*address);

  const size_t head = record.headBytes / 4, slice = record.sliceBytes / 4;
  const size_t words = record.bytes() / 4;
  ASSERT_EQ(head, 8u);
  ASSERT_EQ(slice, 32u);
  std::vector<float> a(words), b(words), result(words, -1), expected(words);
  for (size_t i = 0; i < words; ++i) {
    a[i] = float(i) / 3;
    b[i] = float(words - i) / 7;
  }
  for (size_t row = 0; row < 8; ++row) {
    expected[row] = a[row] + b[row];
    for (int64_t s = 0; s < 16; ++s)
      for (size_t column = 0; column < 4; ++column) {
        size_t i = head + size_t(s) * slice + 4 * row + column;
        expected[i] = (a[i] - b[i]) * b[row] + float(s);
      }
  }
  for (int64_t s = 0; s < 16; ++s) {
    void *packed[] = {&s};
    size_t at = head + size_t(s) * slice;
    ASSERT_TRUE(runTogether(32, Order::shuffled, [&] {
      run(packed, a.data(), a.data() + at, b.data(), b.data() + at,
          result.data(), result.data() + at);
    }));
  }
  EXPECT_EQ(result, expected);
}

TEST_F(StateFunctionsTest, RoundWhatIsStored) {
  OwningOpRef<ModuleOp> module = convert(
      "#rows", "return %2, %6 : tensor<8xf32, #scale>, tensor<8x4xf32, #rows>",
      dfrt::ElementType::f16);
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> wrapper =
      parseSourceString<ModuleOp>(kNarrowWrapper, &context);
  ASSERT_TRUE(wrapper);
  wrapper->lookupSymbol("fold")->moveBefore(module->getBody(),
                                            module->getBody()->end());
  std::unique_ptr<ExecutionEngine> engine =
      conversiontest::makeEngine(*module, {{"dfk_lane", dfk_thread}});
  ASSERT_TRUE(engine);
  auto address = engine->lookup("fold");
  ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
  auto run =
      reinterpret_cast<void (*)(void *, float *, uint16_t *, float *,
                                uint16_t *, float *, uint16_t *)>(*address);

  auto round = [](float value) {
    llvm::APFloat number(value);
    bool loses;
    number.convert(llvm::APFloat::IEEEhalf(),
                   llvm::APFloat::rmNearestTiesToEven, &loses);
    return uint16_t(number.bitcastToAPInt().getZExtValue());
  };
  auto widen = [](uint16_t bits) {
    return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits))
        .convertToFloat();
  };
  // A slice has as many bytes as without; the rows are in the front of it.
  const size_t slice = record.sliceBytes / 2;
  ASSERT_EQ(slice, 64u);
  alignas(16) uint16_t a[64], b[64], result[64];
  alignas(16) float scales[2][8], none[8];
  for (int64_t s = 0; s < 16; ++s) {
    std::fill_n(result, 64, uint16_t(0x7e00));
    for (int i = 0; i < 32; ++i) {
      a[i] = round(float(i + s) / 3);
      b[i] = round(float(i * s) / 7);
    }
    for (int row = 0; row < 8; ++row)
      scales[0][row] = scales[1][row] = float(row) / 5;
    void *packed[] = {&s};
    ASSERT_TRUE(runTogether(32, Order::shuffled, [&] {
      run(packed, scales[0], a, scales[1], b, none, result);
    }));
    for (int i = 0; i < 32; ++i) {
      float merged = (widen(a[i]) - widen(b[i])) * scales[1][i / 4] + float(s);
      EXPECT_EQ(result[i], round(merged)) << "slice " << s << ", number " << i;
      EXPECT_EQ(result[32 + i], 0x7e00);
    }
  }
}

TEST_F(StateFunctionsTest, KeepOneLayoutPerField) {
  // A result in another layout than the inputs: those then have it, too.
  OwningOpRef<ModuleOp> module =
      convert("#spread", "%7 = dataflow.convert_layout %6 : tensor<8x4xf32, "
                         "#rows> to tensor<8x4xf32, #spread>\n"
                         "return %2, %7 : tensor<8xf32, #scale>, "
                         "tensor<8x4xf32, #spread>");
  ASSERT_TRUE(module);
  auto merge = module->lookupSymbol<LLVM::LLVMFuncOp>("two$merge");
  ASSERT_TRUE(merge);
  // A scale and one number of the rows, of each record.
  EXPECT_EQ(merge.getNumArguments(), 1u + 2 * 2);
  auto load = module->lookupSymbol<LLVM::LLVMFuncOp>("two$load");
  ASSERT_TRUE(load);
  EXPECT_EQ(load.getResultTypes(), merge.getResultTypes());
}

TEST_F(StateFunctionsTest, LoadSlicesAhead) {
  source = parseSourceString<ModuleOp>(kConsumer, &context);
  ASSERT_TRUE(source);
  HandlerFunction function;
  function.symbol = "put";
  function.body = &source->lookupSymbol<func::FuncOp>("put").getBody();
  function.indices = 1;
  function.inputs = {{record, false}};
  function.outputs = 1;
  function.sliced = function.fragments = function.warp = true;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  ASSERT_TRUE(succeeded(df::convertHandlersToLLVM(
      {function}, df::HandlerTarget::device, *module)));
  OwningOpRef<ModuleOp> wrapper = parseSourceString<ModuleOp>(kAhead, &context);
  ASSERT_TRUE(wrapper);
  wrapper->lookupSymbol("ahead")->moveBefore(module->getBody(),
                                             module->getBody()->end());
  std::unique_ptr<ExecutionEngine> engine =
      conversiontest::makeEngine(*module, {{"dfk_lane", dfk_thread}});
  ASSERT_TRUE(engine);
  auto address = engine->lookup("ahead");
  ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
  auto run =
      reinterpret_cast<void (*)(float *, void *, float *, void *, float *)>(
          *address);

  const size_t head = record.headBytes / 4, slice = record.sliceBytes / 4;
  std::vector<float> a(record.bytes() / 4), expected(8 * 64);
  alignas(16) float y[8 * 64];
  std::fill_n(y, 8 * 64, -1.0f);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(i) / 3;
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 64; ++column)
      expected[row * 64 + column] =
          a[head + column / 4 * slice + 4 * row + column % 4] - a[row];
  struct {
    float *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } descriptor = {y, y, 0, {8, 64}, {64, 1}};
  for (int64_t s = 0; s < 16; s += 2) {
    int64_t next = s + 1;
    void *packed0[] = {&s, &descriptor, nullptr};
    void *packed1[] = {&next, &descriptor, nullptr};
    size_t at = head + size_t(s) * slice;
    ASSERT_TRUE(runTogether(32, Order::shuffled, [&] {
      run(a.data(), packed0, a.data() + at, packed1, a.data() + at + slice);
    }));
  }
  EXPECT_EQ(std::vector<float>(y, y + 8 * 64), expected);
}
