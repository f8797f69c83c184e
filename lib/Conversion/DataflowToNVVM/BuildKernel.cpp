//===- BuildKernel.cpp - A gpu.module with the kernel of a program --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory of a CTA, from its start: stages of rings, control block,
// barriers of rings and of the plan, what fragments are exchanged through,
// memory of handlers and folds; the plan's slots follow at `reserved_bytes`.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Conversion/StreamLowering.h"
#include "dataflow/IR/FollowingPart.h"
#include "dataflow/IR/LineOnly.h"
#include "dataflow/Schedule/Following.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "dfrt/KernelABI.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::nvvm;

/// Bytes of the control block (device/Plan.mlir).
static constexpr uint64_t kControlBytes = 208;
static constexpr uint64_t kBarrierBytes = 8;
/// Of a thread, behind its counters of the streams (device/Following.mlir).
static constexpr size_t kCells = 4;
static constexpr uint64_t kAlignment = 128;
/// Kernels whose plans may have barriers have room for at least so many.
static constexpr uint32_t kFewestBarriers = 64;
/// What fragments are exchanged through has swizzled tiles.
static constexpr uint64_t kFragmentAlignment = 1024;
/// Threads behind the compute threads.
static constexpr uint32_t kOtherThreads = 128;
static constexpr uint32_t kMaxCluster = 16;
/// Shared memory of a CTA.
static constexpr uint64_t kSharedLimit = 232448;

static constexpr uint32_t bitOf(dfrt::Transport transport) {
  return 1u << unsigned(transport);
}

namespace {

class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, ProgramOp program,
                const KernelSpecialization &specialization,
                const KernelOptions &options,
                llvm::DenseSet<uint32_t> &unfolded)
      : builder(builder), program(program), specialization(specialization),
        options(options), unfolded(unfolded),
        name((program.getSymName() + "_" + specialization.name).str()) {}

  /// Null, with one more of `unfolded`: another builder has to try again.
  FailureOr<Operation *> build();

private:
  LogicalResult createModule();
  LogicalResult findStreams();
  LogicalResult placeShared();
  LogicalResult placePrivate();
  LogicalResult splitHandlers(PartFunctions &parts,
                              std::vector<HandlerFunction> &list);
  void joinFinalizes(std::vector<HandlerFunction> &list);
  LogicalResult addHandlers();
  bool isAsynchronous() const {
    return specialization.transports & (bitOf(dfrt::Transport::clusterShared) |
                                        bitOf(dfrt::Transport::multicast));
  }
  bool hasStreams() { return streams && !streams.getStreams().empty(); }
  std::vector<uint32_t> argumentAlignment();
  void placeDescriptors(std::vector<uint64_t> &offsets);
  void addRings(Emitter &emitter);
  void addFacts(KernelState &state);
  Value createCounters(OpBuilder &at);
  void addKernel();
  std::string describeStreams();
  std::string describeFragments();
  void describe(KernelState &state);

  OpBuilder &builder;
  ProgramOp program;
  const KernelSpecialization &specialization;
  const KernelOptions &options;
  llvm::DenseSet<uint32_t> &unfolded; ///< findUnfolded of earlier tries
  std::string name;

  dfrt::Program planned;
  Operation *module = nullptr;
  std::vector<HandlerFunctionInfo> handlers;
  KernelOp streams; ///< and parts; null: none
  RingLayout rings;
  llvm::StringSet<> split;   ///< handler functions that have parts
  llvm::StringSet<> loads;   ///< those with a load part
  llvm::StringSet<> laidOut; ///< those whose compute part is on fragments
  llvm::StringSet<> byWarp;  ///< functions that a warp calls by itself
  llvm::StringSet<> tables;  ///< functions that get tables of records
  llvm::StringMap<uint32_t> following; ///< KernelState::following
  StoredTypes storedTypes;             ///< of records, by stage
  uint32_t threads = 0;                ///< that compute
  /// That a plan may use of a CTA; only copies and releases need them.
  uint32_t maxBarriers = 0;
  uint64_t controlAt = 0, barriersAt = 0, fragmentAt = 0, privateAt = 0,
           fragmentBytes = 0, privateBytes = 0;
  uint64_t parameterBytes = 0, reservedBytes = 0;
  std::vector<dfrt::TensorMapSpec> maps;
  std::vector<std::string> remarks;
};

} // namespace

LogicalResult KernelBuilder::createModule() {
  Attribute target =
      parseAttribute("#nvvm.target<chip = \"sm_90a\", features = \"+ptx86\">",
                     builder.getContext());
  if (!target)
    return failure();
  OperationState state(program.getLoc(), "gpu.module");
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute("targets", builder.getArrayAttr(target));
  state.addRegion()->emplaceBlock();
  module = builder.create(state);
  return success();
}

LogicalResult KernelBuilder::findStreams() {
  threads = options.threads;
  for (KernelOp kernel : program.getOps<KernelOp>()) {
    if (kernel.getParts().empty())
      continue;
    if (streams)
      return kernel.emitError("is the second kernel with parts of program '")
             << program.getSymName() << "'";
    streams = kernel;
    if (auto consumers = kernel.getConsumers())
      threads = 128 * *consumers;
  }
  if (threads == 0 || threads % 128 != 0 || threads + kOtherThreads > 1024)
    return program.emitError("kernel '")
           << name << "': " << threads
           << " compute threads, expected a multiple of 128 up to 896";
  return success();
}

LogicalResult KernelBuilder::placeShared() {
  if (streams) {
    controlAt =
        llvm::alignTo(layoutRings(streams, 0, 0).stageBytes, kAlignment);
    rings = layoutRings(streams, 0, uint32_t(controlAt + kControlBytes));
  }
  maxBarriers = isAsynchronous() ? options.maxBarriers : 0;
  barriersAt = controlAt + kControlBytes + rings.barrierBytes;
  return success();
}

LogicalResult KernelBuilder::placePrivate() {
  for (const HandlerFunctionInfo &handler : handlers)
    fragmentBytes = std::max(fragmentBytes, handler.fragmentBytes);
  auto place = [&] {
    uint64_t barriersEnd = barriersAt + kBarrierBytes * maxBarriers;
    fragmentAt = fragmentBytes ? llvm::alignTo(barriersEnd, kFragmentAlignment)
                               : barriersEnd;
    privateAt = llvm::alignTo(fragmentAt + fragmentBytes, kAlignment);
  };
  place();
  // Rather fewer barriers than tiles that are fetched less far ahead.
  while (fragmentBytes && privateAt > kSharedLimit &&
         maxBarriers > kFewestBarriers) {
    maxBarriers /= 2;
    place();
  }
  if (privateAt > kSharedLimit)
    return program.emitError("kernel '")
           << name << "': rings, barriers and the exchange of fragments take "
           << privateAt << " bytes of shared memory, a CTA has "
           << kSharedLimit;
  // The plan's slots need some of what is left.
  privateBytes = std::min(options.privateBytes, (kSharedLimit - privateAt) / 2);
  return success();
}

/// Replaces the handler functions that have parts by those.
LogicalResult KernelBuilder::splitHandlers(PartFunctions &parts,
                                           std::vector<HandlerFunction> &list) {
  llvm::StringMap<StringAttr> handlerOf;
  llvm::StringMap<uint32_t> finalizeOf;
  for (auto [number, op] : llvm::enumerate(program.getStages())) {
    const dfrt::Stage &stage = planned.stages[number];
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    for (HandlerVariant &variant : getVariants(op, stage.separable)) {
      handlerOf[variant.variant.symbol] = variant.handler.getHandlerName();
      finalizeOf[variant.variant.symbol] = dfrt::findFollowing(planned, number);
    }
  }
  std::vector<HandlerFunction> result;
  for (HandlerFunction &function : list) {
    StringAttr handler = handlerOf.lookup(function.symbol);
    PartOp load, compute;
    if (handler) {
      load = streams.getPart(handler, PartRole::load);
      compute = streams.getPart(handler, PartRole::compute);
    }
    if (!compute) {
      result.push_back(std::move(function));
      continue;
    }
    split.insert(function.symbol);
    if (load)
      loads.insert(function.symbol);
    if (compute.getFragments())
      laidOut.insert(function.symbol);
    for (PartOp part : {load, compute}) {
      if (!part)
        continue;
      uint32_t finalize = dfrt::kNone;
      if (getFollowing(part)) {
        finalize = finalizeOf.lookup(function.symbol);
        if (finalize == dfrt::kNone)
          return part.emitError("has a finalize that cannot follow it");
      }
      FailureOr<HandlerFunction> lowered =
          parts.lower(part, function, finalize);
      if (failed(lowered))
        return failure();
      if (finalize != dfrt::kNone)
        following[lowered->symbol] = finalize;
      result.push_back(std::move(*lowered));
    }
  }
  uint64_t others =
      barriersAt + kBarrierBytes * std::min(maxBarriers, kFewestBarriers);
  uint64_t begin = llvm::alignTo(others, kFragmentAlignment);
  uint64_t room = kSharedLimit - std::min(begin, kSharedLimit);
  for (HandlerFunction &function : result) {
    function.fragmentLimit = room;
    function.lastingOutput =
        function.output && !function.sliced && function.output->bytes() > room;
  }
  list = std::move(result);
  return success();
}

/// Names the fold behind which a finalize for slices may work in registers.
void KernelBuilder::joinFinalizes(std::vector<HandlerFunction> &list) {
  auto slicedOf = [&](uint32_t stage) -> std::string {
    const dfrt::Variant *variant = findSliced(planned.stages[stage]);
    if (!variant)
      return {};
    return variant->symbol +
           (split.contains(variant->symbol) ? "$compute" : "");
  };
  for (uint32_t stage = 0; stage < planned.stages.size(); ++stage) {
    if (planned.stages[stage].kind != dfrt::StageKind::reduce)
      continue;
    uint32_t finalize = dfrt::findFollowing(planned, stage);
    if (finalize == dfrt::kNone)
      continue;
    std::string symbol = slicedOf(finalize);
    for (HandlerFunction &function : list)
      if (!symbol.empty() && function.symbol == symbol)
        function.reduce = slicedOf(stage);
  }
}

LogicalResult KernelBuilder::addHandlers() {
  ProgramFunctions list(program, planned);
  FailureOr<std::vector<HandlerFunction>> functions = list.collect(false);
  if (failed(functions))
    return failure();
  llvm::StringSet<> wanted;
  for (auto [op, stage] : llvm::zip(program.getStages(), planned.stages)) {
    for (HandlerVariant &entry : getVariants(op, stage.separable))
      if (isCompiled(entry.variant) ||
          (streams &&
           streams.getPart(entry.handler.getHandlerName(), PartRole::compute)))
        wanted.insert(entry.variant.symbol);
    wanted.insert(stage.identitySymbol);
  }
  llvm::erase_if(*functions, [&](const HandlerFunction &function) {
    return !wanted.contains(function.symbol);
  });
  FailureOr<StoredTypes> types =
      chooseStoredTypes(program, planned, streams, unfolded, remarks);
  if (failed(types))
    return failure();
  storedTypes = std::move(*types);
  narrowRecords(planned, storedTypes, *functions);
  std::optional<PartFunctions> parts;
  if (streams) {
    parts.emplace(streams, rings, placeMaps(planned));
    if (failed(splitHandlers(*parts, *functions)))
      return failure();
  }
  for (const HandlerFunction &function : *functions) {
    if (function.warp)
      byWarp.insert(function.symbol);
    if (function.tables)
      tables.insert(function.symbol);
  }
  joinFinalizes(*functions);
  FailureOr<std::vector<HandlerFunctionInfo>> converted =
      convertHandlersToLLVM(*functions, HandlerTarget::device, module);
  if (failed(converted))
    return failure();
  handlers = std::move(*converted);
  if (parts)
    maps = parts->getMaps().vec();
  return success();
}

/// A descriptor has two addresses, an offset, and a size and a stride for each
/// dimension, in words of 64 bits.
void KernelBuilder::placeDescriptors(std::vector<uint64_t> &offsets) {
  uint64_t offset = DFRT_KERNEL_ARGUMENTS;
  for (const dfrt::Argument &argument : planned.arguments) {
    offsets.push_back(offset);
    offset += 8 * (3 + 2 * argument.shape.size());
  }
  parameterBytes = placeMaps(planned) + DFRT_TENSOR_MAP_BYTES * maps.size();
}

/// The load warp initialises the barriers of the rings: a full one gets one
/// arrival, an empty one that of each compute warp, or thread (dfk_give).
void KernelBuilder::addRings(Emitter &e) {
  e.beginFunction("dfk_begin_rings", {});
  Value one = e.constant32(1);
  Value givers = e.constant32(options.watchdog ? threads : threads / 32);
  if (streams)
    for (auto [stream, place] : llvm::zip(streams.getStreams(), rings.places))
      for (uint32_t stage = 0; stage < stream.getDepth(); ++stage) {
        uint64_t skip = kBarrierBytes * stage;
        e.call("dfk_init", {e.constant32(int64_t(place.full + skip)), one});
        e.call("dfk_init", {e.constant32(int64_t(place.empty + skip)), givers});
      }
  // For the watchdog.
  e.beginNumber("dfk_stream_of");
  Value number = e.constant32(0);
  for (auto [stream, place] : llvm::enumerate(rings.places))
    number = e.select(e.equal(e.argument(0), e.constant32(place.full)),
                      e.constant32(int64_t(stream)), number);
  e.endNumber(number);
}

void KernelBuilder::addFacts(KernelState &state) {
  reservedBytes =
      llvm::alignTo(privateAt + state.memory.sharedBytes(), kAlignment);
  Type i1 = builder.getI1Type(), i32 = builder.getI32Type(),
       i64 = builder.getI64Type();
  defineFact(module, "dfk_threads", i32, threads);
  defineFact(module, "dfk_reserved", i32, int64_t(reservedBytes));
  defineFact(module, "dfk_control_at", i32, int64_t(controlAt));
  defineFact(module, "dfk_barriers_at", i32, int64_t(barriersAt));
  defineFact(module, "dfk_fragment_at", i32, int64_t(fragmentAt));
  defineFact(module, "dfk_private_at", i32, int64_t(privateAt));
  defineFact(module, "dfk_scratch_bytes", i64,
             int64_t(llvm::alignTo(state.memory.globalBytes(), kAlignment)));
  defineFact(module, "dfk_is_ticket", i1, specialization.tickets);
  defineFact(module, "dfk_is_async", i1, isAsynchronous());
  defineFact(module, "dfk_is_watched", i1, options.watchdog);
  defineFact(module, "dfk_is_traced", i1, options.timeline);
  defineFact(module, "dfk_has_streams", i1, hasStreams());
  defineFact(module, "dfk_streams", i32, int64_t(rings.places.size()));
}

/// A count of 0 for each stream, and the cells of device/Following.mlir.
Value KernelBuilder::createCounters(OpBuilder &at) {
  Location loc = program.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(at.getContext());
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(at, loc, at.getI32Type(),
                                    at.getI32IntegerAttr(int32_t(value)));
  };
  size_t count = rings.places.size() + kCells;
  Value counters = LLVM::AllocaOp::create(at, loc, pointer, at.getI32Type(),
                                          constant(int64_t(count)), 4);
  for (size_t number = 0; number < count; ++number) {
    Value place =
        LLVM::GEPOp::create(at, loc, pointer, at.getI32Type(), counters,
                            ArrayRef<LLVM::GEPArg>{int32_t(number)});
    LLVM::StoreOp::create(at, loc, constant(0), place);
  }
  return counters;
}

void KernelBuilder::addKernel() {
  OpBuilder at(builder.getContext());
  at.setInsertionPointToEnd(&module->getRegion(0).front());
  Location loc = program.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(at.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(at.getContext()), {pointer});
  auto kernel = LLVM::LLVMFuncOp::create(at, loc, name, type);
  kernel->setAttr("nvvm.kernel", at.getUnitAttr());
  kernel->setAttr(
      "nvvm.reqntid",
      at.getDenseI32ArrayAttr({int32_t(threads + kOtherThreads), 1, 1}));
  // One CTA an SM: without this the assembler spills to fit more.
  kernel->setAttr("nvvm.minctasm", at.getI32IntegerAttr(1));
  kernel.setArgAttr(0, "llvm.align", at.getI64IntegerAttr(64));
  kernel.setArgAttr(
      0, "llvm.byval",
      TypeAttr::get(LLVM::LLVMArrayType::get(at.getI8Type(), parameterBytes)));
  kernel.setArgAttr(0, "nvvm.grid_constant", at.getUnitAttr());
  at.setInsertionPointToStart(kernel.addEntryBlock(at));
  auto body = SymbolTable(module).lookup<LLVM::LLVMFuncOp>("dfk_kernel");
  Value taken = createCounters(at), filled = createCounters(at);
  if (!maps.empty()) {
    auto number = [&](uint64_t value) -> Value {
      return LLVM::ConstantOp::create(at, loc, at.getI32Type(),
                                      at.getI32IntegerAttr(int32_t(value)));
    };
    LLVM::CallOp::create(
        at, loc,
        SymbolTable(module).lookup<LLVM::LLVMFuncOp>("dfk_prefetch_maps"),
        ValueRange{kernel.getArgument(0), number(placeMaps(planned)),
                   number(maps.size())});
  }
  LLVM::CallOp::create(at, loc, body,
                       ValueRange{kernel.getArgument(0), taken, filled});
  LLVM::ReturnOp::create(at, loc, ValueRange());
}

/// Which handlers have their tiles fetched by the load warp, through which
/// streams.
std::string KernelBuilder::describeStreams() {
  if (!hasStreams())
    return "no streams: handlers load what they use";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << rings.places.size() << " streams:";
  for (StreamOp each : streams.getStreams())
    stream << " " << each.getSymName() << " (" << each.getDepth() << " x "
           << each.getStageBytes() << " bytes"
           << (each.getLayout() ? ", tensor map)" : ")");
  stream << "; tiles are fetched ahead for";
  for (const dfrt::Stage &stage : planned.stages)
    for (const dfrt::Variant &variant : stage.variants)
      if (loads.contains(variant.symbol))
        stream << " '" << variant.symbol << "'";
  return text;
}

/// Which handlers hold their tiles in registers.
std::string KernelBuilder::describeFragments() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const HandlerFunctionInfo &handler : handlers) {
    StringRef symbol = handler.symbol;
    if (!symbol.consume_back("$compute") || !laidOut.contains(symbol))
      continue;
    stream << (text.empty() ? "fragments:" : ",") << " '" << symbol << "'";
    if (auto it = following.find(handler.symbol); it != following.end())
      stream << " and '" << planned.stages[it->second].name << "' behind it";
    if (handler.fragmentBytes)
      stream << " (" << handler.fragmentBytes << " bytes between warps)";
  }
  return text.empty() ? "no fragments: tiles lie in memory" : text;
}

/// For each argument of the program, the alignment that its readers rely on.
std::vector<uint32_t> KernelBuilder::argumentAlignment() {
  std::vector<uint32_t> result(planned.arguments.size(), 1);
  if (streams)
    result = fillAlignment(program, streams);
  auto align = [&](const dfrt::Stage &stage) {
    for (uint32_t argument : stage.operands)
      result[argument] = std::max(result[argument], 16u);
    for (uint32_t argument : stage.outputs)
      result[argument] = std::max(result[argument], 16u);
  };
  for (const dfrt::Stage &stage : planned.stages)
    if (llvm::any_of(stage.variants, [&](const dfrt::Variant &variant) {
          return laidOut.contains(variant.symbol);
        }))
      align(stage);
  for (const auto &entry : following)
    align(planned.stages[entry.second]);
  for (auto [bytes, argument] : llvm::zip(result, planned.arguments))
    bytes = std::max(bytes, dfrt::elementBytes(argument.element));
  return result;
}

void KernelBuilder::describe(KernelState &state) {
  Builder &b = builder;
  for (const HandlerFunctionInfo &handler : handlers)
    for (const std::string &remark : handler.remarks)
      remarks.push_back("'" + handler.symbol + "': " + remark);
  if (uint64_t bytes = state.memory.globalBytes())
    remarks.push_back(
        ("scratch of " + Twine(bytes) +
         " bytes a CTA lies in global memory; handlers and folds have " +
         Twine(privateBytes) + " bytes of shared memory")
            .str());
  for (const std::string &remark : remarks)
    emitRemark(lineOnly(program.getLoc()), "kernel '")
        << name << "': " << remark;
  remarks.insert(remarks.begin(), {describeStreams(), describeFragments()});
  SmallVector<int64_t> alignment =
      llvm::to_vector_of<int64_t>(argumentAlignment());
  SmallVector<StringRef> texts(remarks.begin(), remarks.end());
  auto number = [&](StringRef key, uint64_t value) {
    return b.getNamedAttr(key, b.getI64IntegerAttr(int64_t(value)));
  };
  SmallVector<NamedAttribute> facts = {
      b.getNamedAttr("symbol", b.getStringAttr(name)),
      b.getNamedAttr("program", b.getStringAttr(program.getSymName())),
      number("disciplines", specialization.tickets ? 2 : 1),
      number("transports", specialization.transports),
      number("threads", threads + kOtherThreads),
      number("reserved_bytes", reservedBytes),
      number("ring_bytes", rings.stageBytes),
      number("barrier_bytes",
             kControlBytes + rings.barrierBytes + kBarrierBytes * maxBarriers),
      number("exchange_bytes", fragmentBytes),
      number("handler_bytes", state.memory.sharedBytes()),
      number("max_barriers", maxBarriers),
      number("scratch_bytes", state.memory.globalBytes()),
      number("max_cluster", kMaxCluster),
      b.getNamedAttr("watchdog", b.getBoolAttr(options.watchdog)),
      b.getNamedAttr("timeline", b.getBoolAttr(options.timeline)),
      number("parameter_bytes", parameterBytes),
      b.getNamedAttr("argument_alignment", b.getDenseI64ArrayAttr(alignment)),
      b.getNamedAttr("remarks", b.getStrArrayAttr(texts))};
  if (!maps.empty()) {
    SmallVector<Attribute> attributes;
    for (const dfrt::TensorMapSpec &map : maps)
      attributes.push_back(describeMap(b, map));
    facts.push_back(b.getNamedAttr("maps", b.getArrayAttr(attributes)));
  }
  module->setAttr(kKernelAttrName, b.getDictionaryAttr(facts));
}

FailureOr<Operation *> KernelBuilder::build() {
  FailureOr<dfrt::Program> imported = importProgram(program);
  if (failed(imported))
    return failure();
  planned = std::move(*imported);
  if (failed(findStreams()) || failed(placeShared()) ||
      failed(createModule()) || failed(insertDeviceLibrary(module)) ||
      failed(addHandlers()) || failed(placePrivate()))
    return failure();

  KernelState state(planned, module, privateBytes);
  state.split = split;
  state.loads = loads;
  state.byWarp = byWarp;
  // With more warpgroups a thread has 168 registers at most.
  if (threads > 128)
    state.windowRegisters = 80;
  state.tables = tables;
  state.following = following;
  placeDescriptors(state.descriptorOffset);
  for (const HandlerFunctionInfo &handler : handlers)
    state.scratchBytes[handler.symbol] = handler.scratchBytes;
  for (const HandlerFunctionInfo &handler : handlers)
    if (handler.fragmentBytes)
      state.exchanging.insert(handler.symbol);
  if (std::optional<uint32_t> reduce = findUnfolded(state, storedTypes)) {
    unfolded.insert(*reduce);
    module->erase();
    return nullptr;
  }
  emitDispatch(state);
  addRings(state.emitter);
  addFacts(state);
  addKernel();
  finishModule(module);
  describe(state);
  if (failed(verify(module)))
    return failure();
  return module;
}

FailureOr<Operation *>
df::convertProgramToKernel(OpBuilder &builder, ProgramOp program,
                           const KernelSpecialization &specialization,
                           const KernelOptions &options) {
  // A pass has them; who calls this outside of one may not.
  MLIRContext *context = program.getContext();
  DialectRegistry registry;
  registerDataflowToNVVMDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef dialect : registry.getDialectNames())
    context->getOrLoadDialect(dialect);
  llvm::DenseSet<uint32_t> unfolded;
  while (true) {
    KernelBuilder kernel(builder, program, specialization, options, unfolded);
    FailureOr<Operation *> module = kernel.build();
    if (failed(module) || *module)
      return module;
  }
}
