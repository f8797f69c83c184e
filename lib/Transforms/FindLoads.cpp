//===- FindLoads.cpp - Slices of operands that can be streamed ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load is worth a stream when it is a tile of known shape and some size, and
// possible when bulk copies can make it: every contiguous run of it begins at
// and has a multiple of 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

#include <numeric>

using namespace mlir;
using namespace mlir::df;

/// What a bulk copy moves begins at and has a multiple of so many bytes.
static constexpr int64_t kCopyGranule = 16;
/// Below this a stage's two barriers cost more than a plain load does.
static constexpr int64_t kMinTileBytes = 1024;

static int64_t findMultiple(Value value, Region &body,
                            ArrayRef<int64_t> multiples, unsigned depth) {
  constexpr int64_t limit = int64_t(1) << 31;
  auto known = [&](Value operand) {
    return findMultiple(operand, body, multiples, depth + 1);
  };
  if (depth > 16)
    return 1;
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return std::abs(*number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (owner == body.getParentOp())
      return argument.getArgNumber() < multiples.size()
                 ? multiples[argument.getArgNumber()]
                 : 1;
    auto loop = dyn_cast<scf::ForOp>(owner);
    if (!loop || argument != loop.getInductionVar())
      return 1;
    return std::gcd(known(loop.getLowerBound()), known(loop.getStep()));
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op)) {
    int64_t a = known(op->getOperand(0)), b = known(op->getOperand(1));
    return a < limit && b < limit ? a * b : std::max(a, b);
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MinSIOp,
          arith::MaxUIOp, arith::MaxSIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return std::gcd(known(op->getOperand(0)), known(op->getOperand(1)));
  if (isa<arith::DivUIOp, arith::DivSIOp>(op)) {
    std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
    int64_t a = known(op->getOperand(0));
    return by && *by > 0 && a % *by == 0 ? a / *by : 1;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp>(op))
    return known(op->getOperand(0));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::gcd(known(select.getTrueValue()),
                    known(select.getFalseValue()));
  return 1;
}

int64_t mlir::df::knownMultiple(Value value, Region &body,
                                ArrayRef<int64_t> multiples) {
  return findMultiple(value, body, multiples, 0);
}

/// Adds the arguments from which `value` is computed: of the handler, and the
/// counters of the loops in which it changes.
static void collectSources(Value value, llvm::DenseSet<Value> &sources,
                           llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return;
  auto visit = [&](ValueRange values) {
    for (Value other : values)
      collectSources(other, sources, seen);
  };
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument)
    op = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned number = argument ? argument.getArgNumber()
                               : cast<OpResult>(value).getResultNumber() + 1;
    if (argument)
      sources.insert(loop.getInductionVar());
    visit({loop.getLowerBound(), loop.getStep()});
    if (number != 0)
      visit({loop.getInitArgs()[number - 1],
             loop.getYieldedValues()[number - 1]});
  } else if (argument) {
    sources.insert(value);
  } else {
    visit(op->getOperands());
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      visit(branch.thenYield()->getOperands());
      visit(branch.elseYield()->getOperands());
    }
  }
}

/// An upper bound of a slice's number of rows, from what is done with them, and
/// from `rows` where it is computed.
static std::optional<int64_t> boundRows(tensor::ExtractSliceOp op, Value rows) {
  // Padding behind the rows only: together they have the padded size.
  for (Operation *user : op.getResult().getUsers()) {
    auto pad = dyn_cast<tensor::PadOp>(user);
    if (pad && isZeroInteger(pad.getMixedLowPad().front()) &&
        !pad.getType().isDynamicDim(0))
      return pad.getType().getDimSize(0);
  }
  Operation *minimum = rows ? rows.getDefiningOp() : nullptr;
  if (minimum && isa<arith::MinUIOp, arith::MinSIOp>(minimum))
    for (Value operand : minimum->getOperands())
      if (std::optional<int64_t> number = getConstantIntValue(operand))
        return number;
  return std::nullopt;
}

namespace {

/// One slice of an operand.
class Candidate {
public:
  Candidate(const HandlerArguments &frame, tensor::ExtractSliceOp op,
            BlockArgument operand)
      : frame(frame), source(cast<RankedTensorType>(operand.getType())) {
    load.op = op;
    load.operand = operand.getArgNumber();
  }

  /// Fills in `load`; false, with a reason, when it cannot be streamed.
  bool examine(LoadSlice &slice);

  Load load;
  std::string reason;

private:
  bool refuse(const Twine &text) {
    reason = text.str();
    return false;
  }
  bool findTile();
  bool checkRuns();
  bool checkUses();

  const HandlerArguments &frame;
  RankedTensorType source;
};

} // namespace

bool Candidate::findTile() {
  RankedTensorType type = load.op.getType();
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return refuse("its elements are not whole bytes");
  if (!llvm::all_of(load.op.getMixedStrides(), isOneInteger))
    return refuse("it has strides");
  SmallVector<int64_t> shape(type.getShape());
  for (size_t dim = 1; dim < shape.size(); ++dim)
    if (ShapedType::isDynamic(shape[dim]))
      return refuse("its shape is not known");
  if (!shape.empty() && ShapedType::isDynamic(shape.front())) {
    SmallVector<Value> rows(load.op.getSizes());
    std::optional<int64_t> bound;
    if (rows.size() == 1)
      bound = boundRows(load.op, rows.front());
    if (!bound || *bound < 1)
      return refuse("its number of rows has no known bound");
    shape.front() = *bound;
    load.partial = true;
  } else if (!shape.empty() &&
             llvm::all_of(load.op->getUsers(), llvm::IsaPred<tensor::PadOp>)) {
    // A known number of rows that are padded: the stage has room for all.
    if (std::optional<int64_t> padded = boundRows(load.op, Value()))
      shape.front() = *padded;
    load.partial = shape.front() != type.getDimSize(0);
  }
  load.tile = RankedTensorType::get(shape, element);
  int64_t bytes = StreamOp::getTileBytes(load.tile);
  if (bytes < kMinTileBytes)
    return refuse("a tile has " + Twine(bytes) + " bytes, less than " +
                  Twine(kMinTileBytes));
  return true;
}

bool Candidate::checkRuns() {
  SmallVector<OpFoldResult> offsets = load.op.getMixedOffsets();
  ArrayRef<int64_t> fixed = load.op.getStaticSizes();
  int64_t runDim = FillOp::getRunDim(source, fixed);
  // Bytes between neighbours along a dimension, or a divisor of them.
  int64_t stride = source.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t run = stride;
  for (int64_t dim = source.getRank(); dim-- > 0;) {
    if (dim >= runDim && !ShapedType::isDynamic(fixed[dim]))
      run *= fixed[dim];
    if (dim < runDim && fixed[dim] != 1 && stride % kCopyGranule != 0)
      return refuse("rows along dimension " + Twine(dim) +
                    " are not a multiple of 16 bytes apart");
    int64_t multiple = 0;
    if (std::optional<int64_t> offset = getConstantIntValue(offsets[dim]))
      multiple = *offset;
    else
      multiple = knownMultiple(cast<Value>(offsets[dim]), frame.body(),
                               frame.multiples);
    if ((stride * (multiple % kCopyGranule)) % kCopyGranule != 0)
      return refuse("its offset along dimension " + Twine(dim) +
                    " is not known to be a multiple of 16 bytes");
    if (!source.isDynamicDim(dim))
      stride *= source.getDimSize(dim);
  }
  if (run % kCopyGranule != 0)
    return refuse("its contiguous runs have " + Twine(run) +
                  " bytes, no multiple of 16");
  return true;
}

bool Candidate::checkUses() {
  load.last = findLastUse(load.op.getResult(), reason);
  if (!load.last)
    return false;
  llvm::DenseSet<Value> sources, seen;
  for (Value offset : load.op.getOffsets())
    collectSources(offset, sources, seen);
  auto dependsOn = [&](unsigned number) {
    return sources.contains(frame.body().getArgument(number));
  };
  auto tasks = llvm::make_filter_range(frame.identity, [&](unsigned number) {
    return number < frame.coordinates;
  });
  load.once = llvm::all_of(frame.identity, dependsOn);
  bool ofTask =
      frame.perTile && !tasks.empty() && llvm::all_of(tasks, dependsOn);
  bool ofIteration = true;
  for (Operation *parent = load.op->getParentOp();
       parent != frame.handler.getOperation(); parent = parent->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      load.steady = true;
      ofIteration &= sources.contains(loop.getInductionVar());
    }
  // Tasks follow each other: what all tiles of one task read, and no other
  // task, is done with when the next begins.
  load.once |= load.steady && ofTask;
  load.once &= ofIteration;
  load.steady |= frame.perTile;
  return true;
}

bool Candidate::examine(LoadSlice &slice) {
  return findTile() && checkRuns() && checkUses() && slice.add(load.op, reason);
}

SmallVector<Load> mlir::df::findLoads(const HandlerArguments &frame) {
  SmallVector<Load> loads;
  LoadSlice slice(frame);
  auto options = remark::RemarkOpts::name("split-roles")
                     .category("dataflow")
                     .function(frame.name());
  frame.body().walk<WalkOrder::PreOrder>([&](tensor::ExtractSliceOp op) {
    Value source = op.getSource();
    while (auto cast = source.getDefiningOp<tensor::CastOp>())
      source = cast.getSource();
    auto operand = dyn_cast<BlockArgument>(source);
    if (!operand || operand.getOwner() != &frame.body().front() ||
        operand.getArgNumber() < frame.firstOperand ||
        operand.getArgNumber() >= frame.endOperand || op->use_empty())
      return;
    Candidate candidate(frame, op, operand);
    if (candidate.examine(slice)) {
      loads.push_back(candidate.load);
      return;
    }
    remark::missed(op.getLoc(), options)
        << ("the compute role loads this slice itself: " + candidate.reason);
  });
  // Without loops, tiles come from one call after the other.
  if (llvm::none_of(loads, [](const Load &load) { return load.steady; }))
    for (Load &load : loads)
      load.steady = load.once;
  return loads;
}

//===----------------------------------------------------------------------===//
// Uses of a tile
//===----------------------------------------------------------------------===//

/// Whether `value` is a constant that may be neutral in some operation.
static bool mayBeNeutral(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  auto number = dyn_cast<FloatAttr>(constant);
  if (!number)
    return true;
  const llvm::APFloat &real = number.getValue();
  return !real.isFiniteNonZero() || llvm::abs(real).isExactlyValue(1.0);
}

/// Whether an op in the body of a structured one may fold to an operand.
static bool mayFold(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumOperands() == 0)
    return false;
  bool same =
      op.getNumOperands() > 1 && op.getOperand(op.getNumOperands() - 1) ==
                                     op.getOperand(op.getNumOperands() - 2);
  bool converts =
      op.getNumOperands() == 1 && isa<arith::ArithDialect>(op.getDialect());
  return same || converts || llvm::any_of(op.getOperands(), mayBeNeutral);
}

/// Whether no result of `op` is ever the memory of `value`, whatever `op` is
/// folded to: conversions may cancel each other, an operand may be neutral.
static bool makesNewTensor(Operation *op, Value value) {
  if (isa<tensor::ExtractOp, tensor::DimOp, DotOp, ConvertLayoutOp>(op))
    return true;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest() != value &&
           insert.getSourceType() != insert.getDestType();
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 2)
    return op->getOperand(0) != op->getOperand(1) &&
           llvm::none_of(op->getOperands(), [](Value operand) {
             return matchPattern(operand, m_Constant()) ||
                    operand.getDefiningOp<tensor::SplatOp>();
           });
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  Block &body = *structured.getBlock();
  if (llvm::any_of(body.getTerminator()->getOperands(),
                   llvm::IsaPred<BlockArgument>))
    return false;
  auto type = cast<ShapedType>(value.getType());
  bool alike = llvm::any_of(op->getResultTypes(), [&](Type result) {
    auto other = dyn_cast<ShapedType>(result);
    return other && other.getElementType() == type.getElementType() &&
           other.getRank() == type.getRank();
  });
  return !alike || llvm::none_of(body, mayFold);
}

Operation *mlir::df::findLastUse(Value tile, std::string &reason) {
  Operation *first = tile.getDefiningOp(), *last = first;
  Block *block = first->getBlock();
  SmallVector<Value> shared = {tile};
  llvm::DenseSet<Value> seen = {tile};
  // Where tiles are laid out, only those in shared memory can be the stage.
  bool laidOut = getSharedLayout(tile.getType()).has_value();
  auto share = [&](ValueRange values) {
    for (Value value : values)
      if (isa<ShapedType>(value.getType()) &&
          (!laidOut || getSharedLayout(value.getType())) &&
          seen.insert(value).second)
        shared.push_back(value);
  };
  while (!shared.empty()) {
    Value value = shared.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (user == block->getTerminator()) {
        reason = "the tile is still used after its block";
        return nullptr;
      }
      Operation *around = block->findAncestorOpInBlock(*user);
      if (last->isBeforeInBlock(around))
        last = around;
      if (user->hasTrait<OpTrait::IsTerminator>())
        user = user->getParentOp();
      else if (makesNewTensor(user, value))
        continue;
      share(user->getResults());
      for (Region &region : user->getRegions())
        for (Block &inner : region)
          share(inner.getArguments());
    }
  }
  return last;
}
