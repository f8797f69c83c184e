//===- FragmentsToNVVM.cpp - Bodies on register fragments -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walk over a body, with scalars, loops and branches.
//
// Loops count their iterations from 0 in 32 bits, and counts and conditions
// pass through a vote or a shuffle: the assembler must see that all lanes of a
// warp go the same way, or it waits for each product on the tensor cores.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Reductions.h"

#include "dataflow/IR/UnrolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::df;
using namespace mlir::df::fragments;

//===----------------------------------------------------------------------===//
// Writing code
//===----------------------------------------------------------------------===//

OpFoldResult FragmentLowering::scalar(OpFoldResult value) const {
  if (auto dynamic = dyn_cast<Value>(value))
    return scalars.lookup(dynamic);
  return value;
}

template <typename T>
static const T *find(const llvm::DenseMap<Value, T> &map, Value value) {
  auto it = map.find(value);
  return it == map.end() ? nullptr : &it->second;
}

const Fragment *FragmentLowering::fragment(Value tensor) const {
  return find(fragments, tensor);
}
const SharedTile *FragmentLowering::shared(Value tensor) const {
  return find(tiles, tensor);
}
const Memory *FragmentLowering::memory(Value tensor) const {
  return find(memories, tensor);
}

void FragmentLowering::map(Value tensor, Fragment with) {
  fragments.insert_or_assign(tensor, std::move(with));
}
void FragmentLowering::map(Value tensor, SharedTile with) {
  tiles.insert_or_assign(tensor, std::move(with));
}
void FragmentLowering::map(Value tensor, Memory with) {
  memories.insert_or_assign(tensor, std::move(with));
}

Value FragmentLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value FragmentLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value FragmentLowering::index(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value FragmentLowering::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value FragmentLowering::multiply(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}

Value FragmentLowering::call(StringRef name, Type result, ValueRange operands) {
  SmallVector<Type> results;
  if (result)
    results.push_back(result);
  auto op = func::CallOp::create(builder, loc, name, results, operands);
  return result ? op.getResult(0) : Value();
}

Value FragmentLowering::threadBit(Bits of, unsigned bit) {
  Value number = of == Bits::lane   ? laneNumber
                 : of == Bits::warp ? warpNumber
                                    : groupNumber;
  Value shifted =
      builder.createOrFold<arith::ShRUIOp>(loc, number, i32(int64_t(bit)));
  return builder.createOrFold<arith::AndIOp>(loc, shifted, i32(1));
}

Value FragmentLowering::threadCoordinate(const FragmentLayout &layout,
                                         unsigned dim) {
  Value sum;
  auto append = [&](Value number, unsigned bits,
                    function_ref<int64_t(unsigned)> step) {
    // Neighbouring bits that keep their distance move together.
    for (unsigned bit = 0; bit < bits;) {
      int64_t first = step(bit);
      if (!first) {
        ++bit;
        continue;
      }
      unsigned count = 1;
      while (bit + count < bits && step(bit + count) == first << count)
        ++count;
      Value part = number;
      if (bit)
        part = builder.createOrFold<arith::ShRUIOp>(loc, part, i32(bit));
      part =
          builder.createOrFold<arith::AndIOp>(loc, part, i32((1 << count) - 1));
      part = multiply(part, i32(first));
      sum = sum ? add(sum, part) : part;
      bit += count;
    }
  };
  append(laneNumber, 5, [&](unsigned bit) {
    return layout.coordinates(0, 1u << bit, 0, 0)[dim];
  });
  append(warpNumber, llvm::Log2_32(layout.warps()), [&](unsigned bit) {
    return layout.coordinates(0, 0, 1u << bit, 0)[dim];
  });
  append(groupNumber, llvm::Log2_32(layout.groups()), [&](unsigned bit) {
    return layout.coordinates(0, 0, 0, 1u << bit)[dim];
  });
  return sum ? sum : i32(0);
}

SmallVector<int64_t>
FragmentLowering::registerCoordinates(const FragmentLayout &layout,
                                      unsigned number) {
  auto coordinates = layout.coordinates(number, 0, 0, 0);
  return SmallVector<int64_t>(coordinates.begin(), coordinates.end());
}

Value FragmentLowering::toBits(Value value) {
  Type type = value.getType();
  Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (type == integer)
    return value;
  return arith::BitcastOp::create(builder, loc, integer, value);
}

Value FragmentLowering::fromBits(Value bits, Type type) {
  if (type == bits.getType())
    return bits;
  return arith::BitcastOp::create(builder, loc, type, bits);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

/// How many of `registers` elements pass through a loop in one word: a register
/// of a thread has 32 bits, whatever is in it.
static unsigned elementsPerWord(Type element, size_t registers) {
  if (!element.isIntOrFloat())
    return 1;
  unsigned bits = element.getIntOrFloatBitWidth();
  unsigned count = bits == 8 || bits == 16 ? 32 / bits : 1;
  return registers % count == 0 ? count : 1;
}

void df::fragments::appendRegisterTypes(Type type,
                                        SmallVectorImpl<Type> &types) {
  std::optional<FragmentLayout> layout = layoutOf(type);
  size_t registers = layout ? layout->registers() : 1;
  Type element = getElementTypeOrSelf(type);
  unsigned count = layout ? elementsPerWord(element, registers) : 1;
  if (count > 1)
    element = IntegerType::get(type.getContext(), 32);
  types.append(registers / count, element);
}

/// The registers of a fragment in words, and back.
static void packWords(FragmentLowering &lowering, const Fragment &fragment,
                      SmallVectorImpl<Value> &flat) {
  unsigned count = elementsPerWord(fragment.registers.front().getType(),
                                   fragment.registers.size());
  if (count == 1) {
    llvm::append_range(flat, fragment.registers);
    return;
  }
  OpBuilder &builder = lowering.builder;
  auto type = VectorType::get(count, builder.getIntegerType(32 / count));
  for (size_t i = 0; i < fragment.registers.size(); i += count) {
    Value word = LLVM::PoisonOp::create(builder, lowering.loc, type);
    for (unsigned k = 0; k < count; ++k)
      word = LLVM::InsertElementOp::create(
          builder, lowering.loc, word,
          lowering.toBits(fragment.registers[i + k]), lowering.i32(k));
    flat.push_back(LLVM::BitcastOp::create(builder, lowering.loc,
                                           builder.getI32Type(), word));
  }
}
static Fragment unpackWords(FragmentLowering &lowering,
                            const FragmentLayout &layout, Type element,
                            ValueRange &flat) {
  Fragment result{layout, {}};
  unsigned count = elementsPerWord(element, layout.registers());
  size_t words = layout.registers() / count;
  if (count == 1) {
    result.registers.assign(flat.begin(), flat.begin() + words);
  } else {
    OpBuilder &builder = lowering.builder;
    auto type = VectorType::get(count, builder.getIntegerType(32 / count));
    for (Value word : flat.take_front(words)) {
      Value parts = LLVM::BitcastOp::create(builder, lowering.loc, type, word);
      for (unsigned k = 0; k < count; ++k)
        result.registers.push_back(lowering.fromBits(
            LLVM::ExtractElementOp::create(builder, lowering.loc, parts,
                                           lowering.i32(k)),
            element));
    }
  }
  flat = flat.drop_front(words);
  return result;
}

/// The values that stand for `values`, one after the other: scalars, and the
/// registers of fragments, in a loop as words.
static LogicalResult flatten(FragmentLowering &lowering, Operation *op,
                             ValueRange values, bool words,
                             SmallVectorImpl<Value> &flat) {
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType())) {
      flat.push_back(lowering.scalar(value));
      continue;
    }
    const Fragment *fragment = lowering.fragment(value);
    // What updated an output is that output.
    if (!fragment && lowering.memory(value))
      continue;
    if (!fragment)
      return op->emitOpError("passes on a tensor of type ")
             << value.getType() << ", which is not held in registers";
    if (words)
      packWords(lowering, *fragment, flat);
    else
      llvm::append_range(flat, fragment->registers);
  }
  return success();
}

/// Maps `values` to what `flat` holds, in the manner of `like`.
static void unflatten(FragmentLowering &lowering, ValueRange values,
                      ValueRange like, bool words, ValueRange flat) {
  for (auto [value, model] : llvm::zip(values, like)) {
    if (!isa<RankedTensorType>(value.getType())) {
      lowering.map(value, flat.front());
      flat = flat.drop_front();
      continue;
    }
    if (const Fragment *fragment = lowering.fragment(model)) {
      if (words) {
        FragmentLayout layout = fragment->layout;
        Type element = fragment->registers.front().getType();
        lowering.map(value, unpackWords(lowering, layout, element, flat));
        continue;
      }
      Fragment next{fragment->layout, {}};
      size_t count = fragment->registers.size();
      next.registers.assign(flat.begin(), flat.begin() + count);
      flat = flat.drop_front(count);
      lowering.map(value, std::move(next));
      continue;
    }
    Memory memory = *lowering.memory(model);
    lowering.map(value, std::move(memory));
  }
}

LogicalResult FragmentLowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> initial;
  std::vector<std::pair<unsigned, CarriedSum>> sums;
  for (auto [number, value] : llvm::enumerate(op.getInitArgs())) {
    if (std::optional<CarriedSum> sum = findCarriedSum(op, number);
        sum && fragment(value)) {
      packWords(*this, shareOut(*this, *sum, *fragment(value)), initial);
      carriedSums.insert(sum->op);
      sums.emplace_back(number, std::move(*sum));
    } else if (failed(flatten(*this, op, value, /*words=*/true, initial))) {
      return failure();
    }
  }
  Type i32Type = builder.getI32Type();
  Value begin = scalar(op.getLowerBound());
  Value end = scalar(op.getUpperBound());
  Value step = scalar(op.getStep());
  Value length = arith::SubIOp::create(builder, loc, end, begin);
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(length.getType()));
  length = arith::MaxSIOp::create(builder, loc, length, zero);
  Value trips = arith::CeilDivUIOp::create(builder, loc, length, step);
  if (trips.getType().isIndex())
    trips = arith::IndexCastOp::create(builder, loc, i32Type, trips);
  else if (trips.getType().getIntOrFloatBitWidth() > 32)
    trips = arith::TruncIOp::create(builder, loc, i32Type, trips);
  else if (trips.getType() != i32Type)
    trips = arith::ExtUIOp::create(builder, loc, i32Type, trips);
  // Of a loop whose iterations hand registers on, several at a time: each has
  // registers of its own then, and nothing is moved (and so waited for).
  std::optional<int64_t> times = getUnroll(op);
  if (!times)
    return op.emitOpError() << "'" << kUnrollAttrName
                            << "' does not divide a known number of iterations";
  int64_t unroll = *times;
  if (getTrips(op) == unroll) {
    trips = i32(1); // no loop any more
  } else {
    trips = call("dfk_uniform", i32Type, trips);
    if (unroll != 1)
      trips = arith::DivUIOp::create(builder, loc, trips, i32(unroll));
  }

  auto loop =
      scf::ForOp::create(builder, loc, i32(0), trips, i32(1), initial,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value first = loop.getInductionVar();
    if (unroll != 1)
      first = multiply(first, i32(unroll));
    Type type = begin.getType();
    SmallVector<Value> carried(loop.getRegionIterArgs());
    for (int64_t copy = 0; copy < unroll; ++copy) {
      Value count = copy == 0 ? first : add(first, i32(copy));
      if (type.isIndex())
        count = arith::IndexCastOp::create(builder, loc, type, count);
      else if (type.getIntOrFloatBitWidth() > 32)
        count = arith::ExtUIOp::create(builder, loc, type, count);
      else if (type != i32Type)
        count = arith::TruncIOp::create(builder, loc, type, count);
      map(op.getInductionVar(), add(begin, multiply(count, step)));
      unflatten(*this, op.getRegionIterArgs(), op.getInitArgs(),
                /*words=*/true, carried);
      if (failed(lowerBlock(*op.getBody())))
        return failure();
      SmallVector<Value> next;
      Operation *yield = op.getBody()->getTerminator();
      loc = yield->getLoc();
      if (failed(flatten(*this, yield, yield->getOperands(), /*words=*/true,
                         next)))
        return failure();
      if (next.size() != initial.size())
        return yield->emitOpError("passes on ")
               << next.size() << " registers, expected " << initial.size();
      carried = std::move(next);
      loc = op.getLoc();
    }
    scf::YieldOp::create(builder, loc, carried);
  }
  loc = op.getLoc();
  unflatten(*this, op.getResults(), op.getInitArgs(), /*words=*/true,
            loop.getResults());
  for (const auto &[number, sum] : sums)
    sumShares(*this, sum, op.getResult(number));
  return success();
}

LogicalResult FragmentLowering::lowerIf(scf::IfOp op) {
  // Without products, nobody has to know that all lanes go the same way.
  Value condition = scalar(op.getCondition());
  if (!options.warp)
    condition = call("dfk_any", builder.getI1Type(), condition);
  bool hasElse = op.elseBlock() || op.getNumResults();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      types.push_back(type);
    } else if (auto encoding =
                   dyn_cast_or_null<FragmentAttr>(tensor.getEncoding())) {
      types.append(encoding.getLayout().registers(), tensor.getElementType());
    } else if (tensor.getEncoding()) {
      return op.emitOpError("passes on a shared tile of type ") << type;
    }
  }
  auto branch = scf::IfOp::create(builder, loc, types, condition, hasElse);
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(builder);
    to->clear();
    builder.setInsertionPointToEnd(to);
    if (failed(lowerBlock(*from)))
      return failure();
    Operation *yield = from->getTerminator();
    loc = yield->getLoc();
    SmallVector<Value> results;
    if (failed(flatten(*this, yield, yield->getOperands(), /*words=*/false,
                       results)))
      return failure();
    scf::YieldOp::create(builder, loc, results);
    return success();
  };
  if (failed(fill(op.thenBlock(), branch.thenBlock())) ||
      (op.elseBlock() && failed(fill(op.elseBlock(), branch.elseBlock()))))
    return failure();
  loc = op.getLoc();
  if (op.getNumResults())
    unflatten(*this, op.getResults(), op.thenYield().getOperands(),
              /*words=*/false, branch.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

/// `op` and what it contains are about scalars only.
static bool isScalar(Operation *op) {
  return !op->walk([](Operation *nested) {
              return llvm::any_of(nested->getOperandTypes(), isTensor) ||
                             llvm::any_of(nested->getResultTypes(), isTensor)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

LogicalResult FragmentLowering::lowerScalarOp(Operation *op) {
  // As for elements of fragments, see Elementwise.cpp.
  if (op->getNumRegions() == 0 && op->getNumResults() == 1) {
    map(op->getResult(0),
        applyScalar(op,
                    llvm::map_to_vector(op->getOperands(), [&](Value operand) {
                      return scalar(operand);
                    })));
    return success();
  }
  builder.clone(*op, scalars);
  return success();
}

/// The address in shared memory of a tile that a stream handed over.
static bool isTake(UnrealizedConversionCastOp op) {
  return op.getNumOperands() == 1 && op.getNumResults() == 1 &&
         op.getOperand(0).getType().isInteger(32) &&
         isTensor(op.getResult(0).getType());
}

LogicalResult FragmentLowering::lowerConvert(ConvertLayoutOp op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  Attribute encoding = type.getEncoding();
  if (auto target = dyn_cast_or_null<FragmentAttr>(encoding)) {
    const FragmentLayout &layout = target.getLayout();
    if (const Memory *from = memory(source)) {
      map(result, load(Memory(*from), layout));
      return success();
    }
    FailureOr<Fragment> moved = failure();
    if (const SharedTile *from = shared(source))
      moved = load(op, SharedTile(*from), layout);
    else if (const Fragment *from = fragment(source))
      moved = convert(op, Fragment(*from), layout);
    else
      return op->emitOpError("reads a tensor that stands for nothing");
    if (failed(moved))
      return failure();
    map(result, std::move(*moved));
    return success();
  }
  const Fragment *from = fragment(source);
  if (!from)
    return op->emitOpError("expects a fragment as source, not ")
           << source.getType();
  if (auto target = dyn_cast_or_null<SharedAttr>(encoding)) {
    FailureOr<SharedTile> tile = stage(op, Fragment(*from), target.getLayout());
    if (failed(tile))
      return failure();
    map(result, std::move(*tile));
    return success();
  }
  // Whoever inserts or yields the memory stores the registers.
  map(result, Fragment(*from));
  return success();
}

LogicalResult FragmentLowering::lowerOp(Operation *op) {
  loc = op->getLoc();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
      cast && isTake(cast)) {
    auto type = llvm::cast<RankedTensorType>(cast.getResult(0).getType());
    auto layout = dyn_cast_or_null<SharedAttr>(type.getEncoding());
    Value place = scalar(cast.getOperand(0));
    if (!layout) {
      // A row-major stage is memory as any other.
      auto shared = LLVM::LLVMPointerType::get(builder.getContext(), 3);
      map(cast.getResult(0),
          sharedMemory(LLVM::IntToPtrOp::create(builder, loc, shared, place),
                       type.getShape(), type.getElementType(),
                       StreamOp::stageAlignment));
      return success();
    }
    map(cast.getResult(0), SharedTile{layout.getLayout(), place,
                                      SmallVector<int64_t>(type.getShape()),
                                      type.getElementType(), std::nullopt});
    return success();
  }
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return lowerConvert(convert);
  if (auto dot = dyn_cast<DotOp>(op))
    return lowerDot(dot);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return shared(slice.getSource()) ? lowerSharedSlice(slice)
                                     : lowerMemorySlice(slice);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return lowerInsert(insert);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return memory(pad.getSource()) ? lowerMemoryPad(pad) : lowerSharedPad(pad);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return lowerExtract(extract);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return lowerDim(dim);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return lowerLinalg(linalgOp);
  if (isScalar(op))
    return lowerScalarOp(op);
  return lowerElementwise(op);
}

LogicalResult FragmentLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (waitsForDots(&op))
      continue;
    completeFor(&op);
    if (failed(lowerOp(&op)))
      return failure();
  }
  endDots(runningDots.size());
  if (!deferred.empty())
    publish();
  return success();
}

/// The memory behind a memref, which is a descriptor behind a cast.
Memory FragmentLowering::memoryOf(const Place &place, unsigned argument) {
  auto type = cast<MemRefType>(place.value.getType());
  auto cast = place.value.getDefiningOp<UnrealizedConversionCastOp>();
  assert(cast && "expected a descriptor behind a cast");
  Value descriptor = cast.getOperand(0);
  auto word = [&](ArrayRef<int64_t> position) -> Value {
    return LLVM::ExtractValueOp::create(builder, loc, descriptor, position);
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  Memory memory;
  memory.pointer = word(1);
  memory.element = type.getElementType();
  memory.wide = place.wide;
  memory.alignment = place.alignment;
  memory.table = place.table;
  memory.argument = argument;
  int64_t divisor = 1;
  SmallVector<int64_t> divisors(type.getRank());
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    divisors[dim] =
        ShapedType::isDynamic(strides[dim]) ? divisor : strides[dim];
    divisor =
        divisors[dim] * (type.isDynamicDim(dim) ? 1 : type.getDimSize(dim));
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto dynamic = [&](int64_t field) -> OpFoldResult {
      Value value = word({field, dim});
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        value)
          .getResult();
    };
    if (place.split >= 0 && dim == 0) {
      memory.split = place.split;
      memory.part = type.getDimSize(place.split + 1);
      memory.pitch = strides[0];
      continue;
    }
    OpFoldResult extent = type.isDynamicDim(dim)
                              ? dynamic(3)
                              : builder.getIndexAttr(type.getDimSize(dim));
    if (place.split >= 0 && dim == place.split + 1)
      extent = builder.getIndexAttr(type.getDimSize(dim) * type.getDimSize(0));
    memory.shape.push_back(extent);
    memory.strides.push_back(ShapedType::isDynamic(strides[dim])
                                 ? dynamic(4)
                                 : builder.getIndexAttr(strides[dim]));
    memory.strideDivisors.push_back(divisors[dim]);
  }
  return memory;
}

/// Stores the first of `values` where the fields of a record lie.
LogicalResult FragmentLowering::storeFields(Operation *terminator,
                                            ValueRange values,
                                            ArrayRef<Place> fields) {
  for (auto [value, place] : llvm::zip(values, fields)) {
    Memory field = memoryOf(place, ~0u);
    field.lasting = options.lastingFields;
    if (!isTensor(value.getType())) {
      store(scalar(value), field);
      continue;
    }
    const Fragment *fragment = this->fragment(value);
    if (!fragment)
      return terminator->emitOpError("returns a tensor of type ")
             << value.getType() << ", which is not held in registers";
    store(*fragment, field);
  }
  return success();
}

LogicalResult FragmentLowering::run(Block &body, ArrayRef<Place> arguments,
                                    ArrayRef<Place> fields) {
  loc = body.getParentOp() ? body.getParentOp()->getLoc() : loc;
  Operation *terminator = body.getTerminator();
  Type i32Type = builder.getI32Type();
  if (options.warp) {
    laneNumber = call("dfk_lane", i32Type);
    warpNumber = groupNumber = i32(0);
  } else {
    Value thread = call("dfk_thread", i32Type);
    laneNumber = arith::AndIOp::create(builder, loc, thread, i32(31));
    Value number = call("dfk_warp", i32Type);
    warpNumber = arith::AndIOp::create(builder, loc, number, i32(3));
    groupNumber = arith::ShRUIOp::create(builder, loc, number, i32(2));
  }
  for (auto [number, pair] :
       llvm::enumerate(llvm::zip(body.getArguments(), arguments))) {
    auto &[argument, place] = pair;
    ValueRange words = place.registers;
    if (std::optional<FragmentLayout> layout = layoutOf(argument.getType()))
      map(argument,
          unpackWords(*this, *layout, getElementTypeOrSelf(argument.getType()),
                      words));
    else if (isTensor(argument.getType()))
      map(argument, memoryOf(place, unsigned(number)));
    else
      map(argument, place.value);
  }
  if (failed(lowerBlock(body)))
    return failure();

  loc = terminator->getLoc();
  if (options.returnFields) {
    if (failed(flatten(*this, terminator, terminator->getOperands(),
                       /*words=*/true, info.results)))
      return failure();
  }
  ValueRange results = terminator->getOperands();
  {
    OpBuilder::InsertionGuard guard(builder);
    if (options.mayDrop) {
      Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
      Value kept = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         scalar(results.back()), no);
      auto branch =
          scf::IfOp::create(builder, loc, kept, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
      results = results.drop_back();
    }
    if (failed(storeFields(terminator, results, fields)))
      return failure();
  }
  for (Value value : results.drop_front(fields.size()))
    if (!options.returnFields && !memory(value))
      return terminator->emitOpError("returns an output of type ")
             << value.getType() << " that is no update of the output";
  placeBarriers(*builder.getInsertionBlock());
  return success();
}

LogicalResult df::fragments::lowerBody(OpBuilder &builder, Block &body,
                                       ArrayRef<Place> arguments,
                                       ArrayRef<Place> fields,
                                       const Options &options, Info &info) {
  return FragmentLowering(builder, options, info).run(body, arguments, fields);
}
