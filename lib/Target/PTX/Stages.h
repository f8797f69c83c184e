//===- Stages.h - Steps from a gpu.module to PTX ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PTX_STAGES_H
#define DATAFLOW_TARGET_PTX_STAGES_H

#include "dataflow/Target/PTX.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
}

namespace mlir::df::ptx {

/// The data layout of the code generator for `options`.
std::string dataLayout(const PTXOptions &options);
llvm::StringRef triple();

/// L1, L3, L6, L7 and L8 on `module` as the user wrote it.
LogicalResult lintModule(Operation *module, const PTXOptions &options);

/// L4 and L5 on the text; diagnostics at the function in `module` that has the
/// name, or at `module`.
LogicalResult lintText(Operation *module, llvm::StringRef text);

/// The function called `name` in `module`, or `module`.
Operation *functionOrModule(Operation *module, llvm::StringRef name);

/// A copy of `module` in the LLVM dialect, after the checks of the target.
FailureOr<OwningOpRef<ModuleOp>> lowerToLLVMDialect(Operation *module,
                                                    const PTXOptions &options);

/// What the child did.
struct Emission {
  std::string text;
  /// Empty on success; else what LLVM said, and where, as far as it said.
  std::string problem;
  std::string function;
};

/// Optimises `module` and generates code for it in a forked child.
Emission emitPTX(llvm::Module &module, const PTXOptions &options);

} // namespace mlir::df::ptx

#endif // DATAFLOW_TARGET_PTX_STAGES_H
