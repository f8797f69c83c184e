//===- BuildKernel.cpp - A gpu.module with the kernel of a program --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory of a CTA, from its start: control block, barriers of the plan,
// memory of handlers and folds; the plan's slots follow at `reserved_bytes`.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "dataflow/Conversion/ProgramFunctions.h"
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
static constexpr uint64_t kControlBytes = 64;
static constexpr uint64_t kBarrierBytes = 8;
static constexpr uint64_t kAlignment = 128;
/// Threads behind the compute threads.
static constexpr uint32_t kOtherThreads = 128;
/// What every argument of a program is aligned to at least.
static constexpr int64_t kArgumentAlignment = 16;
static constexpr uint32_t kMaxCluster = 16;

static constexpr uint32_t bitOf(dfrt::Transport transport) {
  return 1u << unsigned(transport);
}

std::vector<KernelSpecialization> df::kernelSpecializations() {
  uint32_t anywhere =
      bitOf(dfrt::Transport::local) | bitOf(dfrt::Transport::global);
  uint32_t cluster =
      bitOf(dfrt::Transport::clusterShared) | bitOf(dfrt::Transport::multicast);
  return {{"static", false, anywhere | cluster}, {"ticket", true, anywhere}};
}

std::optional<KernelSpecialization> df::kernelSpecialization(StringRef name) {
  for (KernelSpecialization &each : kernelSpecializations())
    if (each.name == name)
      return each;
  return std::nullopt;
}

namespace {

class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, ProgramOp program,
                const KernelSpecialization &specialization,
                const KernelOptions &options)
      : builder(builder), program(program), specialization(specialization),
        options(options),
        name((program.getSymName() + "_" + specialization.name).str()) {}

  FailureOr<Operation *> build();

private:
  LogicalResult createModule();
  LogicalResult addHandlers();
  void placeDescriptors(std::vector<uint64_t> &offsets);
  void addFacts(KernelState &state);
  void addKernel();
  void describe(KernelState &state);

  OpBuilder &builder;
  ProgramOp program;
  const KernelSpecialization &specialization;
  const KernelOptions &options;
  std::string name;

  dfrt::Program planned;
  Operation *module = nullptr;
  std::vector<HandlerFunctionInfo> handlers;
  uint64_t parameterBytes = 0, reservedBytes = 0;
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

LogicalResult KernelBuilder::addHandlers() {
  ProgramFunctions list(program, planned);
  FailureOr<std::vector<HandlerFunction>> all = list.collect(false);
  if (failed(all))
    return failure();
  llvm::StringSet<> wanted;
  for (const dfrt::Stage &stage : planned.stages) {
    for (const dfrt::Variant &variant : stage.variants)
      if (isCompiled(variant))
        wanted.insert(variant.symbol);
    wanted.insert(stage.identitySymbol);
  }
  std::vector<HandlerFunction> functions;
  for (HandlerFunction &function : *all)
    if (wanted.contains(function.symbol))
      functions.push_back(std::move(function));
  FailureOr<std::vector<HandlerFunctionInfo>> converted =
      convertHandlersToLLVM(functions, HandlerTarget::device, module);
  if (failed(converted))
    return failure();
  handlers = std::move(*converted);
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
  parameterBytes = llvm::alignTo(offset, 64);
}

void KernelBuilder::addFacts(KernelState &state) {
  uint64_t barriersAt = kControlBytes;
  uint64_t privateAt = llvm::alignTo(
      barriersAt + kBarrierBytes * options.maxBarriers, kAlignment);
  reservedBytes =
      llvm::alignTo(privateAt + state.memory.sharedBytes(), kAlignment);
  Type i1 = builder.getI1Type(), i32 = builder.getI32Type(),
       i64 = builder.getI64Type();
  bool asynchronous =
      specialization.transports & (bitOf(dfrt::Transport::clusterShared) |
                                   bitOf(dfrt::Transport::multicast));
  defineFact(module, "dfk_threads", i32, options.threads);
  defineFact(module, "dfk_reserved", i32, int64_t(reservedBytes));
  defineFact(module, "dfk_control_at", i32, 0);
  defineFact(module, "dfk_barriers_at", i32, int64_t(barriersAt));
  defineFact(module, "dfk_private_at", i32, int64_t(privateAt));
  defineFact(module, "dfk_scratch_bytes", i64,
             int64_t(llvm::alignTo(state.memory.globalBytes(), kAlignment)));
  defineFact(module, "dfk_is_ticket", i1, specialization.tickets);
  defineFact(module, "dfk_is_async", i1, asynchronous);
  defineFact(module, "dfk_is_watched", i1, options.watchdog);
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
  kernel->setAttr("nvvm.reqntid",
                  at.getDenseI32ArrayAttr(
                      {int32_t(options.threads + kOtherThreads), 1, 1}));
  // One CTA an SM: without this the assembler spills to fit more.
  kernel->setAttr("nvvm.minctasm", at.getI32IntegerAttr(1));
  kernel.setArgAttr(0, "llvm.align", at.getI64IntegerAttr(64));
  kernel.setArgAttr(
      0, "llvm.byval",
      TypeAttr::get(LLVM::LLVMArrayType::get(at.getI8Type(), parameterBytes)));
  kernel.setArgAttr(0, "nvvm.grid_constant", at.getUnitAttr());
  at.setInsertionPointToStart(kernel.addEntryBlock(at));
  auto body = SymbolTable(module).lookup<LLVM::LLVMFuncOp>("dfk_kernel");
  LLVM::CallOp::create(at, loc, body, kernel.getArguments());
  LLVM::ReturnOp::create(at, loc, ValueRange());
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
         Twine(options.privateBytes) + " bytes of shared memory")
            .str());
  SmallVector<int64_t> alignment(planned.arguments.size(), kArgumentAlignment);
  SmallVector<StringRef> texts(remarks.begin(), remarks.end());
  auto number = [&](StringRef key, uint64_t value) {
    return b.getNamedAttr(key, b.getI64IntegerAttr(int64_t(value)));
  };
  module->setAttr(
      kKernelAttrName,
      b.getDictionaryAttr(
          {b.getNamedAttr("symbol", b.getStringAttr(name)),
           number("disciplines", specialization.tickets ? 2 : 1),
           number("transports", specialization.transports),
           number("threads", options.threads + kOtherThreads),
           number("reserved_bytes", reservedBytes),
           number("max_barriers", options.maxBarriers),
           number("scratch_bytes", state.memory.globalBytes()),
           number("max_cluster", kMaxCluster),
           b.getNamedAttr("watchdog", b.getBoolAttr(options.watchdog)),
           number("parameter_bytes", parameterBytes),
           b.getNamedAttr("argument_alignment",
                          b.getDenseI64ArrayAttr(alignment)),
           b.getNamedAttr("remarks", b.getStrArrayAttr(texts))}));
  for (const std::string &remark : remarks)
    emitRemark(program.getLoc(), "kernel '") << name << "': " << remark;
}

FailureOr<Operation *> KernelBuilder::build() {
  if (options.threads == 0 || options.threads % 128 != 0 ||
      options.threads + kOtherThreads > 1024)
    return program.emitError("kernel '")
           << name << "': " << options.threads
           << " compute threads, expected a multiple of 128 up to 896";
  FailureOr<dfrt::Program> imported = importProgram(program);
  if (failed(imported))
    return failure();
  planned = std::move(*imported);
  if (failed(createModule()) || failed(insertDeviceLibrary(module)) ||
      failed(addHandlers()))
    return failure();

  // Functions are found by name; those that come later are declared first.
  KernelState state(planned, module, options.privateBytes);
  placeDescriptors(state.descriptorOffset);
  for (const HandlerFunctionInfo &handler : handlers)
    state.scratchBytes[handler.symbol] = handler.scratchBytes;
  if (failed(emitDispatch(state)))
    return failure();
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
  KernelBuilder kernel(builder, program, specialization, options);
  return kernel.build();
}
