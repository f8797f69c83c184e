//===- FragmentOps.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of parts that are laid out.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

static bool isEightBitFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getAType(), b = getBType(), c = getCType();
  // C1
  for (auto [name, type, dim] :
       {std::tuple("a", a, getADim()), std::tuple("b", b, getBDim())})
    if (type.getRank() != 2 || dim > 1)
      return emitOpError() << "contracts dimension " << int64_t(dim) << " of "
                           << name << ", " << type
                           << "; it must be 0 or 1 of a matrix";
  if (getK() != b.getDimSize(getBDim()))
    return emitOpError() << "contracts " << getK() << " elements of a with "
                         << b.getDimSize(getBDim()) << " of b";
  // C2
  SmallVector<int64_t, 2> product = {getM(), getN()};
  if (getTransposed())
    std::swap(product[0], product[1]);
  if (c.getShape() != ArrayRef<int64_t>(product))
    return emitOpError() << "makes a tile of shape [" << product
                         << "], but c has shape [" << c.getShape() << "]";
  // C3
  Type element = a.getElementType(), sum = c.getElementType();
  bool eightBits = isEightBitFloat(element);
  if (element != b.getElementType())
    return emitOpError() << "multiplies elements of type " << element << " and "
                         << b.getElementType();
  if (!eightBits && !element.isF16() && !element.isBF16() && !element.isF32())
    return emitOpError() << "multiplies elements of type f16, bf16, f8E4M3FN, "
                            "f8E5M2 or f32, got "
                         << element;
  if (!sum.isF32() && !(sum.isF16() && (eightBits || element.isF16())))
    return emitOpError() << "cannot add products of " << element << " up in "
                         << sum;
  // C4
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  std::optional<FragmentLayout> fragment = getFragmentLayout(a);
  std::optional<FragmentLayout::DotForm> form;
  if (fragment) {
    for (DotSplit split : {DotSplit::m, DotSplit::n})
      if (FragmentLayout::registerA(a.getShape(), 1 - getADim(), bytes,
                                    fragment->groups(), split) == fragment)
        form = {unsigned(1 - getADim()), split};
    if (!form)
      return emitOpError() << "a must have the layout of operand A in "
                              "registers, got "
                           << a.getEncoding();
  }
  for (auto [name, type, dim] :
       {std::tuple("a", a, getADim()), std::tuple("b", b, getBDim())}) {
    if (name == StringRef("a") && fragment)
      continue;
    std::optional<SharedLayout> shared = getSharedLayout(type);
    if (!shared || shared->swizzle() == 0)
      return emitOpError() << name
                           << " must lie in shared memory, swizzled, got "
                           << type;
    if (bytes != 2 && dim != 1)
      return emitOpError() << name
                           << " must have the contracted dimension "
                              "last, as its elements have "
                           << 8 * bytes << " bits, not 16";
  }
  // C5
  if (getK() * bytes % 32 != 0)
    return emitOpError() << "contracts a multiple of 32 bytes, got " << getK()
                         << " elements of " << bytes;
  // C6
  std::optional<FragmentLayout> layout = getFragmentLayout(c);
  std::optional<DotSplit> split;
  if (layout)
    for (DotSplit candidate : {DotSplit::n, DotSplit::m})
      if (FragmentLayout::accumulator(c.getShape(), getMDim(), layout->groups(),
                                      candidate) == layout)
        split = candidate;
  if (!split)
    return emitOpError() << "c must have the layout of an accumulator with "
                            "rows along dimension "
                         << getMDim() << ", got " << c;
  if (fragment && (fragment->groups() != layout->groups() ||
                   (layout->groups() > 1 && form->split != *split)))
    return emitOpError() << "splits a and c differently over warpgroups: "
                         << a.getEncoding() << " and " << c.getEncoding();
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  // C1
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError() << "changes only the layout, got " << source << " and "
                         << result;
  // C2
  if (!getFragmentLayout(source) && !getFragmentLayout(result))
    return emitOpError() << "comes from or to registers, got " << source
                         << " and " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

namespace {

/// A way through other registers is a detour. Loads keep their layout, which
/// is chosen for the memory.
struct SkipRegisters : public OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getSource().getDefiningOp<ConvertLayoutOp>();
    if (!first || !getFragmentLayout(op.getSource().getType()) ||
        !getFragmentLayout(first.getSource().getType()))
      return rewriter.notifyMatchFailure(op, "not a way through registers");
    rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().assign(first.getSource()); });
    return success();
  }
};

} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<SkipRegisters>(context);
}
