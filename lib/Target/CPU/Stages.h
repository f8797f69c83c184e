//===- Stages.h - The steps of CPU code generation --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// compileForCPU calls these in the order in which they stand here. Private to
// this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TARGET_CPU_STAGES_H
#define DATAFLOW_LIB_TARGET_CPU_STAGES_H

#include "dataflow/Target/CPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::df::cpu {

/// MLIR's type for a storage type.
Type storageType(MLIRContext *context, dfrt::ElementType element);

/// Turns all floating-point arithmetic in `body` into f64. The block arguments
/// with numbers in [firstOperand, lastOperand) keep their types, and so do
/// views of them; every other use of them extends what it reads.
LogicalResult promoteToF64(Region &body, MLIRContext *context,
                           unsigned firstOperand, unsigned lastOperand);

/// Appends to `module` a function `symbol` of the packed calling convention and
/// an internal function with the body of `function`, on tensors that read and
/// write memrefs. In the reference kind, the body is promoted to f64; the
/// records of `function` are then laid out for it.
LogicalResult buildFunction(ModuleOp module, const CPUFunction &function,
                            bool reference);

/// Elementwise operations become linalg.generic, named linalg operations too,
/// and loops are ordered for unit strides. Sums of products may be reordered.
LogicalResult prepareLinalg(ModuleOp module);

/// Bufferizes every function; afterwards no tensor is left, buffers carried by
/// a loop are allocated in front of it, and copies are linalg.copy.
LogicalResult bufferizeFunctions(ModuleOp module);

/// Replaces each memref.alloc in `function` by a view of the scratch memory,
/// the last operand of `call`, its only call. Buffers with disjoint lifetimes
/// share space. Returns the number of bytes that the function needs.
FailureOr<uint64_t> planScratch(func::FuncOp function, func::CallOp call);

/// Patterns that replace arith.extf and arith.truncf from and to bf16, f8E4M3FN
/// and f8E5M2 (and f64 to f16) by integer arithmetic, as APFloat rounds.
void populateExpandFloatConversionPatterns(RewritePatternSet &patterns);

/// Loops, memrefs and arithmetic to the LLVM dialect.
LogicalResult lowerToLLVMDialect(ModuleOp module);

/// Optimises and assembles. `object` receives a relocatable ELF file.
LogicalResult emitObject(ModuleOp module, SmallVectorImpl<char> &object);

/// Links a relocatable file into a shared object that exports `symbols`.
FailureOr<std::vector<uint8_t>> linkSharedObject(ArrayRef<char> object,
                                                 Location loc);

} // namespace mlir::df::cpu

#endif // DATAFLOW_LIB_TARGET_CPU_STAGES_H
