//===- HandlerToLLVM.h - Handler bodies to the LLVM dialect -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the bodies of handlers and identity regions into functions that take
// their arguments as an array of pointers (runtime/include/dfrt/Artifact.h
// lists them in order).
//
// A body is a region of one block with ordinary arith, math, scf, linalg and
// tensor operations, all of whose tensors have static shapes or are views of
// operands. It is bufferized; each buffer that this needs gets a place in the
// scratch memory which the caller provides, so the code never allocates. What
// has no lowering is an error at the operation in question.
//
// Floating-point formats narrower than 32 bits are storage formats: arithmetic
// on them is done in f32 and rounded (to nearest even) where the body says so.
//
// Targets:
//
//   cpu           one thread runs the function
//   cpuReference  the same in f64 throughout: records and outputs hold f64,
//                 operands keep their element type and are extended where they
//                 are read, and conversions between floating-point types
//                 vanish; records are laid out by dfrt::referenceRecord
//   device        all compute threads of a CTA call the function together, with
//                 the same arguments and after a barrier. Each structured
//                 operation is spread over the threads, which meet at a barrier
//                 between operations that depend on each other; scalars and
//                 control flow are computed by all threads alike. What the
//                 function wrote is visible to the other threads after the next
//                 barrier of the caller.
//
// On the device a reduction runs in ascending order within one thread, so that
// results do not depend on the number of threads; only sums of products may use
// fused steps. Functions of the math dialect need no library. Their f32 results
// are within 0.51 ulp, but for exp (2 ulp), exp2 (an instruction, 2 ulp), rsqrt
// (1.5 ulp), erf (4 ulp) and erfc (8 ulp); sin, cos and tan ask for arguments
// below 2^31. f64 has all of them but erf and erfc, to a few ulp (powf: to a
// relative error of 2^-42, asinh and the like: of 2^-48). Subnormal numbers
// are kept, but exp2 on fragments takes and returns zero for them. arith.remf
// is exact, on f32 only.
//
// A body may call functions named dfk_*, which the caller declares and defines
// (operands and results are types of the LLVM dialect). Such calls keep their
// place among the operations that access memory.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_HANDLERTOLLVM_H
#define DATAFLOW_CONVERSION_HANDLERTOLLVM_H

#include "dataflow/Schedule/Program.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Region.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;

namespace df {

enum class HandlerTarget { cpu, cpuReference, device };

/// One function to make. The arguments of `body` are the indices, the operand
/// tensors, the fields of each input, and the output tensors, in this order;
/// its terminator returns the fields of `output`, then the updated output
/// tensors.
struct HandlerFunction {
  /// An input channel. A collected channel passes each field of the record
  /// stacked along a leading dynamic dimension.
  struct Input {
    dfrt::Record record;
    bool collected = false;
    /// In memory, separable f32 fields have this type, each in the front of its
    /// place in the slice. Not with `collected`.
    std::optional<dfrt::ElementType> narrow = std::nullopt;
  };

  std::string symbol;
  Region *body = nullptr;
  unsigned indices = 0;
  unsigned operands = 0;
  std::vector<Input> inputs;
  std::optional<dfrt::Record> output;
  /// Input::narrow of `output`.
  std::optional<dfrt::ElementType> narrow = std::nullopt;
  unsigned outputs = 0;
  /// The body works on one slice: separable fields are as wide as one slice,
  /// and the slices pointers point at it.
  bool sliced = false;
  /// So many more arguments of the body, and of the function, where they come
  /// behind scratch: pointers (!llvm.ptr) that belong to the caller. A part has
  /// two: the counters of its streams and the parameter of the kernel.
  unsigned pointers = 0;
  /// Device only: tensors of the body carry layouts, see FragmentsToNVVM.h.
  /// Tensors of the program begin at multiples of 16 bytes then.
  bool fragments = false;
  /// With `fragments`: instead of the stacked records, collected channels pass
  /// tables of addresses, for each field that of every record's.
  bool tables = false;
  /// With `fragments`: each warp calls the function by itself.
  bool warp = false;
  /// With `fragments`: shared memory that second buffers may grow
  /// HandlerFunctionInfo::fragmentBytes to.
  uint64_t fragmentLimit = UINT64_MAX;
  /// With `fragments`: the body has one result more, an i1. Where it is true,
  /// the fields of `output` are not stored: the body itself was their reader.
  bool mayDrop = false;
  /// With `fragments`: `output` always lies in global memory, where it stays in
  /// the L2 cache until it is read, as far as that can be.
  bool lastingOutput = false;
  /// With `sliced` and `warp`: the symbol of the pairwise function, one of the
  /// same list, from whose registers this one may take its only input. Empty
  /// without.
  std::string reduce;
  /// Device only: the threads that call this function are not the compute
  /// threads. It has no barriers and may only load, compute scalars and call.
  bool loadRole = false;
};

/// What became of a function.
struct HandlerFunctionInfo {
  std::string symbol;
  /// Bytes that the scratch argument must point at, 64-byte aligned.
  uint64_t scratchBytes = 0;
  /// Shared memory that it needs at the kernel's `dfk_fragment_at`.
  uint64_t fragmentBytes = 0;
  /// Operations that run on one thread, each with the reason. One sentence
  /// each, without the name of the function.
  std::vector<std::string> remarks;
};

/// Registers what convertHandlersToLLVM needs; it also does so itself, but a
/// registry may not be extended while passes run in parallel.
void registerHandlerToLLVMDialects(DialectRegistry &registry);

/// Appends to `module` (a builtin.module or a gpu.module) an `llvm.func` of the
/// packed convention for each of `functions`, and what these need: internal
/// functions, constants, and declarations of the dfk_* functions that `module`
/// does not have yet. For the device all are internal, inlined always, and
/// convergent. Emits diagnostics at the operations at fault, or at the location
/// of `module`. The bodies are not changed.
///
/// A pairwise handler on fragments also becomes, where that is possible,
/// functions by which a fold keeps records in registers:
///
///   symbol$load   (head, slices) -> loaded record
///   symbol$widen  (loaded record) -> record
///   symbol$merge  (packed, record, loaded record) -> record
///   symbol$store  (record, head, slices)
///   symbol$head   (record, head, slices)
///
/// `store` writes all of a record. Of a function for slices, it writes the
/// slice and `head` writes what slices have in common, which is needed once.
/// `packed` holds the indices only. A record is the registers that a thread
/// holds of its fields (fragments::appendRegisterTypes), one field behind the
/// other, in the layouts in which the handler returns them; as a result it is a
/// struct if there are several. A loaded record has fields as narrow as they
/// are in memory; there is no `widen` if that is no difference. There are none
/// of a handler that reads tensors, whose warps exchange anything, or whose
/// fields do not lie in one piece in the record.
///
/// Any other handler for slices on fragments of one warp also becomes functions
/// by which the warp loads slices ahead:
///
///   symbol$common  (head, slices of each input) -> registers
///   symbol$slice   (head, slices of each input) -> registers
///   symbol$apply   (packed, registers of both)
///
/// `common` loads what slices have in common, and is there only if the handler
/// reads anything of it. `packed` lacks the inputs. There are none if an input
/// is collected, or if a field is read other than in the layout of a fragment.
///
/// Where `reduce` is given, and that one has the functions above, there is one
/// more, if no warp has to ask another for what it reads:
///
///   symbol$follow  (packed, record)
///
/// It does what the function does, with a slice that the fold of `reduce` has
/// in registers. `packed` lacks the input.
FailureOr<std::vector<HandlerFunctionInfo>>
convertHandlersToLLVM(ArrayRef<HandlerFunction> functions, HandlerTarget target,
                      Operation *module);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_CONVERSION_HANDLERTOLLVM_H
