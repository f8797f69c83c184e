//===- PlanRings.cpp - Streams of a kernel and their depths ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads of one operand and tile type share a stream, across handlers, unless
// two of them hold a tile at the same time: a stream hands out one tile after
// the other. Loads of other operands join it from other handlers: these do not
// run at the same time, and the memory of a ring serves one after the other. So
// the tiles of the next handler are fetched while the last one still works.
// Variants that load fewer rows of an operand use the stages of those that load
// more.
// Two stages let a load run beside the use of the last one, and what
// an instruction holds be there when the next one begins; steady streams, which
// bring one tile after the other, get more while little is in flight.
//
// What several stages read is not read once, however each of them goes through
// it: what one has brought into the L2 cache may still be there for the next.
//
//===----------------------------------------------------------------------===//

#include "SplitRoles.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::df;

/// More than this hides no latency that fewer stages leave.
static constexpr unsigned kMaxDepth = 8;

uint64_t RingPlan::bytes() const {
  uint64_t sum = 0;
  for (const RingStream &stream : streams)
    sum += stream.depth * stream.stageBytes();
  return sum;
}

static bool holds(const Load &a, Operation *op) {
  Operation *around = a.op->getBlock()->findAncestorOpInBlock(*op);
  return around && !around->isBeforeInBlock(a.op) &&
         !a.last->isBeforeInBlock(around);
}

/// Whether both tiles may be held at one time.
static bool overlap(const Load &a, const Load &b) {
  return holds(a, b.op) || holds(b, a.op);
}

/// Whether more than one stage reads this operand of the program.
static bool isReadAgain(Value operand) {
  llvm::SmallPtrSet<Operation *, 4> readers;
  for (Operation *user : operand.getUsers())
    if (auto stage = dyn_cast<StageOpInterface>(user);
        stage && llvm::is_contained(stage.getReadTensors(), operand))
      readers.insert(stage);
  return readers.size() > 1;
}

namespace {

class RingPlanner {
public:
  RingPlanner(ProgramOp program, MutableArrayRef<SplitHandler> handlers,
              RingLimits limits)
      : program(program), handlers(handlers), limits(limits) {}

  FailureOr<RingPlan> run();

private:
  void assignStreams();
  unsigned findStream(SplitHandler &split, size_t index);
  bool overlaps(const SplitHandler &split, size_t index, unsigned stream) const;
  bool joinWider(const SplitHandler &split, Load &load, unsigned stream) const;
  bool mayJoin(const SplitHandler &split, size_t index, unsigned stream) const;
  LogicalResult setRequests();
  LogicalResult fit();
  void deepen();
  bool weaken(bool steady);
  void restore();
  void drop(unsigned stream);
  void finish();

  ProgramOp program;
  MutableArrayRef<SplitHandler> handlers;
  RingLimits limits;
  RingPlan plan;
  /// What identifies a stream: an operand, or an argument of one handler.
  SmallVector<Value> keys;
  /// Streams whose depth a request says: others stay out of them.
  SmallVector<bool> asked;
};

} // namespace

/// Whether a load may use a stream of another operand, whose tiles are read as
/// often: none of its handler does so far, and no depth was asked for.
bool RingPlanner::mayJoin(const SplitHandler &split, size_t index,
                          unsigned stream) const {
  const RingStream &known = plan.streams[stream];
  const Load &load = split.loads[index];
  return known.tile == load.tile && known.readOnce == load.once &&
         known.steady == load.steady && split.depth == 0 && !asked[stream] &&
         llvm::none_of(
             ArrayRef(split.loads).take_front(index),
             [&](const Load &other) { return other.stream == stream; });
}

/// Whether an earlier load of the handler holds a tile of the stream while this
/// one does.
bool RingPlanner::overlaps(const SplitHandler &split, size_t index,
                           unsigned stream) const {
  return llvm::any_of(
      ArrayRef(split.loads).take_front(index), [&](const Load &other) {
        return other.stream == stream && overlap(other, split.loads[index]);
      });
}

/// Lets a load of a variant for few elements be the first rows of a stage of
/// the same operand, if they are whole atoms.
bool RingPlanner::joinWider(const SplitHandler &split, Load &load,
                            unsigned stream) const {
  constexpr int64_t atomRows = 8;
  auto variant = split.frame.handler->getAttrOfType<VariantAttr>("variant");
  RankedTensorType wide = plan.streams[stream].tile;
  if (!variant || variant.getKind() != VariantKind::bounded || load.partial ||
      load.tile.getRank() != 2 || load.tile.getDimSize(0) % atomRows != 0 ||
      load.tile.getDimSize(0) >= wide.getDimSize(0) ||
      load.tile.clone(wide.getShape()) != wide ||
      load.tile.getShape().drop_front() != wide.getShape().drop_front())
    return false;
  load.tile = wide;
  load.partial = true;
  return true;
}

/// The stream of a load: the first of its operand and type none of whose other
/// loads in this handler is held at the same time, or one that it may join.
unsigned RingPlanner::findStream(SplitHandler &split, size_t index) {
  Load &load = split.loads[index];
  Value key = split.operands[load.operand - split.frame.firstOperand];
  if (!key)
    key = split.frame.body().getArgument(load.operand);
  for (unsigned stream = 0; stream < plan.streams.size(); ++stream) {
    if (keys[stream] == key && !overlaps(split, index, stream) &&
        (plan.streams[stream].tile == load.tile ||
         joinWider(split, load, stream)))
      return stream;
  }
  for (unsigned stream = 0; stream < plan.streams.size(); ++stream)
    if (mayJoin(split, index, stream))
      return stream;
  RingStream stream;
  auto argument = cast<BlockArgument>(key);
  stream.name =
      argument.getOwner() == &program.getBody().front()
          ? program.getArgumentName(argument).str()
          : (split.frame.name() + "_" + Twine(argument.getArgNumber())).str();
  stream.tile = load.tile;
  keys.push_back(key);
  asked.push_back(split.depth != 0);
  plan.streams.push_back(stream);
  return plan.streams.size() - 1;
}

void RingPlanner::assignStreams() {
  for (SplitHandler &split : handlers)
    for (size_t i = 0; i < split.loads.size(); ++i) {
      Load &load = split.loads[i];
      Value operand = split.operands[load.operand - split.frame.firstOperand];
      load.once &= !operand || !isReadAgain(operand);
      load.stream = findStream(split, i);
      RingStream &stream = plan.streams[load.stream];
      stream.steady |= load.steady;
      stream.readOnce &= load.once;
    }
}

/// Takes over the depths that stages ask for: for the steady tiles or, without
/// any, for all.
LogicalResult RingPlanner::setRequests() {
  for (SplitHandler &split : handlers) {
    if (split.depth == 0)
      continue;
    bool anySteady =
        llvm::any_of(split.loads, [](const Load &load) { return load.steady; });
    for (const Load &load : split.loads) {
      if (anySteady && !load.steady)
        continue;
      RingStream &stream = plan.streams[load.stream];
      if (stream.requested && stream.requested != split.depth) {
        InFlightDiagnostic diagnostic =
            split.request->emitOpError("request 'pipeline' asks for ")
            << split.depth << " stages of the stream of '" << stream.name
            << "', which has " << stream.requested;
        diagnostic.attachNote(stream.request->getLoc())
            << "because of this stage";
        return diagnostic;
      }
      stream.requested = split.depth;
      stream.request = split.request;
    }
  }
  return success();
}

/// Takes a stage from the largest of the streams that have most, among the
/// steady ones or the others. False when none has any.
bool RingPlanner::weaken(bool steady) {
  for (unsigned depth : {2u, 1u}) {
    RingStream *largest = nullptr;
    for (RingStream &stream : plan.streams)
      if (!stream.requested && stream.steady == steady &&
          stream.depth == depth &&
          (!largest || stream.stageBytes() > largest->stageBytes()))
        largest = &stream;
    if (!largest)
      continue;
    --largest->depth;
    return true;
  }
  return false;
}

/// Gives stages back for which there is room after all.
void RingPlanner::restore() {
  for (unsigned depth : {1u, 2u})
    for (RingStream &stream : plan.streams)
      if (!stream.requested && stream.depth < depth &&
          plan.bytes() + stream.stageBytes() <= limits.ringBytes)
        ++stream.depth;
}

/// The compute role loads the tiles of this stream itself.
void RingPlanner::drop(unsigned index) {
  const RingStream &stream = plan.streams[index];
  for (SplitHandler &split : handlers) {
    auto options = remark::RemarkOpts::name("split-roles")
                       .category("dataflow")
                       .function(split.frame.name());
    llvm::erase_if(split.loads, [&](Load &load) {
      if (load.stream != index)
        return false;
      remark::missed(load.op.getLoc(), options)
          << ("the compute role loads this slice itself: a stage of " +
              std::to_string(stream.stageBytes()) +
              " bytes does not fit into rings of " +
              std::to_string(limits.ringBytes) + " bytes");
      return true;
    });
  }
}

LogicalResult RingPlanner::fit() {
  uint64_t demanded = 0;
  const RingStream *demanding = nullptr;
  for (RingStream &stream : plan.streams) {
    stream.depth = stream.requested ? stream.requested : 2;
    if (stream.requested) {
      demanded += stream.depth * stream.stageBytes();
      demanding = &stream;
    }
  }
  if (demanded > limits.ringBytes)
    return demanding->request->emitOpError("request 'pipeline' needs rings of ")
           << demanded << " bytes, at most " << limits.ringBytes
           << " are available";
  for (RingStream &stream : plan.streams)
    if (!stream.requested && stream.stageBytes() > limits.ringBytes)
      stream.depth = 0;
  while (plan.bytes() > limits.ringBytes)
    if (!weaken(/*steady=*/false) && !weaken(/*steady=*/true))
      break;
  restore();
  return success();
}

void RingPlanner::deepen() {
  uint64_t bytes = std::min(limits.ringBytes, limits.flightBytes);
  // All steady rings, as they are filled in turn; then the largest.
  auto grow = [&](ArrayRef<RingStream *> streams) {
    uint64_t more = 0;
    for (RingStream *stream : streams) {
      if (stream->depth >= kMaxDepth)
        return false;
      more += stream->stageBytes();
    }
    if (streams.empty() || plan.bytes() + more > bytes)
      return false;
    for (RingStream *stream : streams)
      ++stream->depth;
    return true;
  };
  SmallVector<RingStream *> steady;
  RingStream *largest = nullptr;
  for (RingStream &stream : plan.streams)
    if (stream.steady && stream.depth > 0 && !stream.requested) {
      steady.push_back(&stream);
      if (!largest || stream.stageBytes() > largest->stageBytes())
        largest = &stream;
    }
  while (grow(steady))
    ;
  while (largest && grow(largest))
    ;
}

/// Removes the streams without stages.
void RingPlanner::finish() {
  SmallVector<unsigned> number(plan.streams.size());
  SmallVector<RingStream> kept;
  for (auto [i, stream] : llvm::enumerate(plan.streams)) {
    number[i] = kept.size();
    if (stream.depth > 0)
      kept.push_back(stream);
    else
      drop(i);
  }
  for (SplitHandler &split : handlers)
    for (Load &load : split.loads)
      load.stream = number[load.stream];
  plan.streams = std::move(kept);
}

FailureOr<RingPlan> RingPlanner::run() {
  assignStreams();
  if (failed(setRequests()) || failed(fit()))
    return failure();
  deepen();
  finish();
  return std::move(plan);
}

FailureOr<RingPlan> mlir::df::planRings(ProgramOp program,
                                        MutableArrayRef<SplitHandler> handlers,
                                        RingLimits limits) {
  return RingPlanner(program, handlers, limits).run();
}
