//===- VerifyDevice.cpp - Test what a kernel's protocols rely on ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of nvvm are recognised by name: its header costs half a minute of
// compilation.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::df {
#define GEN_PASS_DEF_VERIFYDEVICE
#include "dataflow/Conversion/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

static constexpr unsigned kSharedCluster = 7;
/// On a wait: nothing outside this CTA arrives at its barrier.
static constexpr llvm::StringLiteral kOwnBarrier = "dataflow.own_barrier";
/// Where the load warp's work begins (device/Queues.mlir, Tickets.mlir).
static constexpr StringLiteral kLoadRole[] = {"dfk_fill_queue", "dfk_draw"};
/// What a device module is written in when its kernel is made.
static constexpr StringLiteral kDialects[] = {
    "gpu", "llvm", "nvvm", "scf", "cf", "arith", "math", "vector", "nvgpu"};

namespace {

class DeviceVerifier {
public:
  DeviceVerifier(Operation *module, DictionaryAttr facts)
      : module(module), facts(facts), symbols(module) {}

  LogicalResult verify() {
    return success(succeeded(verifyKernel()) && succeeded(verifyBarriers()) &&
                   succeeded(verifyLoadRole()) && succeeded(verifyScopes()) &&
                   succeeded(verifyCalls()) && succeeded(verifyDialects()));
  }

private:
  LogicalResult verifyKernel();
  LogicalResult verifyBarriers();
  LogicalResult verifyLoadRole();
  LogicalResult verifyScopes();
  LogicalResult verifyCalls();
  LogicalResult verifyDialects();

  int64_t fact(StringRef key) {
    auto value = facts.getAs<IntegerAttr>(key);
    return value ? value.getInt() : -1;
  }

  Operation *module;
  DictionaryAttr facts;
  SymbolTable symbols;
};

} // namespace

static bool isBarrier(Operation *op) {
  return op->getName().getStringRef() == "nvvm.barrier";
}

LogicalResult DeviceVerifier::verifyKernel() {
  auto symbol = facts.getAs<StringAttr>("symbol");
  auto kernel = symbol ? symbols.lookup<LLVM::LLVMFuncOp>(symbol.getValue())
                       : LLVM::LLVMFuncOp();
  if (!kernel || !kernel->hasAttr("nvvm.kernel"))
    return module->emitError("[G1] holds no kernel ")
           << (symbol ? symbol.getValue() : "with a name");
  auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  if (!threads || threads.empty() || threads[0] != fact("threads"))
    return kernel.emitError("[G1] kernel '")
           << kernel.getName() << "' does not require " << fact("threads")
           << " threads, as the module says";
  auto least = kernel->getAttrOfType<IntegerAttr>("nvvm.minctasm");
  if (!least || least.getInt() != 1)
    return kernel.emitError("[G1] kernel '")
           << kernel.getName() << "' does not say that one CTA fills an SM";
  auto bytes = kernel.getNumArguments() == 1
                   ? kernel.getArgAttrOfType<TypeAttr>(0, "llvm.byval")
                   : TypeAttr();
  auto array = bytes ? dyn_cast<LLVM::LLVMArrayType>(bytes.getValue())
                     : LLVM::LLVMArrayType();
  if (!array || int64_t(array.getNumElements()) != fact("parameter_bytes") ||
      !kernel.getArgAttr(0, "nvvm.grid_constant"))
    return kernel.emitError("[G1] kernel '")
           << kernel.getName() << "' does not take one grid constant of "
           << fact("parameter_bytes") << " bytes, as the module says";
  return success();
}

LogicalResult DeviceVerifier::verifyBarriers() {
  WalkResult result = module->walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (!isBarrier(op) && name != "nvvm.barrier0" && name != "gpu.barrier")
      return WalkResult::advance();
    APInt number;
    if (isBarrier(op) && op->getNumOperands() == 2 &&
        matchPattern(op->getOperand(0), m_ConstantInt(&number)) && number != 0)
      return WalkResult::advance();
    op->emitOpError("[G2] needs a number other than 0 and a number of threads: "
                    "a barrier of the whole block makes roles wait for each "
                    "other");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult DeviceVerifier::verifyLoadRole() {
  llvm::StringSet<> seen;
  SmallVector<LLVM::LLVMFuncOp> open;
  auto add = [&](StringRef name) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    if (function && seen.insert(name).second)
      open.push_back(function);
  };
  for (StringRef root : kLoadRole)
    add(root);
  while (!open.empty()) {
    LLVM::LLVMFuncOp function = open.pop_back_val();
    WalkResult result = function.walk([&](Operation *op) {
      if (isBarrier(op)) {
        op->emitOpError("[G3] is executed by the load warp, through '")
            << function.getName() << "': it would wait for the compute threads";
        return WalkResult::interrupt();
      }
      if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee())
        add(*call.getCallee());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult DeviceVerifier::verifyScopes() {
  WalkResult result = module->walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (!name.starts_with("nvvm.mbarrier."))
      return WalkResult::advance();
    // Also `nvvm.mbarrier.try_wait.parity`, which has no scope.
    bool waits = name.contains("wait");
    auto pointer =
        op->getNumOperands()
            ? dyn_cast<LLVM::LLVMPointerType>(op->getOperand(0).getType())
            : LLVM::LLVMPointerType();
    bool remote = pointer && pointer.getAddressSpace() == kSharedCluster;
    std::string scope;
    if (Attribute attribute = op->getAttr("scope"))
      llvm::raw_string_ostream(scope) << attribute;
    if ((!waits && !remote) || StringRef(scope).contains("cluster"))
      return WalkResult::advance();
    // Only threads and copies of this CTA arrive, the author says.
    if (waits && op->hasAttr(kOwnBarrier))
      return WalkResult::advance();
    op->emitOpError("[G4] needs scope = #nvvm.mem_scope<cluster>: ")
        << (waits ? "what ends the wait may come from another CTA"
                  : "its barrier belongs to another CTA");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult DeviceVerifier::verifyCalls() {
  WalkResult result = module->walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee()) {
      auto callee = symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee());
      if (callee && !callee.isExternal())
        return WalkResult::advance();
      op->emitOpError("[G5] calls '")
          << *call.getCallee() << "', which is not defined in this module";
      return WalkResult::interrupt();
    }
    if (isa<LLVM::Trap, LLVM::DebugTrap>(op)) {
      op->emitOpError("[G5] makes the assembler ignore setmaxnreg; end a "
                      "kernel by a volatile store to address 0");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult DeviceVerifier::verifyDialects() {
  WalkResult result = module->walk([&](Operation *op) {
    if (llvm::is_contained(kDialects, op->getName().getDialectNamespace()))
      return WalkResult::advance();
    op->emitOpError("[G6] is left in a device module, which holds ")
        << llvm::interleaved(kDialects) << " only";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyDevice : df::impl::VerifyDeviceBase<VerifyDevice> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      auto facts = op->getAttrOfType<DictionaryAttr>(kKernelAttrName);
      if (facts && op->getName().getStringRef() == "gpu.module" &&
          failed(DeviceVerifier(op, facts).verify()))
        signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
