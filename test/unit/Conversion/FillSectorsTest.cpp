//===- FillSectorsTest.cpp - Narrow elements that are stored together -----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores tiles that lie across the rows of memory, by threads that take turns
// and exchange words as lanes do: each element arrives once, and at its place.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Threads.h"
#include "dataflow/Conversion/HandlerToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace conversiontest;
using namespace mlir;

static constexpr unsigned kNumThreads = 128;
static constexpr int64_t kNumRows = 32, kNumColumns = 128;

static unsigned numTransposed;
static int32_t words[kNumThreads];

extern "C" int32_t sectorTranspose(int32_t value) {
  ++numTransposed;
  int32_t self = dfk_thread();
  words[self] = value;
  dfk_sync();
  int32_t lane = self % 32, result = 0;
  // Column lane / 4 of rows 2 * (lane % 4) and the next.
  for (int32_t i : {0, 1}) {
    int32_t row = lane % 4 * 2 + i, column = lane / 4;
    int32_t word = words[self - lane + row * 4 + column / 2];
    result |= (column % 2 ? word >> 16 & 0xffff : word & 0xffff) << 16 * i;
  }
  dfk_sync();
  return result;
}

/// Element (i, j) is 128 i + j.
static constexpr char kHandler[] = R"mlir(
#tile = #dataflow.fragment<LAYOUT>
#whole = affine_map<(i, j) -> (i, j)>
func.func @put(%y: tensor<?x32x128xELEMENT>) -> tensor<?x32x128xELEMENT> {
  %empty = tensor.empty() : tensor<32x128xELEMENT, #tile>
  %numbers = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<32x128xELEMENT, #tile>) {
  ^bb0(%o: ELEMENT):
    %c128 = arith.constant 128 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %c128 : index
    %number = arith.addi %row, %j : index
    %e = arith.index_cast %number : index to ELEMENT
    linalg.yield %e : ELEMENT
  } -> tensor<32x128xELEMENT, #tile>
  %m = dataflow.convert_layout %numbers : tensor<32x128xELEMENT, #tile> to tensor<32x128xELEMENT>
  STORE
  return %r : tensor<?x32x128xELEMENT>
}
)mlir";

static constexpr char kWhole[] = R"mlir(
  %r = tensor.insert_slice %m into %y[1, 0, 0] [1, 32, 128] [1, 1, 1] : tensor<32x128xELEMENT> into tensor<?x32x128xELEMENT>
)mlir";

/// Three times ROWS rows and COLUMNS columns, if the tile has as many: nobody
/// knows that the first extent is three before the handler runs.
static constexpr char kPart[] = R"mlir(
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %three = tensor.dim %y, %c0 : tensor<?x32x128xELEMENT>
  %a = arith.constant ROWS : index
  %b = arith.constant COLUMNS : index
  %more_rows = arith.muli %three, %a : index
  %more_columns = arith.muli %three, %b : index
  %rows = arith.minui %more_rows, %c32 : index
  %columns = arith.minui %more_columns, %c128 : index
  %part = tensor.extract_slice %m[0, 0] [%rows, %columns] [1, 1] : tensor<32x128xELEMENT> to tensor<?x?xELEMENT>
  %r = tensor.insert_slice %part into %y[1, 0, 0] [1, %rows, %columns] [1, 1, 1] : tensor<?x?xELEMENT> into tensor<?x32x128xELEMENT>
)mlir";

namespace {

class FillSectorsTest : public ::testing::Test {
protected:
  FillSectorsTest() { loadHandlerDialects(context); }

  /// Leaves in `stores` how many stores the functions have.
  std::unique_ptr<ExecutionEngine> compile(ModuleOp module) {
    stores = 0;
    module.walk([&](LLVM::StoreOp op) { ++stores; });
    return makeEngine(module, {{"dfk_thread", dfk_thread},
                               {"dfk_warp", dfk_warp},
                               {"dfk_transpose", sectorTranspose},
                               {"dfk_shuffle_xor", dfk_shuffle_xor}});
  }

  /// Stores the tile, or its first `rows` and `columns`, and compares. Leaves
  /// in `stores` how many stores a thread has, and in `numShuffles` the
  /// shuffles of all threads.
  template <typename T>
  void store(std::string layout, std::string element, bool part = false,
             int64_t rows = kNumRows, int64_t columns = kNumColumns) {
    auto third = [](int64_t extent) {
      return std::to_string((extent + 2) / 3);
    };
    std::string text = replaced(kHandler, {{"STORE", part ? kPart : kWhole},
                                           {"LAYOUT", layout},
                                           {"ELEMENT", element},
                                           {"ROWS", third(rows)},
                                           {"COLUMNS", third(columns)}});
    OwningOpRef<ModuleOp> module =
        lowerFragments(text, "put", /*operands=*/0, context);
    ASSERT_TRUE(module);
    std::unique_ptr<ExecutionEngine> engine = compile(*module);
    ASSERT_TRUE(engine);
    RunFunction run = findRun(*engine);
    ASSERT_TRUE(run);
    constexpr int64_t size = kNumRows * kNumColumns;
    alignas(16) static T y[3 * size];
    std::fill_n(y, 3 * size, T(-1));
    struct {
      T *allocated, *aligned;
      int64_t offset, sizes[3], strides[3];
    } descriptor = {
        y, y, 0, {3, kNumRows, kNumColumns}, {size, kNumColumns, 1}};
    void *packed[] = {&descriptor, nullptr};
    numTransposed = 0;
    ASSERT_TRUE(
        runTogether(kNumThreads, Order::shuffled, [&] { run(packed); }));
    numShuffles = countShuffles();
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(y[i], T(-1)) << i;
      bool inside = i / kNumColumns < rows && i % kNumColumns < columns;
      ASSERT_EQ(y[size + i], inside ? T(i) : T(-1)) << i;
      ASSERT_EQ(y[2 * size + i], T(-1)) << i;
    }
  }

  MLIRContext context;
  unsigned stores = 0, numShuffles = 0;
};

} // namespace

TEST_F(FillSectorsTest, AccumulatorAcrossRows) {
  // 32 elements a thread, in stores of four; pairs are transposed, and half of
  // them exchanged.
  store<int16_t>("accumulator [32, 128] m 1", "i16");
  EXPECT_EQ(stores, 8u);
  EXPECT_EQ(numTransposed, kNumThreads * 16);
  EXPECT_EQ(numShuffles, kNumThreads * 8);
}

TEST_F(FillSectorsTest, NarrowSlices) {
  // A field that memory has in f16, cut into slices of 8 columns: a lane has
  // half of a row of a slice, and lanes together have rows, between which
  // nothing lies.
  const char *text = R"mlir(
#tile = #dataflow.fragment<accumulator [32, 128] m 1>
func.func @make() -> tensor<32x128xf32, #tile> {
  %empty = tensor.empty() : tensor<32x128xf32, #tile>
  %numbers = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<32x128xf32, #tile>) {
  ^bb0(%o: f32):
    %c128 = arith.constant 128 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %c128 : index
    %number = arith.addi %row, %j : index
    %n = arith.index_cast %number : index to i32
    %e = arith.sitofp %n : i32 to f32
    linalg.yield %e : f32
  } -> tensor<32x128xf32, #tile>
  return %numbers : tensor<32x128xf32, #tile>
}
)mlir";
  auto source = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(source);
  df::HandlerFunction function;
  function.symbol = "make";
  function.body = &source->lookupSymbol<func::FuncOp>("make").getBody();
  function.fragments = true;
  function.output.emplace();
  dfrt::Record &record = *function.output;
  record.fields.resize(1);
  record.fields[0].shape = {kNumRows, kNumColumns};
  record.fields[0].separable = 1;
  record.slices = kNumColumns / 8;
  ASSERT_TRUE(dfrt::layoutRecord(record));
  function.narrow = dfrt::ElementType::f16;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  ASSERT_TRUE(succeeded(df::convertHandlersToLLVM(
      {function}, df::HandlerTarget::device, *module)));
  addRun(*module, "make", context);
  std::unique_ptr<ExecutionEngine> engine = compile(*module);
  EXPECT_EQ(stores, 8u);
  ASSERT_TRUE(engine);
  RunFunction run = findRun(*engine);
  ASSERT_TRUE(run);
  constexpr int64_t size = 2 * kNumRows * kNumColumns;
  alignas(16) static uint16_t y[size];
  std::fill_n(y, size, uint16_t(0xffff));
  void *packed[] = {nullptr, y, nullptr};
  ASSERT_TRUE(runTogether(kNumThreads, Order::shuffled, [&] { run(packed); }));
  int64_t pitch = int64_t(record.sliceBytes / 2);
  ASSERT_EQ(pitch, 2 * 8 * kNumRows);
  for (int64_t i = 0; i < size; ++i) {
    int64_t within = i % pitch;
    if (within >= pitch / 2) {
      EXPECT_EQ(y[i], 0xffff) << i;
      continue;
    }
    int64_t number = within / 8 * kNumColumns + i / pitch * 8 + within % 8;
    llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, y[i]));
    llvm::APFloat expected{float(number)};
    bool loses;
    expected.convert(llvm::APFloat::IEEEhalf(),
                     llvm::APFloat::rmNearestTiesToEven, &loses);
    EXPECT_TRUE(value.bitwiseIsEqual(expected)) << i;
  }
}

TEST_F(FillSectorsTest, WholeSectorsStay) {
  // Lanes have the 32 bytes of a sector together already.
  store<int32_t>("accumulator [32, 128] m 1", "i32");
  EXPECT_EQ(stores, 32u);
  EXPECT_EQ(numShuffles, 0u);
  store<int16_t>("[32, 128] block [4, 128] registers [1:1, 1:2] lanes [1:4, "
                 "1:8, 1:16, 1:32, 1:64] warps [0:1, 0:2]",
                 "i16");
  EXPECT_EQ(stores, 8u);
  EXPECT_EQ(numShuffles, 0u);
}

TEST_F(FillSectorsTest, AccumulatorAlongRows) {
  // Lanes have 16 bytes, and go on in the next block of the tile: it is a
  // register's bit as those within the block are.
  store<int16_t>("[32, 128] block [16, 8] registers [1:1, 0:8] lanes [1:2, "
                 "1:4, 0:1, 0:2, 0:4] warps [_, _]",
                 "i16");
  EXPECT_EQ(stores, 16u);
  EXPECT_EQ(numTransposed, 0u);
  EXPECT_EQ(numShuffles, kNumThreads * 64);
}

TEST_F(FillSectorsTest, HalvesOfSectorsStay) {
  // Lanes have 16 bytes, and another warp what follows: nothing is moved for
  // nothing.
  store<int16_t>("[32, 128] block [2, 128] registers [1:1] lanes [1:2, 1:4, "
                 "1:32, 1:64, 0:1] warps [1:8, 1:16]",
                 "i16");
  EXPECT_EQ(numTransposed, 0u);
  EXPECT_EQ(numShuffles, 0u);
}

TEST_F(FillSectorsTest, OtherOrders) {
  // What a lane has lies far apart along the rows.
  store<int16_t>("[32, 128] block [4, 128] registers [1:64, 1:32] lanes [1:1, "
                 "1:2, 1:4, 1:8, 1:16] warps [0:1, 0:2]",
                 "i16");
  EXPECT_EQ(numShuffles, 0u);
  store<int16_t>("[32, 128] block [32, 32] registers [0:16, 1:8, 0:8] lanes "
                 "[0:1, 1:4, 1:1, 0:2, 1:2] warps [0:4, 1:16]",
                 "i16");
  EXPECT_EQ(stores, 4u);
  EXPECT_EQ(numTransposed, 0u);
  EXPECT_EQ(numShuffles, kNumThreads * 24);
  store<int16_t>("[32, 128] block [32, 64] registers [0:16, 1:32, 1:16, 1:8] "
                 "lanes [0:1, 1:4, 1:1, 0:2, 1:2] warps [0:4, 0:8]",
                 "i16");
  EXPECT_EQ(stores, 4u);
}

TEST_F(FillSectorsTest, Parts) {
  // What is stored of a tile may be less than the tile, or all of it: then
  // there are as many stores as for a tile without a limit.
  const char *layout = "accumulator [32, 128] m 1";
  store<int16_t>(layout, "i16", /*part=*/true);
  EXPECT_EQ(stores, 8u + 32u);
  EXPECT_EQ(numTransposed, kNumThreads * 16);
  store<int16_t>(layout, "i16", /*part=*/true, 21, kNumColumns);
  store<int16_t>(layout, "i16", /*part=*/true, kNumRows, 51);
  store<int16_t>(layout, "i16", /*part=*/true, 3, 3);
}
