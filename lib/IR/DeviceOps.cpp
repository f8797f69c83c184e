//===- DeviceOps.cpp --------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, streams, parts and the ops between them.
//
//===----------------------------------------------------------------------===//

#include "FunctionFormat.h"
#include "dataflow/IR/FollowingPart.h"

#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

PartOp KernelOp::getPart(StringAttr handler, PartRole role) {
  for (PartOp part : getParts())
    if (part.getRole() == role && part.getHandlerAttr().getAttr() == handler)
      return part;
  return {};
}

uint64_t KernelOp::getRingBytes() {
  uint64_t bytes = 0;
  for (StreamOp stream : getStreams())
    bytes += stream.getDepth() * stream.getStageBytes();
  return bytes;
}

LogicalResult KernelOp::verifyRegions() {
  // C3
  if (getConsumers() && static_cast<int32_t>(*getConsumers()) < 1)
    return emitOpError() << "consumers must be at least 1, got "
                         << static_cast<int32_t>(*getConsumers());
  // C1
  bool parts = false;
  for (Operation &op : getBody().front()) {
    if (!isa<StreamOp, PartOp>(op) || (parts && isa<StreamOp>(op))) {
      InFlightDiagnostic diagnostic = emitOpError()
                                      << "holds streams, then parts";
      diagnostic.attachNote(op.getLoc()) << "but this op is in it";
      return diagnostic;
    }
    parts |= isa<PartOp>(op);
  }
  // C2
  llvm::MapVector<StringAttr, std::array<PartOp, 2>> pairs;
  for (PartOp part : getParts()) {
    PartOp &place = pairs[part.getHandlerAttr().getAttr()]
                         [static_cast<size_t>(part.getRole())];
    if (place) {
      InFlightDiagnostic diagnostic =
          part.emitOpError()
          << "is the second " << stringifyPartRole(part.getRole())
          << " part of '" << part.getHandler() << "'";
      diagnostic.attachNote(place.getLoc()) << "the first is here";
      return diagnostic;
    }
    place = part;
  }
  for (auto &[handler, pair] : pairs)
    if (pair[0] && !pair[1])
      return pair[0].emitOpError()
             << "is the only part of '" << handler.getValue()
             << "': a load part needs a compute part";
  return success();
}

//===----------------------------------------------------------------------===//
// StreamOp
//===----------------------------------------------------------------------===//

uint64_t StreamOp::getTileBytes(RankedTensorType tile) {
  uint64_t bits = uint64_t(tile.getNumElements()) *
                  tile.getElementType().getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

uint64_t StreamOp::getStageBytes(RankedTensorType tile) {
  return llvm::alignTo(getTileBytes(tile), stageAlignment);
}

RankedTensorType StreamOp::getTakeType() {
  return getLayout() ? withLayout(getTileType(), getLayout()->getLayout())
                     : getTileType();
}

uint64_t StreamOp::getStageBytes() {
  if (!getLayout())
    return getStageBytes(getTileType());
  return llvm::alignTo(
      getLayout()->getLayout().tileBytes(
          getTileType().getShape(), getTileType().getElementTypeBitWidth() / 8),
      stageAlignment);
}

LogicalResult StreamOp::verify() {
  // C1
  if (static_cast<int32_t>(getDepth()) < 1)
    return emitOpError() << "depth must be at least 1, got "
                         << static_cast<int32_t>(getDepth());
  // C2
  RankedTensorType tile = getTileType();
  if (tile.getNumElements() == 0 || getTileBytes() % 16 != 0 ||
      tile.getElementType().getIntOrFloatBitWidth() % 8 != 0)
    return emitOpError() << "a tile must have a multiple of 16 bytes, " << tile
                         << " has " << getTileBytes();
  // C3
  if (tile.getEncoding())
    return emitOpError() << "the type of a tile must have no encoding, got "
                         << tile;
  if (getLayout())
    return getLayout()->verifyEncoding(tile.getShape(), tile.getElementType(),
                                       [&] { return emitOpError(); });
  return success();
}

//===----------------------------------------------------------------------===//
// PartOp
//===----------------------------------------------------------------------===//

// Not parseFunctionOp: the arguments may have the names of the program's.
ParseResult PartOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  FlatSymbolRefAttr handler;
  StringRef word;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseKeyword("of") ||
      parser.parseAttribute(handler, getHandlerAttrName(result.name),
                            result.attributes))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<PartRole> role = symbolizePartRole(word);
  if (!role)
    return parser.emitError(location, "expected 'load' or 'compute'");
  result.addAttribute(getRoleAttrName(result.name),
                      PartRoleAttr::get(builder.getContext(), *role));
  return parseSignatureAndBody<PartOp>(parser, result);
}

void PartOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " of " << getHandlerAttr() << ' ' << stringifyPartRole(getRole());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getHandlerAttrName(),
                            getRoleAttrName(), getFunctionTypeAttrName(),
                            getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

HandlerOpInterface PartOp::lookupHandler() {
  Operation *kernel = (*this)->getParentOp();
  if (!kernel || !kernel->getParentOp())
    return {};
  return dyn_cast_or_null<HandlerOpInterface>(
      SymbolTable::lookupSymbolIn(kernel->getParentOp(), getHandlerAttr()));
}

LogicalResult PartOp::verify() {
  // C1
  if (getBody().empty())
    return emitOpError() << "has no body";
  if (df::getFollowing(*this) && getRole() != PartRole::compute)
    return emitOpError() << "has a following finalize, but is a "
                         << stringifyPartRole(getRole()) << " part";
  // C4
  if (getFragments() && getRole() != PartRole::compute)
    return emitOpError() << "has fragments, but is a "
                         << stringifyPartRole(getRole()) << " part";
  return success();
}

LogicalResult PartOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C2; the kernel hides the program's symbols from an ordinary search.
  auto handler = dyn_cast_or_null<HandlerOpInterface>(symbols.lookupSymbolIn(
      (*this)->getParentOp()->getParentOp(), getHandlerAttr()));
  if (!handler)
    return emitOpError() << "'" << getHandler()
                         << "' is not a handler of the program";
  // C3
  FunctionType type = handler.getSignature();
  SmallVector<Type> arguments(type.getInputs()), results;
  if (getRole() == PartRole::compute)
    llvm::append_range(results, type.getResults());
  if (FlatSymbolRefAttr name = df::getFollowing(*this)) {
    auto following = dyn_cast_or_null<HandlerOpInterface>(
        symbols.lookupSymbolIn((*this)->getParentOp()->getParentOp(), name));
    if (!following)
      return emitOpError() << "'" << name.getValue()
                           << "' is not a handler of the program";
    // Coordinates come first, and the fields of the record in between.
    FunctionType its = following.getSignature();
    size_t fields = results.size(), outputs = its.getNumResults();
    ArrayRef<Type> operands =
        its.getInputs().drop_while([](Type input) { return input.isIndex(); });
    if (operands.size() < fields + outputs)
      return emitOpError() << "'" << name.getValue() << "' has "
                           << operands.size() << " tensors, expected at least "
                           << fields + outputs;
    llvm::append_range(arguments, operands.drop_back(fields + outputs));
    llvm::append_range(arguments, operands.take_back(outputs));
    arguments.push_back(IntegerType::get(getContext(), 1));
    llvm::append_range(results, its.getResults());
  }
  if (TypeRange(getArgumentTypes()) == TypeRange(arguments) &&
      TypeRange(getResultTypes()) == TypeRange(results))
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError() << "must have type "
                    << FunctionType::get(getContext(), arguments, results)
                    << ", got " << getFunctionType();
  diagnostic.attachNote(handler->getLoc()) << "the handler is defined here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Ops of parts
//===----------------------------------------------------------------------===//

/// C1 of fill, take and give; `tile` is null for a give.
static LogicalResult verifyStreamUse(Operation *op, FlatSymbolRefAttr name,
                                     PartRole role, RankedTensorType tile,
                                     SymbolTableCollection &symbols) {
  auto part = op->getParentOfType<PartOp>();
  if (!part || part.getRole() != role)
    return op->emitOpError()
           << "must lie in a " << stringifyPartRole(role) << " part";
  auto stream = dyn_cast_or_null<StreamOp>(
      symbols.lookupSymbolIn(part->getParentOp(), name));
  if (!stream)
    return op->emitOpError()
           << "'" << name.getValue() << "' is not a stream of the kernel";
  // A fill says what it copies, not how the tile lies.
  RankedTensorType expected =
      isa<TakeOp>(op) ? stream.getTakeType() : stream.getTileType();
  if (!tile || tile == expected)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "stream '" << name.getValue() << "' has tiles of "
                        << expected << ", got " << tile;
  diagnostic.attachNote(stream.getLoc()) << "the stream is defined here";
  return diagnostic;
}

LogicalResult FillOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  return verifyStreamUse(*this, getStreamAttr(), PartRole::load, getTileType(),
                         symbols);
}

LogicalResult TakeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  return verifyStreamUse(*this, getStreamAttr(), PartRole::compute,
                         cast<RankedTensorType>(getTile().getType()), symbols);
}

LogicalResult GiveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  return verifyStreamUse(*this, getStreamAttr(), PartRole::compute, {},
                         symbols);
}

std::optional<SmallVector<unsigned>> FillOp::getTileDims() {
  ArrayRef<int64_t> sizes = getStaticSizes(), shape = getTileType().getShape();
  // From the last dimension: those of size 1 are left out where they must be.
  SmallVector<unsigned> dims;
  size_t left = shape.size();
  for (size_t dim = sizes.size(); dim-- > 0;) {
    bool fits = left > 0 && (sizes[dim] == shape[left - 1] ||
                             (left == 1 && ShapedType::isDynamic(sizes[dim])));
    if (!fits && sizes[dim] != 1)
      return std::nullopt;
    if (fits) {
      dims.push_back(dim);
      --left;
    }
  }
  if (left != 0)
    return std::nullopt;
  std::reverse(dims.begin(), dims.end());
  return dims;
}

int64_t FillOp::getCopiedRows() {
  constexpr int64_t atomRows = 8;
  int64_t whole = getTileType().getDimSize(0);
  std::optional<SmallVector<unsigned>> dims = getTileDims();
  if (!dims || dims->empty())
    return whole;
  std::optional<int64_t> rows =
      getConstantIntValue(getMixedSizes()[dims->front()]);
  return rows && *rows > 0 && *rows % atomRows == 0 ? *rows : whole;
}

unsigned FillOp::getRunDim(RankedTensorType source, ArrayRef<int64_t> sizes) {
  unsigned dim = source.getRank() ? source.getRank() - 1 : 0;
  while (dim > 0 && !source.isDynamicDim(dim) &&
         sizes[dim] == source.getDimSize(dim))
    --dim;
  return dim;
}

LogicalResult FillOp::verify() {
  // C2
  RankedTensorType tile = getTileType();
  auto argument = dyn_cast<BlockArgument>(getSource());
  if (!argument || !isa<PartOp>(argument.getOwner()->getParentOp()))
    return emitOpError() << "source must be an argument of the part";
  if (getSourceType().getElementType() != tile.getElementType())
    return emitOpError() << "copies elements of type "
                         << getSourceType().getElementType() << " to "
                         << tile.getElementType();
  // C3
  if (!llvm::all_of(getStaticStrides(), [](int64_t s) { return s == 1; }))
    return emitOpError() << "strides must be 1, got [" << getStaticStrides()
                         << "]";
  // C4
  if (getTileDims()) {
    // C5
    ArrayRef<int64_t> sizes = getStaticSizes();
    int64_t run = tile.getElementTypeBitWidth() / 8;
    for (int64_t size : sizes.drop_front(getRunDim(getSourceType(), sizes)))
      run *= ShapedType::isDynamic(size) ? 1 : size;
    if (run % 16 == 0)
      return success();
    return emitOpError() << "contiguous runs must have a multiple of 16 bytes, "
                            "got "
                         << run;
  }
  InFlightDiagnostic diagnostic = emitOpError() << "a slice of sizes [";
  llvm::interleaveComma(getStaticSizes(), diagnostic, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      diagnostic << "?";
    else
      diagnostic << size;
  });
  return diagnostic << "] does not have the shape of " << tile;
}
