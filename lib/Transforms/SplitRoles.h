//===- SplitRoles.h - Loads of a handler that a role of its own can do ----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `dataflow-split-roles`, in the order in which it takes them:
// find the loads of a handler body that can be streamed (findLoads), give them
// streams and the streams depths (planRings), and write the parts
// (buildLoadPart, buildComputePart). Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_SPLITROLES_H
#define DATAFLOW_LIB_TRANSFORMS_SPLITROLES_H

#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <string>

namespace mlir::df {

/// What the arguments of a handler are.
struct HandlerArguments {
  mutable HandlerOpInterface handler; ///< its methods are not const
  unsigned firstOperand = 0;          ///< arguments before it are indices
  unsigned endOperand = 0; ///< arguments from here on are records and outputs
  /// For each index argument, a number that it is a multiple of.
  SmallVector<int64_t> multiples;
  /// The index arguments that tell one call from another: coordinates, begin.
  SmallVector<unsigned> identity;
  unsigned coordinates = 0; ///< arguments before this one tell tasks apart
  bool perTile = false; ///< an instruction calls it for each tile of a piece

  Region &body() const { return handler.getHandlerBody(); }
  StringRef name() const { return handler.getHandlerName().getValue(); }
};

/// For each index argument that a stage calls its handler with, but for the
/// number of a slice, a number that it is a multiple of.
SmallVector<int64_t> indexMultiples(StageOpInterface stage);

/// A number that `value`, an integer in `body`, is a multiple of; 0 is a
/// multiple of everything. `multiples` holds such numbers for the first
/// arguments of the body.
int64_t knownMultiple(Value value, Region &body, ArrayRef<int64_t> multiples);

/// A slice of an operand that is to be streamed.
struct Load {
  tensor::ExtractSliceOp op;
  unsigned operand = 0;  ///< number of the handler's argument
  RankedTensorType tile; ///< what a stage holds
  bool partial = false;  ///< the slice may have fewer rows than the tile
  /// No other task or iteration loads this tile: it is not wanted later than
  /// by calls that run at about the same time.
  bool once = false;
  bool steady = false; ///< one of many tiles, not what an instruction holds
  Operation *last = nullptr; ///< last use of the tile, in the block of `op`
  unsigned stream = 0;       ///< index in RingPlan::streams
};

/// The loads of a body that can be streamed, in program order. For every other
/// slice of an operand a remark says why it stays where it is.
SmallVector<Load> findLoads(const HandlerArguments &frame);

/// What a load role must do to know which tiles to load: addresses, and the
/// loops and branches around the loads.
class LoadSlice {
public:
  explicit LoadSlice(const HandlerArguments &frame) : frame(frame) {}

  /// Takes in what `load` needs. Nothing changes, and `reason` says why, when
  /// it depends on what only the compute role has.
  bool add(tensor::ExtractSliceOp load, std::string &reason);

  bool contains(Operation *op) const { return marks.ops.contains(op); }
  bool contains(Value value) const { return marks.values.contains(value); }

private:
  struct Marks {
    llvm::DenseSet<Operation *> ops;
    llvm::DenseSet<Value> values;
  };

  bool need(Value value, Marks &into, std::string &reason) const;
  bool needOp(Operation *op, Marks &into, std::string &reason) const;
  bool needAround(Operation *op, Marks &into, std::string &reason) const;

  HandlerArguments frame;
  Marks marks;
};

/// A handler and the loads of it that are streamed.
struct SplitHandler {
  HandlerArguments frame;
  SmallVector<Load> loads;
  /// The program's operand for each argument from firstOperand to endOperand;
  /// null where the stages that call the handler disagree.
  SmallVector<Value> operands;
  int64_t depth = 0;            ///< stages that a request asks for; 0: none
  Operation *request = nullptr; ///< the stage that asks
};

/// A ring before it is an op.
struct RingStream {
  std::string name;
  RankedTensorType tile;
  unsigned depth = 0;
  bool readOnce = true, steady = false;
  int64_t requested = 0;
  Operation *request = nullptr;

  uint64_t stageBytes() const { return StreamOp::getStageBytes(tile); }
};

struct RingPlan {
  SmallVector<RingStream> streams;

  uint64_t bytes() const;
};

struct RingLimits {
  uint64_t ringBytes = 0;   ///< all rings together
  uint64_t flightBytes = 0; ///< up to which rings get more than two stages
};

/// Gives every load a stream and every stream a depth. Loads whose streams do
/// not fit leave their handler, with a remark. Fails when a requested depth
/// does not fit.
FailureOr<RingPlan> planRings(ProgramOp program,
                              MutableArrayRef<SplitHandler> handlers,
                              RingLimits limits);

/// Writes the load part of a handler behind the last op of `kernel`. `names`
/// are the symbols of the streams.
PartOp buildLoadPart(KernelOp kernel, const SplitHandler &split,
                     ArrayRef<StringAttr> names);
PartOp buildComputePart(KernelOp kernel, const SplitHandler &split,
                        ArrayRef<StringAttr> names);

/// The last op of the block of `tile` that uses it or what may share its
/// memory. Null, with a reason, when the tile leaves its block.
Operation *findLastUse(Value tile, std::string &reason);

/// The rules D1 to D5 of `dataflow-verify-kernel`.
LogicalResult verifyKernel(KernelOp kernel);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_SPLITROLES_H
