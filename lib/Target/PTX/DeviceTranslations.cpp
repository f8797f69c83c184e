//===- DeviceTranslations.cpp - df-translate for devices ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/PTX.h"
#include "dfrt/Artifact.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::df;

/// The gpu.modules of `root`; `root` itself if it has none but kernels.
static FailureOr<SmallVector<Operation *>> deviceModules(Operation *root,
                                                         StringRef name) {
  SmallVector<Operation *> modules;
  bool any = false;
  root->walk([&](Operation *op) {
    if (op->getName().getStringRef() != "gpu.module")
      return;
    any = true;
    auto symbol =
        op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (name.empty() || (symbol && symbol.getValue() == name))
      modules.push_back(op);
  });
  if (any && modules.empty())
    return emitError(root->getLoc(), "holds no gpu.module called '")
           << name << "'";
  if (!any)
    modules.push_back(root);
  return modules;
}

static LogicalResult toPTX(Operation *root, raw_ostream &output,
                           const DeviceTranslationOptions &options) {
  auto modules = deviceModules(root, options.module);
  if (failed(modules))
    return failure();
  for (Operation *module : *modules) {
    FailureOr<PTXText> ptx = compileToPTX(module, options.ptx);
    if (failed(ptx))
      return failure();
    if (modules->size() > 1)
      output << "// gpu.module " << ptx->name << "\n";
    output << ptx->text;
  }
  return success();
}

static LogicalResult toCubin(Operation *root, raw_ostream &output,
                             const DeviceTranslationOptions &options) {
  auto modules = deviceModules(root, options.module);
  if (failed(modules))
    return failure();
  if (modules->size() != 1)
    return emitError(root->getLoc(), "holds ")
           << modules->size()
           << " gpu.modules, but a cubin has one: name one with --gpu-module";
  Operation *module = modules->front();
  FailureOr<PTXText> ptx = compileToPTX(module, options.ptx);
  if (failed(ptx))
    return failure();
  llvm::Expected<std::vector<CubinResult>> results =
      assembleToCubin(*ptx, options.ptxas);
  if (!results)
    return emitError(module->getLoc(), llvm::toString(results.takeError()));
  const CubinResult &result = results->front();
  if (failed(reportCubin(module, result, options.strict)))
    return failure();
  output.write(reinterpret_cast<const char *>(result.cubin.data()),
               result.cubin.size());
  return success();
}

LogicalResult df::printArtifactPTX(StringRef bytes, raw_ostream &output,
                                   MLIRContext *context) {
  Location loc = UnknownLoc::get(context);
  dfrt::Expected<dfrt::Artifact> artifact = dfrt::readArtifact(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  if (!artifact)
    return emitError(loc) << artifact.status().message();
  bool any = false;
  for (const dfrt::CodeBlob &blob : artifact->code) {
    if (blob.kind != dfrt::CodeBlob::Kind::ptx)
      continue;
    any = true;
    output << "// " << blob.target << "\n";
    output.write(reinterpret_cast<const char *>(blob.bytes.data()),
                 blob.bytes.size());
    output << "\n";
  }
  if (!any)
    return emitError(loc) << "the artifact of '" << artifact->program.name
                          << "' holds no PTX among its "
                          << artifact->code.size() << " code blobs";
  return success();
}

void df::registerDeviceTranslations(
    std::function<DeviceTranslationOptions()> options) {
  auto current = [options] {
    return options ? options() : DeviceTranslationOptions();
  };
  auto dialects = [](DialectRegistry &registry) {
    registerPTXTargetDialects(registry);
  };
  TranslateFromMLIRRegistration(
      "dataflow-to-ptx", "compile device modules to PTX",
      [current](Operation *root, raw_ostream &output) {
        return toPTX(root, output, current());
      },
      dialects);
  TranslateFromMLIRRegistration(
      "dataflow-to-cubin", "compile a device module to a cubin, with ptxas",
      [current](Operation *root, raw_ostream &output) {
        return toCubin(root, output, current());
      },
      dialects);
  TranslateRegistration(
      "artifact-to-ptx", "print the PTX that an artifact holds",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &output,
         MLIRContext *context) -> LogicalResult {
        return printArtifactPTX(
            sources->getMemoryBuffer(sources->getMainFileID())->getBuffer(),
            output, context);
      });
}
