//===- Kernels.cpp - Kernels of an artifact -------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Conversion/StreamLowering.h"
#include "dataflow/IR/LineOnly.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::df;

static constexpr StringLiteral kModuleName = "gpu.module";

/// Device modules with a kernel, and which of them go when this does.
namespace {
struct DeviceModules {
  SmallVector<Operation *> modules;
  SmallVector<Operation *> owned;
  ~DeviceModules() {
    for (Operation *module : owned)
      module->erase();
  }
};
} // namespace

/// Whether `op` is a device module with a kernel of `program`; one written by
/// hand need not name it.
static bool holdsKernelOf(Operation &op, ProgramOp program) {
  if (op.getName().getStringRef() != kModuleName)
    return false;
  auto facts = op.getAttrOfType<DictionaryAttr>(kKernelAttrName);
  if (!facts)
    return op.hasAttr(kKernelAttrName);
  auto name = facts.getAs<StringAttr>("program");
  return !name || name.getValue() == program.getSymName();
}

static LogicalResult collectModules(ProgramOp program,
                                    const DeviceTranslationOptions &options,
                                    DeviceModules &found) {
  for (Operation &op : *program->getBlock())
    if (holdsKernelOf(op, program))
      found.modules.push_back(&op);
  if (!found.modules.empty())
    return success();
  KernelOptions kernel;
  kernel.watchdog = options.watchdog;
  kernel.timeline = options.timeline;
  OpBuilder builder(program->getContext());
  builder.setInsertionPointAfter(program);
  FailureOr<std::vector<KernelSpecialization>> wanted =
      selectSpecializations(program);
  if (failed(wanted))
    return failure();
  for (const KernelSpecialization &specialization : *wanted) {
    FailureOr<Operation *> module =
        convertProgramToKernel(builder, program, specialization, kernel);
    if (failed(module))
      return failure();
    found.modules.push_back(*module);
    found.owned.push_back(*module);
  }
  return success();
}

/// What `dataflow.kernel` says.
static FailureOr<dfrt::Kernel> readKernel(Operation *module) {
  auto facts = module->getAttrOfType<DictionaryAttr>(kKernelAttrName);
  bool complete = facts != nullptr;
  auto number = [&](StringRef key) -> uint64_t {
    auto value = complete ? facts.getAs<IntegerAttr>(key) : IntegerAttr();
    complete &= value != nullptr;
    return value ? uint64_t(value.getInt()) : 0;
  };
  dfrt::Kernel kernel;
  kernel.disciplines = uint32_t(number("disciplines"));
  kernel.transports = uint32_t(number("transports"));
  kernel.threads = uint32_t(number("threads"));
  kernel.reservedBytes = number("reserved_bytes");
  kernel.reserved = {number("ring_bytes"), number("barrier_bytes"),
                     number("exchange_bytes"), number("handler_bytes")};
  kernel.maxBarriers = uint32_t(number("max_barriers"));
  kernel.scratchBytes = number("scratch_bytes");
  kernel.maxCluster = uint32_t(number("max_cluster"));
  kernel.parameterBytes = uint32_t(number("parameter_bytes"));
  auto symbol = complete ? facts.getAs<StringAttr>("symbol") : StringAttr();
  auto watchdog = complete ? facts.getAs<BoolAttr>("watchdog") : BoolAttr();
  auto timeline = complete ? facts.getAs<BoolAttr>("timeline") : BoolAttr();
  auto alignment = complete
                       ? facts.getAs<DenseI64ArrayAttr>("argument_alignment")
                       : DenseI64ArrayAttr();
  auto remarks = complete ? facts.getAs<ArrayAttr>("remarks") : ArrayAttr();
  if (!symbol || !watchdog || !timeline || !alignment || !remarks)
    return module->emitError("'")
           << kKernelAttrName << "' does not describe a kernel completely";
  if (auto maps = facts.getAs<ArrayAttr>("maps"))
    for (Attribute attribute : maps) {
      std::optional<dfrt::TensorMapSpec> map = readMap(attribute);
      if (!map)
        return module->emitError("'")
               << kKernelAttrName << "' has no such tensor map: " << attribute;
      kernel.maps.push_back(std::move(*map));
    }
  kernel.symbol = symbol.getValue().str();
  kernel.watchdog = watchdog.getValue();
  kernel.timeline = timeline.getValue();
  for (int64_t bytes : alignment.asArrayRef())
    kernel.argumentAlignment.push_back(uint32_t(bytes));
  for (auto remark : remarks.getAsRange<StringAttr>())
    kernel.remarks.push_back(remark.getValue().str());
  return kernel;
}

static uint32_t addText(dfrt::Artifact &artifact, dfrt::CodeBlob::Kind kind,
                        StringRef target, ArrayRef<uint8_t> bytes) {
  dfrt::CodeBlob blob;
  blob.kind = kind;
  blob.target = target.str();
  blob.bytes.assign(bytes.begin(), bytes.end());
  artifact.code.push_back(std::move(blob));
  return uint32_t(artifact.code.size() - 1);
}

static ArrayRef<uint8_t> bytesOf(StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

LogicalResult mlir::df::addKernels(ProgramOp program,
                                   const DeviceTranslationOptions &options,
                                   dfrt::Artifact &artifact) {
  DeviceModules found;
  if (failed(collectModules(program, options, found)))
    return failure();
  std::vector<PTXText> texts;
  std::vector<uint32_t> ptxBlobs;
  for (Operation *module : found.modules) {
    PTXOptions ptx = options.ptx;
    ptx.chip = "sm_90a";
    FailureOr<PTXText> text = compileToPTX(module, ptx);
    if (failed(text))
      return failure();
    addText(artifact, dfrt::CodeBlob::Kind::llvm, text->chip,
            bytesOf(text->llvm));
    ptxBlobs.push_back(addText(artifact, dfrt::CodeBlob::Kind::ptx, text->chip,
                               bytesOf(text->text)));
    texts.push_back(std::move(*text));
  }

  llvm::Expected<std::vector<CubinResult>> results =
      assembleToCubin(texts, options.ptxas);
  if (!results) {
    emitRemark(lineOnly(program.getLoc()),
               "the artifact has PTX but no cubins: ")
        << llvm::toString(results.takeError());
    return success();
  }
  for (auto [number, module] : llvm::enumerate(found.modules)) {
    const CubinResult &result = (*results)[number];
    if (failed(reportCubin(module, result, options.strict)))
      return failure();
    FailureOr<dfrt::Kernel> kernel = readKernel(module);
    if (failed(kernel))
      return failure();
    kernel->target = texts[number].chip;
    kernel->ptxBlob = ptxBlobs[number];
    kernel->blob = addText(artifact, dfrt::CodeBlob::Kind::cubin,
                           texts[number].chip, result.cubin);
    artifact.kernels.push_back(std::move(*kernel));
  }
  return success();
}
