//===- TensorCoreCodeTest.cpp - Products as the assembler sees them -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops with products, assembled: nothing may be spilled, and the assembler may
// not serialise the products. docs/rationale/fragments.md says what it needs.
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"

#include "dataflow/Target/PTX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

namespace {

/// A kernel of one warpgroup with arguments (output: global pointer, count and
/// base: i32, scale: f32).
class Kernel {
public:
  explicit Kernel(MLIRContext &context)
      : builder(&context), loc(builder.getUnknownLoc()),
        assembly(builder, loc) {
    DialectRegistry registry;
    registerPTXTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                        NVVM::NVVMDialect, scf::SCFDialect>();
    f32 = builder.getF32Type();
    f16 = builder.getF16Type();
    i32 = builder.getI32Type();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto device = gpu::GPUModuleOp::create(builder, loc, "m");
    builder.setInsertionPointToStart(&device.getBodyRegion().front());
    auto global = LLVM::LLVMPointerType::get(&context, 1);
    auto function = LLVM::LLVMFuncOp::create(
        builder, loc, "k",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                    {global, global, i32, f32}));
    function->setAttr("nvvm.kernel", builder.getUnitAttr());
    function->setAttr("nvvm.reqntid",
                      builder.getDenseI32ArrayAttr({256, 1, 1}));
    function->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
    Block *entry = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    output = function.getArgument(0);
    counts = function.getArgument(1);
    base = function.getArgument(2);
    scale = function.getArgument(3);
    Value tid = NVVM::ThreadIdXOp::create(builder, loc, i32);
    thread.lane = assembly.bitAnd(tid, 31);
    thread.warp = uniform(assembly.shiftRight(tid, 5));
    thread.group = assembly.constant(0);
    number = tid;
  }

  /// A value of a warp, which the assembler knows to be one.
  Value uniform(Value value) {
    return assembly.run("redux.sync.or.b32 $0, $1, 0xffffffff;", i32, value)[0];
  }
  void sync() { assembly.run("bar.sync 1, 128;"); }
  void fenceAsync() { assembly.run("fence.proxy.async.shared::cta;"); }

  Value loadCount(Value at) {
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), at);
    Value place = LLVM::GEPOp::create(builder, loc, counts.getType(), i32,
                                      counts, ArrayRef<LLVM::GEPArg>{wide});
    return uniform(LLVM::LoadOp::create(builder, loc, i32, place));
  }
  void store(ValueRange values, Value row) {
    for (auto [position, value] : llvm::enumerate(values)) {
      Value at =
          assembly.add(assembly.add(assembly.multiply(row, 65536), number),
                       int64_t(position) * 128);
      Value wide =
          arith::ExtUIOp::create(builder, loc, builder.getI64Type(), at);
      Value place = LLVM::GEPOp::create(builder, loc, output.getType(), f32,
                                        output, ArrayRef<LLVM::GEPArg>{wide});
      LLVM::StoreOp::create(builder, loc, value, place);
    }
  }
  SmallVector<Value>
  loop(Value count, ValueRange initial,
       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto op = scf::ForOp::create(
        builder, loc, assembly.constant(0), count, assembly.constant(1),
        initial, [](OpBuilder &, Location, Value, ValueRange) {});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(op.getBody());
    SmallVector<Value> next =
        body(op.getInductionVar(), op.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, next);
    return SmallVector<Value>(op.getResults());
  }
  Value zero() {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(f32, 0.0));
  }
  Value exp2(Value x) {
    return LLVM::CallIntrinsicOp::create(
               builder, loc, f32,
               builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
               ValueRange(x))
        .getResults();
  }
  Window tile(Value address, ArrayRef<int64_t> shape, AtomOrder order) {
    return {*SharedLayout::get(shape, 2, 128, order), address, shape[0],
            shape[1], 2};
  }

  /// What the assembler says.
  CubinResult assemble() {
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    CubinResult result;
    PTXOptions options;
    options.features = "+ptx86";
    FailureOr<PTXText> ptx = compileToPTX(&module->getBody()->front(), options);
    if (failed(ptx)) {
      result.problem = "no PTX";
      return result;
    }
    text = ptx->text;
    auto results = assembleToCubin(*ptx, PtxasOptions());
    if (!results) {
      llvm::consumeError(results.takeError());
      result.problem = "no assembler";
      return result;
    }
    return results->front();
  }

  OpBuilder builder;
  Location loc;
  Assembly assembly;
  OwningOpRef<ModuleOp> module;
  Type f32, f16, i32;
  Thread thread;
  Value number, output, counts, base, scale;
  std::string text;
};

/// Expects a kernel without remarks and spills; skips without an assembler.
void expectClean(Kernel &kernel) {
  CubinResult result = kernel.assemble();
  if (result.problem == "no assembler")
    GTEST_SKIP() << "ptxas was not found";
  ASSERT_EQ(result.problem, "");
  for (const StrictFinding &finding : strictFindings(result.report))
    ADD_FAILURE() << finding.text;
  for (const PtxasFunction &function : result.report.functions) {
    EXPECT_EQ(function.spillLoadBytes, 0u);
    EXPECT_EQ(function.stackBytes, 0u);
    testing::Test::RecordProperty("registers", int(function.registers));
  }
  for (const PtxasRemark &remark : result.report.remarks)
    ADD_FAILURE() << remark.text;
}

} // namespace

/// Two products and a staged tile between them, in a loop of its own count in a
/// loop: the second product's accumulator is carried, and seldom scaled.
TEST(TensorCoreCode, TwoProductsWithAStagedTile) {
  MLIRContext context;
  Kernel kernel(context);
  Assembly &assembly = kernel.assembly;
  OpBuilder &builder = kernel.builder;
  Location loc = kernel.loc;
  FragmentLayout scores = *FragmentLayout::accumulator({32, 64}, 1);
  FragmentLayout sums = *FragmentLayout::accumulator({32, 512}, 1);
  Value segments = kernel.loadCount(assembly.constant(0));
  kernel.loop(segments, {}, [&](Value segment, ValueRange) {
    Value count = kernel.loadCount(assembly.add(segment, 1));
    SmallVector<Value> initial(sums.registers() + 1, kernel.zero());
    SmallVector<Value> results =
        kernel.loop(count, initial, [&](Value turn, ValueRange carried) {
          Value slot = assembly.bitAnd(turn, 1);
          Value ring =
              assembly.add(kernel.base, assembly.multiply(slot, 73728));
          Value staged = assembly.add(assembly.add(kernel.base, 180224),
                                      assembly.multiply(slot, 4096));
          Window keys = kernel.tile(ring, {64, 576}, AtomOrder::rows);
          Product first;
          first.layout = scores;
          first.element = kernel.f32;
          first.a.element = first.b.element = kernel.f16;
          first.a.window = keys;
          first.b.window = kernel.tile(assembly.add(kernel.base, 147456),
                                       {32, 576}, AtomOrder::columns);
          EXPECT_FALSE(checkProduct(first, 1).has_value());
          SmallVector<Value> s = multiply(assembly, kernel.thread.group, first);
          Value least = carried.back();
          SmallVector<Value> p, narrow;
          for (Value value : s) {
            Value scaled =
                arith::MulFOp::create(builder, loc, value, kernel.scale);
            least = arith::MinNumFOp::create(builder, loc, least, scaled);
            p.push_back(kernel.exp2(scaled));
          }
          for (size_t i = 0; i != p.size(); i += 2) {
            auto vector = VectorType::get(2, kernel.f32);
            Value pair = LLVM::PoisonOp::create(builder, loc, vector);
            for (size_t j = 0; j != 2; ++j)
              pair = LLVM::InsertElementOp::create(builder, loc, pair, p[i + j],
                                                   assembly.constant(j));
            Value halves = LLVM::FPTruncOp::create(
                builder, loc, VectorType::get(2, kernel.f16), pair);
            for (size_t j = 0; j != 2; ++j)
              narrow.push_back(LLVM::ExtractElementOp::create(
                  builder, loc, halves, assembly.constant(j)));
          }
          Window weights = kernel.tile(staged, {32, 64}, AtomOrder::rows);
          storeShared(assembly, kernel.thread, scores, narrow, weights);
          kernel.fenceAsync();
          kernel.sync();
          // Seldom.
          Value rare = arith::CmpFOp::create(
              builder, loc, arith::CmpFPredicate::OLT, least, kernel.zero());
          Value word = arith::ExtUIOp::create(builder, loc, kernel.i32, rare);
          Value vote = NVVM::VoteSyncOp::create(
              builder, loc, builder.getI1Type(), assembly.constant(-1),
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                    word, assembly.constant(0)),
              NVVM::VoteSyncKind::any);
          SmallVector<Value> old(carried.drop_back());
          auto branch = scf::IfOp::create(
              builder, loc, TypeRange(ValueRange(old)), vote, true);
          {
            OpBuilder::InsertionGuard guard(builder);
            builder.setInsertionPointToStart(branch.thenBlock());
            SmallVector<Value> scaled;
            for (Value value : old)
              scaled.push_back(
                  arith::MulFOp::create(builder, loc, value, kernel.scale));
            scf::YieldOp::create(builder, loc, scaled);
            builder.setInsertionPointToStart(branch.elseBlock());
            scf::YieldOp::create(builder, loc, old);
          }
          Product second;
          second.layout = sums;
          second.element = kernel.f32;
          second.a.element = second.b.element = kernel.f16;
          second.a.contract = 0;
          second.a.window = keys;
          second.a.window->columns = 512;
          second.b.window = weights;
          second.initial = branch.getResults();
          EXPECT_FALSE(checkProduct(second, 1).has_value());
          SmallVector<Value> o =
              multiply(assembly, kernel.thread.group, second);
          o.push_back(least);
          return o;
        });
    kernel.store(results, segment);
    return SmallVector<Value>();
  });
  expectClean(kernel);
  // Pairs are rounded together.
  EXPECT_NE(kernel.text.find("cvt.rn.f16x2.f32"), std::string::npos);
  EXPECT_EQ(kernel.text.find("cvt.rn.f16.f32"), std::string::npos);
}

/// A wide accumulator, carried through a loop that begins with zero.
TEST(TensorCoreCode, WideProduct) {
  MLIRContext context;
  Kernel kernel(context);
  Assembly &assembly = kernel.assembly;
  FragmentLayout layout = *FragmentLayout::accumulator({64, 256}, 0);
  Value tiles = kernel.loadCount(assembly.constant(0));
  kernel.loop(tiles, {}, [&](Value tile, ValueRange) {
    Value count = kernel.loadCount(assembly.add(tile, 1));
    SmallVector<Value> initial(layout.registers(), kernel.zero());
    SmallVector<Value> results =
        kernel.loop(count, initial, [&](Value turn, ValueRange carried) {
          Value stage = assembly.add(
              kernel.base, assembly.multiply(assembly.bitAnd(turn, 3), 40960));
          Product product;
          product.layout = layout;
          product.element = kernel.f32;
          product.a.element = product.b.element = kernel.f16;
          product.a.window = kernel.tile(stage, {64, 64}, AtomOrder::columns);
          product.b.window = kernel.tile(assembly.add(stage, 8192), {256, 64},
                                         AtomOrder::columns);
          product.initial = carried;
          EXPECT_FALSE(checkProduct(product, 0).has_value());
          SmallVector<Value> results =
              multiply(assembly, kernel.thread.group, product);
          kernel.sync();
          return results;
        });
    kernel.store(results, tile);
    return SmallVector<Value>();
  });
  expectClean(kernel);
}
