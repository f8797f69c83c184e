//===- AssignLayouts.h - Where the tiles of a part lie ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `dataflow-assign-layouts`, in the order in which it takes them
// for a copy of one compute part:
//
//   appendFinalize adds what a finalize does with the record, if one may follow
//   normalizeBody  few kinds of operations: contractions become dataflow.dot,
//                  other structured operations linalg.generic
//   checkBody      refuses what the fragment path does not take
//   TileClasses    which tiles share a layout, and which layouts follow from
//                  which (broadcasts, reductions, transposition)
//   planLayouts    chooses the layouts: orientations of dots first, the rest
//                  follows; what is cheapest by a small cost model
//   rewriteBody    writes them into the types, and conversions where they
//                  differ
//   prefetchTiles  has loops load the tiles of later iterations
//
// Every step looks at one operation at a time: there is no pattern of a whole
// body anywhere. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_TRANSFORMS_ASSIGNLAYOUTS_H
#define DATAFLOW_LIB_TRANSFORMS_ASSIGNLAYOUTS_H

#include "dataflow/IR/Dataflow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::df {

/// Why a part stays portable.
struct Refusal {
  Operation *op = nullptr;
  std::string reason;
  /// More warpgroups would help: the tiles need too many registers.
  bool registers = false;
  /// Less deep rings would help: the tiles need too much shared memory.
  bool scratch = false;

  /// Keeps the first reason; fails, so that it can be returned.
  LogicalResult set(Operation *at, const Twine &text);
};

//===----------------------------------------------------------------------===//
// Finalizes that follow
//===----------------------------------------------------------------------===//

/// Makes the compute part of a map one that may do the work of the finalize
/// with this handler, too (dataflow.part, dataflow/Schedule/Following.h). Its
/// body stands in a branch behind that of the map.
void appendFinalize(PartOp part, HandlerOpInterface finalize);

//===----------------------------------------------------------------------===//
// Normal form
//===----------------------------------------------------------------------===//

/// Brings the body to normal form. Fails when an operation has none.
LogicalResult normalizeBody(PartOp part, Refusal &refusal);

/// Where a tensor of a body is, before layouts are known.
enum class TileHome {
  memory,   ///< operands, records, outputs and slices of them
  stage,    ///< a swizzled stage of a ring, or a slice of one
  uniform,  ///< one value, or none in particular: made where it is needed
  fragment, ///< computed: in registers
};

/// Whether a slice only says how much of a computed tile is stored: its first
/// rows, or columns, of a number that is known at run time.
bool isStoreMask(tensor::ExtractSliceOp op);

/// The layouts of those streams whose stages are swizzled.
using StreamLayouts = llvm::MapVector<StringAttr, SharedLayout>;

/// Finds where tensors are; remembers what it found.
class TileHomes {
public:
  explicit TileHomes(StreamLayouts streams) : streams(std::move(streams)) {}

  TileHome of(Value tensor);
  bool isFragment(Value tensor) { return of(tensor) == TileHome::fragment; }
  /// The layout of a stream; null when its stages are row-major.
  const SharedLayout *layoutOf(TakeOp take) const;
  /// The layout of a tensor at home in a stage: that of the stage.
  SharedLayout stageLayout(Value tensor) const;

private:
  TileHome find(Value tensor);

  StreamLayouts streams;
  llvm::DenseMap<Value, TileHome> known;
};

/// The part's argument of which a tensor in memory is a slice or an update;
/// null when it comes from a stream, or branches disagree.
BlockArgument findRoot(Value memory);

/// Tests that the fragment path takes every operation of a body in normal form.
LogicalResult checkBody(PartOp part, TileHomes &homes, Refusal &refusal);

//===----------------------------------------------------------------------===//
// Classes of tiles
//===----------------------------------------------------------------------===//

/// How a tile lies in the iteration space of its operation: the dimension of
/// the space for each dimension of the tile, or kUnitDim for one of size 1.
using TileDims = SmallVector<int, 4>;
inline constexpr int kUnitDim = -1;

/// The dims of a map whose results are dimensions, each once, or 0.
std::optional<TileDims> getTileDims(AffineMap map);
bool isIdentity(const TileDims &dims, size_t rank);
/// The layout of a tile that lies so in a space of this layout.
FragmentLayout project(const FragmentLayout &space, const TileDims &dims);
/// The layout of a space from that of a tile with all its dimensions.
std::optional<FragmentLayout> unproject(const FragmentLayout &tile,
                                        const TileDims &dims);

/// Which tiles of a body must have, or follow from, one layout.
///
/// The tiles of a class have one shape and get one layout. A class is also the
/// iteration space of the operations on its tiles; spaces that are no tile have
/// a class of their own.
class TileClasses {
public:
  TileClasses(PartOp part, TileHomes &homes);

  struct Class {
    SmallVector<int64_t> shape;
    SmallVector<DotOp> dots;
    /// Bytes of the narrowest element among tiles that are loaded or stored;
    /// 0 without any.
    unsigned memoryBytes = 0;
    /// How many times more often than once per call, about, they are.
    int64_t memoryWeight = 0;

    int64_t elements() const { return ShapedType::getNumElements(shape); }
  };

  /// A tile that lies in an iteration space otherwise than as a whole.
  struct Access {
    unsigned space = 0, tile = 0;
    TileDims dims;
    unsigned elementBytes = 4;
    /// Of how many times the operation is run, about.
    int64_t weight = 1;
    bool isResult = false;
  };

  unsigned size() const { return classes.size(); }
  const Class &operator[](unsigned number) const { return classes[number]; }
  ArrayRef<Access> getAccesses() const { return accesses; }
  /// The class of a fragment.
  unsigned of(Value tile) const;
  /// The class of the iteration space of an op on tiles.
  unsigned spaceOf(Operation *op) const;
  bool hasReductions() const { return reductions; }

private:
  unsigned addNode(ArrayRef<int64_t> shape);
  unsigned node(Value tile);
  unsigned find(unsigned number) const;
  void unite(unsigned a, unsigned b);
  void addOp(Operation *op);
  void addElementwise(Operation *op);
  void addGeneric(linalg::GenericOp op);
  void addLoop(scf::ForOp op);
  void addBranch(scf::IfOp op);
  void addUse(Operation *op, Value value, unsigned space, const TileDims &dims,
              bool isResult);
  void touchMemory(unsigned number, Type type, Operation *op);
  void renumber();

  TileHomes &homes;
  mutable SmallVector<unsigned> parents;
  SmallVector<Class> classes;
  SmallVector<Access> accesses;
  llvm::DenseMap<Value, unsigned> nodes;
  llvm::DenseMap<Operation *, unsigned> spaces;
  bool reductions = false;
};

/// How many times more often than once per call an op is run, about.
int64_t getWeight(Operation *op);

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Where an operand of a dot comes from.
struct DotOperand {
  enum class Home {
    stage,     ///< it lies in a swizzled stage
    registers, ///< wgmma's operand A in registers
    staged     ///< it is brought to shared memory first
  };
  Home home = Home::stage;
  std::optional<FragmentLayout> registers;
  SharedLayout staged;
  int64_t cost = 0; ///< cycles, about
};

/// How a dot is computed.
struct DotPlan {
  bool exchanged = false; ///< wgmma's A is the second operand
  DotOperand a, b;
  int64_t cost = 0; ///< cycles, about, operands included
};

struct LayoutPlan {
  unsigned warps = 4, groups = 1;
  std::vector<FragmentLayout> layouts; ///< by class
  llvm::DenseMap<Operation *, DotPlan> dots;
  int64_t cost = 0; ///< cycles, about
  /// What the cheapest plan with another orientation of dots costs.
  std::optional<int64_t> otherCost;
};

struct LayoutLimits {
  /// 32-bit registers that tiles may take at a time.
  unsigned registers = 200;
  /// Shared memory that tiles may go through.
  int64_t scratchBytes = 0;
};

/// Where tiles take most registers of a thread, and how many.
struct TilePressure {
  Operation *op = nullptr;
  int64_t registers = 0;
};

/// `registersOf` says how many a tile takes; 0 for other values. Only places in
/// `within` count, if there is one.
TilePressure findPressure(PartOp part,
                          llvm::function_ref<int64_t(Value)> registersOf,
                          Operation *within = nullptr);

/// The cycles, about, that it takes to bring a tile from one layout to another.
int64_t getConversionCost(const FragmentLayout &from, const FragmentLayout &to,
                          unsigned elementBytes);

/// How `dot`, whose result has `layout`, is computed. Fails, with a reason,
/// when it cannot be computed so. `layouts` gives the layouts of its operands
/// that are fragments, once they are known.
FailureOr<DotPlan>
planDot(DotOp dot, const FragmentLayout &layout, TileHomes &homes,
        llvm::function_ref<std::optional<FragmentLayout>(Value)> layoutOf,
        std::string &reason);

/// Chooses layouts. `warps` is 4, or 1 where every warp holds tiles of its own.
FailureOr<LayoutPlan> planLayouts(PartOp part, const TileClasses &classes,
                                  TileHomes &homes, unsigned warps,
                                  unsigned groups, const LayoutLimits &limits,
                                  Refusal &refusal);

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Writes a plan into the types of the body, and conversions between them.
/// `outputs` is how many of the results, the last ones, update arguments.
void rewriteBody(PartOp part, const TileClasses &classes, TileHomes &homes,
                 const LayoutPlan &plan, unsigned outputs);

/// Has loops with known bounds load their tiles one or two iterations ahead, as
/// far as tiles then take at most `registers` of a thread.
void prefetchTiles(PartOp part, unsigned registers);

} // namespace mlir::df

#endif // DATAFLOW_LIB_TRANSFORMS_ASSIGNLAYOUTS_H
