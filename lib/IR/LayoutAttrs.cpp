//===- LayoutAttrs.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes that say where the elements of a tile are.
//
//===----------------------------------------------------------------------===//

#include "AttrFormat.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::df;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// FragmentAttr
//===----------------------------------------------------------------------===//

/// `[` integer (`,` integer)* `]`, possibly empty.
template <typename T, unsigned N>
static ParseResult parseIntegers(AsmParser &parser, SmallVector<T, N> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(list.emplace_back());
  });
}

/// `[` (`_` | dimension `:` step) (`,` ...)* `]`, possibly empty.
template <unsigned N>
static ParseResult parseBases(AsmParser &parser,
                              SmallVector<FragmentLayout::Base, N> &bases) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        FragmentLayout::Base &base = bases.emplace_back();
        if (succeeded(parser.parseOptionalKeyword("_")))
          return success();
        SMLoc location = parser.getCurrentLocation();
        if (parser.parseInteger(base.dim) || parser.parseColon() ||
            parser.parseInteger(base.step))
          return failure();
        if (base.step != 0)
          return success();
        return parser.emitError(location, "a step of 0 is written '_'");
      });
}

/// `accumulator` shape `m` dimension (`groups` number `split` (`m` | `n`))?
static FailureOr<FragmentLayout> parseAccumulator(AsmParser &parser,
                                                  SMLoc location) {
  SmallVector<int64_t, 4> shape;
  unsigned mDim, groups = 1;
  DotSplit split = DotSplit::m;
  if (parseIntegers(parser, shape) || parser.parseKeyword("m") ||
      parser.parseInteger(mDim))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("groups"))) {
    StringRef word;
    SMLoc place;
    if (parser.parseInteger(groups) || parser.parseKeyword("split"))
      return failure();
    place = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    if (word != "m" && word != "n")
      return parser.emitError(place, "expected 'm' or 'n'");
    split = word == "m" ? DotSplit::m : DotSplit::n;
  }
  if (auto layout = FragmentLayout::accumulator(shape, mDim, groups, split))
    return *layout;
  InFlightDiagnostic diagnostic = parser.emitError(location)
                                  << "an accumulator has 64 rows a step and 8 "
                                     "columns, of each of 1, 2 or 4 warpgroups "
                                     "that split them; got [";
  llvm::interleaveComma(shape, diagnostic);
  return diagnostic << "] with rows along dimension " << mDim << ", " << groups
                    << " warpgroups";
}

/// The dimensions, the last one the fastest.
static SmallVector<unsigned, 4> getDefaultOrder(unsigned rank) {
  return llvm::to_vector<4>(llvm::reverse(llvm::seq<unsigned>(0, rank)));
}

Attribute FragmentAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("accumulator"))) {
    FailureOr<FragmentLayout> layout = parseAccumulator(parser, location);
    if (failed(layout) || parser.parseGreater())
      return {};
    return get(parser.getContext(), *layout);
  }
  FragmentLayout::Description description;
  if (parseIntegers(parser, description.shape) ||
      parser.parseKeyword("block") || parseIntegers(parser, description.block))
    return {};
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    if (parseIntegers(parser, description.order))
      return {};
  } else {
    description.order = getDefaultOrder(description.shape.size());
  }
  if ((succeeded(parser.parseOptionalKeyword("registers")) &&
       parseBases(parser, description.registers)) ||
      parser.parseKeyword("lanes") || parseBases(parser, description.lanes) ||
      (succeeded(parser.parseOptionalKeyword("warps")) &&
       parseBases(parser, description.warps)) ||
      (succeeded(parser.parseOptionalKeyword("groups")) &&
       parseBases(parser, description.groups)) ||
      parser.parseGreater())
    return {};
  // C1
  if (std::optional<std::string> problem = FragmentLayout::check(description)) {
    parser.emitError(location) << *problem;
    return {};
  }
  return get(parser.getContext(), FragmentLayout::get(description));
}

static void printBases(AsmPrinter &printer,
                       ArrayRef<FragmentLayout::Base> bases) {
  printer << '[';
  llvm::interleaveComma(bases, printer, [&](FragmentLayout::Base base) {
    if (base.isZero())
      printer << '_';
    else
      printer << base.dim << ':' << base.step;
  });
  printer << ']';
}

template <typename RangeT>
static void printIntegers(AsmPrinter &printer, const RangeT &list) {
  printer << '[';
  llvm::interleaveComma(list, printer);
  printer << ']';
}

void FragmentAttr::print(AsmPrinter &printer) const {
  const FragmentLayout &layout = getLayout();
  printer << '<';
  if (std::optional<FragmentLayout::DotForm> form = layout.matchAccumulator()) {
    printer << "accumulator ";
    printIntegers(printer, layout.shape());
    printer << " m " << form->mDim;
    if (layout.groups() > 1)
      printer << " groups " << layout.groups() << " split "
              << (form->split == DotSplit::m ? 'm' : 'n');
    printer << '>';
    return;
  }
  printIntegers(printer, layout.shape());
  printer << " block ";
  printIntegers(printer, layout.block());
  FragmentLayout::Description description = layout.describe();
  description.order = getDefaultOrder(layout.rank());
  if (FragmentLayout::get(description) != layout) {
    printer << " order ";
    printIntegers(printer, layout.order());
  }
  if (!layout.registerBases().empty()) {
    printer << " registers ";
    printBases(printer, layout.registerBases());
  }
  printer << " lanes ";
  printBases(printer, layout.laneBases());
  if (!layout.warpBases().empty()) {
    printer << " warps ";
    printBases(printer, layout.warpBases());
  }
  if (!layout.groupBases().empty()) {
    printer << " groups ";
    printBases(printer, layout.groupBases());
  }
  printer << '>';
}

LogicalResult FragmentAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                           EmitError emitError) const {
  // C2
  if (getLayout().shape() == shape)
    return success();
  InFlightDiagnostic diagnostic = emitError() << "a fragment of shape [";
  llvm::interleaveComma(getLayout().shape(), diagnostic);
  diagnostic << "] is the encoding of a tensor of shape [";
  llvm::interleaveComma(shape, diagnostic);
  return diagnostic << "]";
}

//===----------------------------------------------------------------------===//
// SharedAttr
//===----------------------------------------------------------------------===//

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  unsigned swizzle = 0;
  int64_t rowGroup = 0, chunk = 0;
  auto parseKey = [&](StringRef key) -> FailureOr<bool> {
    ParseResult result = success();
    if (key == "swizzle")
      result = failure(parser.parseEqual() || parser.parseInteger(swizzle));
    else if (key == "row_group")
      result = failure(parser.parseEqual() || parser.parseInteger(rowGroup));
    else if (key == "chunk")
      result = failure(parser.parseEqual() || parser.parseInteger(chunk));
    else
      return false;
    if (failed(result))
      return failure();
    return true;
  };
  if (parser.parseLess() || parseKeys(parser, parseKey) ||
      parser.parseGreater())
    return {};
  // C1
  if (std::optional<std::string> problem =
          SharedLayout::check(swizzle, rowGroup, chunk)) {
    parser.emitError(location) << *problem;
    return {};
  }
  return get(parser.getContext(), SharedLayout(swizzle, rowGroup, chunk));
}

void SharedAttr::print(AsmPrinter &printer) const {
  SharedLayout layout = getLayout();
  printer << '<';
  KeyPrinter keys(printer);
  keys.key("swizzle") << " = " << layout.swizzle();
  keys.key("row_group") << " = " << layout.rowGroupStride();
  if (layout.chunkStride())
    keys.key("chunk") << " = " << layout.chunkStride();
  printer << '>';
}

LogicalResult SharedAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitError emitError) const {
  // C2
  if (shape.size() != 2 || ShapedType::isDynamic(shape[1]))
    return emitError()
           << "a tile in shared memory must have rank 2 and a known "
              "number of columns, got "
           << RankedTensorType::get(shape, elementType);
  if (!elementType.isIntOrFloat() ||
      elementType.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "a tile in shared memory must have elements of whole "
                          "bytes, got "
                       << elementType;
  // C3; the first rows of a tile are checked as one group.
  int64_t rows = ShapedType::isDynamic(shape[0]) ? 8 : shape[0];
  if (std::optional<std::string> problem = getLayout().check(
          {rows, shape[1]}, elementType.getIntOrFloatBitWidth() / 8))
    return emitError() << *problem;
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts of types
//===----------------------------------------------------------------------===//

template <typename AttrT>
static AttrT getLayoutAttr(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<AttrT>(tensor.getEncoding()) : AttrT();
}

std::optional<FragmentLayout> mlir::df::getFragmentLayout(Type type) {
  if (auto attr = getLayoutAttr<FragmentAttr>(type))
    return attr.getLayout();
  return std::nullopt;
}

std::optional<SharedLayout> mlir::df::getSharedLayout(Type type) {
  if (auto attr = getLayoutAttr<SharedAttr>(type))
    return attr.getLayout();
  return std::nullopt;
}

RankedTensorType mlir::df::withLayout(RankedTensorType type,
                                      const FragmentLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               FragmentAttr::get(type.getContext(), layout));
}

RankedTensorType mlir::df::withLayout(RankedTensorType type,
                                      SharedLayout layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               SharedAttr::get(type.getContext(), layout));
}

Type mlir::df::withoutLayout(Type type) {
  if (!getLayoutAttr<FragmentAttr>(type) && !getLayoutAttr<SharedAttr>(type))
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}
