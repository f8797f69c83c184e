//===- StreamLayout.cpp - Streams whose tiles tensor maps bring -----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/StreamLayout.h"

#include "SplitRoles.h"
#include "dataflow/Transforms/ProgramImport.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace mlir::df;

using Dimension = dfrt::TensorMapSpec::Dimension;

static constexpr int64_t kMaxBox = dfrt::TensorMapSpec::kMaxBox;
/// Strides of a map are multiples of so many bytes.
static constexpr int64_t kStrideBytes = 16;
/// Rows of an atom.
static constexpr int64_t kAtomRows = 8;

/// Calls `visit` for each stage that calls the handler of `part`, or the one
/// that it is a variant of.
static void forEachCaller(PartOp part,
                          function_ref<void(StageOpInterface)> visit) {
  HandlerOpInterface handler = part.lookupHandler();
  auto variant = dyn_cast_or_null<HandlerOp>(handler.getOperation());
  StringAttr name = variant && variant.getVariantOfAttr()
                        ? variant.getVariantOfAttr().getAttr()
                        : handler.getHandlerName();
  for (StageOpInterface stage :
       part->getParentOfType<ProgramOp>().getStages()) {
    HandlerOpInterface callee = stage.lookupHandler();
    if (callee && callee.getHandlerName() == name)
      visit(stage);
  }
}

/// Indices in front of the operands of a part.
static unsigned countIndices(PartOp part) {
  ArrayRef<Type> types = part.getArgumentTypes();
  return llvm::find_if_not(types, [](Type type) { return type.isIndex(); }) -
         types.begin();
}

SmallVector<unsigned> mlir::df::filledArguments(FillOp fill) {
  auto part = fill->getParentOfType<PartOp>();
  unsigned indices = countIndices(part);
  unsigned number = cast<BlockArgument>(fill.getSource()).getArgNumber();
  SmallVector<unsigned> arguments;
  forEachCaller(part, [&](StageOpInterface stage) {
    ValueRange operands = stage.getReadTensors();
    if (number < indices || number - indices >= operands.size())
      return;
    unsigned argument =
        cast<BlockArgument>(operands[number - indices]).getArgNumber();
    if (!llvm::is_contained(arguments, argument))
      arguments.push_back(argument);
  });
  return arguments;
}

/// For each index argument of a part, a number that it is a multiple of.
static SmallVector<int64_t> partMultiples(PartOp part) {
  SmallVector<int64_t> multiples(countIndices(part), 0);
  forEachCaller(part, [&](StageOpInterface stage) {
    // The number of a slice comes behind all others.
    SmallVector<int64_t> known = indexMultiples(stage);
    known.resize(multiples.size(), 1);
    for (auto [a, b] : llvm::zip(multiples, known))
      a = std::gcd(a, b);
  });
  return multiples;
}

namespace {

/// Finds the map of one fill.
class MapSearch {
public:
  MapSearch(FillOp fill, SharedLayout layout, std::string &reason)
      : fill(fill), layout(layout), reason(reason),
        source(fill.getSourceType()), tile(fill.getTileType()) {}

  std::optional<StreamMap> run();

private:
  bool refuse(const Twine &text) {
    reason = text.str();
    return false;
  }
  bool findDimensions();
  bool findSpec();
  bool byRows();
  bool byColumns();
  bool splitsColumns();
  /// Whether the slice begins at a multiple of `unit` along `dim`.
  bool beginsAt(unsigned dim, int64_t unit);
  void addMiddle();
  void addDimension(unsigned first, unsigned last, int64_t box, int64_t unit,
                    int64_t limit) {
    result.spec.dimensions.push_back(
        {first, last, uint32_t(box), uint64_t(unit), uint64_t(limit)});
  }

  FillOp fill;
  SharedLayout layout;
  std::string &reason;
  RankedTensorType source, tile;
  StreamMap result;
  unsigned rowDim = 0, columnDim = 0;
  int64_t rows = 0, chunk = 0, chunks = 0; ///< chunk: its elements
};

} // namespace

bool MapSearch::beginsAt(unsigned dim, int64_t unit) {
  OpFoldResult offset = fill.getMixedOffsets()[dim];
  if (std::optional<int64_t> number = getConstantIntValue(offset))
    return *number % unit == 0;
  auto part = fill->getParentOfType<PartOp>();
  return knownMultiple(cast<Value>(offset), part.getBody(),
                       partMultiples(part)) %
             unit ==
         0;
}

/// Rows and columns of the tile in the source.
bool MapSearch::findDimensions() {
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  if (layout.swizzle() == 0)
    return refuse("its tiles are row-major");
  if (std::optional<std::string> why = layout.check(tile.getShape(), bytes))
    return refuse(*why);
  std::optional<SmallVector<unsigned>> dims = fill.getTileDims();
  if (!dims || dims->size() != 2)
    return refuse("a tile must have rank 2");
  rowDim = dims->front();
  columnDim = dims->back();
  if (columnDim + 1 != source.getRank())
    return refuse("columns of the tile are no neighbours in the source");
  if (source.isDynamicDim(columnDim))
    return refuse("the length of the source's rows is not known");
  int64_t rowBytes = source.getDimSize(columnDim) * bytes;
  if (rowBytes % kStrideBytes != 0)
    return refuse("rows of the source have " + Twine(rowBytes) +
                  " bytes, no multiple of " + Twine(kStrideBytes));
  rows = fill.getCopiedRows();
  chunk = layout.chunkElements(bytes);
  chunks = tile.getDimSize(1) / chunk;
  return true;
}

bool MapSearch::findSpec() {
  SmallVector<unsigned> arguments = filledArguments(fill);
  if (arguments.size() != 1)
    return refuse("the stages that call the handler read " +
                  Twine(arguments.size()) + " arguments, a map is of one");
  std::optional<dfrt::ElementType> element =
      getElementType(tile.getElementType());
  if (!element)
    return refuse("elements of this type have no tensor maps");
  result.spec.argument = arguments.front();
  result.spec.element = *element;
  result.spec.swizzle =
      layout.swizzle() == 32   ? dfrt::TensorMapSpec::Swizzle::b32
      : layout.swizzle() == 64 ? dfrt::TensorMapSpec::Swizzle::b64
                               : dfrt::TensorMapSpec::Swizzle::b128;
  // 256 bytes cost a tenth of the bandwidth of scattered tiles.
  result.spec.promotion = dfrt::TensorMapSpec::Promotion::b128;
  return true;
}

/// Whether one copy can bring several chunks.
bool MapSearch::splitsColumns() {
  if (source.getDimSize(columnDim) % chunk != 0)
    return refuse(
        "rows of the source have " + Twine(source.getDimSize(columnDim)) +
        " elements, no multiple of the " + Twine(chunk) + " of a chunk");
  if (!beginsAt(columnDim, chunk))
    return refuse("the tile is not known to begin at a chunk of " +
                  Twine(chunk) + " columns");
  if (chunks > kMaxBox)
    return refuse("a tile has " + Twine(chunks) + " chunks, a copy brings " +
                  Twine(kMaxBox));
  return true;
}

void MapSearch::addMiddle() {
  if (rowDim + 1 < columnDim)
    addDimension(rowDim + 1, columnDim - 1, 1, 1, 0);
}

/// All chunks of 8 rows, then those of the next.
bool MapSearch::byRows() {
  int64_t atom = kAtomRows * layout.swizzle();
  if (layout.chunkStride() != atom || layout.rowGroupStride() != chunks * atom)
    return refuse("the tile has gaps");
  if (source.isDynamicDim(rowDim) ||
      source.getDimSize(rowDim) % kAtomRows != 0 ||
      !beginsAt(rowDim, kAtomRows))
    return refuse("source and tile are not known to be whole groups of " +
                  Twine(kAtomRows) + " rows");
  if (rows / kAtomRows > kMaxBox)
    return refuse("a tile has " + Twine(rows) + " rows, a copy brings " +
                  Twine(kMaxBox * kAtomRows));
  if (!splitsColumns())
    return false;
  addDimension(columnDim, columnDim, chunk, 1, chunk);
  addDimension(0, rowDim, kAtomRows, 1, kAtomRows);
  addDimension(columnDim, columnDim, chunks, chunk, 0);
  addDimension(0, rowDim, rows / kAtomRows, kAtomRows, 0);
  addMiddle();
  result.copies.emplace_back();
  return true;
}

/// All rows of a chunk, then those of the next.
bool MapSearch::byColumns() {
  int64_t most = rows;
  while (most > kMaxBox || rows % most != 0)
    most -= kAtomRows;
  bool dense = layout.chunkStride() == rows * layout.swizzle();
  if (chunks > 1 && dense && most == rows && splitsColumns()) {
    addDimension(columnDim, columnDim, chunk, 1, chunk);
    addDimension(0, rowDim, rows, 1, 0);
    addDimension(columnDim, columnDim, chunks, chunk, 0);
    addMiddle();
    result.copies.emplace_back();
    return true;
  }
  addDimension(columnDim, columnDim, chunk, 1, 0);
  addDimension(0, rowDim, most, 1, 0);
  addMiddle();
  for (int64_t column = 0; column < chunks; ++column)
    for (int64_t row = 0; row < rows; row += most) {
      StreamMap::Copy &copy = result.copies.emplace_back();
      copy.place = column * layout.chunkStride() + row * layout.swizzle();
      copy.steps[0] = column * chunk;
      copy.steps[1] = row;
    }
  return true;
}

std::optional<StreamMap> MapSearch::run() {
  if (!findDimensions() || !findSpec())
    return std::nullopt;
  bool together = layout.rowGroupStride() == kAtomRows * layout.swizzle();
  if (!(together ? byColumns() : byRows()))
    return std::nullopt;
  reason.clear();
  return std::move(result);
}

std::optional<StreamMap> mlir::df::streamMap(FillOp fill, SharedLayout layout,
                                             std::string &reason) {
  return MapSearch(fill, layout, reason).run();
}

/// The first layout of `tile` that suits all of `fills`.
static std::optional<SharedLayout> findLayout(RankedTensorType tile,
                                              ArrayRef<FillOp> fills,
                                              unsigned swizzle,
                                              std::string &reason) {
  for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns}) {
    std::optional<SharedLayout> layout = SharedLayout::get(
        tile.getShape(), tile.getElementTypeBitWidth() / 8, swizzle, order);
    if (!layout) {
      reason = "a tile does not consist of whole atoms";
      return std::nullopt;
    }
    if (llvm::all_of(fills, [&](FillOp fill) {
          return streamMap(fill, *layout, reason).has_value();
        }))
      return layout;
  }
  return std::nullopt;
}

std::optional<SharedLayout>
mlir::df::streamLayout(FillOp fill, unsigned swizzle, std::string &reason) {
  return findLayout(fill.getTileType(), fill, swizzle, reason);
}

std::optional<SharedLayout>
mlir::df::streamLayout(StreamOp stream, unsigned swizzle, std::string &reason) {
  SmallVector<FillOp> fills;
  stream->getParentOp()->walk([&](FillOp fill) {
    if (fill.getStream() == stream.getSymName())
      fills.push_back(fill);
  });
  return findLayout(stream.getTileType(), fills, swizzle, reason);
}
