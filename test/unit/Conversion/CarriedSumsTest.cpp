//===- CarriedSumsTest.cpp - Sums of which threads keep shares ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums up tiles in a loop, by threads that take turns and exchange words as
// lanes and warps do. Numbers are small integers and factors powers of two, so
// every order gives the same sum; how often threads exchange says whether they
// kept shares.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

using namespace conversiontest;
using namespace mlir;

static constexpr unsigned kNumThreads = 128;
static constexpr int64_t kNumTiles = 5, kNumRows = 64, kNumColumns = 8;

alignas(128) static char exchanged[4096];

extern "C" int32_t sumsUniform(int32_t value) { return value; }
extern "C" bool sumsAny(bool value) { return value; }
extern "C" void *sumsPlace() { return exchanged; }

/// y[1] = START, then times a factor, plus the column sums of a tile, for each
/// tile.
static constexpr char kHandler[] = R"mlir(
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
#column = #dataflow.fragment<[8] block [8] registers [0:1] lanes [0:2, 0:4, _, _, _] warps [_, _]>
func.func @sums(%x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
  %start = arith.constant dense<START> : tensor<8xf32, #column>
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
    %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
    %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
    %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
    %first = arith.cmpi eq, %i, %c0 : index
    SCALE
    %r = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%a : tensor<64x8xf32, #tile>)
        outs(%s : tensor<8xf32, #column>) dimensions = [0]
    scf.yield %r : tensor<8xf32, #column>
  }
  %out = tensor.insert_slice %total into %y[1, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}
)mlir";

static constexpr char kAlways[] = R"mlir(
    %s = arith.mulf %acc, %g fastmath<reassoc> : tensor<8xf32, #column>
)mlir";
static constexpr char kInOrder[] = R"mlir(
    %s = arith.mulf %acc, %g : tensor<8xf32, #column>
)mlir";
static constexpr char kInABranch[] = R"mlir(
    %s = scf.if %first -> tensor<8xf32, #column> {
      scf.yield %acc : tensor<8xf32, #column>
    } else {
      %m = arith.mulf %g, %acc fastmath<reassoc> : tensor<8xf32, #column>
      scf.yield %m : tensor<8xf32, #column>
    }
)mlir";

namespace {

class CarriedSumsTest : public ::testing::Test {
protected:
  CarriedSumsTest() { loadHandlerDialects(context); }

  /// Runs the handler on `tiles` tiles and compares. Leaves in `numShuffles`
  /// those of a thread.
  void sum(std::string start, std::string scale, int64_t tiles) {
    std::string text = replaced(kHandler, {{"START", start}, {"SCALE", scale}});
    OwningOpRef<ModuleOp> module =
        lowerFragments(text, "sums", /*operands=*/2, context);
    ASSERT_TRUE(module);
    std::unique_ptr<ExecutionEngine> engine =
        makeEngine(*module, {{"dfk_thread", dfk_thread},
                             {"dfk_warp", dfk_warp},
                             {"dfk_sync", dfk_sync},
                             {"dfk_uniform", sumsUniform},
                             {"dfk_any", sumsAny},
                             {"dfk_fragment_pointer", sumsPlace},
                             {"dfk_shuffle_xor", dfk_shuffle_xor}});
    ASSERT_TRUE(engine);
    RunFunction run = findRun(*engine);
    ASSERT_TRUE(run);

    constexpr int64_t size = kNumRows * kNumColumns;
    alignas(16) static float x[kNumTiles * size], f[kNumTiles * kNumColumns];
    alignas(16) static float y[3 * kNumColumns];
    for (int64_t i = 0; i < kNumTiles * size; ++i)
      x[i] = float(i * 7 % 23 - 11);
    for (int64_t i = 0; i < kNumTiles * kNumColumns; ++i)
      f[i] = i % 3 == 0 ? 0.5f : float(i % 3);
    std::fill_n(y, 3 * kNumColumns, -1.0f);
    struct Rows {
      float *allocated, *aligned;
      int64_t offset, sizes[2], strides[2];
    };
    struct {
      float *allocated, *aligned;
      int64_t offset, sizes[3], strides[3];
    } tensor = {
        x, x, 0, {tiles, kNumRows, kNumColumns}, {size, kNumColumns, 1}};
    Rows factors = {f, f, 0, {kNumTiles, kNumColumns}, {kNumColumns, 1}};
    Rows output = {y, y, 0, {3, kNumColumns}, {kNumColumns, 1}};
    void *packed[] = {&tensor, &factors, &output, nullptr};
    ASSERT_TRUE(
        runTogether(kNumThreads, Order::shuffled, [&] { run(packed); }));
    numShuffles = countShuffles() / kNumThreads;
    for (int64_t column = 0; column < kNumColumns; ++column) {
      float expected = std::stof(start);
      for (int64_t tile = 0; tile < tiles; ++tile) {
        if (tile || scale != kInABranch)
          expected *= f[tile * kNumColumns + column];
        for (int64_t row = 0; row < kNumRows; ++row)
          expected += x[tile * size + row * kNumColumns + column];
      }
      EXPECT_EQ(y[column], -1.0f);
      EXPECT_EQ(y[kNumColumns + column], expected) << column;
      EXPECT_EQ(y[2 * kNumColumns + column], -1.0f);
    }
  }

  MLIRContext context;
  unsigned numShuffles = 0;
};

} // namespace

// A thread has two columns, and three bits of a lane's number are rows.
static constexpr unsigned kOnce = 6;

TEST_F(CarriedSumsTest, ExchangedOnce) {
  sum("0.0", kAlways, kNumTiles);
  EXPECT_EQ(numShuffles, kOnce);
  // One of the threads that share an element has what the sum begins with.
  sum("3.0", kAlways, kNumTiles);
  EXPECT_EQ(numShuffles, kOnce);
  sum("3.0", kAlways, 0);
  EXPECT_EQ(numShuffles, kOnce);
}

TEST_F(CarriedSumsTest, ScaledInABranch) {
  sum("3.0", kInABranch, kNumTiles);
  EXPECT_EQ(numShuffles, kOnce);
}

TEST_F(CarriedSumsTest, InOrder) {
  sum("3.0", kInOrder, kNumTiles);
  EXPECT_EQ(numShuffles, kOnce * kNumTiles);
}
