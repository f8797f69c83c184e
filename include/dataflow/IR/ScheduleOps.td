//===- ScheduleOps.td --------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule group: one op for every record of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_SCHEDULEOPS_TD
#define DATAFLOW_IR_SCHEDULEOPS_TD

include "dataflow/IR/DataflowAttrs.td"
include "mlir/IR/SymbolInterfaces.td"

def Dataflow_U32 : ConfinedAttr<I32Attr, [IntNonNegative]>;
def Dataflow_U64 : ConfinedAttr<I64Attr, [IntNonNegative]>;
def Dataflow_Id : OptionalAttr<Dataflow_U32>;

def Dataflow_ScheduleOp : Dataflow_Op<"schedule", [
    IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, SymbolTable]> {
  let summary = "where and when every handler call of a batch happens";
  let description = [{
    Holds slots, barriers and queues. A CTA runs its queue in order: an
    instruction first waits for the releases addressed to it and for the
    operands marked `wait`, calls the handler, issues the transfers and then the
    releases that follow it in the queue. With `static` every CTA has its own
    queue; with `ticket` CTAs draw from one list.

    A schedule lies in its program, as the last op, or in a module, where
    `fingerprint` and `stages` take the program's place.

    Preconditions:
    - (C1) In a program, `of` names that program; elsewhere `fingerprint` and
      `stages` are given.
    - (C2) A CTA has at most one queue, and its number is below `ctas`.
    - (C3) A `ticket` schedule has one queue, the ticket list; a `static` one
      has no ticket list.
    - (C4) Instructions, transfers and releases each either all have an `id` or
      none; ids are 0 to n-1, each once.
    - (C5) Slots that instructions, transfers and releases name exist.
    - (C6) Stages that slots and instructions name exist; slots hold records of
      stages with an output channel, instructions call stages with a handler.
    - (C7) A release names an instruction of this schedule.
    - (C8) Barriers that slots and releases name exist, and belong to a CTA
      below `ctas`; flags are below `flags`.
    - (C9) A slot's CTA is below `ctas`.
    - (C10) `draw` is given in a ticket list only, and its first instruction has
      it.

    Postconditions: none. `dataflow-verify-schedule` proves that a schedule is
    legal; solvers and hand-written files may leave out what later passes add.

    Example:

    ```mlir
    dataflow.schedule @plan of @copy on #dataflow.topology<ctas = 2> static
        solver "hand" {
      dataflow.queue cta 0 {
        dataflow.instruction "store" task 0
        dataflow.instruction "store" task 2
      }
      dataflow.queue cta 1 {
        dataflow.instruction "store" task 1
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    FlatSymbolRefAttr:$program,
    Dataflow_Topology:$topology,
    Dataflow_DisciplineAttr:$discipline,
    StrAttr:$solver,
    DefaultValuedAttr<Dataflow_U64, "0">:$shared_bytes,
    DefaultValuedAttr<Dataflow_U64, "0">:$global_bytes,
    DefaultValuedAttr<Dataflow_U32, "0">:$flags,
    UnitAttr:$exit_barrier,
    OptionalAttr<I64Attr>:$fingerprint,
    OptionalAttr<TypedArrayAttrBase<Dataflow_StageInfo,
      "table of stages">>:$stages);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `of` $program `on` custom<Topology>($topology)
    custom<Word>($discipline)
    `solver` $solver (`shared` $shared_bytes^)? (`global` $global_bytes^)?
    (`flags` $flags^)? (`exit_barrier` $exit_barrier^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    template <typename OpT>
    auto getAll() { return getBody().template getOps<OpT>(); }

    /// The program around this schedule, or null.
    ::mlir::df::ProgramOp getParentProgram();
  }];
}

def Dataflow_SlotOp : Dataflow_Op<"slot", [HasParent<"ScheduleOp">, Symbol]> {
  let summary = "storage of one record for one lifetime";
  let description = [{
    Holds the record of a stage, or its head and the slices `[begin, end)`. An
    unplaced slot has no space yet. `cta` is the owner of shared memory, or who
    writes a global slot; a slot of a ticket list has none. The destination of a
    transfer names the barrier (by its position in the schedule) and its phase,
    or the global flag, that tell of the arrival.

    Preconditions:
    - (C1) Slices are `[begin, end)` with begin below end.
    - (C2) An offset comes with a space.
    - (C3) A phase comes with a barrier.
    - (C4) A barrier comes with shared memory, a flag with global memory.

    Example:

    ```mlir
    dataflow.slot @s0 of "sum" in shared cta 3 offset 1024 barrier 2 phase 0
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$stage,
    DefaultValuedAttr<Dataflow_U32, "0">:$slice_begin,
    DefaultValuedAttr<Dataflow_U32, "1">:$slice_end,
    DefaultValuedAttr<Dataflow_SpaceAttr,
      "::mlir::df::Space::unplaced">:$space,
    OptionalAttr<Dataflow_U32>:$cta,
    DefaultValuedAttr<Dataflow_U64, "0">:$offset,
    OptionalAttr<Dataflow_U32>:$barrier,
    DefaultValuedAttr<Dataflow_U32, "0">:$phase,
    OptionalAttr<Dataflow_U32>:$flag);
  let assemblyFormat = [{
    $sym_name `of` $stage (custom<Slices>($slice_begin, $slice_end)^)?
    (`in` custom<Word>($space)^)? (`cta` $cta^)? (`offset` $offset^)?
    (`barrier` $barrier^)? (`phase` $phase^)? (`flag` $flag^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dataflow_BarrierOp : Dataflow_Op<"barrier", [HasParent<"ScheduleOp">]> {
  let summary = "a hardware barrier in the shared memory of a CTA";
  let description = [{
    Every phase takes `arrivals` arrivals. Slots and releases name a barrier by
    its position among the barriers of the schedule.

    Preconditions:
    - (C1) There is at least one arrival.

    Example:

    ```mlir
    dataflow.barrier cta 3 arrivals 1
    ```
  }];
  let arguments = (ins
    Dataflow_U32:$cta,
    ConfinedAttr<I32Attr, [IntPositive]>:$arrivals);
  let assemblyFormat = "`cta` $cta `arrivals` $arrivals attr-dict";
}

def Dataflow_QueueOp : Dataflow_Op<"queue", [
    HasParent<"ScheduleOp">, NoTerminator, SingleBlock]> {
  let summary = "instructions in the order in which they are run";
  let description = [{
    The queue of one CTA, or the list from which CTAs draw.

    Preconditions:
    - (C1) It holds instructions, transfers and releases only.
    - (C2) Transfers and releases follow an instruction.

    Example:

    ```mlir
    dataflow.queue ticket {
      dataflow.instruction "sum" task 0 tiles [0, 4] outs [@s0] draw
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Dataflow_U32>:$cta);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<QueueOwner>($cta) attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Dataflow_InstructionOp
    : Dataflow_Op<"instruction", [HasParent<"QueueOp">]> {
  let summary = "a scheduled handler call";
  let description = [{
    Calls variant `variant` of a stage's handler for a task, on the tiles
    `[begin, end)` of its range (`[0, 1)`, not printed, without a range) and the
    slices `[begin, end)` of its record. `ins` are the slots that it reads, with
    the number of a row where only that is read, and `wait` where it has to wait
    for the arrival; `outs` are the slots that it writes. `draw` begins a draw of
    a ticket list. `at` and `range` repeat the task's coordinates and the piece
    in range elements, where no program is at hand to tell them. `id` is the
    number by which releases name the instruction; without it, that is the
    position in the schedule.

    Preconditions:
    - (C1) Tiles are `[begin, end)` with begin at most end, slices with begin
      below end.
    - (C2) There is one row (or -1) and one wait mark for each of `ins`, or no
      list of them.
    - (C3) `ins` and `outs` are lists of symbols.
    - (C4) `at` has at most 4 coordinates.
    - (C5) `range` has a begin and an end.

    Example:

    ```mlir
    dataflow.instruction "merge" task 0 ins [@s4 wait, @s5 row 3] outs [@s6] id 17
    ```
  }];
  let arguments = (ins
    StrAttr:$stage,
    DefaultValuedAttr<Dataflow_U32, "0">:$variant,
    Dataflow_U64:$task,
    DefaultValuedAttr<Dataflow_U64, "0">:$tile_begin,
    DefaultValuedAttr<Dataflow_U64, "1">:$tile_end,
    DefaultValuedAttr<Dataflow_U32, "0">:$slice_begin,
    DefaultValuedAttr<Dataflow_U32, "1">:$slice_end,
    FlatSymbolRefArrayAttr:$ins,
    OptionalAttr<DenseI64ArrayAttr>:$rows,
    OptionalAttr<DenseBoolArrayAttr>:$waits,
    FlatSymbolRefArrayAttr:$outs,
    UnitAttr:$draw,
    OptionalAttr<DenseI64ArrayAttr>:$at,
    OptionalAttr<DenseI64ArrayAttr>:$range,
    Dataflow_Id:$id);
  let assemblyFormat = [{
    $stage (`variant` $variant^)? `task` $task
    (custom<Tiles>($tile_begin, $tile_end)^)?
    (custom<Slices>($slice_begin, $slice_end)^)?
    custom<SlotLists>($ins, $rows, $waits, $outs)
    (`draw` $draw^)? (`at` $at^)? (`range` $range^)? (`id` $id^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Row of operand `index`, or -1 for the whole slot.
    int64_t getRow(unsigned index) {
      return getRows() ? (*getRows())[index] : -1;
    }
    /// Whether the instruction waits for operand `index`.
    bool getWait(unsigned index) {
      return getWaits() ? (*getWaits())[index] : false;
    }
  }];
}

def Dataflow_TransferOp : Dataflow_Op<"transfer", [HasParent<"QueueOp">]> {
  let summary = "movement of a record after an instruction";
  let description = [{
    Issued at the end of the instruction that it follows. Without `via` the
    transport is not chosen yet.

    Preconditions:
    - (C1) There is at least one destination; only a multicast has several.

    Example:

    ```mlir
    dataflow.transfer @s0 to [@s7] via #dataflow.cluster_shared
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$source,
    FlatSymbolRefArrayAttr:$destinations,
    OptionalAttr<Dataflow_TransportAttrInterface>:$via,
    Dataflow_Id:$id);
  let assemblyFormat = [{
    $source `to` $destinations (`via` $via^)? (`id` $id^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dataflow_ReleaseOp : Dataflow_Op<"release", [HasParent<"QueueOp">]> {
  let summary = "the instruction before it has finished with a slot";
  let description = [{
    Sent at the end of the instruction that it follows; `to` is the number of
    the instruction that may then overwrite the slot's memory. The barrier is
    one of the CTA that runs `to`.

    Preconditions:
    - (C1) A phase comes with a barrier.

    Example:

    ```mlir
    dataflow.release @s9 to 23 barrier 1 phase 0
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$slot,
    Dataflow_U32:$to,
    OptionalAttr<Dataflow_U32>:$barrier,
    DefaultValuedAttr<Dataflow_U32, "0">:$phase,
    Dataflow_Id:$id);
  let assemblyFormat = [{
    $slot `to` $to (`barrier` $barrier^)? (`phase` $phase^)? (`id` $id^)?
    attr-dict
  }];
  let hasVerifier = 1;
}

#endif // DATAFLOW_IR_SCHEDULEOPS_TD
