//===- FoldTest.cpp - The fold of a reduce in registers -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the code that a reduce becomes, on threads that take turns, with
// functions of a handler that keep apart which part came from where and in
// which order: a record is a polynomial whose coefficients are the parts.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Kernel.h"
#include "Threads.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace conversiontest;
using namespace mlir;
using namespace mlir::df::nvvm;

namespace {

constexpr uint32_t kNumSlices = 12;
constexpr uint64_t kHeadBytes = 16, kSliceBytes = 16;
constexpr uint64_t kFactor = 1000003;

/// The instruction that the threads execute.
struct Instruction {
  uint32_t parts = 0, sliceBegin = 0, sliceEnd = kNumSlices;
  std::vector<std::vector<uint64_t>> records; ///< of the parts
  std::vector<uint64_t> output;
  bool followed = false;         ///< by the finalize
  std::vector<uint64_t> results; ///< of that
  unsigned merges = 0, loads = 0, identities = 0, heads = 0, questions = 0;
};
Instruction *instruction = nullptr;

struct Place {
  void *base;
  int32_t slice;
};

} // namespace

extern "C" int32_t foldWord(int32_t, int32_t word) {
  switch (word) {
  case kOperandCount:
    return int32_t(instruction->parts);
  case InstructionWord::kSlices:
    return int32_t(instruction->sliceBegin | instruction->sliceEnd << 16);
  default:
    return 0;
  }
}

extern "C" int64_t foldWord64(int32_t, int32_t) { return 0; }

extern "C" Place foldOperand(void *, int32_t, int32_t number, void *, int32_t) {
  // Slots of parts hold all slices.
  return {instruction->records.at(size_t(number)).data(), 0};
}

extern "C" Place foldNearOperand(int32_t number, void *, int32_t) {
  EXPECT_LT(number, 32);
  return foldOperand(nullptr, 0, number, nullptr, 0);
}

extern "C" void *foldOutput(void *, int32_t) { return nullptr; }
extern "C" void *foldOutputAddress(void *, void *) {
  return instruction->output.data();
}
extern "C" int32_t foldOutputSlice(void *) {
  return int32_t(instruction->sliceBegin);
}
extern "C" int32_t foldWarp() { return dfk_thread(); }
extern "C" void foldSyncWarp() {}
extern "C" void *foldPrivate() {
  static uint64_t memory[64];
  return memory;
}
extern "C" void foldCopy(void *to, void *from, int64_t bytes) {
  std::memcpy(to, from, size_t(bytes));
}
extern "C" void foldIdentity(void **packed) {
  ++instruction->identities;
  std::fill_n(static_cast<uint64_t *>(packed[0]), 2, 7);
  std::fill_n(static_cast<uint64_t *>(packed[1]), 2 * kNumSlices, 7);
}
extern "C" void foldLoad(uint64_t *head, uint64_t *slice, uint64_t *result) {
  ++instruction->loads;
  auto number = uint32_t((slice - head) - kHeadBytes / 8) / (kSliceBytes / 8);
  EXPECT_GE(number, instruction->sliceBegin);
  EXPECT_LT(number, instruction->sliceEnd);
  result[0] = head[0];
  result[1] = slice[0];
}
extern "C" void foldHead(uint64_t value, uint64_t *head) {
  ++instruction->heads;
  *head = value;
}
extern "C" void foldMerge(uint64_t *slice, uint64_t *left, uint64_t right) {
  ++instruction->merges;
  *left = *left * kFactor + right + (slice ? *slice : 0);
}

extern "C" void callWhole(uint64_t *slice, uint64_t *head, uint64_t *its) {
  ++instruction->heads;
  instruction->results.at(size_t(*slice)) += head[0] + its[0];
}
extern "C" void callApply(uint64_t *slice, uint64_t head, uint64_t its) {
  instruction->results.at(size_t(*slice)) += head + its;
}
extern "C" bool foldIsFollowed(void *, void *, int32_t stage) {
  EXPECT_EQ(stage, 2);
  ++instruction->questions;
  return instruction->followed;
}

/// How a record is loaded and what merging does first: as it is, or with a
/// number in 32 bits.
static constexpr char kLoad[] = R"mlir(
llvm.func @merge$load(%head: !llvm.ptr, %slice: !llvm.ptr) -> !llvm.struct<(i64, i64)> {
  %c2 = arith.constant 2 : i32
  %cells = llvm.alloca %c2 x i64 : (i32) -> !llvm.ptr
  llvm.call @foldLoad(%head, %slice, %cells) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %value = llvm.load %cells : !llvm.ptr -> !llvm.struct<(i64, i64)>
  llvm.return %value : !llvm.struct<(i64, i64)>
}
)mlir";
static constexpr char kMerged[] = "%b1: i64) -> !llvm.struct<(i64, i64)> {";
static constexpr char kNarrowLoad[] = R"mlir(
llvm.func @merge$load(%head: !llvm.ptr, %slice: !llvm.ptr) -> !llvm.struct<(i64, i32)> {
  %c2 = arith.constant 2 : i32
  %cells = llvm.alloca %c2 x i64 : (i32) -> !llvm.ptr
  llvm.call @foldLoad(%head, %slice, %cells) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %value = llvm.load %cells : !llvm.ptr -> !llvm.struct<(i64, i32)>
  llvm.return %value : !llvm.struct<(i64, i32)>
}
llvm.func @merge$widen(%b0: i64, %narrow: i32) -> !llvm.struct<(i64, i64)> {
  %b1 = llvm.zext %narrow : i32 to i64
  %none = llvm.mlir.poison : !llvm.struct<(i64, i64)>
  %0 = llvm.insertvalue %b0, %none[0] : !llvm.struct<(i64, i64)>
  %1 = llvm.insertvalue %b1, %0[1] : !llvm.struct<(i64, i64)>
  llvm.return %1 : !llvm.struct<(i64, i64)>
}
)mlir";
static constexpr char kNarrowMerged[] =
    "%narrow: i32) -> !llvm.struct<(i64, i64)> {\n"
    "  %b1 = llvm.zext %narrow : i32 to i64";

/// What generated code calls. A thread stands for a warp here.
static constexpr char kLibrary[] = R"mlir(
llvm.func @foldLoad(!llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @foldMerge(!llvm.ptr, !llvm.ptr, i64)
llvm.func @foldHead(i64, !llvm.ptr)
llvm.func @dfk_word(i32, i32) -> i32
llvm.func @dfk_word64(i32, i32) -> i64
llvm.func @dfk_near_place(i32, !llvm.ptr, i32) -> !llvm.struct<(ptr, i32)>
llvm.func @dfk_operand_place(!llvm.ptr, i32, i32, !llvm.ptr, i32) -> !llvm.struct<(ptr, i32)>
llvm.func @dfk_output(!llvm.ptr, i32) -> !llvm.ptr
llvm.func @dfk_output_address(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
llvm.func @dfk_output_slice(!llvm.ptr) -> i32
llvm.func @dfk_warp() -> i32
llvm.func @dfk_warps() -> i32
llvm.func @dfk_sync()
llvm.func @dfk_sync_warp()
llvm.func @dfk_is_followed(!llvm.ptr, !llvm.ptr, i32) -> i1
llvm.func @dfk_private() -> !llvm.ptr
llvm.func @dfk_copy(!llvm.ptr, !llvm.ptr, i64)
llvm.func @identity(!llvm.ptr)
llvm.func @dfk_threads() -> i32 {
  %c5 = arith.constant 5 : i32
  %warps = llvm.call @dfk_warps() : () -> i32
  %threads = arith.shli %warps, %c5 : i32
  llvm.return %threads : i32
}
LOAD
llvm.func @merge$merge(%packed: !llvm.ptr, %a0: i64, %a1: i64, %b0: i64, MERGED
  %c2 = arith.constant 2 : i32
  %none = llvm.mlir.zero : !llvm.ptr
  %slice = llvm.load %packed : !llvm.ptr -> !llvm.ptr
  %cells = llvm.alloca %c2 x i64 : (i32) -> !llvm.ptr
  %second = llvm.getelementptr %cells[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %a0, %cells : i64, !llvm.ptr
  llvm.store %a1, %second : i64, !llvm.ptr
  llvm.call @foldMerge(%none, %cells, %b0) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.call @foldMerge(%slice, %second, %b1) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %value = llvm.load %cells : !llvm.ptr -> !llvm.struct<(i64, i64)>
  llvm.return %value : !llvm.struct<(i64, i64)>
}
llvm.func @merge$store(%a0: i64, %a1: i64, %head: !llvm.ptr, %slice: !llvm.ptr) {
  llvm.store %a1, %slice : i64, !llvm.ptr
  llvm.return
}
llvm.func @callWhole(!llvm.ptr, !llvm.ptr, !llvm.ptr)
llvm.func @callApply(!llvm.ptr, i64, i64)
llvm.func @put(%packed: !llvm.ptr) {
  %0 = llvm.load %packed : !llvm.ptr -> !llvm.ptr
  %1 = llvm.getelementptr %packed[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %2 = llvm.getelementptr %packed[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %head = llvm.load %1 : !llvm.ptr -> !llvm.ptr
  %slice = llvm.load %2 : !llvm.ptr -> !llvm.ptr
  llvm.call @callWhole(%0, %head, %slice) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func @put$common(%head: !llvm.ptr, %slice: !llvm.ptr) -> i64 {
  %value = llvm.load %head : !llvm.ptr -> i64
  llvm.return %value : i64
}
llvm.func @put$slice(%head: !llvm.ptr, %slice: !llvm.ptr) -> i64 {
  %value = llvm.load %slice : !llvm.ptr -> i64
  llvm.return %value : i64
}
llvm.func @put$apply(%packed: !llvm.ptr, %common: i64, %value: i64) {
  %slice = llvm.load %packed : !llvm.ptr -> !llvm.ptr
  llvm.call @callApply(%slice, %common, %value) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func @put$follow(%packed: !llvm.ptr, %a0: i64, %a1: i64) {
  %slice = llvm.load %packed : !llvm.ptr -> !llvm.ptr
  llvm.call @callApply(%slice, %a0, %a1) : (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
llvm.func @merge$head(%a0: i64, %a1: i64, %head: !llvm.ptr, %slice: !llvm.ptr) {
  llvm.call @foldHead(%a0, %head) : (i64, !llvm.ptr) -> ()
  llvm.return
}
)mlir";

namespace {

class FoldTest : public ::testing::Test {
protected:
  /// Makes the stage of a reduce: of a record that is cut, each slice by one
  /// warp, or of one that is not, by all threads. With `reads`, that of a
  /// finalize instead. With `follows`, such a finalize may follow. `narrow`:
  /// what is loaded is no record yet.
  void compile(bool isCut = true, bool reads = false, bool follows = false,
               bool narrow = false) {
    cut = isCut;
    DialectRegistry registry;
    registry.insert<LLVM::LLVMDialect, scf::SCFDialect, arith::ArithDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    std::string library =
        replaced(kLibrary, {{"LOAD", narrow ? kNarrowLoad : kLoad},
                            {"MERGED", narrow ? kNarrowMerged : kMerged}});
    // Without slices there are no indices.
    std::string index = "llvm.load %packed : !llvm.ptr -> !llvm.ptr";
    if (!cut)
      library.replace(library.find(index), index.size(),
                      "llvm.mlir.zero : !llvm.ptr");
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(library, &context);
    ASSERT_TRUE(module);

    dfrt::Program program;
    dfrt::Stage stage;
    stage.kind = dfrt::StageKind::reduce;
    stage.arity = dfrt::Arity::one;
    stage.identitySymbol = "identity";
    dfrt::Field statistic, sum;
    statistic.element = sum.element = dfrt::ElementType::i64;
    statistic.shape = {2};
    sum.shape = {2 * kNumSlices};
    sum.separable = 0;
    stage.record.fields = {statistic, sum};
    stage.record.slices = cut ? kNumSlices : 1;
    ASSERT_TRUE(dfrt::layoutRecord(stage.record));
    ASSERT_EQ(stage.record.headBytes, kHeadBytes);
    ASSERT_EQ(stage.record.sliceBytes,
              cut ? kSliceBytes : kNumSlices * kSliceBytes);
    dfrt::Stage producer;
    producer.record = stage.record;
    stage.inputs = {{0, {}}};
    dfrt::Variant variant;
    variant.kind =
        cut ? dfrt::Variant::Kind::sliced : dfrt::Variant::Kind::generic;
    variant.symbol = "merge";
    if (reads) {
      stage.kind = dfrt::StageKind::finalize;
      stage.arity = dfrt::Arity::none;
      variant.symbol = "put";
      program.domains.emplace_back();
    }
    stage.variants = {variant};
    program.stages = {producer, stage};
    if (follows) {
      dfrt::Stage finalize;
      finalize.kind = dfrt::StageKind::finalize;
      finalize.arity = dfrt::Arity::none;
      finalize.inputs = {{1, {}}};
      variant.symbol = "put";
      finalize.variants = {variant};
      program.stages.push_back(finalize);
      program.domains.emplace_back();
    }

    KernelState state(program, *module, 4096);
    if (cut)
      state.byWarp.insert(stage.variants.front().symbol);
    (reads ? emitCalls : emitFold)(state, 1, 0, "stage");
    module->lookupSymbol<LLVM::LLVMFuncOp>("stage").setLinkage(
        LLVM::Linkage::External);

    PassManager passes(&context);
    passes.addPass(createSCFToControlFlowPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createArithToLLVMConversionPass());
    ASSERT_TRUE(succeeded(passes.run(*module)));

    engine = conversiontest::makeEngine(
        *module, {{"foldLoad", foldLoad},
                  {"foldMerge", foldMerge},
                  {"foldHead", foldHead},
                  {"callWhole", callWhole},
                  {"callApply", callApply},
                  {"dfk_word", foldWord},
                  {"dfk_word64", foldWord64},
                  {"dfk_near_place", foldNearOperand},
                  {"dfk_operand_place", foldOperand},
                  {"dfk_output", foldOutput},
                  {"dfk_output_address", foldOutputAddress},
                  {"dfk_output_slice", foldOutputSlice},
                  {"dfk_warp", foldWarp},
                  {"dfk_warps", dfk_threads},
                  {"dfk_sync", dfk_sync},
                  {"dfk_sync_warp", foldSyncWarp},
                  {"dfk_is_followed", foldIsFollowed},
                  {"dfk_private", foldPrivate},
                  {"dfk_copy", foldCopy},
                  {"identity", foldIdentity}});
    ASSERT_TRUE(engine);
    auto address = engine->lookup("stage");
    ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
    run = reinterpret_cast<decltype(run)>(*address);
  }

  /// Folds `parts` parts of the slices [begin, end) on `warps` warps. If the
  /// finalize follows, that gets them, and nothing is stored.
  void check(uint32_t parts, uint32_t begin, uint32_t end, unsigned warps,
             bool followed = false) {
    SCOPED_TRACE(testing::Message()
                 << parts << " parts, slices [" << begin << ", " << end << "), "
                 << warps << " warps");
    Instruction &now = last = Instruction();
    now.followed = followed;
    now.results.assign(kNumSlices, 0);
    now.parts = parts;
    now.sliceBegin = begin;
    now.sliceEnd = end;
    for (uint32_t part = 0; part < parts; ++part) {
      std::vector<uint64_t> &record = now.records.emplace_back();
      for (uint64_t i = 0; i < (kHeadBytes + kNumSlices * kSliceBytes) / 8; ++i)
        record.push_back(100 * (part + 1) + i);
    }
    // A word more, which nothing may write.
    now.output.assign(2 + 2 * (end - begin) + 1, ~uint64_t(0));
    instruction = &now;
    ASSERT_TRUE(runTogether(warps, Order::descending,
                            [&] { run(nullptr, 0, nullptr, nullptr, 0, -1); }));

    auto expected = [&](uint64_t word, uint64_t index) -> uint64_t {
      if (parts == 0)
        return 7;
      uint64_t value = now.records[0][word];
      for (uint32_t part = 1; part < parts; ++part)
        value = value * kFactor + now.records[part][word] + index;
      return value;
    };
    bool stores = !followed;
    EXPECT_EQ(now.output[0], stores ? expected(0, 0) : ~uint64_t(0));
    for (uint32_t slice = begin; slice < end; ++slice) {
      uint64_t value = expected(2 + 2 * slice, slice);
      EXPECT_EQ(now.output[2 + 2 * (slice - begin)],
                stores ? value : ~uint64_t(0))
          << "slice " << slice;
      EXPECT_EQ(now.results[slice], followed ? expected(0, 0) + value : 0)
          << "slice " << slice;
    }
    EXPECT_EQ(now.output.back(), ~uint64_t(0));
    // Loading and merging more than what there is is useless, but for what
    // fills a window.
    uint64_t records = uint64_t(parts) * (end - begin);
    EXPECT_GE(now.merges, 2 * (records - (parts ? end - begin : 0)));
    uint64_t busy = cut ? std::min(warps, end - begin) : 1;
    EXPECT_LE(now.merges, 2 * (records + 3 * busy));
    EXPECT_LE(now.loads, records + 16 * busy);
    EXPECT_EQ(now.identities, parts ? 0u : warps);
    // One warp stores what all slices have in common.
    EXPECT_EQ(now.heads, parts && stores ? 1u : 0u);
  }

  MLIRContext context;
  Instruction last;
  bool cut = true;
  std::unique_ptr<ExecutionEngine> engine;
  void (*run)(void *, int32_t, void *, void *, int32_t, int32_t) = nullptr;
};

} // namespace

TEST_F(FoldTest, MergesEverySliceInOrder) {
  compile();
  for (unsigned warps : {1, 4, 8})
    for (uint32_t parts : {0, 1, 2, 3, 7, 8, 9, 16, 17, 32, 33, 40})
      for (auto [begin, end] : {std::pair<uint32_t, uint32_t>{0, kNumSlices},
                                {0, 1},
                                {3, 8},
                                {5, 6},
                                {11, 12}})
        check(parts, begin, end, warps);
}

TEST_F(FoldTest, DoesTheWorkOfTheFinalizeBehindIt) {
  compile(/*isCut=*/true, /*reads=*/false, /*follows=*/true);
  for (unsigned warps : {1, 4, 8})
    for (uint32_t parts : {1, 2, 5, 16, 33})
      for (auto [begin, end] : {std::pair<uint32_t, uint32_t>{0, kNumSlices},
                                {0, 1},
                                {3, 8},
                                {11, 12}})
        for (bool followed : {false, true}) {
          check(parts, begin, end, warps, followed);
          // Whoever has no slices has to know as well.
          EXPECT_EQ(instruction->questions, warps);
        }
}

TEST_F(FoldTest, WidensWhatIsLoaded) {
  compile(/*isCut=*/true, /*reads=*/false, /*follows=*/true, /*narrow=*/true);
  for (unsigned warps : {1, 4})
    for (uint32_t parts : {0, 1, 2, 5, 16, 33})
      for (bool followed : {false, true})
        for (auto [begin, end] :
             {std::pair<uint32_t, uint32_t>{0, kNumSlices}, {3, 8}})
          check(parts, begin, end, warps, followed && parts);
}

TEST_F(FoldTest, FoldsWhatIsNotCut) {
  compile(/*isCut=*/false);
  for (uint32_t parts : {1, 2, 8, 9, 31, 32, 33, 65})
    check(parts, 0, 1, 1);
}

TEST_F(FoldTest, CallsForEverySliceOnce) {
  compile(/*isCut=*/true, /*reads=*/true);
  for (unsigned warps : {1, 2, 4, 8})
    for (uint32_t begin = 0; begin < kNumSlices; ++begin)
      for (uint32_t end = begin; end <= kNumSlices; ++end) {
        SCOPED_TRACE(testing::Message() << "slices [" << begin << ", " << end
                                        << "), " << warps << " warps");
        Instruction now;
        now.parts = 1;
        now.sliceBegin = begin;
        now.sliceEnd = end;
        std::vector<uint64_t> &record = now.records.emplace_back();
        for (uint64_t i = 0; i < (kHeadBytes + kNumSlices * kSliceBytes) / 8;
             ++i)
          record.push_back(1000 + i);
        now.results.assign(kNumSlices, 0);
        instruction = &now;
        ASSERT_TRUE(runTogether(warps, Order::descending, [&] {
          run(nullptr, 0, nullptr, nullptr, 0, -1);
        }));
        for (uint32_t slice = 0; slice < kNumSlices; ++slice) {
          bool covered = slice >= begin && slice < end;
          EXPECT_EQ(now.results[slice],
                    covered ? record[0] + record[2 + 2 * slice] : 0);
        }
        // The whole handler is for the first slice.
        EXPECT_EQ(now.heads, begin == 0 && end > 0 ? 1u : 0u);
      }
}
