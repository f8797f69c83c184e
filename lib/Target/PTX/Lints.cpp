//===- Lints.cpp - Named checks of device modules -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For what upstream accepts and compiles into something else. Operations of
// nvvm are recognised by name: its header costs half a minute of compilation.
//
//===----------------------------------------------------------------------===//

#include "PTXText.h"
#include "Stages.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr unsigned kShared = 3;
static constexpr unsigned kSharedCluster = 7;

static bool isPointer(Value value, unsigned space) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(value.getType());
  return type && type.getAddressSpace() == space;
}

Operation *df::ptx::functionOrModule(Operation *module, StringRef name) {
  Operation *found = module;
  module->walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() != name)
      return WalkResult::advance();
    found = function;
    return WalkResult::interrupt();
  });
  return found;
}

//===----------------------------------------------------------------------===//
// L1: atomics
//===----------------------------------------------------------------------===//

/// The code generator writes `atom.add` for every atomicrmw, which means
/// `.relaxed.gpu`.
static LogicalResult lintAtomic(LLVM::AtomicRMWOp op) {
  LLVM::AtomicOrdering ordering = op.getOrdering();
  if (ordering != LLVM::AtomicOrdering::monotonic &&
      ordering != LLVM::AtomicOrdering::unordered)
    return op.emitOpError("[L1] the ordering '")
           << LLVM::stringifyAtomicOrdering(ordering)
           << "' would be missing from the PTX; use nvvm.inline_ptx with an "
              "atom"
              " or red instruction that spells ordering and scope, or an"
              " llvm.fence and a monotonic atomicrmw";
  // Shared memory of this CTA has no observer out of reach of .gpu.
  if (op.getSyncscope().value_or("").empty() &&
      !isPointer(op.getPtr(), kShared))
    return op.emitOpError("[L1] the scope of the whole system would be missing"
                          " from the PTX, which has .gpu; say"
                          " syncscope(\"device\"), or use nvvm.inline_ptx");
  return success();
}

//===----------------------------------------------------------------------===//
// L3: shared memory that only others write
//===----------------------------------------------------------------------===//

/// Whether `pointer` is used in no way that LLVM must take for a write to it.
/// The address that nvvm.mapa makes of it is another CTA's memory, and its
/// intrinsic says that it captures nothing.
static bool onlyRead(Value pointer, bool &read) {
  for (OpOperand &use : pointer.getUses()) {
    Operation *user = use.getOwner();
    if (isa<LLVM::LoadOp>(user) ||
        user->getName().getStringRef() == "nvvm.ldmatrix") {
      read = true;
      continue;
    }
    if (user->getName().getStringRef() == "nvvm.mapa")
      continue;
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(user) ||
        !onlyRead(user->getResult(0), read))
      return false;
  }
  return true;
}

static LogicalResult lintGlobal(LLVM::GlobalOp global, Operation *module) {
  if (global.getAddrSpace() != kShared || global.getConstant() ||
      (global.getLinkage() != LLVM::Linkage::Internal &&
       global.getLinkage() != LLVM::Linkage::Private))
    return success();
  bool read = false, safe = true;
  module->walk([&](LLVM::AddressOfOp address) {
    if (address.getGlobalName() == global.getName() && safe)
      safe = onlyRead(address.getResult(), read);
  });
  if (!safe || !read)
    return success();
  return global.emitOpError("[L3] internal shared memory that this module only"
                            " reads: its loads would be folded away, although"
                            " other CTAs or copies may write it; make it"
                            " external");
}

//===----------------------------------------------------------------------===//
// L6, L7, L8: nvvm
//===----------------------------------------------------------------------===//

static void lintRegisters(LLVM::LLVMFuncOp function) {
  if (!function->hasAttr("nvvm.kernel") || function->hasAttr("nvvm.reqntid") ||
      function->hasAttr("nvvm.maxnreg"))
    return;
  function.walk([&](Operation *op) {
    if (op->getName().getStringRef() != "nvvm.setmaxregister")
      return WalkResult::advance();
    op->emitWarning("[L6] kernel '")
        << function.getName()
        << "' has neither nvvm.reqntid nor nvvm.maxnreg: the assembler will"
           " ignore this";
    return WalkResult::interrupt();
  });
}

static LogicalResult lintArrive(Operation *op) {
  if (!op->getName().getStringRef().starts_with("nvvm.mbarrier.arrive") ||
      op->getNumOperands() == 0 ||
      !isPointer(op->getOperand(0), kSharedCluster))
    return success();
  std::string scope;
  if (Attribute attribute = op->getAttr("scope"))
    llvm::raw_string_ostream(scope) << attribute;
  if (StringRef(scope).contains("cluster"))
    return success();
  return op->emitOpError("[L7] on a barrier of another CTA needs"
                         " scope = #nvvm.mem_scope<cluster>: with the default,"
                         " what came before it need not be visible there");
}

static LogicalResult lintWgmma(Operation *op, const df::PTXOptions &options) {
  if (options.chip == "sm_90a" ||
      !op->getName().getStringRef().starts_with("nvvm.wgmma."))
    return success();
  return op->emitOpError("[L8] exists on sm_90a only, not on ") << options.chip;
}

LogicalResult df::ptx::lintModule(Operation *module,
                                  const PTXOptions &options) {
  bool failedOnce = false;
  bool kernels = false;
  module->walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
      result = lintAtomic(atomic);
    else if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      result = lintGlobal(global, module);
    else if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      kernels |= function->hasAttr("nvvm.kernel");
      lintRegisters(function);
    } else {
      result = success(succeeded(lintArrive(op)) &&
                       succeeded(lintWgmma(op, options)));
    }
    failedOnce |= failed(result);
  });
  if (!kernels)
    return emitError(module->getLoc(),
                     "holds no kernel: expected an llvm.func with "
                     "nvvm.kernel");
  return failure(failedOnce);
}

//===----------------------------------------------------------------------===//
// L4, L5: the text
//===----------------------------------------------------------------------===//

LogicalResult df::ptx::lintText(Operation *module, StringRef text) {
  // Defined by the driver.
  static constexpr StringRef known[] = {"vprintf", "malloc", "free",
                                        "__assertfail"};
  bool failedOnce = false;
  for (const PTXFunction &function : scanPTX(text)) {
    if (function.traps) {
      emitError(functionOrModule(module, function.name)->getLoc(), "[L4] '")
          << function.name
          << "' contains a trap: the assembler then ignores setmaxnreg"
             " without a word; use a volatile store to address 0 instead";
      failedOnce = true;
    }
    if (function.external && !llvm::is_contained(known, function.name)) {
      InFlightDiagnostic error =
          emitError(functionOrModule(module, function.name)->getLoc(), "[L5] '")
          << function.name << "' is called but not"
          << " defined in this module";
      if (StringRef(function.name).starts_with("__nv_"))
        error << "; it belongs to libdevice, which is not linked: lower the"
                 " operation to instructions";
      failedOnce = true;
    }
  }
  return failure(failedOnce);
}
