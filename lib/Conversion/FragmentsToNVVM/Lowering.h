//===- Lowering.h - One body on register fragments --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The class that walks a body, and what its files share. Each file lowers one
// class of operations:
//
//   FragmentsToNVVM.cpp  the walk, scalars, loops and branches
//   Elementwise.cpp      elementwise operations, constants, roundings
//   Compare.cpp          comparisons of coordinates with limits
//   Linalg.cpp           structured operations: broadcasts, fills, reductions
//   Reductions.cpp       the part of a reduction that crosses threads
//   Memory.cpp           loads, stores and slices of memory
//   Convert.cpp          from one layout of registers to another
//   Scratch.cpp          exchange between warps and its barriers
//   SharedTile.cpp       slices and padding of shared tiles, loads from them
//   Stage.cpp            from registers to shared tiles
//   Dot.cpp              products on the tensor cores
//
// Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_LOWERING_H
#define DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_LOWERING_H

#include "Wgmma.h"

#include "dataflow/Conversion/FragmentsToNVVM.h"
#include "dataflow/IR/Dataflow.h"
#include "dataflow/IR/FragmentLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallBitVector.h"

#include <deque>
#include <functional>
#include <optional>

namespace mlir::df::fragments {

/// A place of the fragment scratch that one operation writes and others read.
/// None: memory that needs no barriers of ours.
using Site = std::optional<unsigned>;

/// A tile in registers: the elements that a thread holds, in the order of
/// FragmentLayout::coordinates. Each is a scalar of the element type.
struct Fragment {
  FragmentLayout layout;
  SmallVector<Value> registers;
};

/// A tile of two dimensions in shared memory.
struct SharedTile {
  SharedLayout layout;
  Value address; ///< i32, in the window of shared memory, of element (0, 0)
  SmallVector<int64_t> shape;
  Type element;
  /// Where it was staged; readers call noteRead. None for stages of rings.
  Site site;
};

/// A tensor in memory, dense and row-major but for dimensions that are slices
/// of larger ones.
struct Memory {
  Value pointer; ///< of the first element
  Type element;
  /// The type of what is loaded and stored, where that is a wider float.
  Type wide;
  SmallVector<OpFoldResult> shape;   ///< index
  SmallVector<OpFoldResult> strides; ///< index, in elements
  /// What each stride is a multiple of, in elements.
  SmallVector<int64_t> strideDivisors;
  uint64_t alignment = 1; ///< of `pointer`, in bytes
  /// At `pointer` is a table: the address of each element of dimension 0.
  bool table = false;
  /// A dimension whose slices, of `part` elements, lie `pitch` elements apart.
  int64_t split = -1, part = 0, pitch = 0;
  unsigned argument = 0; ///< of the body, that it is a slice of
  bool lasting = false;  ///< global; what is stored stays in the L2 cache
};

/// The type of an element as LLVM knows it: formats that it has no vectors of
/// are moved as integers.
Type storedType(Type element);
int64_t bytesOf(Type element);

/// The layout of a fragment's type; nothing for other types.
std::optional<FragmentLayout> layoutOf(Type type);

/// What an index is a multiple of, as far as its arithmetic shows; 0 is a
/// multiple of everything.
uint64_t knownMultiple(OpFoldResult value);

class FragmentLowering {
public:
  FragmentLowering(OpBuilder &builder, const Options &options, Info &info)
      : builder(builder), loc(builder.getUnknownLoc()), options(options),
        info(info) {}

  LogicalResult run(Block &body, ArrayRef<Place> arguments,
                    ArrayRef<Place> fields);

  //===--------------------------------------------------------------------===//
  // Values of the new code that stand for those of the body
  //===--------------------------------------------------------------------===//

  /// The value of a scalar.
  Value scalar(Value value) const { return scalars.lookup(value); }
  OpFoldResult scalar(OpFoldResult value) const;
  /// What stands for a tensor; null if it is another kind of value.
  const Fragment *fragment(Value tensor) const;
  const SharedTile *shared(Value tensor) const;
  const Memory *memory(Value tensor) const;
  void map(Value value, Value with) { scalars.map(value, with); }
  void map(Value tensor, Fragment with);
  void map(Value tensor, SharedTile with);
  void map(Value tensor, Memory with);

  //===--------------------------------------------------------------------===//
  // Writing code
  //===--------------------------------------------------------------------===//

  OpBuilder &builder;
  /// Of the operation that is lowered.
  Location loc;
  const Options &options;
  Info &info;

  Value i32(int64_t value);
  Value index(int64_t value);
  Value index(OpFoldResult value);
  Value add(Value a, Value b);
  Value multiply(Value a, Value b);
  Value call(StringRef name, Type result, ValueRange operands = {});

  /// Numbers of this thread, i32: in its warp, of the warp in its warpgroup
  /// (0 in warp mode), of the warpgroup. All made once, at the begin.
  Value lane() const { return laneNumber; }
  Value warp() const { return warpNumber; }
  Value group() const { return groupNumber; }
  /// One bit of a number of this thread, i32, 0 or 1.
  enum class Bits { lane, warp, group };
  Value threadBit(Bits of, unsigned bit);
  /// What this thread adds to the coordinate `dim` of its registers, an i32
  /// that is the same for all of them.
  Value threadCoordinate(const FragmentLayout &layout, unsigned dim);
  /// What register `number` adds.
  static SmallVector<int64_t> registerCoordinates(const FragmentLayout &layout,
                                                  unsigned number);

  /// The scalar form of an elementwise operation, folded where possible.
  Value applyScalar(Operation *op, ValueRange operands);
  /// A comparison of a coordinate of the body, which this thread's elements
  /// have next to each other, in one instruction; null if it is none.
  Value compareCoordinate(arith::CmpIOp op, Value a, Value b);
  /// The same as applyScalar for `count` elements: of each operand there is a
  /// list.
  SmallVector<Value> applyElements(Operation *op,
                                   ArrayRef<SmallVector<Value>> operands,
                                   size_t count);

  /// What the lane with these bits exchanged holds, and what `lane` holds.
  Value shuffleXor(Value value, unsigned mask);
  Value shuffle(Value value, Value lane);

  /// Narrow values to be packed into words: bits of `value`, of 8 or 16 bits,
  /// as an integer; and back.
  Value toBits(Value value);
  Value fromBits(Value bits, Type type);

  //===--------------------------------------------------------------------===//
  // Exchange between warps (Scratch.cpp)
  //
  // To write a place: beginWrite, stores, then `publish`, after which all
  // compute threads may read; noteRead behind the last load of each reader.
  // Barriers in front of writes are put where they are needed, at the end.
  //===--------------------------------------------------------------------===//

  /// A new place of `bytes`, aligned to `alignment` (up to 1024). In a loop it
  /// may have two buffers, which take turns.
  unsigned allocateScratch(uint64_t bytes, uint64_t alignment);
  /// The address of the place for what is written now, i32. Call it once for
  /// each write, and keep the value for the readers.
  Value beginWrite(unsigned site);
  /// The same as a pointer, from which constant distances cost nothing.
  Value beginWritePointer(unsigned site);
  /// A barrier of all compute threads. `async`: what this thread wrote becomes
  /// visible to the asynchronous proxy first.
  void publish(bool async = false);
  /// Leaves the rest of an operation for the next barrier: `complete` runs
  /// behind it and maps `results`. It comes before the first operation that
  /// needs one of them; by then another one may have been due anyway.
  void defer(ValueRange results, std::function<void()> complete);
  void noteRead(Site site);

  /// Whether a loop carries what this reduction leaves as shares of threads
  /// (CarriedSums.cpp); then there is nothing to exchange.
  bool isCarriedSum(Operation *op) const { return carriedSums.contains(op); }

  //===--------------------------------------------------------------------===//
  // Loads and stores (Memory.cpp, Slices.cpp)
  //===--------------------------------------------------------------------===//

  Fragment load(const Memory &from, const FragmentLayout &layout);
  /// The elements that memory has; `padding` in place of the others.
  Fragment load(const Memory &from, const FragmentLayout &layout,
                Value padding);
  /// Where there are `limits`, one for each dimension, elements that have a
  /// coordinate not below its limit are not stored.
  void store(const Fragment &fragment, const Memory &to,
             ArrayRef<OpFoldResult> limits = {});
  void store(Value scalar, const Memory &to);

  // Narrow elements that are stored together (FillSectors.cpp)

  /// `fragment`, or the same tile in a layout in which a warp stores whole
  /// sectors of `to`; elements are exchanged within warps.
  Fragment fillSectors(Fragment fragment, const Memory &to);
  /// Exchanges a bit of the number of a register in the block with a bit of the
  /// number of the lane.
  Fragment exchangeBit(const Fragment &from, unsigned regBit, unsigned laneBit);
  /// Transposes the 8 x 8 16-bit elements that lanes hold as accumulators do,
  /// neighbours of a thread in registers that differ in this bit.
  Fragment transposeCores(const Fragment &from, unsigned regBit);
  /// `count` elements that follow each other in the last dimension, the first
  /// of them at `indices`. The address is a multiple of `alignment` bytes.
  SmallVector<Value> loadElements(const Memory &from, ArrayRef<Value> indices,
                                  unsigned count, uint64_t alignment);
  /// Row-major memory at a pointer to shared memory.
  Memory sharedMemory(Value pointer, ArrayRef<int64_t> shape, Type element,
                      uint64_t alignment);

  //===--------------------------------------------------------------------===//
  // Between layouts
  //===--------------------------------------------------------------------===//

  /// The same tile in another layout of registers (Convert.cpp).
  FailureOr<Fragment> convert(Operation *op, const Fragment &from,
                              const FragmentLayout &to);

  //===--------------------------------------------------------------------===//
  // Shared tiles (SharedTile.cpp, Stage.cpp) and products (Dot.cpp)
  //===--------------------------------------------------------------------===//

  /// Stages `fragment` as a tile of `layout`, visible to all warps and to the
  /// asynchronous proxy.
  FailureOr<SharedTile> stage(Operation *op, const Fragment &fragment,
                              const SharedLayout &layout);
  /// A shared tile in registers.
  FailureOr<Fragment> load(Operation *op, const SharedTile &tile,
                           const FragmentLayout &layout);
  /// A slice of a shared tile.
  LogicalResult lowerSharedSlice(tensor::ExtractSliceOp op);
  /// Zeroes the rows behind those that are valid.
  LogicalResult lowerSharedPad(tensor::PadOp op);
  /// Issues a product. It ends in front of the first operation that needs it,
  /// or that may write to memory, so that others begin meanwhile.
  LogicalResult lowerDot(DotOp op);

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerScalarOp(Operation *op);
  LogicalResult lowerFor(scf::ForOp op);
  LogicalResult lowerIf(scf::IfOp op);
  LogicalResult lowerConvert(ConvertLayoutOp op);
  LogicalResult lowerElementwise(Operation *op);
  LogicalResult lowerConstant(Operation *op, const FragmentLayout &layout);
  LogicalResult lowerLinalg(linalg::LinalgOp op);
  LogicalResult lowerMemorySlice(tensor::ExtractSliceOp op);
  LogicalResult lowerMemoryPad(tensor::PadOp op);
  LogicalResult lowerInsert(tensor::InsertSliceOp op);
  LogicalResult lowerExtract(tensor::ExtractOp op);
  LogicalResult lowerDim(tensor::DimOp op);
  Memory memoryOf(const Place &place, unsigned argument);
  /// The address in entry `number` of a table.
  Value lookUp(const Memory &table, Value number);
  LogicalResult storeFields(Operation *terminator, ValueRange values,
                            ArrayRef<Place> fields);
  /// The part of `source` that a slice names; `drop` are dimensions that it
  /// has not.
  FailureOr<Memory> sliceOf(OffsetSizeAndStrideOpInterface op,
                            const Memory &source,
                            const llvm::SmallBitVector &drop);
  /// Ends the products that must have ended in front of `op`. True: `op` gives
  /// a stage back; it is lowered when they have, and not here.
  bool waitsForDots(Operation *op);
  void endDots(size_t count);
  /// A barrier if `op` needs what has been deferred.
  void completeFor(Operation *op);
  Value openPlace(unsigned site);
  /// Keeps the barriers of `block` that are needed, and places the scratch.
  void placeBarriers(Block &block);

  /// See allocateScratch.
  struct ScratchPlace {
    uint64_t bytes = 0, alignment = 1;
    func::CallOp guard;       ///< the barrier in front of the write
    scf::ForOp loop;          ///< the innermost loop around the write
    arith::ConstantOp offset; ///< of the place
    arith::ConstantOp turn;   ///< of the buffer of this iteration
    bool doubled = false;
  };

  /// A product on its way.
  struct RunningDot {
    DotOp op;
    RunningProduct product;
    std::array<Site, 2> sites; ///< that it reads
    SmallVector<Operation *> gives;
  };

  IRMapping scalars;
  llvm::DenseMap<Value, Fragment> fragments;
  llvm::DenseMap<Value, SharedTile> tiles;
  llvm::DenseMap<Value, Memory> memories;
  Value laneNumber, warpNumber, groupNumber;
  SmallVector<ScratchPlace> places;
  llvm::MapVector<Operation *, unsigned> guards;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> reads;
  SmallVector<std::pair<SmallVector<Value>, std::function<void()>>> deferred;
  llvm::DenseSet<Operation *> carriedSums;
  std::deque<RunningDot> runningDots; ///< in the order in which they end
};

/// An element as it was stored.
Value fromStored(FragmentLowering &lowering, Value value, const Memory &from);

/// Rounds an even number of f32 to 16 bits, neighbours together: one
/// instruction for two elements.
SmallVector<Value> roundPairs(FragmentLowering &lowering,
                              ArrayRef<Value> values, Type to);

} // namespace mlir::df::fragments

#endif // DATAFLOW_LIB_CONVERSION_FRAGMENTSTONVVM_LOWERING_H
