//===- Passes.td - Passes on programs and schedules -------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One entry a pass, in alphabetical order. Constructors and option structs are
// generated; docs/generated holds the text below.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TRANSFORMS_PASSES_TD
#define DATAFLOW_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTopology
    : Pass<"dataflow-attach-topology", "::mlir::df::ProgramOp"> {
  let summary = "Say on which device a program is to be planned";
  let description = [{
    Puts `dataflow.topology = #dataflow.topology<...>` on the program, replacing
    one that is there. The values come from the options, or, with `chip`, from
    what was measured on that chip; an explicit option wins over the chip. With
    `profile` they come from a file that `df-run --calibrate` wrote, which also
    gives `dataflow.costs`: the constants that planning and prediction use in
    place of those of an H200. Nothing probes a device.

    Fails when the topology is illegal (cluster size not 1, 2, 4, 8 or 16 or not
    a divisor of the CTAs, more reserved than shared bytes), when the chip is
    unknown or the profile cannot be read, or when the device cannot keep that
    many CTAs resident.

    Example: `df-opt --dataflow-attach-topology="chip=h200 cluster-size=4"`
    plans for 120 CTAs.
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let options = [
    Option<"ctas", "ctas", "uint32_t", /*default=*/"0",
           "Resident CTAs; 0: as many as the chip holds, or 132 without a chip">,
    Option<"clusterSize", "cluster-size", "uint32_t", /*default=*/"1",
           "CTAs of a cluster: 1, 2, 4, 8 or 16">,
    Option<"sharedBytes", "shared-bytes", "uint64_t", /*default=*/"0",
           "Shared memory of a CTA; 0: the chip's, or 232448 without a chip">,
    Option<"reservedBytes", "reserved-bytes", "uint64_t", /*default=*/"131072",
           "Part of the shared memory that slots may not use">,
    Option<"chip", "chip", "std::string", /*default=*/"",
           "Chip whose measured limits apply: h200, or nothing">,
    Option<"profile", "profile", "std::string", /*default=*/"",
           "Device profile (a file) whose limits and costs apply">
  ];
  let statistics = [
    Statistic<"numTopologies", "num-topologies", "Topologies attached">
  ];
}

def BindInputs : Pass<"dataflow-bind-inputs", "::mlir::df::ProgramOp"> {
  let summary = "Give a program the inputs of one batch, to plan for them";
  let description = [{
    Puts `dataflow.inputs` on the program: for each named argument either its
    values (a `dense<...>` attribute of `i64` with the argument's shape) or only
    its shape (`array<i64: ...>`). Arguments that are there already are replaced,
    others stay.

    Syntax of `values`: entries separated by `;`, each
    - `name=1,2,3`: the values of a one-dimensional integer argument (`name=` is
      an empty one), or of a scalar one;
    - `name[2x4]=0,1,...`: shape and values, row-major;
    - `name[16x300]`: the shape alone.

    Fails, naming argument, limit and value, when an argument is unknown, is
    named twice, holds no integers but is given values, has another rank or
    static dimension, or when the number of values is not the shape's.

    Example: `df-opt --dataflow-bind-inputs="values=lengths=233,453;x[2x300]"`
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let options = [
    Option<"values", "values", "std::string", /*default=*/"",
           "Shapes and values, e.g. lengths=233,453;x[2x300];index[2x2]=0,1,1,0">
  ];
  let statistics = [
    Statistic<"numBoundInputs", "num-bound-inputs", "Arguments bound">
  ];
}

def InsertReleases
    : Pass<"dataflow-insert-releases", "::mlir::df::ProgramOp"> {
  let summary = "Add the releases that memory reuse needs, and the exit barrier";
  let description = [{
    Where a slot takes memory that another CTA may still read, the last readers
    release it to the first instruction that writes it; where a transfer touches
    a peer's shared memory, the kernel ends with a cluster barrier. Works on
    every schedule of the program, whose slots are planned.
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let statistics = [
    Statistic<"numReleases", "num-releases", "Releases in the schedules">
  ];
}

def PlanSlots : Pass<"dataflow-plan-slots", "::mlir::df::ProgramOp"> {
  let summary = "Give every slot its place in shared or global memory";
  let description = [{
    Sets space and offset of all slots and adds barriers and flags for the
    arrival of transfers. Slots of a CTA whose lifetimes are ordered share
    memory. A slot that does not fit into shared memory moves to global memory,
    with a remark; if its stage asks for shared memory the pass fails and names
    the slots that are live at that point.
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let statistics = [
    Statistic<"numBarriers", "num-barriers", "Barriers in the schedules">,
    Statistic<"numFlags", "num-flags", "Global flags in the schedules">,
    Statistic<"peakSharedBytes", "peak-shared-bytes",
              "Slot arena of the fullest CTA">,
    Statistic<"peakGlobalBytes", "peak-global-bytes",
              "Largest global slot arena">
  ];
}

def ScheduleProgram
    : Pass<"dataflow-schedule-program", "::mlir::df::ProgramOp"> {
  let summary = "Decide where and when every handler call of the batch happens";
  let description = [{
    Runs a solver on the program, the inputs in `dataflow.inputs` and the device
    in `dataflow.topology`, and appends a `dataflow.schedule` with queues,
    instructions and unplaced slots. What decided is said in remarks of category
    `dataflow`.

    Solvers:
    - `stream` (default): lays the range tiles of all tasks end to end, weighted
      by their bytes, and cuts the line into equal shares, one a CTA;
    - `longest-first` (default with `batch-invariant`): whole tasks, longest
      first, on the CTA with the least load;
    - `tickets`: one ordered list from which CTAs draw;
    - `best`: the one whose plan the simulator finds fastest; with `combine`
      automatic, also the fastest way to combine. Remarks name what was rejected.

    `combine` says how the parts of a split task are put together: `scatter`
    (every CTA that holds a part finishes a share of the slices), `fold`, `tree`,
    or `automatic`. With `batch-invariant`, where a task is cut and in which order
    its parts are combined depends on the task alone.

    Fails, naming stage and request, when a stage carries a request that no pass
    obeys; when an attribute is missing; when the program already has a schedule
    of this name; and on whatever the planner refuses.
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let options = [
    Option<"solver", "solver", "std::string", /*default=*/"\"\"",
           "Name of the solver; empty: stream or, where batch-invariant, "
           "longest-first">,
    Option<"combine", "combine", "std::string", /*default=*/"\"automatic\"",
           "How parts of a split task are combined: automatic, scatter, fold or "
           "tree">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "Cut and combine each task in a way that depends on it alone">,
    Option<"name", "name", "std::string", /*default=*/"\"plan\"",
           "Symbol of the schedule">
  ];
  let statistics = [
    Statistic<"numInstructions", "num-instructions", "Instructions made">,
    Statistic<"numSlots", "num-slots", "Slots made">
  ];
}

def SelectTransport
    : Pass<"dataflow-select-transport", "::mlir::df::ProgramOp"> {
  let summary = "Choose how records travel between CTAs";
  let description = [{
    Gives every edge between instructions of different CTAs its transport and
    adds the transfers and their destination slots. Works on every schedule of
    the program that a solver (or a hand) has made. `transport` forces one for
    all edges; one that is not legal for an edge fails, naming the edge.
  }];
  let dependentDialects = ["::mlir::df::DataflowDialect"];
  let options = [
    Option<"transport", "transport", "std::string",
           /*default=*/"\"automatic\"",
           "Transport between CTAs: automatic, local, cluster_shared, global or "
           "multicast">
  ];
  let statistics = [
    Statistic<"numTransfers", "num-transfers", "Transfers in the schedules">,
    Statistic<"clusterSharedBytes", "cluster-shared-bytes",
              "Bytes that go to a cluster peer">,
    Statistic<"globalBytes", "global-bytes", "Bytes that go through memory">,
    Statistic<"multicastBytes", "multicast-bytes",
              "Bytes that arrive by multicast">
  ];
}

def SpecializeHandlers
    : Pass<"dataflow-specialize-handlers", "::mlir::df::ProgramOp"> {
  let summary = "Clone handlers for the piece sizes and slices that a plan can use";
  let description = [{
    Adds, for each handler of a stage with a range, clones whose piece size is
    known, and for each reduce that can work slice by slice, clones of it and of
    its consumers that do:

    - `variant = #dataflow.variant<tiles = n>`, named `@handler_tilesN`, for each
      n of `buckets`: `dataflow.range_tiles` of the piece becomes n, and a loop
      over the piece by whole tiles runs exactly n times (for n = 1 its body is
      inlined);
    - `variant = #dataflow.variant<exact = n>`, named `@handler_exactN`, for each
      n of `exact`: `end` becomes `begin + n`, which also makes the loops over
      elements and the mask of the last tile constant;
    - `variant = #dataflow.variant<sliced>`, named `@handler_sliced`, with
      `slices`.

    The handler itself stays and remains the generic variant. A clone in whose
    body nothing would change is not made. `variant_of` names the handler of
    which it is a clone; running the pass again changes nothing. A handler that
    is called once per tile has no other tile count than 1.

    Remarks (category `dataflow`) say which variants were made and why others
    were not.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::df::DataflowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"buckets", "buckets", "std::string", /*default=*/"\"1,2,4\"",
           "Tile counts to specialise for">,
    Option<"exact", "exact", "std::string", /*default=*/"",
           "Range lengths to specialise for">,
    Option<"slices", "slices", "bool", /*default=*/"true",
           "Make slice-by-slice variants where the bodies allow it">
  ];
  let statistics = [
    Statistic<"numVariants", "num-variants", "Handler variants made">,
    Statistic<"numSeparable", "num-separable", "Reduces that work slice by slice">
  ];
}

def SpecializeProgram
    : Pass<"dataflow-specialize-program", "::mlir::df::ProgramOp"> {
  let summary = "Bind a program's compile-time parameters and make its shapes static";
  let description = [{
    Binds the parameters of the program to the values of `params`, or to their
    defaults, and propagates what follows from it:

    1. `dataflow.param` becomes a constant, a tile that names a parameter becomes
       a number.
    2. The default type of a type parameter is replaced by the bound type in all
       types and attributes of the program, elements of constants included.
       Conversions between two types that are now equal go away.
    3. Unknown dimensions become static: forwards through handler bodies, from
       handler results to records and channels, and on to the handlers that read
       them, until nothing changes. Sizes of loop-carried tensors are static only
       if every iteration keeps them. An op that is not known to the analysis
       reads its operands through a `tensor.cast` to their old types.
    4. A dimension of a program argument that all handlers slice whole, from 0
       and by the same number, gets that number: no other tensor would do.

    All other `?` of program arguments stay, as shapes of a launch, but for the
    extents in the attribute `dataflow.extents` of the program:
    `{x = [-1, "width"]}` states that x has as many columns as the parameter
    says (-1: not stated). Such an extent is then a number in the program and in
    its handlers.

    For each stage with the request `#dataflow.bounded<@range, [sizes]>`, the
    handler is cloned for each size below the parameter that is the range's tile:
    `variant = #dataflow.variant<bounded = n>`, named `@handler_boundedN`, with
    that parameter bound to n.

    The parameters leave the program; what they were bound to is kept in
    `dataflow.bound_params`.

    Fails, naming parameter and value, on an unknown parameter, a value of the
    wrong kind or an integer below 1; naming stage, field and dimension, when a
    record's shape remains unknown; naming the op, when two shapes disagree;
    naming argument and dimension, when `dataflow.extents` does not fit.

    Example: `df-opt --dataflow-specialize-program="params=width=64,element=bf16"`
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::df::DataflowDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"params", "params", "std::string", /*default=*/"",
           "Values, e.g. width=64,element=bf16; others keep their defaults">
  ];
  let statistics = [
    Statistic<"numBoundParams", "num-bound-params", "Parameters bound">,
    Statistic<"numVariants", "num-variants", "Handler variants made">,
    Statistic<"numRefinedTypes", "num-refined-types",
              "Values and record fields whose type became more static">
  ];
}

def SplitRoles : Pass<"dataflow-split-roles", "::mlir::df::ProgramOp"> {
  let summary = "Cut handlers into a part that loads and a part that computes";
  let description = [{
    Adds a `dataflow.kernel` with a load part and a compute part for every
    handler that loads tiles which a load role can fetch ahead of their use. The
    handlers stay.

    A tile is a `tensor.extract_slice` of an operand. It becomes a
    `dataflow.fill` in the load part and a `dataflow.take` in the compute part,
    with a `dataflow.give` behind its last use, when

    - its shape is known, or all but the number of rows, which then has a bound:
      a following `tensor.pad` behind the rows, or a minimum with a constant;
    - it has at least 1024 bytes, and its contiguous runs begin at and have a
      multiple of 16 bytes;
    - its place, and the loops and branches around it, follow from the fields of
      the instruction and from elements of operands;
    - it is not used behind the block in which it is loaded.

    Other slices stay in the compute part, with a remark (category `dataflow`)
    that says why. Slices of a tile are views of its stage. A handler without any
    tile is not split.

    Loads of one operand and tile type share a stream, in all handlers, except
    those whose tiles are held at the same time; equal tiles of other operands
    join it from other handlers. Tiles whose place depends on all
    task axes, on the place in the range and on every loop around the load are
    read only once and marked `evict_first`. The tiles that loops load and those
    of handlers for each tile are steady (without any, those that are read only
    once); others are what an instruction holds.

    A stream has two stages; one, or none at all, where `ring-bytes` are not
    enough (the steady ones are the last to lose any); more, if it is steady,
    while all rings fit into `flight-bytes`. The request `#dataflow.pipeline`
    sets the number of stages of the steady tiles (of all, without any) and, in
    the kernel, the number of consumer warpgroups; it has one producer. Fails, naming limit and value, when that cannot be obeyed.
  }];
  let dependentDialects = [
    "::mlir::df::DataflowDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"kernel", "kernel", "std::string", /*default=*/"\"kernel\"",
           "Symbol of the kernel">,
    Option<"variants", "variants", "std::string",
           /*default=*/"\"generic,exact,sliced,bounded\"",
           "Kinds of handler variants to split">,
    Option<"ringBytes", "ring-bytes", "uint64_t", /*default=*/"221184",
           "Shared memory for all rings">,
    Option<"flightBytes", "flight-bytes", "uint64_t", /*default=*/"133120",
           "Size up to which rings get more than two stages">
  ];
  let statistics = [
    Statistic<"numStreams", "num-streams", "Streams made">,
    Statistic<"numSplitHandlers", "num-split-handlers", "Handlers split">
  ];
}

def AssignLayouts : Pass<"dataflow-assign-layouts", "::mlir::df::ProgramOp"> {
  let summary = "Lay the tiles of compute parts out over threads";
  let description = [{
    Turns compute parts of the kernel into parts with `fragments`: products
    become `dataflow.dot`, the types of tiles say in which registers, or where in
    shared memory, they lie, and `dataflow.convert_layout` stands where two
    layouts differ. Handlers without parts get a compute part when they can be
    laid out; a kernel is added when the program has none. Parts that hold
    anything that the fragment path does not have stay portable, with a remark
    (category `dataflow`) that names the operation and the reason.
    docs/handlers.md says what it takes.

    - A product of two matrices is found by its indexing maps. It is computed in
      the orientation that costs least, by a model of tensor cores, shared memory
      and shuffles; a remark says which, and where the operands lie.
    - Streams whose tiles are operands of products are swizzled, as widely as all
      windows that are used of a tile allow, unless a portable part takes from
      them.
    - Layouts follow from products through elementwise operations, broadcasts,
      reductions, loops and branches. Where nothing is to follow from, tiles lie
      as memory is accessed.
    - Sliced variants without reductions are laid out for one warp each, and have
      the attribute `warp`.
    - `consumers` of the kernel becomes the least number of warpgroups for which
      the tiles of most parts fit into registers (two, where a part is portable
      and none has products); a request is obeyed. Without
      one, rings give up stages where tiles need more shared memory than they
      leave.
    - A finalize that alone reads the record of a map (directly, or through a
      reduce that tasks with one part have no need of) is appended to the part
      of the map: where it is the next instruction of the CTA, it works on what
      the map has in registers, and the record is not stored. A remark says
      which, or why not.
  }];
  let dependentDialects = [
    "::mlir::df::DataflowDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"kernel", "kernel", "std::string", /*default=*/"\"kernel\"",
           "Symbol of the kernel, if it must be made">,
    Option<"registers", "registers", "unsigned", /*default=*/"200",
           "32-bit registers of a thread that tiles may take at most">,
    Option<"sharedBytes", "shared-bytes", "uint64_t", /*default=*/"232448",
           "Shared memory of a CTA; tiles go through what rings leave of it">,
    Option<"maxConsumers", "max-consumers", "unsigned", /*default=*/"2",
           "Compute warpgroups at most, where no request says how many">,
    Option<"follow", "follow", "bool", /*default=*/"true",
           "Let a finalize follow its map in registers">
  ];
  let statistics = [
    Statistic<"numLaidOut", "num-laid-out", "Parts laid out">,
    Statistic<"numPortable", "num-portable", "Parts that stay portable">,
    Statistic<"numSwizzled", "num-swizzled", "Streams swizzled">
  ];
}

def VerifyKernel : Pass<"dataflow-verify-kernel", "::mlir::df::ProgramOp"> {
  let summary = "Test that the parts of every kernel agree";
  let description = [{
    What the rings of a kernel rely on:

    - (D1) The load and the compute part of a handler have fills and takes of
      the same streams in the same order, in loops of the same bounds and
      branches of the same conditions. A compute part alone takes nothing.
    - (D2) Takes and gives of a stream alternate: a tile is given back in the
      block in which it was taken, and before the next one is taken.
    - (D3) No value that may lie in a tile's stage is used behind its give.
    - (D4) A load part holds fills, loops and branches, and what addresses need.
    - (D5) The rings fit into the shared memory of `dataflow.topology`, if the
      program has it.
    - (D6) Only parts with `fragments` have tiles with layouts. There, every op
      leaves its tiles where it can: loads and stores are `convert_layout`,
      arithmetic is in registers, slices stay where they are. All fragments of a
      part lie over the same threads.
    - (D7) Tiles that an op takes and makes have one layout, or the slices and
      transpositions of one that the maps of a structured op ask for.
    - (D8) A part with `following` (dataflow/IR/FollowingPart.h) has fragments. Its last argument is the
      condition of one branch, which stands in the block of the part, and only
      in the first block of this branch are the outputs of the finalize used;
      that block takes nothing from streams.
  }];
}

def VerifyProgram : Pass<"dataflow-verify-program", "::mlir::df::ProgramOp"> {
  let summary = "Test that a program can be planned and compiled";
  let description = [{
    What planner and code generator rely on and what the ops' own verifiers do
    not demand, since it holds only after specialisation:

    - (P1) No parameters are left: no `params`, `dataflow.param` or named tile.
    - (P2) The fields of all records have static shapes and at least one element.
    - (P3) A task extent is a constant >= 0 or a dimension of a program argument.
    - (P4) Length and offset of a range are constants >= 0, dimensions of a
      program argument or elements of an integer program argument; an index of a
      rekeying reshard, coordinates and weights are program arguments.
    - (P5) Bodies hold only ops that the code generators know: `arith`, `math`,
      `linalg`, `tensor`, `scf`, `affine.apply/min/max`, `index` and
      `dataflow.range_tiles`, and end with a return.
    - (P6) Element types of arguments and records are those that a plan can
      name: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1.
    - (P7) A record, laid out with its fields aligned to 16 bytes, has at most
      2^31 - 1 bytes.
    - (P8) Requests of a producer and its consumer agree: records that stay
      resident are read by one stage only, of the same tasks and not through a
      re-keying reshard; the memory that a stage asks for its records in is the
      one that its consumer's physical form names, and one that the transport
      of a reshard behind it can start from.
    - (P9) A tensor that a stage writes is written by no other stage and read by
      none.
    - (P10) Every stage's records are read by some stage, so that every path
      ends in a finalize.
  }];
  let statistics = [
    Statistic<"numCheckedStages", "num-checked-stages", "Stages tested">
  ];
}

def VerifySchedule
    : Pass<"dataflow-verify-schedule", "::mlir::df::ProgramOp"> {
  let summary = "Prove that the schedules of a program are legal, or say why not";
  let description = [{
    Tests every schedule of the program, which must be finished, against the
    program and the inputs in `dataflow.inputs`, with code that no solver shares:
    coverage, operands, happens-before of every read, memory reuse, capacity,
    transports, barriers, flags, residency, exit, ownership of outputs, variants
    and releases. The error is on the instruction or slot that is to blame; its
    text begins with the clause, V1 to V17, of include/dataflow/Schedule/Schedule.h.
  }];
  let statistics = [
    Statistic<"numVerified", "num-verified-instructions",
              "Instructions of schedules that are legal">
  ];
}

#endif // DATAFLOW_TRANSFORMS_PASSES_TD
