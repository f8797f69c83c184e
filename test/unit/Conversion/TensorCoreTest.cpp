//===- TensorCoreTest.cpp - Shared tiles and products ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lib/Conversion/FragmentsToNVVM writes for products, staging, loads and
// padding of shared tiles, run on a model of the hardware. Numbers are small
// integers, so that every result is exact.
//
//===----------------------------------------------------------------------===//

#include "TensorCore.h"

#include "Wgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;
using tensorcore::decode;
using tensorcore::encode;
using tensorcore::Machine;

namespace {

/// A small integer for each place of a matrix.
double number(int64_t row, int64_t column, int64_t seed) {
  return double((row * 7 + column * 5 + row * column % 3 + seed) % 5 - 2);
}

class TensorCore : public testing::Test {
protected:
  TensorCore() {
    context
        .loadDialect<arith::ArithDialect, scf::SCFDialect, LLVM::LLVMDialect>();
    f32 = Float32Type::get(&context);
    f16 = Float16Type::get(&context);
    bf16 = BFloat16Type::get(&context);
    e4m3 = Float8E4M3FNType::get(&context);
    e5m2 = Float8E5M2Type::get(&context);
    i32 = IntegerType::get(&context, 32);
    block = module->getBody();
    builder.setInsertionPointToEnd(block);
  }

  Value argument(Type type) {
    return block->addArgument(type, builder.getUnknownLoc());
  }

  /// A window of a tile at `address`, with arguments of the code.
  Window window(int64_t rows, int64_t columns, Type element, unsigned swizzle,
                AtomOrder order) {
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    auto layout = SharedLayout::get({rows, columns}, bytes, swizzle, order);
    EXPECT_TRUE(layout.has_value());
    return {*layout, argument(i32), rows, columns, bytes};
  }

  /// Gives the machine the thread's numbers and the addresses.
  void begin(Machine &machine) {
    machine.set(thread.lane, [](unsigned t) { return t % 32; });
    machine.set(thread.warp, [](unsigned t) { return t / 32 % 4; });
    machine.set(thread.group, [](unsigned t) { return t / 128; });
  }

  void place(Machine &machine, const Window &window, uint64_t address,
             Type element, llvm::function_ref<double(int64_t, int64_t)> value) {
    machine.set(window.address, [&](unsigned) { return address; });
    for (int64_t row = 0; row != window.rows; ++row)
      for (int64_t column = 0; column != window.columns; ++column)
        machine.store(address + window.layout.byteOffset(row, column,
                                                         window.elementBytes),
                      window.elementBytes, encode(element, value(row, column)));
  }

  /// Registers of a tile, as arguments.
  SmallVector<Value> registers(const FragmentLayout &layout, Type element) {
    SmallVector<Value> values;
    for (unsigned i = 0; i != layout.registers(); ++i)
      values.push_back(argument(element));
    return values;
  }

  void fill(Machine &machine, const FragmentLayout &layout, ValueRange values,
            Type element, llvm::function_ref<double(int64_t, int64_t)> value) {
    for (auto [reg, held] : llvm::enumerate(values))
      machine.set(held, [&, reg = reg](unsigned t) {
        auto at =
            layout.coordinates(unsigned(reg), t % 32, t / 32 % 4, t / 128);
        return encode(element, value(at[0], at[1]));
      });
  }

  void expect(const Machine &machine, const FragmentLayout &layout,
              ValueRange values, Type element,
              llvm::function_ref<double(int64_t, int64_t)> value) {
    ASSERT_EQ(values.size(), layout.registers());
    unsigned wrong = 0;
    for (auto [reg, held] : llvm::enumerate(values))
      for (unsigned t = 0; t != machine.threads; ++t) {
        auto at =
            layout.coordinates(unsigned(reg), t % 32, t / 32 % 4, t / 128);
        double got = decode(element, machine.get(held, t));
        double want = value(at[0], at[1]);
        if (got != want && ++wrong < 4)
          ADD_FAILURE() << "(" << at[0] << ", " << at[1] << ") is " << got
                        << ", expected " << want;
      }
    EXPECT_EQ(wrong, 0u);
  }

  void noProblems(const Machine &machine) {
    for (const std::string &problem : machine.problems) {
      ADD_FAILURE() << problem;
      break;
    }
  }

  struct Case {
    int64_t m, n, k;
    Type element;
    unsigned aContract = 1, bContract = 1;
    unsigned swizzle = 128;
    AtomOrder order = AtomOrder::rows;
    bool registersA = false, zero = false, transposed = false;
    bool twice = false; ///< beside another one
    unsigned groups = 1;
    DotSplit split = DotSplit::m;
    Type accumulator = {};
  };
  /// Makes the product of a case, runs it, and compares all elements.
  void product(const Case &c);

  MLIRContext context;
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  Block *block;
  Type f32, f16, bf16, e4m3, e5m2, i32;
  Thread thread;
};

void TensorCore::product(const Case &c) {
  block->clear();
  block->eraseArguments(0, block->getNumArguments());
  builder.setInsertionPointToEnd(block);
  thread = {argument(i32), argument(i32), argument(i32)};
  Type accumulator = c.accumulator ? c.accumulator : f32;
  unsigned mDim = c.transposed ? 1 : 0;
  SmallVector<int64_t, 2> shape = {c.m, c.n};
  if (c.transposed)
    std::swap(shape[0], shape[1]);
  auto layout = FragmentLayout::accumulator(shape, mDim, c.groups, c.split);
  ASSERT_TRUE(layout.has_value());

  Product p;
  p.layout = *layout;
  p.element = accumulator;
  p.a.element = p.b.element = c.element;
  p.a.contract = c.aContract;
  p.b.contract = c.bContract;
  SmallVector<Value> aRegisters, initial;
  auto shapeOf = [](unsigned contract, int64_t rows, int64_t k) {
    SmallVector<int64_t, 2> shape = {rows, k};
    if (contract == 0)
      std::swap(shape[0], shape[1]);
    return shape;
  };
  SmallVector<int64_t, 2> aShape = shapeOf(c.aContract, c.m, c.k);
  SmallVector<int64_t, 2> bShape = shapeOf(c.bContract, c.n, c.k);
  if (c.registersA) {
    auto held = FragmentLayout::registerA(aShape, 1 - c.aContract,
                                          c.element.getIntOrFloatBitWidth() / 8,
                                          c.groups, c.split);
    ASSERT_TRUE(held.has_value());
    p.a.layout = *held;
    aRegisters = registers(*held, c.element);
    p.a.registers = aRegisters;
  } else {
    p.a.window = window(aShape[0], aShape[1], c.element, c.swizzle, c.order);
  }
  p.b.window = window(bShape[0], bShape[1], c.element, c.swizzle, c.order);
  if (!c.zero) {
    initial = registers(*layout, accumulator);
    p.initial = initial;
  }
  auto reason = checkProduct(p, mDim);
  ASSERT_FALSE(reason.has_value()) << *reason;
  Assembly assembly(builder, builder.getUnknownLoc());
  // The second goes on while the first is waited for.
  RunningProduct running = beginProduct(assembly, thread.group, p);
  std::optional<RunningProduct> other;
  if (c.twice)
    other = beginProduct(assembly, thread.group, p);
  SmallVector<Value> results = endProduct(assembly, running, c.twice), second;
  if (other)
    second = endProduct(assembly, *other, 0);

  Machine machine(c.groups);
  begin(machine);
  auto a = [&](int64_t row, int64_t column) { return number(row, column, 1); };
  auto b = [&](int64_t row, int64_t column) { return number(row, column, 3); };
  auto d = [&](int64_t row, int64_t column) { return number(row, column, 0); };
  if (c.registersA)
    fill(machine, p.a.layout, aRegisters, c.element, a);
  else
    place(machine, *p.a.window, 4096, c.element, a);
  place(machine, *p.b.window, 131072 + 2048, c.element, b);
  if (!c.zero)
    fill(machine, *layout, initial, accumulator, d);
  machine.run(*block);
  noProblems(machine);
  auto expected = [&](int64_t row, int64_t column) {
    int64_t m = c.transposed ? column : row;
    int64_t n = c.transposed ? row : column;
    double sum = c.zero ? 0 : d(row, column);
    for (int64_t k = 0; k != c.k; ++k)
      sum += (c.aContract == 1 ? a(m, k) : a(k, m)) *
             (c.bContract == 1 ? b(n, k) : b(k, n));
    return sum;
  };
  expect(machine, *layout, results, accumulator, expected);
  if (other)
    expect(machine, *layout, second, accumulator, expected);
}

} // namespace

TEST_F(TensorCore, ProductsFromSharedMemory) {
  for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns})
    for (unsigned swizzle : {128u, 64u, 32u})
      for (bool zero : {false, true}) {
        Case c{64, 32, 192, f16};
        c.order = order;
        c.swizzle = swizzle;
        c.zero = zero;
        product(c);
      }
  product({64, 32, 576, f16});
  product({128, 8, 64, bf16});
  product({64, 256, 64, bf16});
}

TEST_F(TensorCore, ProductsBesideOthers) {
  for (bool zero : {false, true}) {
    Case c{64, 32, 192, f16};
    c.zero = zero;
    c.twice = true;
    product(c);
  }
}

TEST_F(TensorCore, ProductsWithManyColumns) {
  product({64, 264, 64, f16});
  product({64, 576, 64, f16});
  Case c{64, 384, 64, f16};
  c.bContract = 0;
  product(c);
}

TEST_F(TensorCore, ProductsOfTransposedOperands) {
  for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns})
    for (unsigned swizzle : {128u, 64u, 32u})
      for (unsigned contracts : {1u, 2u, 3u}) {
        Case c{128, 192, 64, f16};
        c.aContract = contracts & 1 ? 0 : 1;
        c.bContract = contracts & 2 ? 0 : 1;
        c.order = order;
        c.swizzle = swizzle;
        product(c);
      }
  Case c{512, 32, 64, f16};
  c.aContract = 0;
  c.transposed = true;
  product(c);
}

TEST_F(TensorCore, ProductsFromRegisters) {
  for (Type element : {f16, bf16, e4m3, e5m2, f32})
    for (bool transposed : {false, true}) {
      Case c{128, 40, 128, element};
      c.registersA = true;
      c.transposed = transposed;
      product(c);
    }
  Case c{64, 64, 64, f16};
  c.registersA = true;
  c.aContract = 0;
  c.bContract = 0;
  product(c);
}

TEST_F(TensorCore, ProductsOfOtherTypes) {
  for (Type element : {e4m3, e5m2, f32})
    for (unsigned swizzle : {128u, 64u, 32u}) {
      Case c{64, 48, 128, element};
      c.swizzle = swizzle;
      product(c);
    }
  for (Type element : {f16, e4m3})
    for (bool zero : {false, true}) {
      Case c{128, 48, 128, element};
      c.accumulator = f16;
      c.zero = zero;
      product(c);
    }
}

TEST_F(TensorCore, ProductsOfSeveralWarpgroups) {
  for (unsigned groups : {2u, 4u})
    for (DotSplit split : {DotSplit::m, DotSplit::n})
      for (unsigned form : {0u, 1u, 2u, 3u}) {
        Case c{256, 256, 64, f16};
        c.groups = groups;
        c.split = split;
        c.aContract = form == 1 || form == 3 ? 0 : 1;
        c.bContract = form == 2 || form == 3 ? 0 : 1;
        c.transposed = form & 1;
        product(c);
        if (form == 0) {
          c.registersA = true;
          product(c);
        }
      }
}

namespace {

/// Layouts of a tile of two dimensions that stand for all ways to move it.
std::vector<FragmentLayout> layoutsOf(ArrayRef<int64_t> shape, unsigned groups,
                                      unsigned elementBytes) {
  std::vector<FragmentLayout> layouts;
  for (unsigned mDim : {0u, 1u})
    for (DotSplit split : {DotSplit::m, DotSplit::n}) {
      if (auto layout = FragmentLayout::accumulator(shape, mDim, groups, split))
        layouts.push_back(*layout);
      if (auto layout = FragmentLayout::registerA(shape, mDim, elementBytes,
                                                  groups, split))
        layouts.push_back(*layout);
    }
  layouts.push_back(FragmentLayout::blocked(shape, 4, groups, elementBytes));
  layouts.push_back(
      FragmentLayout::blocked({shape[1], shape[0]}, 4, groups, elementBytes)
          .permute({1, 0}));
  return layouts;
}

} // namespace

TEST_F(TensorCore, StagedTilesComeBack) {
  Machine counter(1);
  for (Type element : {f16, bf16, f32, e4m3})
    for (unsigned swizzle : {128u, 64u, 32u, 0u})
      for (auto [rows, columns] :
           {std::pair<int64_t, int64_t>{32, 64}, {64, 128}, {128, 96}})
        for (unsigned groups : {1u, 2u}) {
          unsigned bytes = element.getIntOrFloatBitWidth() / 8;
          auto shared = SharedLayout::get({rows, columns}, bytes, swizzle,
                                          groups == 1 ? AtomOrder::rows
                                                      : AtomOrder::columns);
          if (!shared)
            continue;
          for (const FragmentLayout &layout :
               layoutsOf({rows, columns}, groups, bytes)) {
            block->clear();
            block->eraseArguments(0, block->getNumArguments());
            builder.setInsertionPointToEnd(block);
            thread = {argument(i32), argument(i32), argument(i32)};
            Window tile{*shared, argument(i32), rows, columns, bytes};
            ASSERT_FALSE(checkAccess(layout, tile).has_value());
            SmallVector<Value> values = registers(layout, element);
            Assembly assembly(builder, builder.getUnknownLoc());
            storeShared(assembly, thread, layout, values, tile);
            SmallVector<Value> back =
                loadShared(assembly, thread, layout, element, tile);

            auto held = [&](int64_t row, int64_t column) {
              return number(row, column, 1);
            };
            Machine machine(groups);
            begin(machine);
            machine.set(tile.address, [](unsigned) { return 8192; });
            fill(machine, layout, values, element, held);
            machine.run(*block);
            noProblems(machine);
            unsigned wrong = 0;
            for (int64_t row = 0; row != rows; ++row)
              for (int64_t column = 0; column != columns; ++column)
                wrong +=
                    decode(element, machine.load(8192 + shared->byteOffset(
                                                            row, column, bytes),
                                                 bytes)) != held(row, column);
            EXPECT_EQ(wrong, 0u);
            expect(machine, layout, back, element, held);
            for (auto [name, count] : machine.counts)
              counter.counts[name] += count;
          }
        }
  // Each way was taken.
  for (const char *name : {"stmatrix.sync.aligned.m8n8.x4.shared.b16",
                           "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                           "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                           "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                           "store1", "store4", "store8", "store16", "load16"})
    EXPECT_GT(counter.counts[name], 0u) << name;
}

/// A tile of 32 x 64 elements of an accumulator takes two instructions.
TEST_F(TensorCore, StagingTakesFewInstructions) {
  thread = {argument(i32), argument(i32), argument(i32)};
  Window tile = window(32, 64, f16, 128, AtomOrder::rows);
  auto layout = FragmentLayout::accumulator({32, 64}, 1);
  SmallVector<Value> values = registers(*layout, f16);
  Assembly assembly(builder, builder.getUnknownLoc());
  storeShared(assembly, thread, *layout, values, tile);
  unsigned instructions = 0;
  for (auto op : block->getOps<LLVM::InlineAsmOp>()) {
    ++instructions;
    EXPECT_TRUE(op.getAsmString().starts_with(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "));
  }
  EXPECT_EQ(instructions, 2u);
}

TEST_F(TensorCore, RowsBehindTheValidOnesAreZero) {
  for (unsigned swizzle : {128u, 64u, 0u})
    for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns})
      for (unsigned groups : {1u, 2u})
        for (unsigned valid : {0u, 1u, 13u, 63u, 64u}) {
          block->clear();
          block->eraseArguments(0, block->getNumArguments());
          builder.setInsertionPointToEnd(block);
          thread = {argument(i32), argument(i32), argument(i32)};
          Window tile = window(64, 192, f16, swizzle, order);
          Value first = argument(i32), own = argument(i32);
          Assembly assembly(builder, builder.getUnknownLoc());
          zeroRows(assembly, own, assembly.constant(128 * groups), tile, first);
          Machine machine(groups);
          begin(machine);
          machine.set(first, [&](unsigned) { return valid; });
          machine.set(own, [](unsigned t) { return t; });
          auto held = [&](int64_t row, int64_t column) {
            return 3 + number(row, column, 1);
          };
          // What lies around the tile stays.
          std::fill(machine.memory.begin(), machine.memory.end(), 0x77);
          place(machine, tile, 8192, f16, held);
          machine.run(*block);
          noProblems(machine);
          unsigned wrong = 0;
          for (int64_t row = 0; row != 64; ++row)
            for (int64_t column = 0; column != 192; ++column) {
              uint64_t at = 8192 + tile.layout.byteOffset(row, column, 2);
              double want = row < valid ? held(row, column) : 0;
              wrong += decode(f16, machine.load(at, 2)) != want;
            }
          EXPECT_EQ(wrong, 0u);
          EXPECT_EQ(machine.memory[8191], 0x77);
          EXPECT_EQ(machine.memory[8192 + 64 * 192 * 2], 0x77);
        }
}

TEST_F(TensorCore, ProductsThatHaveNoInstruction) {
  thread = {argument(i32), argument(i32), argument(i32)};
  Product p;
  p.layout = *FragmentLayout::accumulator({64, 32}, 0);
  p.element = f32;
  p.a.element = p.b.element = f16;
  p.a.window = window(64, 64, f16, 128, AtomOrder::rows);
  p.b.window = window(32, 64, f16, 128, AtomOrder::rows);
  EXPECT_EQ(checkProduct(p, 0), std::nullopt);
  auto reason = [&](const Product &p) {
    return checkProduct(p, 0).value_or("");
  };
  EXPECT_NE(checkProduct(p, 1).value_or("").find("along dimension 1"),
            std::string::npos);
  Product q = p;
  q.a.element = bf16;
  EXPECT_NE(reason(q).find("operands' element types"), std::string::npos);
  q.b.element = bf16;
  EXPECT_EQ(reason(q), "");
  q.element = f16;
  EXPECT_NE(reason(q).find("accumulator's element type"), std::string::npos);
  q = p;
  q.layout = FragmentLayout::blocked({64, 32}, 4, 1, 4);
  EXPECT_NE(reason(q).find("as an accumulator"), std::string::npos);
  q = p;
  q.b.window = window(32, 128, f16, 128, AtomOrder::rows);
  EXPECT_EQ(reason(q), "the contracted extents are 64 and 128, expected the "
                       "same multiple of 16");
  q = p;
  q.b.window = window(32, 64, f16, 0, AtomOrder::rows);
  EXPECT_EQ(reason(q), "operand b is not swizzled");
  q = p;
  q.a.element = q.b.element = e4m3;
  q.a.window = window(64, 128, e4m3, 128, AtomOrder::rows);
  q.b.window = window(128, 32, e4m3, 32, AtomOrder::rows);
  q.b.contract = 0;
  EXPECT_EQ(reason(q), "operand b contracts dimension 0, expected 1 for "
                       "elements of 1 bytes");
  q = p;
  q.b.window.reset();
  EXPECT_EQ(reason(q), "operand b is not in shared memory");
  q = p;
  q.a.window.reset();
  q.a.layout = FragmentLayout::blocked({64, 64}, 4, 1, 2);
  EXPECT_NE(reason(q).find("operand a does not lie in registers"),
            std::string::npos);
}
