//===- StreamLowering.h - Parts of handlers with rings ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the parts of a `dataflow.kernel` into functions for
// convertHandlersToLLVM: fills, takes and gives become calls of the device
// library, with the places of the rings in shared memory as constants.
//
//   dfk_take       waits for the next stage to be full; its address
//   dfk_take_at    the same, of a stream with a layout; the address is one in
//                  shared memory, an i32
//   dfk_give       hands the stage back
//   dfk_fill_begin waits for the next stage to be free and says how many bytes
//                  will arrive; the stage's address in shared memory
//   dfk_fill_run   one bulk copy, by the lane named; by none for lane -1. With
//                  `_keep`, the data stay in the L2 cache as usual, else they
//                  are evicted first
//   dfk_fill_tensor_1 to _5, of a stream with a layout: one copy of a box of a
//                  tensor map of this rank, by one lane
//   dfk_fill_end   counts the stage
//
// The tensor maps lie in the kernel's parameter, behind the descriptors.
//
// The whole load warp executes a load part; each lane computes the copies that
// it issues.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_STREAMLOWERING_H
#define DATAFLOW_CONVERSION_STREAMLOWERING_H

#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dataflow/IR/Dataflow.h"
#include "dfrt/Artifact.h"

namespace mlir {
class Builder;
} // namespace mlir

namespace mlir::df {

/// Where a ring lies, in bytes from the begin of the CTA's shared memory.
struct RingPlace {
  uint32_t full = 0;  ///< a barrier of 8 bytes for each stage
  uint32_t empty = 0; ///< likewise
  uint32_t base = 0;  ///< the first stage
};

struct RingLayout {
  std::vector<RingPlace> places; ///< in the order of the streams
  uint64_t stageBytes = 0, barrierBytes = 0;
};

/// Lays the stages of all rings out from `stages` on, a multiple of 1024, and
/// their barriers from `barriers` on.
RingLayout layoutRings(KernelOp kernel, uint32_t stages, uint32_t barriers);

/// Where the tensor maps of a kernel begin in its parameter.
uint64_t placeMaps(const dfrt::Program &program);

/// A tensor map as `dataflow.kernel` describes it: a dictionary of `argument`,
/// `element`, `swizzle`, `promotion`, `fill` and `dimensions`, each of which is
/// [first, last, box, unit, limit].
Attribute describeMap(Builder &builder, const dfrt::TensorMapSpec &map);
/// The inverse; nothing when the attribute is something else.
std::optional<dfrt::TensorMapSpec> readMap(Attribute attribute);

/// Owns copies of parts in which calls stand for the ops of streams.
class PartFunctions {
public:
  /// `mapsAt`: where tensor maps begin in the parameter of the kernel.
  PartFunctions(KernelOp kernel, RingLayout layout, uint64_t mapsAt)
      : kernel(kernel), layout(std::move(layout)), mapsAt(mapsAt) {}

  /// The function of a part. `handler` is that of the whole handler, to whose
  /// symbol "$load" or "$compute" is added. A load function has no records and
  /// outputs: only indices, operands and scratch. Both get, behind scratch, a
  /// pointer to an i32 for each stream, the number of tiles so far, and one to
  /// the parameter of the kernel.
  ///
  /// A compute part with a following finalize, which is the stage `following`
  /// of the program, has that one's operands behind its own, and its outputs.
  FailureOr<HandlerFunction> lower(PartOp part, HandlerFunction handler,
                                   uint32_t following = dfrt::kNone);

  /// The tensor maps that the parts so far need, in the order of the parameter.
  ArrayRef<dfrt::TensorMapSpec> getMaps() const { return maps; }

private:
  KernelOp kernel;
  RingLayout layout;
  uint64_t mapsAt;
  std::vector<dfrt::TensorMapSpec> maps;
  std::vector<OwningOpRef<Operation *>> copies;
};

/// For each argument of the program, the alignment in bytes that the fills of
/// the kernel need; 1 where they read nothing.
std::vector<uint32_t> fillAlignment(ProgramOp program, KernelOp kernel);

} // namespace mlir::df

#endif // DATAFLOW_CONVERSION_STREAMLOWERING_H
