//===- PTX.cpp - Device modules to PTX ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/PTX.h"
#include "Stages.h"
#include "dataflow/IR/LineOnly.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

/// How many leading words two dotted names share.
static unsigned commonWords(StringRef a, StringRef b) {
  unsigned words = 0;
  while (!a.empty() && !b.empty()) {
    auto [x, restA] = a.split('.');
    auto [y, restB] = b.split('.');
    if (x != y)
      break;
    ++words;
    a = restA;
    b = restB;
  }
  return words;
}

/// The operation of `function` whose name is most like that of the intrinsic in
/// LLVM's message "Cannot select: intrinsic %llvm.nvvm.redux.sync.fmax".
static Operation *operationOf(Operation *function, StringRef message) {
  StringRef mark = "%llvm.";
  size_t at = message.find(mark);
  if (at == StringRef::npos)
    return nullptr;
  StringRef intrinsic = message.drop_front(at + mark.size());
  Operation *best = nullptr;
  // "nvvm" alone says nothing.
  unsigned most = 1;
  function->walk([&](Operation *op) {
    unsigned words = commonWords(op->getName().getStringRef(), intrinsic);
    if (words > most) {
      most = words;
      best = op;
    }
  });
  return best;
}

static LogicalResult reportProblem(Operation *module,
                                   const df::ptx::Emission &emission,
                                   const df::PTXOptions &options) {
  Operation *function = df::ptx::functionOrModule(module, emission.function);
  InFlightDiagnostic error =
      emitError(function->getLoc(), "the code generator gave up");
  if (!emission.function.empty())
    error << " on '" << emission.function << "'";
  error << " for " << options.chip << " with " << options.features << ": "
        << emission.problem;
  if (Operation *op = operationOf(function, emission.problem))
    error.attachNote(op->getLoc())
        << "probably '" << op->getName() << "', which the chip or the PTX "
        << "version lacks";
  return error;
}

FailureOr<df::PTXText> df::compileToPTX(Operation *module,
                                        const PTXOptions &given) {
  PTXOptions options = given;
  if (options.chip != "sm_90a" && options.chip != "sm_100a")
    return emitError(module->getLoc(), "chip is '")
           << options.chip << "', expected sm_90a or sm_100a";
  if (options.optLevel > 3)
    return emitError(module->getLoc(), "optimisation level is ")
           << options.optLevel << ", at most 3 is possible";
  // The first version with everything that either chip has.
  if (options.features.empty())
    options.features = "+ptx86";
  if (module->getNumRegions() != 1 || !module->getRegion(0).hasOneBlock())
    return emitError(module->getLoc(), "is no module");

  MLIRContext *context = module->getContext();
  DialectRegistry registry;
  registerPTXTargetDialects(registry);
  context->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context->getOrLoadDialect(name);

  if (failed(ptx::lintModule(module, options)))
    return failure();
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      ptx::lowerToLLVMDialect(module, options);
  if (failed(lowered))
    return failure();
  auto symbol =
      module->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  PTXText result;
  result.name = symbol ? symbol.getValue().str() : "device";
  result.chip = options.chip;

  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(**lowered, llvmContext, result.name);
  if (!code)
    return failure();
  code->setTargetTriple(llvm::Triple(ptx::triple()));
  code->setDataLayout(ptx::dataLayout(options));
  llvm::raw_string_ostream(result.llvm) << *code;
  ptx::Emission emission = ptx::emitPTX(*code, options);
  if (!emission.problem.empty())
    return reportProblem(module, emission, options);
  if (failed(ptx::lintText(module, emission.text)))
    return failure();
  result.text = std::move(emission.text);
  return result;
}

static void remarkCounts(Operation *module, const df::PtxasFunction &function) {
  if (!function.kernel)
    return;
  emitRemark(
      df::lineOnly(df::ptx::functionOrModule(module, function.name)->getLoc()),
      "kernel '")
      << function.name << "': " << function.registers << " registers, "
      << function.barriers << " barriers, " << function.sharedBytes
      << " bytes of shared memory, " << function.stackBytes
      << " bytes of stack, " << function.spillStoreBytes << " bytes spilled";
}

LogicalResult df::reportCubin(Operation *module, const CubinResult &result,
                              bool strict) {
  bool bad = false;
  auto at = [&](StringRef function) {
    return lineOnly(ptx::functionOrModule(module, function)->getLoc());
  };
  if (!result.problem.empty()) {
    emitError(lineOnly(module->getLoc()), result.problem);
    bad = true;
  }
  if (result.cached)
    emitRemark(lineOnly(module->getLoc()), "cubin taken from the cache");
  for (const PtxasFunction &function : result.report.functions)
    remarkCounts(module, function);

  std::vector<StrictFinding> findings = strictFindings(result.report);
  for (const StrictFinding &finding : findings) {
    InFlightDiagnostic message = strict ? emitError(at(finding.function))
                                        : emitWarning(at(finding.function));
    if (!finding.function.empty())
      message << "'" << finding.function << "': ";
    message << "ptxas: " << finding.text;
    bad |= strict;
  }
  for (const PtxasRemark &remark : result.report.remarks) {
    bool error = remark.level == PtxasRemark::Level::error ||
                 remark.level == PtxasRemark::Level::fatal;
    bool found = llvm::any_of(findings, [&](const StrictFinding &finding) {
      return StringRef(finding.text).ends_with(remark.text);
    });
    bad |= error;
    if (found && (strict || !error))
      continue;
    // What L3 makes users write provokes this one.
    bool warning =
        remark.level == PtxasRemark::Level::warning &&
        !StringRef(remark.text).contains("ignoring extern qualifier");
    Location loc = at(remark.function);
    InFlightDiagnostic message = error     ? emitError(loc)
                                 : warning ? emitWarning(loc)
                                           : emitRemark(loc);
    message << "ptxas: " << remark.code << (remark.code.empty() ? "" : ": ")
            << remark.text;
  }
  if (!bad && result.cubin.empty()) {
    emitError(module->getLoc(), "ptxas made no cubin");
    bad = true;
  }
  return failure(bad);
}
