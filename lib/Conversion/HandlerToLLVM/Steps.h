//===- Steps.h - The steps from a body to the LLVM dialect ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// convertHandlersToLLVM calls these in the order in which they stand here.
// Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_STEPS_H
#define DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_STEPS_H

#include "dataflow/Conversion/FragmentsToNVVM.h"
#include "dataflow/Conversion/HandlerToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::df::handlers {

/// What diagnostics call the target: "cpu" or "device".
StringRef targetName(HandlerTarget target);

/// MLIR's type for a storage type.
Type storageType(MLIRContext *context, dfrt::ElementType element);

/// Turns all floating-point arithmetic in `body` into f64. The block arguments
/// with numbers in [firstOperand, lastOperand) keep their types, and so do
/// views of them; every other use of them extends what it reads.
LogicalResult promoteToF64(Region &body, MLIRContext *context,
                           unsigned firstOperand, unsigned lastOperand);

/// Appends to `module` a function `symbol` of the packed calling convention and
/// an internal function `symbol$body` with the body of `function`, on tensors
/// that read and write memrefs. For the reference target, the body is promoted
/// to f64; the records of `function` are then laid out for it. A body whose
/// tensors carry layouts is lowered to scalars, and all steps on tensors and
/// buffers have nothing to do; `info` says what it needs. `held`: types of more
/// arguments of the body, in front of the outputs, which are held in registers;
/// the function takes these behind the argument array.
LogicalResult buildFunction(ModuleOp module, const HandlerFunction &function,
                            HandlerTarget target, fragments::Info &info,
                            std::optional<ArrayRef<Type>> held = std::nullopt);

/// How memory has the elements of `field`, see HandlerFunction::Input::narrow.
dfrt::ElementType storedElement(const dfrt::Field &field,
                                std::optional<dfrt::ElementType> narrow);

/// `type`, a fragment or a scalar, with another type of elements.
Type withElement(Type type, Type element);

/// Replaces `argument`, of a body, by one of elements of `type`, which is
/// narrower and extended at the start of the body.
void narrowArgument(BlockArgument argument, Type element);

/// Appends what a reduce needs to keep a record in registers, if `function` is
/// a pairwise handler on fragments that allows it: functions
///   symbol$load   head, slices -> registers, narrow as they are in memory
///   symbol$widen  such registers -> registers; if there is a difference
///   symbol$merge  indices (packed), registers, loaded registers -> registers
///   symbol$store  registers, head, slices; for slices without the head, which
///   symbol$head   registers, head, slices stores
/// where registers are those of one field behind those of another. The LLVM
/// dialect makes a struct of several results.
LogicalResult buildStateFunctions(ModuleOp module,
                                  const HandlerFunction &function);

/// Appends what a warp needs to load slices ahead, if `function` works on a
/// slice of records on fragments of one warp:
///   symbol$common  head, slices of each input -> registers
///   symbol$slice   head, slices of each input -> registers
///   symbol$apply   arguments without inputs (packed), registers
/// `common` loads what slices have in common, if there is anything; `slice` the
/// slice; `apply` gets the registers of both, in this order, and does the rest.
LogicalResult buildSliceFunctions(ModuleOp module,
                                  const HandlerFunction &function);

/// Appends, where `function` can take its input from the registers of `reduce`,
/// which has the functions above,
///   symbol$follow  arguments without the input (packed), registers of a record
LogicalResult buildFollowFunction(ModuleOp module,
                                  const HandlerFunction &reduce,
                                  const HandlerFunction &function);

/// Makes `argument`, a field of a record, a value of `type`: a fragment, which
/// is converted where it is read otherwise, or the scalar that it is. Fails,
/// without a diagnostic, if warps had to exchange for that.
LogicalResult holdField(BlockArgument argument, Type type);

/// Elementwise operations become linalg.generic, named linalg operations too.
/// On the cpu, loops are ordered for unit strides and sums of products may be
/// reordered.
LogicalResult prepareLinalg(ModuleOp module, HandlerTarget target);

/// Bufferizes every function; afterwards no tensor is left, buffers carried by
/// a loop are allocated in front of it, and copies are linalg.copy.
LogicalResult bufferizeFunctions(ModuleOp module, HandlerTarget target);

/// Replaces each memref.alloc in `function` by a view of the scratch memory,
/// operand `scratch` of `call`, its only call. Buffers with disjoint lifetimes
/// share space. Returns the number of bytes that the function needs.
FailureOr<uint64_t> planScratch(func::FuncOp function, func::CallOp call,
                                unsigned scratch, HandlerTarget target);

/// Where the function's first loads of inputs and operands come from: arguments
/// whose memory nothing writes while the function runs carry this attribute.
inline constexpr StringLiteral kReadOnly = "llvm.readonly";

/// Why two iterations of the parallel loops of `op` could write one element, or
/// nothing. Such an operation runs on one thread.
std::optional<std::string> sharedOutput(linalg::LinalgOp op);

/// Puts a barrier of all compute threads in front of each operation of the body
/// `function` that depends, through memory, on one since the last barrier.
LogicalResult placeBarriers(func::FuncOp function);

/// Spreads the structured operations of `function` over the compute threads and
/// gives scalar stores to the first. Appends to `remarks` which operations run
/// on one thread, and why.
LogicalResult distribute(func::FuncOp function,
                         std::vector<std::string> &remarks);

/// Tests that a function of the load role has neither stores nor structured
/// operations.
LogicalResult checkLoadRole(func::FuncOp function);

/// Patterns that replace arith.extf and arith.truncf from and to bf16, f8E4M3FN
/// and f8E5M2 (and f64 to f16) by integer arithmetic, as APFloat rounds.
void populateExpandFloatConversionPatterns(RewritePatternSet &patterns);

/// Replaces functions of the math dialect that the device has no instruction
/// for by arithmetic.
LogicalResult expandDeviceMath(ModuleOp module);

/// Loops, memrefs and arithmetic to the LLVM dialect.
LogicalResult lowerToLLVMDialect(ModuleOp module, HandlerTarget target);

} // namespace mlir::df::handlers

#endif // DATAFLOW_LIB_CONVERSION_HANDLERTOLLVM_STEPS_H
