//===- FragmentLayout.h - How tiles lie over threads ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a static tile are: in registers of which thread
// (FragmentLayout), or at which bytes of shared memory (SharedLayout). Both are
// small values without heap memory; the attributes `#dataflow.fragment` and
// `#dataflow.shared` hold them. docs/layouts.md has pictures.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_FRAGMENTLAYOUT_H
#define DATAFLOW_IR_FRAGMENTLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::df {

/// Which dimension of a dot several warpgroups share out.
enum class DotSplit : uint8_t { m, n };

/// How a tile lies over the registers of the compute threads.
///
/// A tile is cut into blocks, all of one shape. Within a block, the coordinates
/// of an element are a sum over the bits of
///   - the number of the register in the block,
///   - the lane (5 bits), the warp in its warpgroup (2 bits, or none where each
///     warp holds a tile of its own) and the warpgroup (0 to 2 bits):
/// every bit that is set adds its base, a power of two along one dimension. A
/// zero base of a lane, warp or warpgroup bit means that the element is held
/// with either value of the bit: it is replicated. The others cover the block
/// exactly once. Blocks follow each other in the registers of a thread:
///   register = block number * registers in a block + register in the block.
///
/// Layouts are kept in a normal form: two are equal exactly when they hold the
/// same elements at the same places.
class FragmentLayout {
public:
  static constexpr unsigned maxRank = 4;
  static constexpr unsigned maxRegisterBits = 12;
  static constexpr unsigned laneBits = 5;
  static constexpr unsigned maxWarpBits = 2;
  static constexpr unsigned maxGroupBits = 2;

  /// What a bit adds: `step`, a power of two, along `dim`; nothing with step 0.
  struct Base {
    uint32_t dim = 0;
    int32_t step = 0;

    bool isZero() const { return step == 0; }
    friend bool operator==(Base a, Base b) {
      return a.step == b.step && (a.dim == b.dim || a.isZero());
    }
    friend bool operator!=(Base a, Base b) { return !(a == b); }
  };

  /// A layout spelled out, as the attribute has it. `order` holds the
  /// dimensions in which blocks are numbered, fastest first.
  struct Description {
    llvm::SmallVector<int64_t, 4> shape;
    llvm::SmallVector<int64_t, 4> block;
    llvm::SmallVector<unsigned, 4> order;
    llvm::SmallVector<Base, 8> registers;
    llvm::SmallVector<Base, 5> lanes;
    llvm::SmallVector<Base, 2> warps;
    llvm::SmallVector<Base, 2> groups;
  };

  using Coordinates = llvm::SmallVector<int64_t, 4>;

  /// A place of an element. Replicated bits are zero.
  struct Place {
    unsigned reg = 0;
    unsigned lane = 0;
    unsigned warp = 0;
    unsigned group = 0;
  };

  /// A scalar that every thread of one warpgroup holds.
  FragmentLayout();

  /// Why a description is no layout; nothing when it is one.
  static std::optional<std::string> check(const Description &description);
  /// The layout; the description must pass `check`.
  static FragmentLayout get(const Description &description);
  Description describe() const;

  //===--------------------------------------------------------------------===//
  // Constructors. They return nothing for shapes that they do not fit.
  //===--------------------------------------------------------------------===//

  /// The accumulator of wgmma: M along dimension `mDim`, in steps of 64, N
  /// along the other, in steps of 8. Several warpgroups share out M in runs of
  /// 64, or N in runs as long as powers of two allow.
  static std::optional<FragmentLayout>
  accumulator(llvm::ArrayRef<int64_t> shape, unsigned mDim, unsigned groups = 1,
              DotSplit split = DotSplit::m);
  /// The operand A of wgmma in registers: M along `mDim`, K along the other, in
  /// steps of 32 bytes. For 16-bit elements and one warpgroup it is the
  /// accumulator of the same shape. With `split` N all warpgroups hold the
  /// tile.
  static std::optional<FragmentLayout>
  registerA(llvm::ArrayRef<int64_t> shape, unsigned mDim, unsigned elementBytes,
            unsigned groups = 1, DotSplit split = DotSplit::m);
  /// A layout for coalesced access to memory: a thread holds 16 bytes along the
  /// last dimension; lanes, then warps, then warpgroups go on along it, then
  /// along the dimensions before it, as far as powers of two divide them. Tiles
  /// with fewer elements are replicated. `warps` is 1 or 4. Fits every shape.
  static FragmentLayout blocked(llvm::ArrayRef<int64_t> shape, unsigned warps,
                                unsigned groups, unsigned elementBytes);
  /// Every thread holds every element.
  static FragmentLayout replicated(llvm::ArrayRef<int64_t> shape,
                                   unsigned warps, unsigned groups);

  //===--------------------------------------------------------------------===//
  // Derived layouts
  //===--------------------------------------------------------------------===//

  /// Of the tile without dimension `dim`: what a reduction over it leaves, and
  /// what can be broadcast along it without moving data between threads.
  FragmentLayout slice(unsigned dim) const;
  /// Of the transposed tile, whose dimension i is dimension `dims[i]` of this.
  FragmentLayout permute(llvm::ArrayRef<unsigned> dims) const;
  /// Of the tile with a new dimension of size 1 before dimension `dim`.
  FragmentLayout expand(unsigned dim) const;

  //===--------------------------------------------------------------------===//
  // Access
  //===--------------------------------------------------------------------===//

  unsigned rank() const { return rankValue; }
  llvm::ArrayRef<int64_t> shape() const { return {shapeValue, rankValue}; }
  llvm::ArrayRef<int64_t> block() const { return {blockValue, rankValue}; }
  llvm::ArrayRef<unsigned> order() const { return {orderValue, rankValue}; }
  llvm::ArrayRef<Base> registerBases() const {
    return {registerValues, numRegisterBits};
  }
  llvm::ArrayRef<Base> laneBases() const { return {laneValues, laneBits}; }
  llvm::ArrayRef<Base> warpBases() const { return {warpValues, numWarpBits}; }
  llvm::ArrayRef<Base> groupBases() const {
    return {groupValues, numGroupBits};
  }

  /// Registers (elements) a thread holds.
  unsigned registers() const { return blocks() << numRegisterBits; }
  /// Warps of a warpgroup that hold a tile together: 1 or 4.
  unsigned warps() const { return 1u << numWarpBits; }
  unsigned groups() const { return 1u << numGroupBits; }
  unsigned threads() const { return 32 * warps() * groups(); }
  int64_t elements() const;
  unsigned blocks() const;
  /// How many threads hold an element.
  unsigned replication() const;

  Coordinates coordinates(unsigned reg, unsigned lane, unsigned warp = 0,
                          unsigned group = 0) const;
  /// The inverse of `coordinates`.
  Place place(llvm::ArrayRef<int64_t> coordinates) const;
  /// How many registers from a multiple of this number on are neighbours along
  /// `dim`, in ascending order: a power of two. The coordinate of the first is
  /// a multiple of it too.
  unsigned contiguous(unsigned dim) const;

  /// Whether this is `accumulator(shape(), mDim, groups(), split)` and of which
  /// `mDim` and `split`. One warpgroup's split is `m`.
  struct DotForm {
    unsigned mDim;
    DotSplit split;
  };
  std::optional<DotForm> matchAccumulator() const;
  /// The same for `registerA`; `mDim` is tried in ascending order.
  std::optional<DotForm> matchRegisterA(unsigned elementBytes) const;

  friend bool operator==(const FragmentLayout &a, const FragmentLayout &b);
  friend bool operator!=(const FragmentLayout &a, const FragmentLayout &b) {
    return !(a == b);
  }
  friend llvm::hash_code hash_value(const FragmentLayout &layout);

private:
  void normalize();

  uint32_t rankValue = 0;
  uint32_t numRegisterBits = 0;
  uint32_t numWarpBits = 2;
  uint32_t numGroupBits = 0;
  int64_t shapeValue[maxRank] = {};
  int64_t blockValue[maxRank] = {};
  unsigned orderValue[maxRank] = {};
  Base registerValues[maxRegisterBits];
  Base laneValues[laneBits];
  Base warpValues[maxWarpBits];
  Base groupValues[maxGroupBits];
};

/// What it takes to bring a tile from one layout to another.
struct LayoutRelation {
  enum class Kind {
    /// Nothing.
    same,
    /// Every thread has what it needs, in other registers.
    registers,
    /// Every warp has what it needs, in other lanes.
    shuffle,
    /// Warps exchange elements through shared memory.
    shared
  };
  Kind kind = Kind::shared;

  /// Kinds `same`, `registers` and `shuffle`: for every register of the target,
  /// the register of the source. To `shuffle` the rest applies too:
  ///   source lane     = lanes[register] plus bit i of the own thread (lane +
  ///   32
  ///                     warp + 128 group), moved to bit j, for every j with
  ///                     laneFrom[j] = i (-1: none),
  ///   source register = registers[register] plus selects[k].offset for every k
  ///                     whose bit of the own thread is set.
  llvm::SmallVector<unsigned> registers;
  llvm::SmallVector<unsigned> lanes;
  std::array<int, FragmentLayout::laneBits> laneFrom = {-1, -1, -1, -1, -1};
  struct Select {
    unsigned threadBit;
    unsigned offset;
  };
  llvm::SmallVector<Select> selects;
};

/// How `to` is made from `from`, layouts of one shape.
LayoutRelation relation(const FragmentLayout &from, const FragmentLayout &to);

/// How atoms of a swizzled tile follow each other.
enum class AtomOrder : uint8_t {
  /// [R / 8][C / chunk]: all chunks of 8 rows, then the next 8 rows.
  rows,
  /// [C / chunk][R / 8]: all rows of a chunk, then the next chunk.
  columns
};

/// How a two-dimensional tile lies in shared memory.
///
/// Columns are cut into chunks of `swizzle` bytes; 8 rows of a chunk are an
/// atom, 8 * swizzle contiguous bytes that begin at a multiple of their size.
/// Within an atom rows follow each other, and the 16-byte units of a row are
/// exchanged as TMA and wgmma do in their mode of this width. Without swizzle a
/// tile is row-major, and `chunk` is 0.
///
/// A window of whole atoms has the same layout as its tile: the strides are
/// those of the tile.
class SharedLayout {
public:
  /// Of rows that are `rowGroupStride / 8` bytes long, not swizzled.
  SharedLayout() = default;
  SharedLayout(unsigned swizzle, int64_t rowGroupStride, int64_t chunkStride)
      : swizzleBytes(swizzle), rowGroup(rowGroupStride), chunk(chunkStride) {}

  /// The layout of a dense tile [rows, columns]; nothing when `columns` are not
  /// whole chunks or `rows` are not whole groups of 8.
  static std::optional<SharedLayout> get(llvm::ArrayRef<int64_t> shape,
                                         unsigned elementBytes,
                                         unsigned swizzle, AtomOrder order);
  /// Why a tile cannot lie so; nothing when it can.
  std::optional<std::string> check(llvm::ArrayRef<int64_t> shape,
                                   unsigned elementBytes) const;
  /// Why no tile can lie so; nothing when one can.
  static std::optional<std::string>
  check(unsigned swizzle, int64_t rowGroupStride, int64_t chunkStride);

  /// Bytes of a chunk's row: 0 (none), 32, 64 or 128.
  unsigned swizzle() const { return swizzleBytes; }
  /// Bytes from a row to the one 8 rows further on.
  int64_t rowGroupStride() const { return rowGroup; }
  /// Bytes from a chunk to the next; 0 without swizzle.
  int64_t chunkStride() const { return chunk; }
  /// Elements of a chunk's row.
  int64_t chunkElements(unsigned elementBytes) const {
    return swizzleBytes / elementBytes;
  }
  /// Multiple at which a tile must begin.
  int64_t alignment() const { return swizzleBytes ? 8 * swizzleBytes : 16; }

  /// Where an element lies from the beginning of its tile on.
  int64_t byteOffset(int64_t row, int64_t column, unsigned elementBytes) const;
  /// Bytes from the beginning of a tile of this shape to its end.
  int64_t tileBytes(llvm::ArrayRef<int64_t> shape, unsigned elementBytes) const;
  /// Where the window that begins at (row, column) lies; nothing when the
  /// window does not begin at an atom.
  std::optional<int64_t> windowOffset(int64_t row, int64_t column,
                                      unsigned elementBytes) const;

  friend bool operator==(SharedLayout a, SharedLayout b) {
    return a.swizzleBytes == b.swizzleBytes && a.rowGroup == b.rowGroup &&
           a.chunk == b.chunk;
  }
  friend bool operator!=(SharedLayout a, SharedLayout b) { return !(a == b); }
  friend llvm::hash_code hash_value(SharedLayout layout) {
    return llvm::hash_combine(layout.swizzleBytes, layout.rowGroup,
                              layout.chunk);
  }

private:
  unsigned swizzleBytes = 0;
  int64_t rowGroup = 0;
  int64_t chunk = 0;
};

} // namespace mlir::df

#endif // DATAFLOW_IR_FRAGMENTLAYOUT_H
