//===- Wgmma.cpp - Products on the tensor cores ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Rows of A that an instruction takes, and the most rows of B.
static constexpr int64_t kM = 64, kMaxN = 256;

/// Elements that an instruction contracts: 32 bytes.
static int64_t contracted(Type element) {
  return 256 / element.getIntOrFloatBitWidth();
}

/// What an instruction calls the elements of its operands; empty: there is
/// none.
static StringRef operandName(Type type) {
  if (type.isF32())
    return "tf32";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return "";
}

namespace {
/// Rows of A and of B that the first warpgroup has, in the accumulator.
struct Extent {
  unsigned mDim;
  SmallVector<int64_t> m; ///< first rows of runs of 64
  SmallVector<int64_t> n; ///< first rows of runs of 8
};
} // namespace

static std::optional<Extent> extentOf(const FragmentLayout &layout) {
  auto form = layout.matchAccumulator();
  if (!form)
    return std::nullopt;
  Extent extent{form->mDim, {}, {}};
  auto inFirstGroup = [&](unsigned dim, int64_t at) {
    SmallVector<int64_t, 2> coordinates = {0, 0};
    coordinates[dim] = at;
    return layout.place(coordinates).group == 0;
  };
  unsigned mDim = form->mDim, nDim = 1 - mDim;
  for (int64_t m = 0; m < layout.shape()[mDim]; m += kM)
    if (inFirstGroup(mDim, m))
      extent.m.push_back(m);
  for (int64_t n = 0; n < layout.shape()[nDim]; n += 8)
    if (inFirstGroup(nDim, n))
      extent.n.push_back(n);
  return extent;
}

/// Runs of 8 rows of B that an instruction takes: as many as divide `extent`
/// into instructions of one size, if that is possible. They follow each other
/// at one distance; chunks of a transposed operand are not divided.
static unsigned runsPerInstruction(const Extent &extent, const Window &window,
                                   bool transposed) {
  size_t count = extent.n.size();
  size_t parts = llvm::divideCeil(count, size_t(kMaxN / 8));
  size_t runs = llvm::divideCeil(count, parts);
  if (!transposed)
    return unsigned(runs);
  size_t perChunk =
      size_t(window.layout.chunkElements(window.elementBytes)) / 8;
  return unsigned(llvm::alignTo(runs, perChunk));
}

//===----------------------------------------------------------------------===//
// Operands in shared memory
//===----------------------------------------------------------------------===//

/// Bytes from row 0 of the operand to row `row`, both with the contracted
/// coordinate `k`.
static int64_t rowOffset(const Window &window, unsigned contract, int64_t row,
                         int64_t k) {
  return contract == 1 ? window.layout.byteOffset(row, k, window.elementBytes)
                       : window.layout.byteOffset(k, row, window.elementBytes);
}

namespace {
/// Descriptors of an operand: address, distances and swizzle of the rows that
/// an instruction reads. Offsets change the lower word only.
class Descriptors {
public:
  /// `rowRun`: rows from the first of 8 rows to the first of the next 8.
  Descriptors(Assembly &assembly, const ProductOperand &operand, Value offset,
              int64_t rowRun)
      : assembly(assembly), window(*operand.window),
        contract(operand.contract) {
    const SharedLayout &layout = window.layout;
    int64_t leading = 16, stride;
    if (contract == 1) {
      stride = rowRun / 8 * layout.rowGroupStride();
    } else {
      // Transposed: along the rows of the operand lie chunks, and the
      // contracted dimension goes on in groups of 8.
      leading = layout.chunkStride();
      stride = layout.rowGroupStride();
    }
    int64_t mode = layout.swizzle() == 128 ? 1 : layout.swizzle() == 64 ? 2 : 3;
    Value address = assembly.add(window.address, offset);
    // Addresses in the window of shared memory have 18 bits.
    low = assembly.bitAnd(assembly.shiftRight(address, 4), 0x3fff);
    // All lanes have this word, and the reduction shows it to the assembler:
    // what follows from it lies in uniform registers, where the instructions
    // want their descriptors. It also keeps them from being computed in front
    // of a loop in which the operand stays the same, and held for all of it.
    low = assembly
              .run("redux.sync.or.b32 $0, $1, 0xffffffff;", low.getType(), low)
              .front();
    constant = uint64_t(leading >> 4 & 0x3fff) << 16 |
               uint64_t(stride >> 4 & 0x3fff) << 32 | uint64_t(mode) << 62;
  }

  /// Of the rows from `row` on, contracted from `k` on.
  Value at(int64_t row, int64_t k) {
    OpBuilder &builder = assembly.builder;
    Type i64 = builder.getI64Type();
    // Added while it is one word: the sum does not leave the address's bits.
    Value word = assembly.add(low, rowOffset(window, contract, row, k) >> 4);
    Value wide = arith::ExtUIOp::create(builder, assembly.loc, i64, word);
    return arith::OrIOp::create(
        builder, assembly.loc, wide,
        arith::ConstantIntOp::create(builder, assembly.loc, i64,
                                     int64_t(constant)));
  }

private:
  Assembly &assembly;
  Window window;
  unsigned contract;
  Value low;
  uint64_t constant;
};
} // namespace

/// What the number of the warpgroup adds to the address of an operand whose
/// rows are dimension `dim` of the accumulator; null: nothing.
static Value groupOffset(Assembly &assembly, Value group,
                         const FragmentLayout &layout, unsigned dim,
                         const ProductOperand &operand) {
  ThreadWeights weights;
  for (auto [bit, base] : llvm::enumerate(layout.groupBases()))
    if (!base.isZero() && base.dim == dim)
      weights.group[bit] =
          rowOffset(*operand.window, operand.contract, base.step, 0);
  return assembly.sum({Value(), Value(), group}, weights);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::optional<std::string> checkWindow(const ProductOperand &operand,
                                              StringRef name, int64_t rowRun) {
  const Window &window = *operand.window;
  if (!window.layout.swizzle())
    return (name + " is not swizzled").str();
  if (operand.contract == 1)
    return std::nullopt;
  if (window.elementBytes != 2)
    return (name + " contracts dimension 0, expected 1 for elements of " +
            Twine(window.elementBytes) + " bytes")
        .str();
  if (rowRun % window.layout.chunkElements(2) != 0)
    return (name + " contracts dimension 0 and is shared out in runs of " +
            Twine(rowRun) + " columns, expected a multiple of " +
            Twine(window.layout.chunkElements(2)))
        .str();
  return std::nullopt;
}

std::optional<std::string> df::fragments::checkProduct(const Product &product,
                                                       unsigned mDim) {
  auto extent = extentOf(product.layout);
  if (!extent || extent->mDim != mDim)
    return "the result does not lie in registers as an accumulator with the "
           "rows of operand a along dimension " +
           std::to_string(mDim);
  const ProductOperand &a = product.a, &b = product.b;
  bool narrow = operandName(a.element).starts_with("e");
  if (operandName(a.element).empty() || operandName(b.element).empty() ||
      (a.element != b.element &&
       !(narrow && operandName(b.element).starts_with("e"))))
    return "there is no instruction for these operands' element types";
  if (!product.element.isF32() &&
      !(product.element.isF16() && (narrow || a.element.isF16())))
    return "there is no instruction for this accumulator's element type";

  unsigned nDim = 1 - mDim;
  ArrayRef<int64_t> shape = product.layout.shape();
  int64_t step = contracted(a.element), k;
  if (a.window) {
    k = a.contract == 1 ? a.window->columns : a.window->rows;
    if (auto reason = checkWindow(a, "operand a", kM))
      return reason;
  } else {
    if (a.layout !=
        FragmentLayout::registerA(a.layout.shape(), 1 - a.contract,
                                  a.element.getIntOrFloatBitWidth() / 8,
                                  product.layout.groups(),
                                  product.layout.matchAccumulator()->split))
      return "operand a does not lie in registers as the instruction reads it";
    k = a.layout.shape()[a.contract];
  }
  if (!b.window)
    return "operand b is not in shared memory";
  int64_t kB = b.contract == 1 ? b.window->columns : b.window->rows;
  if (k != kB || k % step != 0)
    return "the contracted extents are " + std::to_string(k) + " and " +
           std::to_string(kB) + ", expected the same multiple of " +
           std::to_string(step);
  // Runs of rows of B: how far one is from the next, and where parts begin.
  bool transposed = b.contract == 0;
  int64_t part =
      extent->n.size() == 1 || !transposed
          ? shape[nDim]
          : 8 * int64_t(runsPerInstruction(*extent, *b.window, transposed));
  if (auto reason = checkWindow(b, "operand b", part))
    return reason;
  for (size_t i = 2; i < extent->n.size(); ++i)
    if (extent->n[i] - extent->n[i - 1] != extent->n[1] - extent->n[0])
      return "a warpgroup's columns do not follow each other at one distance";
  if (transposed && extent->n.size() > 1 && extent->n[1] != 8)
    return "a warpgroup's columns do not follow each other";
  for (auto base : product.layout.groupBases()) {
    const ProductOperand &operand = base.dim == mDim ? a : b;
    if (!base.isZero() && operand.window && operand.contract == 0 &&
        base.step % operand.window->layout.chunkElements(2) != 0)
      return "a warpgroup's part does not begin at a chunk of its operand";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The accumulators of rows m, m + 8 and columns n + [0, 2) of the first lane:
/// four scalars, in the order of the instruction.
static std::array<unsigned, 4> quad(const FragmentLayout &layout, unsigned mDim,
                                    int64_t m, int64_t n) {
  std::array<unsigned, 4> registers;
  for (unsigned i = 0; i != 4; ++i) {
    SmallVector<int64_t, 2> at = {0, 0};
    at[mDim] = m + 8 * (i / 2);
    at[1 - mDim] = n + i % 2;
    registers[i] = layout.place(at).reg;
  }
  return registers;
}

/// Words of A for one instruction, from the scalars of its tile.
static SmallVector<Value> wordsOfA(Assembly &assembly, const ProductOperand &a,
                                   int64_t m, int64_t k) {
  unsigned perWord = 32 / a.element.getIntOrFloatBitWidth();
  int64_t half = contracted(a.element) / 2;
  SmallVector<Value> scalars;
  for (unsigned word = 0; word != 4; ++word)
    for (unsigned i = 0; i != perWord; ++i) {
      SmallVector<int64_t, 2> at = {0, 0};
      at[1 - a.contract] = m + 8 * (word % 2);
      at[a.contract] = k + half * (word / 2) + i;
      scalars.push_back(a.registers[a.layout.place(at).reg]);
    }
  return assembly.pack(scalars);
}

static std::string registerList(size_t first, size_t count) {
  std::string list = "{";
  for (size_t i = 0; i != count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

/// An instruction on `accumulators`, read or not.
static void issue(Assembly &assembly, const Product &product, unsigned columns,
                  ValueRange a, Value b, bool read,
                  MutableArrayRef<Value> accumulators) {
  size_t count = accumulators.size();
  std::string text = ("wgmma.mma_async.sync.aligned.m64n" + Twine(columns) +
                      "k" + Twine(contracted(product.a.element)) +
                      (product.element.isF32() ? ".f32." : ".f16.") +
                      operandName(product.a.element) + "." +
                      operandName(product.b.element) + " ")
                         .str();
  text += registerList(0, count) + ", ";
  text += a.size() == 1 ? "$" + std::to_string(count)
                        : registerList(count, a.size());
  text += ", $" + std::to_string(count + a.size());
  // Whether accumulators are read, and the signs of A and B.
  text += read ? ", 1, 1, 1" : ", 0, 1, 1";
  if (product.a.element.getIntOrFloatBitWidth() == 16) {
    if (product.a.window)
      text += product.a.contract == 0 ? ", 1" : ", 0";
    text += product.b.contract == 0 ? ", 1" : ", 0";
  }
  text += ";";
  SmallVector<Value> inputs(a);
  inputs.push_back(b);
  Type type = product.element.isF32() ? Type(assembly.builder.getF32Type())
                                      : assembly.i32();
  SmallVector<Type> types(count, type);
  SmallVector<Value> results = assembly.run(
      text, types, inputs, read ? ValueRange(accumulators) : ValueRange());
  llvm::copy(results, accumulators.begin());
}

/// Ties `values` to an instruction that they must not be moved across.
static void tie(Assembly &assembly, StringRef text,
                MutableArrayRef<Value> values) {
  SmallVector<Value> tied = assembly.run(
      text, SmallVector<Type>(ValueRange(values).getTypes()), {}, values);
  llvm::copy(tied, values.begin());
}

RunningProduct df::fragments::beginProduct(Assembly &assembly, Value group,
                                           const Product &product) {
  const ProductOperand &a = product.a, &b = product.b;
  Extent extent = *extentOf(product.layout);
  unsigned mDim = extent.mDim, nDim = 1 - mDim;
  int64_t step = contracted(a.element);
  int64_t k = b.contract == 1 ? b.window->columns : b.window->rows;
  bool zero = product.initial.empty();
  bool wide = product.element.isF32();

  // Accumulators of each instruction, [m][n].
  unsigned perInstruction =
      runsPerInstruction(extent, *b.window, b.contract == 0);
  SmallVector<SmallVector<int64_t>> parts;
  for (size_t first = 0; first < extent.n.size(); first += perInstruction)
    parts.push_back(SmallVector<int64_t>(ArrayRef(extent.n).slice(
        first, std::min<size_t>(perInstruction, extent.n.size() - first))));
  RunningProduct running{product.layout, product.element, {}, {}};
  SmallVector<Value> &accumulators = running.accumulators;
  SmallVector<size_t> firsts;
  for (int64_t m : extent.m)
    for (ArrayRef<int64_t> part : parts) {
      SmallVector<unsigned> scalars;
      for (int64_t n : part)
        llvm::append_range(scalars, quad(product.layout, mDim, m, n));
      firsts.push_back(accumulators.size());
      if (zero) {
        accumulators.append(wide ? scalars.size() : scalars.size() / 2,
                            Value());
      } else {
        SmallVector<Value> initial;
        for (unsigned scalar : scalars)
          initial.push_back(product.initial[scalar]);
        llvm::append_range(accumulators,
                           wide ? initial : assembly.pack(initial));
      }
      running.registers.push_back(std::move(scalars));
    }
  firsts.push_back(accumulators.size());

  // Operands.
  std::optional<Descriptors> aDescriptors;
  SmallVector<Value> aWords;
  if (a.window)
    aDescriptors.emplace(
        assembly, a, groupOffset(assembly, group, product.layout, mDim, a), 8);
  else
    for (int64_t m : extent.m)
      for (int64_t at = 0; at < k; at += step)
        llvm::append_range(aWords, wordsOfA(assembly, a, m, at));
  Descriptors bDescriptors(
      assembly, b, groupOffset(assembly, group, product.layout, nDim, b),
      extent.n.size() > 1 ? extent.n[1] - extent.n[0] : 8);

  // What instructions read from registers must be written before the fence.
  SmallVector<Value> fenced = aWords;
  if (!zero)
    llvm::append_range(fenced, accumulators);
  tie(assembly, "wgmma.fence.sync.aligned;", fenced);
  llvm::copy(ArrayRef(fenced).take_front(aWords.size()), aWords.begin());
  if (!zero)
    llvm::copy(ArrayRef(fenced).drop_front(aWords.size()),
               accumulators.begin());

  size_t steps = size_t(k / step);
  for (auto [mIndex, m] : llvm::enumerate(extent.m))
    for (auto [nIndex, part] : llvm::enumerate(parts)) {
      size_t number = mIndex * parts.size() + nIndex;
      MutableArrayRef<Value> own(accumulators.data() + firsts[number],
                                 firsts[number + 1] - firsts[number]);
      for (size_t i = 0; i != steps; ++i) {
        int64_t at = int64_t(i) * step;
        SmallVector<Value> aValues;
        if (aDescriptors)
          aValues.push_back(aDescriptors->at(m, at));
        else
          aValues.append(aWords.begin() + 4 * (mIndex * steps + i),
                         aWords.begin() + 4 * (mIndex * steps + i + 1));
        issue(assembly, product, unsigned(8 * part.size()), aValues,
              bDescriptors.at(part.front(), at), !zero || i != 0, own);
      }
    }
  assembly.run("wgmma.commit_group.sync.aligned;");
  return running;
}

SmallVector<Value> df::fragments::endProduct(Assembly &assembly,
                                             RunningProduct &product,
                                             size_t behind) {
  ArrayRef<Value> left = product.accumulators;
  tie(assembly, ("wgmma.wait_group.sync.aligned " + Twine(behind) + ";").str(),
      product.accumulators);
  SmallVector<Value> results(product.layout.registers());
  for (ArrayRef<unsigned> registers : product.registers) {
    bool wide = product.element.isF32();
    size_t count = wide ? registers.size() : registers.size() / 2;
    SmallVector<Value> own(left.take_front(count));
    left = left.drop_front(count);
    if (!wide)
      own = assembly.unpack(own, product.element);
    for (auto [number, value] : llvm::zip_equal(registers, own))
      results[number] = value;
  }
  return results;
}
