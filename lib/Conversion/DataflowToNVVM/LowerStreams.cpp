//===- LowerStreams.cpp - Rings to calls of the device library ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is copied in contiguous runs, and long runs in pieces, so that several
// lanes issue at once. Unit u is piece u % pieces of run u / pieces; lane l of
// the load warp has the units l, l + 32, ... Operands are dense and row-major,
// as everywhere in handlers; all addresses have 64 bits.
//
// Tiles of a stream with a layout are copied through a tensor map instead, by
// one lane: dataflow/Transforms/StreamLayout.h says how. Of a partial tile
// everything is copied, unless it has no rows: its source may then be empty,
// and an empty tensor has no map.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/StreamLowering.h"

#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/IR/FollowingPart.h"
#include "dataflow/Transforms/StreamLayout.h"
#include "dfrt/KernelABI.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;

/// Bytes of a bulk copy at most. 16 KiB pieces are as fast as whole tiles; 4
/// KiB pieces lose 4 to 5 % of the bandwidth (docs/results/cuda-layer-h200.md).
static constexpr int64_t kPieceBytes = 16384;
static constexpr int64_t kLanes = 32;
static constexpr uint32_t kBarrierBytes = 8;

RingLayout mlir::df::layoutRings(KernelOp kernel, uint32_t stages,
                                 uint32_t barriers) {
  RingLayout layout;
  for (StreamOp stream : kernel.getStreams()) {
    RingPlace place;
    uint32_t depth = stream.getDepth();
    place.base = stages + layout.stageBytes;
    place.full = barriers + layout.barrierBytes;
    place.empty = place.full + depth * kBarrierBytes;
    layout.stageBytes += depth * stream.getStageBytes();
    layout.barrierBytes += 2 * depth * kBarrierBytes;
    layout.places.push_back(place);
  }
  return layout;
}

std::vector<uint32_t> mlir::df::fillAlignment(ProgramOp program,
                                              KernelOp kernel) {
  std::vector<uint32_t> alignment(program.getArguments().size(), 1);
  kernel->walk([&](FillOp fill) {
    for (unsigned argument : filledArguments(fill))
      alignment[argument] = 16;
  });
  return alignment;
}

namespace {

/// Lowers the ops of one part.
class PartLowering {
public:
  PartLowering(KernelOp kernel, const RingLayout &layout, Value counters,
               Value parameter)
      : counters(counters), parameter(parameter),
        builder(counters.getContext()) {
    pointer = LLVM::LLVMPointerType::get(builder.getContext());
    for (auto [i, stream] : llvm::enumerate(kernel.getStreams()))
      rings[stream.getSymName()] = {stream, layout.places[i],
                                    static_cast<int32_t>(i)};
  }

  void lower(TakeOp op);
  void lower(GiveOp op);
  void lower(FillOp op);
  /// A fill through the map that lies at `mapAt` in the parameter.
  void lower(FillOp op, const StreamMap &map, uint64_t mapAt);

private:
  struct Ring {
    StreamOp stream;
    RingPlace place;
    int32_t number = 0;
  };

  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value index(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  }
  Value toI32(Value value) {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      value);
  }
  template <typename OpT>
  Value make(Value a, Value b) {
    return builder.createOrFold<OpT>(loc, a, b);
  }
  Value add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value multiply(Value a, Value b) { return make<arith::MulIOp>(a, b); }
  Value below(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  Value call(StringRef name, Type result, ValueRange operands) {
    SmallVector<Type> results;
    if (result)
      results.push_back(result);
    auto op = func::CallOp::create(builder, loc, name, results, operands);
    return result ? op.getResult(0) : Value();
  }
  Value counter(const Ring &ring) {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI32Type(),
                               counters, ArrayRef<LLVM::GEPArg>{ring.number});
  }
  const Ring &begin(Operation *op, StringRef stream) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    return rings[stream];
  }

  Value beginFill(const Ring &ring, Value bytes) {
    StreamOp stream = ring.stream;
    return call("dfk_fill_begin", builder.getI32Type(),
                {i32(ring.place.full), i32(ring.place.empty),
                 i32(ring.place.base), i32(stream.getDepth()),
                 i32(stream.getStageBytes()), counter(ring), bytes});
  }
  SmallVector<Value> findCoordinates(FillOp op,
                                     const dfrt::TensorMapSpec &spec);

  struct Copy;
  void describe(FillOp op, Copy &copy);
  void writeUnit(const Copy &copy, const Ring &ring, Value unit);

  Value counters, parameter;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  Type pointer;
  llvm::StringMap<Ring> rings;
};

/// One fill while it is lowered. Sizes are values of index type.
struct PartLowering::Copy {
  Value base;     ///< address of the slice, an i64 as index
  Value runBytes; ///< of one run
  Value units;    ///< how many there are
  int64_t pieces = 1, maxUnits = 1;
  /// Sizes and byte strides of the dimensions outside of a run, innermost
  /// first, without those of size 1.
  SmallVector<std::pair<Value, Value>> outer;
  Value stage, counter; ///< where to
};

} // namespace

void PartLowering::lower(TakeOp op) {
  const Ring &ring = begin(op, op.getStream());
  StreamOp stream = ring.stream;
  SmallVector<Value> operands = {
      i32(ring.place.full),   i32(ring.place.empty),       i32(ring.place.base),
      i32(stream.getDepth()), i32(stream.getStageBytes()), counter(ring)};
  if (stream.getLayout() || op->getParentOfType<PartOp>().getFragments()) {
    Value place = call("dfk_take_at", builder.getI32Type(), operands);
    if (!op.use_empty())
      op.replaceAllUsesWith(UnrealizedConversionCastOp::create(
                                builder, loc, op.getTile().getType(), place)
                                .getResult(0));
    op.erase();
    return;
  }
  Value address = call("dfk_take", pointer, operands);
  RankedTensorType tile = stream.getTileType();
  auto memory = MemRefType::get(tile.getShape(), tile.getElementType());
  LLVMTypeConverter converter(builder.getContext());
  Value descriptor = MemRefDescriptor::fromStaticShape(builder, loc, converter,
                                                       memory, address);
  Value memref =
      UnrealizedConversionCastOp::create(builder, loc, memory, descriptor)
          .getResult(0);
  Value tensor = bufferization::ToTensorOp::create(
      builder, loc, tile, memref, /*restrict=*/true, /*writable=*/false);
  op.replaceAllUsesWith(tensor);
  op.erase();
}

void PartLowering::lower(GiveOp op) {
  const Ring &ring = begin(op, op.getStream());
  StreamOp stream = ring.stream;
  call("dfk_give", {},
       {i32(ring.place.empty), i32(stream.getDepth()), counter(ring)});
  op.erase();
}

/// Finds base, runs and units of a fill.
void PartLowering::describe(FillOp op, Copy &copy) {
  RankedTensorType source = op.getSourceType(), tile = op.getTileType();
  int64_t rank = source.getRank();
  int64_t element = source.getElementType().getIntOrFloatBitWidth() / 8;
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  ArrayRef<int64_t> fixed = op.getStaticSizes();
  int64_t runDim = FillOp::getRunDim(source, fixed);
  Value memref = bufferization::ToBufferOp::create(
      builder, loc, MemRefType::get(source.getShape(), source.getElementType()),
      op.getSource(), /*read_only=*/true);
  copy.base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  SmallVector<OpFoldResult> strides =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref)
          .getConstifiedMixedStrides();

  Value runs = index(1);
  int64_t maxRuns = 1, maxRunBytes = element;
  for (int64_t dim = rank; dim-- > 0;) {
    Value stride = multiply(index(strides[dim]), index(element));
    copy.base = add(copy.base, multiply(index(offsets[dim]), stride));
    bool isOpen = ShapedType::isDynamic(fixed[dim]);
    int64_t most = isOpen ? tile.getDimSize(0) : fixed[dim];
    if (dim == runDim)
      copy.runBytes = multiply(index(sizes[dim]), stride);
    if (dim >= runDim) {
      maxRunBytes *= most;
    } else if (isOpen || most != 1) {
      copy.outer.emplace_back(index(sizes[dim]), stride);
      runs = multiply(runs, index(sizes[dim]));
      maxRuns *= most;
    }
  }
  copy.pieces = llvm::divideCeil(maxRunBytes, kPieceBytes);
  copy.maxUnits = maxRuns * copy.pieces;
  copy.units = multiply(runs, index(copy.pieces));
}

/// The bulk copy of this lane, whose unit is `unit`.
void PartLowering::writeUnit(const Copy &copy, const Ring &ring, Value unit) {
  Value run = unit, within = index(0), bytes = copy.runBytes;
  if (copy.pieces > 1) {
    Value pieces = index(copy.pieces), most = index(kPieceBytes);
    run = make<arith::DivUIOp>(unit, pieces);
    within = multiply(make<arith::RemUIOp>(unit, pieces), most);
    bytes = make<arith::SubIOp>(copy.runBytes, within);
    bytes = make<arith::MinSIOp>(bytes, most);
  }
  Value from = add(copy.base, within);
  Value rest = run;
  for (auto [i, dim] : llvm::enumerate(copy.outer)) {
    auto [size, stride] = dim;
    Value position = rest;
    if (i + 1 < copy.outer.size()) {
      position = make<arith::RemUIOp>(rest, size);
      rest = make<arith::DivUIOp>(rest, size);
    }
    from = add(from, multiply(position, stride));
  }
  Value to = add(multiply(run, copy.runBytes), within);
  // Lanes without a unit, or behind the end of an open run, copy nothing.
  Value live = arith::AndIOp::create(builder, loc, below(unit, copy.units),
                                     below(index(0), bytes));
  Value lane = call("dfk_lane", builder.getI32Type(), {});
  lane = arith::SelectOp::create(builder, loc, live, lane, i32(-1));
  Value address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), from);
  address = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  StreamOp stream = ring.stream;
  call(stream.getEvictFirst() ? "dfk_fill_run" : "dfk_fill_run_keep", {},
       {i32(ring.place.full), i32(stream.getDepth()), copy.counter,
        arith::AddIOp::create(builder, loc, copy.stage, toI32(to)), address,
        toI32(bytes), lane});
}

void PartLowering::lower(FillOp op) {
  const Ring &ring = begin(op, op.getStream());
  Copy copy;
  describe(op, copy);
  Value total = multiply(make<arith::DivUIOp>(copy.units, index(copy.pieces)),
                         copy.runBytes);
  copy.counter = counter(ring);
  copy.stage = beginFill(ring, toI32(total));
  Value lane = call("dfk_lane", builder.getI32Type(), {});
  lane = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), lane);
  int64_t trips = llvm::divideCeil(copy.maxUnits, kLanes);
  if (trips == 1) {
    writeUnit(copy, ring, lane);
  } else {
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(trips), index(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value first = multiply(loop.getInductionVar(), index(kLanes));
    writeUnit(copy, ring, add(first, lane));
  }
  call("dfk_fill_end", {}, {copy.counter});
  op.erase();
}

/// The coordinates of a slice in a map.
SmallVector<Value>
PartLowering::findCoordinates(FillOp op, const dfrt::TensorMapSpec &spec) {
  RankedTensorType source = op.getSourceType();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  Value memref = bufferization::ToBufferOp::create(
      builder, loc, MemRefType::get(source.getShape(), source.getElementType()),
      op.getSource(), /*read_only=*/true);
  SmallVector<OpFoldResult> sizes =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref)
          .getConstifiedMixedSizes();
  SmallVector<Value> coordinates;
  for (const dfrt::TensorMapSpec::Dimension &dimension : spec.dimensions) {
    if (dimension.limit) {
      coordinates.push_back(i32(0));
      continue;
    }
    Value place = index(offsets[dimension.first]);
    for (uint32_t dim = dimension.first + 1; dim <= dimension.last; ++dim)
      place = add(multiply(place, index(sizes[dim])), index(offsets[dim]));
    if (dimension.unit > 1)
      place = make<arith::DivUIOp>(place, index(int64_t(dimension.unit)));
    coordinates.push_back(toI32(place));
  }
  return coordinates;
}

void PartLowering::lower(FillOp op, const StreamMap &map, uint64_t mapAt) {
  const Ring &ring = begin(op, op.getStream());
  StreamOp stream = ring.stream;
  SmallVector<Value> coordinates = findCoordinates(op, map.spec);
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), parameter,
                          ArrayRef<LLVM::GEPArg>{int32_t(mapAt)});
  Value policy = call(stream.getEvictFirst() ? "dfk_policy_evict_first"
                                             : "dfk_policy_keep",
                      builder.getI64Type(), {});
  int64_t copied = op.getCopiedRows(), rows = op.getTileType().getDimSize(0);
  Value bytes = i32(stream.getTileBytes() / rows * copied);
  Value any;
  if (copied == rows &&
      ShapedType::isDynamic(op.getStaticSizes()[op.getTileDims()->front()])) {
    any = below(index(0), op.getSizes().front());
    bytes = arith::SelectOp::create(builder, loc, any, bytes, i32(0));
  }
  Value stage = beginFill(ring, bytes);
  OpBuilder::InsertionGuard guard(builder);
  if (any)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, any, /*withElseRegion=*/false)
            .thenBlock());
  std::string name =
      "dfk_fill_tensor_" + std::to_string(map.spec.dimensions.size());
  for (const StreamMap::Copy &copy : map.copies) {
    SmallVector<Value> operands = {i32(ring.place.full),
                                   i32(stream.getDepth()),
                                   counter(ring),
                                   add(stage, i32(copy.place)),
                                   address,
                                   policy};
    for (auto [coordinate, step] : llvm::zip(coordinates, copy.steps))
      operands.push_back(step ? add(coordinate, i32(step)) : coordinate);
    call(name, {}, operands);
  }
  builder.setInsertionPoint(op);
  call("dfk_fill_end", {}, {counter(ring)});
  op.erase();
}

/// The maps of the fills of `part` whose streams have a layout, in the order of
/// a walk; the others have none.
static FailureOr<SmallVector<std::optional<StreamMap>>>
findStreamMaps(KernelOp kernel, PartOp part) {
  SmallVector<std::optional<StreamMap>> maps;
  WalkResult result = part.walk([&](FillOp fill) {
    maps.emplace_back();
    auto stream = cast<StreamOp>(
        SymbolTable::lookupSymbolIn(kernel, fill.getStreamAttr()));
    if (!stream.getLayout())
      return WalkResult::advance();
    std::string reason;
    maps.back() = streamMap(fill, stream.getLayout()->getLayout(), reason);
    if (maps.back())
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        fill.emitOpError("cannot be made of copies through a tensor map: ")
        << reason;
    diagnostic.attachNote(stream.getLoc()) << "the stream has a layout";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  return maps;
}

/// The number of `map` in `maps`, to which it is added if need be.
static uint64_t numberMap(std::vector<dfrt::TensorMapSpec> &maps,
                          const dfrt::TensorMapSpec &map) {
  auto it = llvm::find(maps, map);
  if (it == maps.end())
    it = maps.insert(it, map);
  return it - maps.begin();
}

/// Puts the arguments of the finalize `stage` that follows in a compute part
/// where a function has them. Whether it is the next instruction is asked in
/// front of its branch.
static void joinFollowing(PartOp part, uint32_t stage, BlockArgument counters,
                          BlockArgument parameter, HandlerFunction &handler) {
  Block &block = part.getBody().front();
  unsigned end = handler.indices + handler.operands, fields = 0;
  for (const HandlerFunction::Input &input : handler.inputs)
    fields += input.record.fields.size();
  Operation *yield = block.getTerminator();
  unsigned outputs =
      yield->getNumOperands() - unsigned(handler.output->fields.size());
  BlockArgument follows = block.getArgument(counters.getArgNumber() - 1);
  unsigned operands = follows.getArgNumber() - outputs - end - fields;

  Operation *branch = *follows.getUsers().begin();
  OpBuilder builder(branch);
  Value number = arith::ConstantIntOp::create(builder, branch->getLoc(),
                                              int64_t(stage), 32);
  Value asked = func::CallOp::create(builder, branch->getLoc(),
                                     "dfk_is_followed", builder.getI1Type(),
                                     ValueRange{parameter, counters, number})
                    .getResult(0);
  follows.replaceAllUsesWith(asked);
  yield->insertOperands(yield->getNumOperands(), asked);
  block.eraseArgument(follows.getArgNumber());
  for (unsigned i = 0; i < operands; ++i) {
    unsigned from = end + i + fields;
    BlockArgument argument = block.getArgument(from);
    BlockArgument moved =
        block.insertArgument(end + i, argument.getType(), argument.getLoc());
    block.getArgument(from + 1).replaceAllUsesWith(moved);
    block.eraseArgument(from + 1);
  }
  handler.operands += operands;
  handler.outputs += outputs;
  handler.mayDrop = true;
}

/// Whether a body reads a collected field record by record, so that records
/// may stay where they are.
static bool readsRecords(Value collected) {
  return llvm::all_of(collected.getUsers(), [](Operation *user) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return slice.getStaticSizes().front() == 1 &&
             slice.getStaticStrides().front() == 1;
    return isa<tensor::ExtractOp, tensor::DimOp>(user);
  });
}

/// Whether all collected records of a function may stay where they are.
static bool readsTables(const HandlerFunction &function, Block &block) {
  unsigned number = function.indices + function.operands;
  bool any = false;
  for (const HandlerFunction::Input &input : function.inputs)
    for (const dfrt::Field &field : input.record.fields) {
      Value argument = block.getArgument(number++);
      if (!input.collected)
        continue;
      any = true;
      if ((field.separable >= 0 && input.record.slices != 1) ||
          !readsRecords(argument))
        return false;
    }
  return any;
}

FailureOr<HandlerFunction>
PartFunctions::lower(PartOp part, HandlerFunction handler, uint32_t following) {
  MLIRContext *context = part.getContext();
  for (StringRef name :
       {"arith", "bufferization", "func", "llvm", "memref", "scf", "tensor"})
    context->getOrLoadDialect(name);
  FailureOr<SmallVector<std::optional<StreamMap>>> fillMaps =
      findStreamMaps(kernel, part);
  if (failed(fillMaps))
    return failure();
  copies.emplace_back(part->clone());
  auto copy = cast<PartOp>(copies.back().get());
  if (failed(expandProgramOps(copy)))
    return failure();
  Block &block = copy.getBody().front();
  if (part.getRole() == PartRole::load) {
    unsigned kept = handler.indices + handler.operands;
    for (unsigned i = kept; i < block.getNumArguments(); ++i)
      if (!block.getArgument(i).use_empty())
        return part.emitOpError("uses argument ")
               << i << ", which is a record or an output";
    block.eraseArguments(kept, block.getNumArguments() - kept);
    handler.inputs.clear();
    handler.output.reset();
    handler.outputs = 0;
    handler.loadRole = true;
  }
  auto pointer = LLVM::LLVMPointerType::get(context);
  BlockArgument counters = block.addArgument(pointer, part.getLoc());
  BlockArgument parameter = block.addArgument(pointer, part.getLoc());
  if (getFollowing(copy))
    joinFollowing(copy, following, counters, parameter, handler);
  PartLowering lowering(kernel, layout, counters, parameter);
  auto fillMap = fillMaps->begin();
  SmallVector<Operation *> ops;
  copy->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto take = dyn_cast<TakeOp>(op))
      lowering.lower(take);
    else if (auto give = dyn_cast<GiveOp>(op))
      lowering.lower(give);
    else if (auto fill = dyn_cast<FillOp>(op)) {
      if (const std::optional<StreamMap> &map = *fillMap++)
        lowering.lower(fill, *map,
                       mapsAt +
                           DFRT_TENSOR_MAP_BYTES * numberMap(maps, map->spec));
      else
        lowering.lower(fill);
    }
  }
  handler.symbol += ("$" + stringifyPartRole(part.getRole())).str();
  handler.body = &copy.getBody();
  handler.pointers = 2;
  handler.fragments = part.getFragments();
  handler.tables = handler.fragments && readsTables(handler, block);
  handler.warp = handler.fragments && part->hasAttr("warp");
  return handler;
}
