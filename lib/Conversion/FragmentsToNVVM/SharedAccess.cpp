//===- SharedAccess.cpp - Access to swizzled tiles ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {
/// Where an element lies: bytes of whole atoms, and bytes in the atom.
struct Offset {
  int64_t atoms, inAtom;
};
} // namespace

static Offset offsetOf(const Window &window, int64_t row, int64_t column) {
  const SharedLayout &layout = window.layout;
  unsigned bytes = window.elementBytes;
  if (!layout.swizzle())
    return {layout.byteOffset(row, column, bytes), 0};
  int64_t chunk = layout.chunkElements(bytes);
  return {row / 8 * layout.rowGroupStride() +
              column / chunk * layout.chunkStride(),
          layout.byteOffset(row % 8, column % chunk, bytes)};
}

SharedAddresses::SharedAddresses(Assembly &assembly, const Window &window,
                                 const Thread &thread,
                                 const ThreadWeights &rows,
                                 const ThreadWeights &columns)
    : assembly(assembly), window(window) {
  ThreadWeights atoms, places;
  auto take = [&](auto member) {
    auto &row = rows.*member;
    auto &column = columns.*member;
    for (size_t bit = 0; bit != row.size(); ++bit) {
      Offset offset = offsetOf(window, row[bit], column[bit]);
      (atoms.*member)[bit] = offset.atoms;
      (places.*member)[bit] = offset.inAtom;
    }
  };
  take(&ThreadWeights::lane);
  take(&ThreadWeights::warp);
  take(&ThreadWeights::group);
  base = assembly.add(window.address, assembly.sum(thread, atoms));
  inAtom = assembly.parity(thread, places);
  variable = places.mask();
}

SharedAddresses::Address SharedAddresses::at(int64_t row, int64_t column) {
  Offset offset = offsetOf(window, row, column);
  int64_t mixed = offset.inAtom & variable;
  int64_t bytes = offset.atoms + (offset.inAtom & ~variable);
  for (auto &[key, value] : bases)
    if (key == mixed)
      return {value, bytes};
  Value value = base;
  if (inAtom)
    value = assembly.add(base, assembly.exclusiveOr(inAtom, mixed));
  bases.push_back({mixed, value});
  return {value, bytes};
}

ThreadWeights df::fragments::threadWeights(const FragmentLayout &layout,
                                           unsigned dim) {
  ThreadWeights weights;
  auto take = [&](ArrayRef<FragmentLayout::Base> bases, auto &into) {
    for (auto [bit, base] : llvm::enumerate(bases))
      into[bit] = base.dim == dim ? base.step : 0;
  };
  take(layout.laneBases(), weights.lane);
  take(layout.warpBases(), weights.warp);
  take(layout.groupBases(), weights.group);
  return weights;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {
/// Up to four 8 x 8 matrices that one instruction moves: matrix i begins at
/// (row, column) plus the steps of the bits of i.
struct MatrixGroup {
  SmallVector<std::pair<int64_t, int64_t>, 4> corners;
};

/// Registers as matrices of 8 x 8 elements of 16 bits.
///
/// In such a matrix, a lane holds two neighbours: along a row, of row lane / 4;
/// or, transposed, along a column, of column lane / 4.
struct Matrices {
  bool transposed = false;
  /// Rows and columns from a matrix to the next in an instruction, for each of
  /// the bits of its number.
  SmallVector<std::pair<int64_t, int64_t>, 2> steps;
  SmallVector<MatrixGroup> groups;
};
} // namespace

using Corner = std::pair<int64_t, int64_t>;

static Corner operator+(Corner a, Corner b) {
  return {a.first + b.first, a.second + b.second};
}

/// Cuts `corners` into groups {c, c + a, c + b, c + a + b} (with two steps).
static bool cut(ArrayRef<Corner> corners, ArrayRef<Corner> steps,
                SmallVectorImpl<MatrixGroup> &groups) {
  SmallVector<Corner> left(corners);
  llvm::sort(left);
  groups.clear();
  while (!left.empty()) {
    MatrixGroup group;
    group.corners.push_back(left.front());
    for (Corner step : steps)
      for (size_t i = 0, end = group.corners.size(); i != end; ++i)
        group.corners.push_back(group.corners[i] + step);
    for (Corner corner : group.corners) {
      auto found = llvm::find(left, corner);
      if (found == left.end())
        return false;
      left.erase(found);
    }
    groups.push_back(std::move(group));
  }
  // Lanes add the steps, instructions the first corner: no bit of a column may
  // be added by both (whole groups of rows may).
  for (const MatrixGroup &group : groups)
    for (Corner step : steps)
      if (group.corners.front().second & step.second)
        return false;
  return true;
}

/// The matrices of a layout; nothing if it has none.
static std::optional<Matrices> matchMatrices(const FragmentLayout &layout,
                                             const Window &window) {
  if (layout.rank() != 2 || window.elementBytes != 2 ||
      !window.layout.swizzle())
    return std::nullopt;
  Matrices result;
  for (unsigned pair : {1u, 0u}) {
    // Lanes: two bits go on along the pair, three along the other dimension.
    ArrayRef<FragmentLayout::Base> lanes = layout.laneBases();
    using Base = FragmentLayout::Base;
    Base expected[] = {
        {pair, 2}, {pair, 4}, {1 - pair, 1}, {1 - pair, 2}, {1 - pair, 4}};
    if (!llvm::equal(lanes, expected) ||
        !llvm::is_contained(layout.registerBases(), Base{pair, 1}))
      continue;
    result.transposed = pair == 0;
    SmallVector<Corner> corners;
    for (unsigned reg = 0, end = layout.registers(); reg != end; ++reg) {
      FragmentLayout::Coordinates at = layout.coordinates(reg, 0);
      if (at[pair] % 2 == 0)
        corners.push_back({at[0], at[1]});
    }
    llvm::sort(corners);
    SmallVector<Corner> candidates;
    for (Corner corner : ArrayRef(corners).drop_front())
      if (corner.first >= corners.front().first &&
          corner.second >= corners.front().second)
        candidates.push_back({corner.first - corners.front().first,
                              corner.second - corners.front().second});
    for (size_t i = 0; i != candidates.size(); ++i)
      for (size_t j = i + 1; j != candidates.size(); ++j)
        if (!(candidates[i].second & candidates[j].second) &&
            cut(corners, {candidates[i], candidates[j]}, result.groups)) {
          result.steps = {candidates[i], candidates[j]};
          return result;
        }
    for (Corner candidate : candidates)
      if (cut(corners, candidate, result.groups)) {
        result.steps = {candidate};
        return result;
      }
    cut(corners, {}, result.groups);
    return result;
  }
  return std::nullopt;
}

/// Addresses of the rows of a group's matrices: lane i gives that of row i % 8
/// of matrix i / 8.
static SharedAddresses matrixRows(Assembly &assembly, const Thread &thread,
                                  const FragmentLayout &layout,
                                  const Matrices &matrices,
                                  const Window &window) {
  ThreadWeights rows = threadWeights(layout, 0);
  ThreadWeights columns = threadWeights(layout, 1);
  rows.lane = {1, 2, 4, 0, 0};
  columns.lane = {};
  for (auto [bit, step] : llvm::enumerate(matrices.steps)) {
    rows.lane[3 + bit] = step.first;
    columns.lane[3 + bit] = step.second;
  }
  return SharedAddresses(assembly, window, thread, rows, columns);
}

/// The registers of the two elements that a lane holds of a matrix.
static std::pair<unsigned, unsigned>
registersOf(const FragmentLayout &layout, const Matrices &matrices, Corner at) {
  unsigned first = layout.place({at.first, at.second}).reg;
  unsigned second = matrices.transposed
                        ? layout.place({at.first + 1, at.second}).reg
                        : layout.place({at.first, at.second + 1}).reg;
  return {first, second};
}

static std::string matrixInstruction(StringRef name, const Matrices &matrices) {
  return (name + ".sync.aligned.m8n8.x" + Twine(1u << matrices.steps.size()) +
          (matrices.transposed ? ".trans" : "") + ".shared.b16 ")
      .str();
}

static std::string registerList(unsigned first, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i != count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

static void storeMatrices(Assembly &assembly, const Thread &thread,
                          const FragmentLayout &layout,
                          const Matrices &matrices, ValueRange registers,
                          const Window &window) {
  SharedAddresses rows = matrixRows(assembly, thread, layout, matrices, window);
  for (const MatrixGroup &group : matrices.groups) {
    SmallVector<Value> scalars;
    for (Corner corner : group.corners) {
      auto [first, second] = registersOf(layout, matrices, corner);
      scalars.append({registers[first], registers[second]});
    }
    Corner corner = group.corners.front();
    auto [base, bytes] = rows.at(corner.first, corner.second);
    SmallVector<Value> inputs = {base};
    llvm::append_range(inputs, assembly.pack(scalars));
    assembly.run(matrixInstruction("stmatrix", matrices) + "[$0+" +
                     Twine(bytes) + "], " +
                     registerList(1, unsigned(inputs.size() - 1)) + ";",
                 {}, inputs);
  }
}

static SmallVector<Value> loadMatrices(Assembly &assembly, const Thread &thread,
                                       const FragmentLayout &layout,
                                       const Matrices &matrices, Type type,
                                       const Window &window) {
  SmallVector<Value> registers(layout.registers());
  SharedAddresses rows = matrixRows(assembly, thread, layout, matrices, window);
  for (const MatrixGroup &group : matrices.groups) {
    unsigned count = unsigned(group.corners.size());
    Corner corner = group.corners.front();
    auto [base, bytes] = rows.at(corner.first, corner.second);
    SmallVector<Value> words = assembly.run(
        matrixInstruction("ldmatrix", matrices) + registerList(0, count) +
            ", [$" + Twine(count) + "+" + Twine(bytes) + "];",
        SmallVector<Type>(count, assembly.i32()), base);
    SmallVector<Value> scalars = assembly.unpack(words, type);
    for (auto [number, corner] : llvm::enumerate(group.corners)) {
      auto [first, second] = registersOf(layout, matrices, corner);
      registers[first] = scalars[2 * number];
      registers[second] = scalars[2 * number + 1];
    }
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::optional<std::string>
df::fragments::checkAccess(const FragmentLayout &layout, const Window &window) {
  if (layout.rank() != 2)
    return "a shared tile has two dimensions, expected as many of the "
           "fragment, got " +
           std::to_string(layout.rank());
  if (window.elementBytes != 1 && window.elementBytes != 2 &&
      window.elementBytes != 4)
    return "elements of shared tiles have 1, 2 or 4 bytes, got " +
           std::to_string(window.elementBytes);
  return std::nullopt;
}

/// How many elements a thread moves at once: neighbours along a row that lie in
/// neighbouring registers.
static unsigned wordElements(const FragmentLayout &layout,
                             const Window &window) {
  // Rows that are not swizzled begin at whatever multiple their pitch is.
  int64_t limit = 16;
  if (!window.layout.swizzle())
    while (window.layout.rowGroupStride() / 8 % limit != 0)
      limit /= 2;
  return unsigned(std::min<int64_t>(
      layout.contiguous(1), std::max<int64_t>(1, limit / window.elementBytes)));
}

namespace {
/// A type to move `bytes` with, in words.
struct WordType {
  Type memory;    ///< what is loaded and stored
  unsigned words; ///< i32 of them; 0 for less than one
};
} // namespace

static WordType wordType(OpBuilder &builder, unsigned bytes) {
  if (bytes < 4)
    return {builder.getIntegerType(8 * bytes), 0};
  if (bytes == 4)
    return {builder.getI32Type(), 1};
  return {VectorType::get(bytes / 4, builder.getI32Type()), bytes / 4};
}

static Value pointerTo(Assembly &assembly, SharedAddresses::Address address) {
  OpBuilder &builder = assembly.builder;
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value pointer =
      LLVM::IntToPtrOp::create(builder, assembly.loc, type, address.base);
  if (!address.bytes)
    return pointer;
  return LLVM::GEPOp::create(
      builder, assembly.loc, type, builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(address.bytes))});
}

/// Scalars of 8 or 16 bits that are less than a word, as one integer.
static Value packSmall(Assembly &assembly, ValueRange scalars) {
  OpBuilder &builder = assembly.builder;
  unsigned bits = scalars.front().getType().getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  auto bitsOf = [&](Value value) -> Value {
    return value.getType() == integer
               ? value
               : arith::BitcastOp::create(builder, assembly.loc, integer,
                                          value);
  };
  if (scalars.size() == 1)
    return bitsOf(scalars.front());
  auto vector = VectorType::get(int64_t(scalars.size()), integer);
  Value whole = LLVM::PoisonOp::create(builder, assembly.loc, vector);
  for (auto [number, value] : llvm::enumerate(scalars))
    whole = LLVM::InsertElementOp::create(
        builder, assembly.loc, whole, bitsOf(value), assembly.constant(number));
  return LLVM::BitcastOp::create(
      builder, assembly.loc,
      builder.getIntegerType(bits * unsigned(scalars.size())), whole);
}

static SmallVector<Value> unpackSmall(Assembly &assembly, Value whole,
                                      Type type, unsigned count) {
  OpBuilder &builder = assembly.builder;
  Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  SmallVector<Value> scalars;
  Value vector = whole;
  if (count != 1)
    vector = LLVM::BitcastOp::create(builder, assembly.loc,
                                     VectorType::get(count, integer), whole);
  for (unsigned i = 0; i != count; ++i) {
    Value bits = vector;
    if (count != 1)
      bits = LLVM::ExtractElementOp::create(builder, assembly.loc, vector,
                                            assembly.constant(i));
    if (type != integer)
      bits = arith::BitcastOp::create(builder, assembly.loc, type, bits);
    scalars.push_back(bits);
  }
  return scalars;
}

static void storeWords(Assembly &assembly, const Thread &thread,
                       const FragmentLayout &layout, ValueRange registers,
                       const Window &window) {
  OpBuilder &builder = assembly.builder;
  unsigned count = wordElements(layout, window);
  unsigned bytes = count * window.elementBytes;
  WordType word = wordType(builder, bytes);
  SharedAddresses addresses(assembly, window, thread, threadWeights(layout, 0),
                            threadWeights(layout, 1));
  for (unsigned reg = 0; reg < registers.size(); reg += count) {
    FragmentLayout::Coordinates at = layout.coordinates(reg, 0);
    ValueRange scalars = registers.slice(reg, count);
    Value whole;
    if (!word.words) {
      whole = packSmall(assembly, scalars);
    } else {
      SmallVector<Value> words = assembly.pack(scalars);
      whole = words.front();
      if (word.words != 1) {
        whole = LLVM::PoisonOp::create(builder, assembly.loc, word.memory);
        for (auto [number, value] : llvm::enumerate(words))
          whole = LLVM::InsertElementOp::create(
              builder, assembly.loc, whole, value, assembly.constant(number));
      }
    }
    LLVM::StoreOp::create(builder, assembly.loc, whole,
                          pointerTo(assembly, addresses.at(at[0], at[1])),
                          bytes);
  }
}

static SmallVector<Value> loadWords(Assembly &assembly, const Thread &thread,
                                    const FragmentLayout &layout, Type type,
                                    const Window &window) {
  OpBuilder &builder = assembly.builder;
  unsigned count = wordElements(layout, window);
  unsigned bytes = count * window.elementBytes;
  WordType word = wordType(builder, bytes);
  SharedAddresses addresses(assembly, window, thread, threadWeights(layout, 0),
                            threadWeights(layout, 1));
  SmallVector<Value> registers;
  for (unsigned reg = 0, end = layout.registers(); reg < end; reg += count) {
    FragmentLayout::Coordinates at = layout.coordinates(reg, 0);
    Value whole = LLVM::LoadOp::create(
        builder, assembly.loc, word.memory,
        pointerTo(assembly, addresses.at(at[0], at[1])), bytes);
    SmallVector<Value> words;
    if (!word.words) {
      llvm::append_range(registers, unpackSmall(assembly, whole, type, count));
      continue;
    }
    if (word.words == 1)
      words.push_back(whole);
    else
      for (unsigned i = 0; i != word.words; ++i)
        words.push_back(LLVM::ExtractElementOp::create(
            builder, assembly.loc, whole, assembly.constant(i)));
    llvm::append_range(registers, assembly.unpack(words, type));
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// The whole tile
//===----------------------------------------------------------------------===//

void df::fragments::storeShared(Assembly &assembly, const Thread &thread,
                                const FragmentLayout &layout,
                                ValueRange registers, const Window &window) {
  if (std::optional<Matrices> matrices = matchMatrices(layout, window))
    storeMatrices(assembly, thread, layout, *matrices, registers, window);
  else
    storeWords(assembly, thread, layout, registers, window);
}

SmallVector<Value> df::fragments::loadShared(Assembly &assembly,
                                             const Thread &thread,
                                             const FragmentLayout &layout,
                                             Type type, const Window &window) {
  if (std::optional<Matrices> matrices = matchMatrices(layout, window))
    return loadMatrices(assembly, thread, layout, *matrices, type, window);
  return loadWords(assembly, thread, layout, type, window);
}

void df::fragments::zeroRows(Assembly &assembly, Value thread, Value threads,
                             const Window &window, Value first) {
  OpBuilder &builder = assembly.builder;
  Location loc = assembly.loc;
  const SharedLayout &layout = window.layout;
  // All units of a row are zeroed, so it does not matter which is where.
  int64_t units = window.columns * window.elementBytes / 16;
  int64_t perChunk = layout.swizzle() ? layout.swizzle() / 16 : units;
  auto loop = scf::ForOp::create(
      builder, loc, assembly.add(assembly.multiply(first, units), thread),
      assembly.constant(window.rows * units), threads);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto divide = [&](Value a, int64_t b) -> std::pair<Value, Value> {
    Value divisor = assembly.constant(b);
    return {arith::DivUIOp::create(builder, loc, a, divisor),
            arith::RemUIOp::create(builder, loc, a, divisor)};
  };
  auto [row, unit] = divide(loop.getInductionVar(), units);
  auto [chunk, inChunk] = divide(unit, perChunk);
  Value address = assembly.add(window.address, assembly.multiply(inChunk, 16));
  if (layout.swizzle()) {
    address =
        assembly.add(address, assembly.multiply(assembly.shiftRight(row, 3),
                                                layout.rowGroupStride()));
    address = assembly.add(
        address, assembly.multiply(assembly.bitAnd(row, 7), layout.swizzle()));
    address =
        assembly.add(address, assembly.multiply(chunk, layout.chunkStride()));
  } else {
    address = assembly.add(address,
                           assembly.multiply(row, layout.rowGroupStride() / 8));
  }
  auto vector = VectorType::get(4, builder.getI32Type());
  Value zero = arith::ConstantOp::create(builder, loc, vector,
                                         builder.getZeroAttr(vector));
  LLVM::StoreOp::create(builder, loc, zero, pointerTo(assembly, {address, 0}),
                        16);
}
