//===- DeviceTranslations.cpp - df-translate for devices ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/PTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

static LogicalResult writeFile(Location loc, StringRef folder, StringRef name,
                               const std::vector<uint8_t> &bytes) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code = llvm::sys::fs::create_directories(folder);
  if (!code) {
    llvm::raw_fd_ostream file(path, code);
    if (!code) {
      file << llvm::toStringRef(bytes);
      file.close();
      code = file.error();
      file.clear_error();
    }
  }
  if (code)
    return emitError(loc, "cannot write '") << path << "': " << code.message();
  return success();
}

/// One module's cubin goes to `output`. With a folder every module's goes there
/// and `output` gets their names, a line each.
static LogicalResult toCubin(Operation *root, raw_ostream &output,
                             const DeviceTranslationOptions &options) {
  auto modules = deviceModules(root, options.module);
  if (failed(modules))
    return failure();
  bool several = !options.cubinFolder.empty();
  if (!several && modules->size() != 1)
    return emitError(root->getLoc(), "holds ")
           << modules->size()
           << " gpu.modules, but a cubin has one: name one with --gpu-module, "
              "or a folder for all with --cubin-dir";
  std::vector<PTXText> texts;
  llvm::StringSet<> names;
  for (Operation *module : *modules) {
    FailureOr<PTXText> ptx = compileToPTX(module, options.ptx);
    if (failed(ptx))
      return failure();
    if (!names.insert(ptx->name).second)
      return emitError(module->getLoc(), "is the second gpu.module called '")
             << ptx->name << "'";
    texts.push_back(std::move(*ptx));
  }
  llvm::Expected<std::vector<CubinResult>> results =
      assembleToCubin(texts, options.ptxas);
  if (!results)
    return emitError(modules->front()->getLoc(),
                     llvm::toString(results.takeError()));
  LogicalResult all = success();
  for (auto [module, result] : llvm::zip(*modules, *results))
    if (failed(reportCubin(module, result, options.strict)))
      all = failure();
  if (failed(all))
    return failure();
  for (auto [module, text, result] : llvm::zip(*modules, texts, *results)) {
    if (!several) {
      output << llvm::toStringRef(result.cubin);
      continue;
    }
    std::string name = text.name + ".cubin";
    if (failed(writeFile(module->getLoc(), options.cubinFolder, name,
                         result.cubin)))
      return failure();
    output << name << "\n";
  }
  return success();
}

std::vector<std::string>
df::describeDecisions(const DeviceTranslationOptions &options) {
  std::vector<std::string> words = {
      options.ptx.chip,
      options.ptx.features,
      "-O" + std::to_string(options.ptx.optLevel),
      options.ptx.shortPointers ? "short pointers" : "long pointers",
      "ptxas -O" + std::to_string(options.ptxas.optLevel),
      options.strict ? "strict" : "lenient",
      options.watchdog ? "watchdog" : "no watchdog",
      options.timeline ? "timeline" : "no timeline",
  };
  words.insert(words.end(), options.targets.begin(), options.targets.end());
  words.insert(words.end(), options.ptxas.flags.begin(),
               options.ptxas.flags.end());
  llvm::Expected<std::string> version = ptxasVersion(options.ptxas);
  words.push_back(version ? *version : "no ptxas");
  if (!version)
    llvm::consumeError(version.takeError());
  return words;
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
      "dataflow-to-cubin", "compile device modules to cubins, with ptxas",
      [current](Operation *root, raw_ostream &output) {
        return toCubin(root, output, current());
      },
      dialects);
}
