//===- DataflowToNVVM.h - Programs to persistent kernels --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is one function for all plans of a program: every CTA walks its
// queue (or draws from a list), waits for operands, calls handlers and hands
// records over, as dataflow/Schedule/Schedule.h says. It works for any cluster
// size that it is launched with.
//
// What the planner and the runtime must know of a kernel stands in the
// dictionary `dataflow.kernel` of its gpu.module:
//
//   symbol             the kernel's name
//   program            that of its program
//   disciplines        bit 0: static queues, bit 1: tickets
//   transports         bit t: dfrt::Transport t
//   threads            of a CTA
//   reserved_bytes     shared memory in front of the plan's slots
//   ring_bytes         of which rings of streams,
//   barrier_bytes      barriers of rings and plans, and the control block,
//   exchange_bytes     the conversion of fragment layouts,
//   handler_bytes      and scratch of handlers and folds
//   max_barriers       that a plan may use on a CTA
//   scratch_bytes      fixed part of a CTA's scratch in global memory
//   max_cluster        CTAs of a cluster
//   watchdog           waits are bounded
//   timeline           it can record when instructions began and ended
//   parameter_bytes    size of the one parameter (dfrt/KernelABI.h)
//   argument_alignment bytes, for each argument of the program
//   maps               tensor maps behind the descriptors of the parameter
//                      (StreamLowering.h), where there are any
//   remarks            which way handlers took, and why
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_DATAFLOWTONVVM_H
#define DATAFLOW_CONVERSION_DATAFLOWTONVVM_H

#include "dataflow/IR/Dataflow.h"

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;

namespace df {

/// Name of the dictionary.
inline constexpr StringLiteral kKernelAttrName = "dataflow.kernel";

/// A kernel to make.
struct KernelSpecialization {
  std::string name; ///< "static"
  bool tickets = false;
  uint32_t transports = 0; ///< bit t: dfrt::Transport t
};

/// All of them:
///   static         a queue a CTA, all transports
///   static_global  the same without transports into shared memory
///   ticket         a list from which CTAs draw; local and global transports
std::vector<KernelSpecialization> kernelSpecializations();
/// Those called `names`, in this order. Fails, with a diagnostic at `loc`, on a
/// name that there is not, or that is there twice.
FailureOr<std::vector<KernelSpecialization>>
kernelSpecializations(ArrayRef<std::string> names, Location loc);

/// Name of a list of names of specialisations on a program.
inline constexpr StringLiteral kSpecializationsAttrName =
    "dataflow.specializations";

/// The specialisations that plans of `program` may need: those of
/// `dataflow.specializations`, else what its requests leave. Fails where
/// importProgram does.
FailureOr<std::vector<KernelSpecialization>>
selectSpecializations(ProgramOp program);

struct KernelOptions {
  bool watchdog = false;
  bool timeline = false;  ///< times of instructions are recorded
  uint32_t threads = 256; ///< compute threads, a multiple of 128
  uint32_t maxBarriers = 512;
  uint64_t privateBytes = 98304;
};

/// Registers what convertProgramToKernel needs; a registry may not be extended
/// while passes run in parallel.
void registerDataflowToNVVMDialects(DialectRegistry &registry);

/// Makes the kernel of a specialised program in a gpu.module at the insertion
/// point of `builder`. Fails, with diagnostics, where a handler has no lowering
/// or importProgram fails.
FailureOr<Operation *>
convertProgramToKernel(OpBuilder &builder, ProgramOp program,
                       const KernelSpecialization &specialization,
                       const KernelOptions &options);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_CONVERSION_DATAFLOWTONVVM_H
