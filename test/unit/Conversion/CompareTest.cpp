//===- CompareTest.cpp - Coordinates against limits -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks of a tile: the code that compares in 32 bits says what the comparison
// of 64-bit numbers says, whatever the limit.
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
static constexpr int64_t kNumRows = 8, kNumColumns = 64;

/// Element (i, j) is whether its place 64 i + j compares so with the limit, or
/// its row with its column. The limit is the first extent of y.
static constexpr char kHandler[] = R"mlir(
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
#whole = affine_map<(i, j) -> (i, j)>
func.func @put(%y: tensor<?x8x64xi32>) -> tensor<?x8x64xi32> {
  %c0 = arith.constant 0 : index
  %limit = tensor.dim %y, %c0 : tensor<?x8x64xi32>
  %empty = tensor.empty() : tensor<8x64xi32, #tile>
  %marks = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<8x64xi32, #tile>) {
  ^bb0(%o: i32):
    %c64 = arith.constant 64 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.muli %i, %c64 : index
    %place = arith.addi %first, %j : index
    %limited = arith.cmpi PREDICATE, LEFT, RIGHT : index
    %crossed = arith.cmpi PREDICATE, %i, %j : index
    %a = arith.extui %limited : i1 to i32
    %b = arith.extui %crossed : i1 to i32
    %c1 = arith.constant 1 : i32
    %c = arith.shli %b, %c1 : i32
    %e = arith.ori %a, %c : i32
    linalg.yield %e : i32
  } -> tensor<8x64xi32, #tile>
  %m = dataflow.convert_layout %marks : tensor<8x64xi32, #tile> to tensor<8x64xi32>
  %r = tensor.insert_slice %m into %y[1, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xi32> into tensor<?x8x64xi32>
  return %r : tensor<?x8x64xi32>
}
)mlir";

static bool compare(const std::string &predicate, int64_t a, int64_t b) {
  auto order = [&](auto x, auto y) {
    return predicate.substr(1) == "lt"   ? x < y
           : predicate.substr(1) == "le" ? x <= y
           : predicate.substr(1) == "gt" ? x > y
                                         : x >= y;
  };
  return predicate[0] == 'u' ? order(uint64_t(a), uint64_t(b)) : order(a, b);
}

namespace {
class CompareTest : public ::testing::TestWithParam<const char *> {
protected:
  CompareTest() { loadHandlerDialects(context); }

  /// The place is on the left side, or on the right one.
  void run(const std::string &predicate, bool placeFirst) {
    std::string text =
        replaced(kHandler, {{"PREDICATE", predicate},
                            {"LEFT", placeFirst ? "%place" : "%limit"},
                            {"RIGHT", placeFirst ? "%limit" : "%place"}});
    OwningOpRef<ModuleOp> module =
        lowerFragments(text, "put", /*operands=*/0, context);
    ASSERT_TRUE(module);
    module->walk([&](LLVM::ICmpOp op) {
      EXPECT_TRUE(op.getLhs().getType().isInteger(32));
    });
    std::unique_ptr<ExecutionEngine> engine = makeEngine(
        *module, {{"dfk_thread", dfk_thread}, {"dfk_warp", dfk_warp}});
    ASSERT_TRUE(engine);
    RunFunction code = findRun(*engine);
    ASSERT_TRUE(code);
    constexpr int64_t size = kNumRows * kNumColumns;
    int64_t big = int64_t(1) << 31, least = INT64_MIN;
    for (int64_t limit :
         {int64_t(0), int64_t(1), int64_t(100), size - 1, size, big / 2,
          big - 1, big, big + 1, 2 * big, 2 * big + 1, INT64_MAX, int64_t(-1),
          int64_t(-2), -big, least, least + 1}) {
      alignas(16) static int32_t y[3 * size];
      std::fill_n(y, 3 * size, -1);
      struct {
        int32_t *allocated, *aligned;
        int64_t offset, sizes[3], strides[3];
      } descriptor = {
          y, y, 0, {limit, kNumRows, kNumColumns}, {size, kNumColumns, 1}};
      void *packed[] = {&descriptor, nullptr};
      ASSERT_TRUE(
          runTogether(kNumThreads, Order::shuffled, [&] { code(packed); }));
      for (int64_t i = 0; i < size; ++i) {
        bool limited = placeFirst ? compare(predicate, i, limit)
                                  : compare(predicate, limit, i);
        bool crossed = compare(predicate, i / kNumColumns, i % kNumColumns);
        ASSERT_EQ(y[size + i], limited + 2 * crossed)
            << predicate << ", place " << i << ", limit " << limit;
      }
    }
  }

  MLIRContext context;
};
} // namespace

TEST_P(CompareTest, AnyLimit) {
  run(GetParam(), /*placeFirst=*/true);
  run(GetParam(), /*placeFirst=*/false);
}

INSTANTIATE_TEST_SUITE_P(Predicates, CompareTest,
                         ::testing::Values("ult", "ule", "ugt", "uge", "slt",
                                           "sle", "sgt", "sge"),
                         [](const auto &info) { return info.param; });
