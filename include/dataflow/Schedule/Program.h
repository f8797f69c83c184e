//===- Program.h - What a compiled program is, without its inputs -*- C++
//-*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Program` is the planner's view of a `dataflow.program`: task domains,
// ranges, stages, records, costs and the tensor signature, but no lengths and
// no code. It is read off the IR by the compiler, stored in the artifact, and
// read back by the runtime; both then call the same planner on it, which is why
// a plan made by `df-opt` and one made at run time are the same bytes.
//
// Everything refers to everything else by index into the vectors of `Program`.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_PROGRAM_H
#define DATAFLOW_SCHEDULE_PROGRAM_H

#include "dataflow/Schedule/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dfrt {

/// Index that refers to nothing.
inline constexpr uint32_t kNone = 0xffffffffu;

/// Storage type of a tensor element or of a record field. The numbers are part
/// of the artifact format.
enum class ElementType : uint8_t {
  f64 = 0,
  f32 = 1,
  f16 = 2,
  bf16 = 3,
  f8E4M3FN = 4,
  f8E5M2 = 5,
  i64 = 6,
  i32 = 7,
  i16 = 8,
  i8 = 9,
  i1 = 10, ///< one byte each
};

/// Bytes of one element.
uint32_t elementBytes(ElementType type);
/// MLIR's spelling of the type, e.g. "f8E4M3FN".
const char *elementName(ElementType type);

/// A tensor operand of the program. Tensors are dense and row-major.
struct Argument {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<int64_t> shape; ///< elements; -1 where known at launch only
  bool output = false;        ///< named in the `outs` of a finalize stage
};

/// An integer that is a constant, a dimension of an argument, or an element of
/// an integer argument indexed by task coordinates. It is evaluated once for
/// each task when a plan is made.
struct PlanValue {
  enum class Kind : uint8_t { constant = 0, dimension = 1, element = 2 };
  Kind kind = Kind::constant;
  int64_t constant = 0;       ///< kind constant
  uint32_t argument = kNone;  ///< kinds dimension and element
  uint32_t dimension = 0;     ///< kind dimension
  std::vector<uint32_t> axes; ///< kind element: one task axis a dimension
};

/// One axis of a task domain. `extent` may not be of kind element.
struct Axis {
  std::string name;
  PlanValue extent;
};

/// A set of tasks: the product of its axes in row-major order or, with
/// `coordinates`, the listed points only (task i has the coordinates of row i).
struct Domain {
  std::string name;
  std::vector<Axis> axes;
  uint32_t coordinates = kNone; ///< argument of shape [tasks, axes], integer
  uint32_t weights = kNone;     ///< argument of shape [tasks], integer >= 0;
                                ///< multiplies the cost of a task
};

/// The input-dependent extent of the tasks of one domain, cut into tiles. Tile
/// k of a task covers [offset + k*tile, min(offset + (k+1)*tile, offset +
/// length)).
struct Range {
  std::string name;
  uint32_t domain = 0;
  PlanValue length;
  PlanValue offset;
  int64_t tile = 1;
};

/// One field of a record. Rank 0 is a scalar.
struct Field {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<int64_t> shape; ///< static
  /// The dimension along which this field may be cut into slices, or -1 for a
  /// field (a statistic) that every slice needs whole.
  int32_t separable = -1;
  /// Byte offset: of the field from the start of the record, or, for a
  /// separable field, of its part from the start of each slice. Set by
  /// `layoutRecord`.
  uint64_t offset = 0;
};

/// A typed value that crosses a stage boundary, and its layout in a slot: the
/// head (all fields that are not separable) followed by `slices` equal slices.
/// Slice s holds elements [s*w, (s+1)*w) of the separable dimension of every
/// separable field, row-major, with w = extent / slices. So a run of slices is
/// one contiguous block, and (head, run of slices) is what reduce-scatter
/// moves.
struct Record {
  std::vector<Field> fields;
  uint32_t slices = 1;     ///< 1 when nothing is separable
  uint64_t headBytes = 0;  ///< multiple of kRecordAlignment, may be 0
  uint64_t sliceBytes = 0; ///< multiple of kRecordAlignment, 0 if not separable

  /// Bytes of a slot that holds the head and the slices [begin, end).
  uint64_t bytes(uint32_t begin, uint32_t end) const {
    return headBytes + sliceBytes * (end - begin);
  }
  uint64_t bytes() const { return bytes(0, slices); }
};

/// Alignment in bytes of head, slices and every field (a bulk copy's unit).
inline constexpr uint64_t kRecordAlignment = 16;

/// Computes field offsets, headBytes and sliceBytes from the fields' shapes,
/// their `separable` dimensions and `slices`. Fails when a separable extent is
/// not a multiple of `slices`, a shape is not static, or a size overflows.
Status layoutRecord(Record &record);

enum class StageKind : uint8_t {
  map = 0,
  reduce = 1,
  reshard = 2,
  finalize = 3
};

/// How many records of a stage belong to one task.
enum class Arity : uint8_t {
  one = 0,    ///< exactly one
  pieces = 1, ///< one a range piece; the planner decides how many; to a reduce
  tiles = 2,  ///< one a tile of the range
  keyed = 3,  ///< any number, in (task, tile, row) order of the source
  collected = 4, ///< tiles or keyed records, stacked along a new dimension 0
  none = 5,      ///< no record (finalize)
};

enum class ReshardKind : uint8_t {
  move = 0,    ///< same records, another owner or order
  collect = 1, ///< tiles or keyed -> collected
  rekey = 2,   ///< to the tasks of another domain -> keyed
};

/// Where a reshard with kind rekey sends a record. The axis `axis` of the
/// target domain takes the value index[coordinates along `axes` (, row)]; every
/// other target axis takes the source task's coordinate of the same name. A
/// negative index drops the record (or row). Without index there is no `axis`.
struct Rekey {
  uint32_t argument = kNone;  ///< integer argument `index`, if there is one
  std::vector<uint32_t> axes; ///< source axes that index it, in order
  uint32_t axis = 0;          ///< target axis
  bool rows = false;          ///< the first dimension of every field is split
};

/// How a stage's record may travel, and a request for one way.
enum class Transport : uint8_t {
  automatic = 0,
  local = 1,         ///< same CTA: the slot stays where it is
  clusterShared = 2, ///< shared memory to shared memory of a cluster peer
  global = 3,        ///< through a slot in global memory
  multicast = 4,     ///< one global slot into several CTAs of one cluster
};

/// Request attributes that the planner itself obeys. Others are refused before
/// a `Program` is made.
struct StageRequests {
  Transport transport = Transport::automatic; ///< of this stage's records
  enum class Memory : uint8_t { automatic = 0, shared = 1, global = 2 };
  Memory memory = Memory::automatic; ///< where this stage's records are stored
  int64_t minTiles = 1;  ///< fewest tiles of a piece, but for a task's last one
  int64_t maxTiles = 0;  ///< most tiles of a piece; 0: no limit
  bool resident = false; ///< the consumer runs on the CTA that produced it
};

/// Traffic and arithmetic of a handler, read off its body by the compiler.
struct Cost {
  uint64_t fixedBytes = 0; ///< global bytes moved once per call
  uint64_t tileBytes = 0;  ///< global bytes moved per tile
  uint64_t fixedFlops = 0;
  uint64_t tileFlops = 0;
};

/// A handler specialised for a piece of a certain size, for slices, or for
/// tasks with few elements of some range.
struct Variant {
  enum class Kind : uint8_t {
    generic = 0, ///< any piece; always present, at index 0
    tiles = 1,   ///< exactly `value` tiles, the last may be partial
    exact = 2,   ///< exactly `value` range elements
    sliced = 3,  ///< one slice of the separable dimension
    bounded = 4, ///< tasks with at most `value` elements of Stage::bound
  };
  Kind kind = Kind::generic;
  int64_t value = 0;
  std::string symbol; ///< function in the artifact's code, see Artifact.h
  Cost cost{};        ///< kind bounded; the others cost what the stage does
};

/// An input channel: the records of an earlier stage.
struct StageInput {
  uint32_t stage = kNone;
  /// For each axis of the producer's domain, the consumer axis of the same name
  /// (a consumer may have more axes: the record is then broadcast).
  std::vector<uint32_t> axes;
};

/// A node of the stage graph. Inputs precede their consumers in
/// `Program::stages`.
struct Stage {
  std::string name; ///< unique in the program
  StageKind kind = StageKind::map;
  ReshardKind reshard = ReshardKind::move;
  uint32_t domain = 0;
  uint32_t range = kNone; ///< of a map or finalize
  /// The range whose length says which `bounded` variant a task needs; of the
  /// same domain. kNone where there are none.
  uint32_t bound = kNone;
  bool each = false; ///< with a range: the handler is called per tile
  std::vector<StageInput> inputs;
  Arity arity = Arity::one;       ///< of the output channel
  Record record;                  ///< of the output channel
  std::vector<uint32_t> operands; ///< tensor arguments read, in handler order
  std::vector<uint32_t> outputs;  ///< tensor arguments written (finalize)
  /// The stage can work slice by slice: its `sliced` variant exists, and so do
  /// those of all its consumers. Set on reduce and the stages behind it. Such a
  /// stage has as many slices as its separable inputs (a finalize has no record
  /// to say so); its other inputs have one slice and are read whole.
  bool separable = false;
  Rekey rekey; ///< reshard kind rekey only
  StageRequests requests;
  Cost cost;
  std::vector<Variant> variants; ///< empty for a reshard
  /// Function that yields the identity record of a reduce; else empty.
  std::string identitySymbol;
};

/// A compiled program without its inputs.
struct Program {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Domain> domains;
  std::vector<Range> ranges;
  std::vector<Stage> stages; ///< in topological order

  /// Hash (FNV-1a, 64 bits) over everything that influences a plan; code
  /// symbols do not. A plan names it so that it cannot be run with another
  /// program.
  uint64_t fingerprint() const;

  /// Stages that read the records of `stage`, in order.
  std::vector<uint32_t> consumers(uint32_t stage) const;
};

/// Tests that every index is in range, the graph is acyclic and ordered,
/// arities fit their consumers, records are laid out and variants are complete.
Status check(const Program &program);

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_PROGRAM_H
