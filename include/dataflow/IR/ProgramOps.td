//===- ProgramOps.td ---------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program group: task domains, ranges, the stage graph and the handlers.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_PROGRAMOPS_TD
#define DATAFLOW_IR_PROGRAMOPS_TD

include "dataflow/IR/DataflowAttrs.td"
include "dataflow/IR/DataflowTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dataflow_Tensor : RankedTensorOf<[AnyInteger, AnyFloat]>;
def Dataflow_IntegerTensor : RankedTensorOf<[AnySignlessInteger]>;
def Dataflow_PlanValue : AnyTypeOf<[Index, Dataflow_IntegerTensor]>;
def Dataflow_TileAttr : AnyAttrOf<[I64Attr, StrAttr]>;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

def Dataflow_ProgramOp : Dataflow_Op<"program", [
    IsolatedFromAbove, NoTerminator, SingleBlock,
    Symbol, SymbolTable, DeclareOpInterfaceMethods<OpAsmOpInterface, [
      "getAsmBlockArgumentNames"]>]> {
  let summary = "an operator: tensors, task domains, ranges and stages";
  let description = [{
    Holds everything of one operator: its tensor arguments, the task domains and
    ranges that depend on their values, the stage graph, and the handlers. The
    graph is acyclic because channels are SSA values.

    `params` are compile-time parameters with default values: an index, or an
    element type, which stands for every occurrence of the type in the program.

    Preconditions:
    - (C1) Every argument is a ranked tensor of integers or floats.
    - (C2) `arg_names` has one name for each argument; names are distinct and
      not empty.
    - (C3) Every parameter is an integer of index type, or a type.
    - (C4) Stage names are distinct.
    - (C5) A schedule, if there is one, is the last op.

    Postconditions: none; a program is data for the passes.

    Example:

    ```mlir
    dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
        params {width = 4 : index} {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      dataflow.tasks @rows(row = %n)
      dataflow.finalize @store tasks @rows operands(%x : tensor<?xf32>)
          outs(%y : tensor<?xf32>) : () -> ()
      dataflow.handler @store(%row: index, %x: tensor<?xf32>,
                              %y: tensor<?xf32>) -> tensor<?xf32> {
        %v = tensor.extract %x[%row] : tensor<?xf32>
        %r = tensor.insert %v into %y[%row] : tensor<?xf32>
        dataflow.yield %r : tensor<?xf32>
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrArrayAttr:$arg_names,
    OptionalAttr<DictionaryAttr>:$params);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getArguments() {
      return getBody().getArguments();
    }
    /// The argument of this name, or null.
    ::mlir::BlockArgument getArgument(::llvm::StringRef name);
    /// The name of one of the program's arguments.
    ::llvm::StringRef getArgumentName(::mlir::BlockArgument argument);
    /// Default value of a parameter, or null.
    ::mlir::Attribute getParam(::llvm::StringRef name) {
      return getParams() ? getParams()->get(name) : ::mlir::Attribute();
    }
    /// Stages in program order, which is a topological order.
    ::llvm::SmallVector<::mlir::df::StageOpInterface> getStages();
    /// The schedule, or null.
    ::mlir::df::ScheduleOp getSchedule();
  }];
}

//===----------------------------------------------------------------------===//
// Task domains and ranges
//===----------------------------------------------------------------------===//

def Dataflow_TasksOp : Dataflow_Op<"tasks", [
    AttrSizedOperandSegments, HasParent<"ProgramOp">, Symbol]> {
  let summary = "a task domain";
  let description = [{
    Names a set of tasks: the product of its axes in row-major order or, with
    `coordinates`, the listed points only. `weights` multiply the cost of a
    task. Without axes there is one task.

    Preconditions:
    - (C1) There is one extent for each axis.
    - (C2) Axis names are distinct and not empty.
    - (C3) There are at most 4 axes.
    - (C4) `coordinates` is an argument of the program of shape [tasks, axes].
    - (C5) `weights` is an argument of the program of rank 1.

    Postconditions: stages name the domain; handlers get one index for each
    axis.

    Example:

    ```mlir
    dataflow.tasks @rows(row = %n, block = %blocks) weights %w : tensor<?xi32>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrArrayAttr:$axes,
    Variadic<Index>:$extents,
    Optional<Dataflow_IntegerTensor>:$coordinates,
    Optional<Dataflow_IntegerTensor>:$weights);
  let assemblyFormat = [{
    $sym_name `(` custom<Axes>($axes, $extents) `)`
    (`coordinates` $coordinates^ `:` type($coordinates))?
    (`weights` $weights^ `:` type($weights))? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Position of the axis of this name.
    std::optional<unsigned> getAxis(::llvm::StringRef name);
  }];
}

def Dataflow_RangeOp : Dataflow_Op<"range", [
    HasParent<"ProgramOp">, Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "input-dependent extent of the tasks of a domain";
  let description = [{
    Gives every task of a domain a half-open interval `[offset, offset +
    length)`, cut into tiles. Length and offset are index values, or elements of
    an integer argument indexed by task axes. `tile` is a number or the name of
    a parameter.

    Preconditions:
    - (C1) `of` names a task domain of the program.
    - (C2) An indexed length or offset is an integer argument of the program
      with one dimension for each index; one without indices is of index type.
    - (C3) The indices are axes of the domain.
    - (C4) A tile is at least 1, or names an index parameter of the program.

    Postconditions: tile k of a task is `[offset + k * tile, min(offset +
    (k + 1) * tile, offset + length))`.

    Example:

    ```mlir
    dataflow.range @columns of @rows length %lengths[row] tile 64 : tensor<?xi32>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    FlatSymbolRefAttr:$tasks,
    Dataflow_PlanValue:$length,
    OptionalAttr<StrArrayAttr>:$length_axes,
    Optional<Dataflow_PlanValue>:$offset,
    OptionalAttr<StrArrayAttr>:$offset_axes,
    Dataflow_TileAttr:$tile);
  let assemblyFormat = [{
    $sym_name `of` $tasks `length` custom<PlanValue>($length, $length_axes)
    (`offset` custom<OffsetValue>($offset, $offset_axes)^)?
    `tile` custom<Tile>($tile)
    custom<PlanValueTypes>(type($length), ref($length_axes),
                           ref($offset), type($offset), ref($offset_axes))
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tile if it is a number.
    std::optional<int64_t> getStaticTile();
  }];
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

class Dataflow_StageOp<string opMnemonic, list<string> methods,
                       list<Trait> traits = []>
    : Dataflow_Op<opMnemonic, !listconcat([
        HasParent<"ProgramOp">,
        DeclareOpInterfaceMethods<Dataflow_StageOpInterface, methods>],
        traits)>;

def Dataflow_MapOp : Dataflow_StageOp<"map",
    ["getRangeSymbol", "isPerTile", "getReadTensors"],
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a stage that makes records";
  let description = [{
    Calls a handler for every task of a domain: once without a range; `over` a
    range once for each piece that the planner cuts, with one record a piece;
    `each` tile of a range with one record a tile.

    Preconditions (`S` numbers are those of `StageOpInterface`, below):
    - (C1) The output channel has arity `one` without a range, `pieces` over a
      range, and `tiles` for each tile.
    - (S1) to (S10).

    Postconditions: the channel holds the handler's results as records.

    What all stages have in common:
    - (S1) The handler is a handler of the program with a body of one block.
    - (S2) The domain is a task domain of the program.
    - (S3) The range is a range of that domain.
    - (S4) Every input channel comes from a stage of the program.
    - (S5) `pieces` and `keyed` channels are read by a reduce (or a reshard that
      takes them); `tiles` channels by a reduce, a reshard, or a stage for each
      tile of the same range.
    - (S6) The axes of an input's domain are axes of the stage's domain.
    - (S7) The handler's arguments are, in order: an index for each task axis
      (not for a reduce), begin and end of the piece with a range, the tensor
      operands, the fields of each input's record (of both parts for a reduce;
      with a new first dimension for `collected`), the output tensors.
    - (S8) The handler's results are the fields of the output record or, for a
      finalize, the updated output tensors.
    - (S9) Tensor operands are arguments of the program.
    - (S10) There is at most one request of a kind (one layout for each operand)
      and every request accepts the stage.

    Example:

    ```mlir
    %parts = dataflow.map @sum_piece tasks @rows over @columns
        operands(%x : tensor<?x?xf32>)
        : () -> !dataflow.channel<!dataflow.record<sum: f32>, pieces>
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$handler,
    OptionalAttr<StrAttr>:$as,
    Variadic<Dataflow_Channel>:$inputs,
    FlatSymbolRefAttr:$tasks,
    OptionalAttr<FlatSymbolRefAttr>:$range,
    UnitAttr:$each,
    Variadic<Dataflow_Tensor>:$tensors,
    OptionalAttr<ArrayAttr>:$requests);
  let results = (outs Dataflow_Channel:$channel);
  let assemblyFormat = [{
    $handler (`as` $as^)? (`(` $inputs^ `)`)? `tasks` $tasks
    (custom<RangeClause>($range, $each)^)?
    (`operands` `(` $tensors^ `:` type($tensors) `)`)?
    (`requests` $requests^)? attr-dict
    `:` functional-type($inputs, $channel)
  }];
  let hasVerifier = 1;
}

def Dataflow_ReduceOp : Dataflow_StageOp<"reduce", [],
    [IsolatedFromAbove, SingleBlock,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a stage that folds the records of a task into one";
  let description = [{
    Combines the parts of each task with a pairwise handler, as a left fold in
    ascending order of what the parts cover. Without parts the result is the
    value of the `identity` region; a single part is the result itself.

    Preconditions:
    - (C1) The input has arity `pieces`, `tiles` or `keyed`.
    - (C2) The output has arity `one` and the input's record.
    - (C3) The identity region has no arguments and yields the fields of the
      record.
    - (S1), (S2), (S4) to (S8), (S10): see `dataflow.map`.

    Postconditions: the channel holds one record for each task. The handler's
    dimensions that never mix may be computed in slices by different CTAs.

    Example:

    ```mlir
    %total = dataflow.reduce @add(%parts)
        : (!dataflow.channel<!dataflow.record<sum: f32>, pieces>)
        -> !dataflow.channel<!dataflow.record<sum: f32>> identity {
      %zero = arith.constant 0.0 : f32
      dataflow.yield %zero : f32
    }
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$handler,
    OptionalAttr<StrAttr>:$as,
    Dataflow_Channel:$input,
    OptionalAttr<ArrayAttr>:$requests);
  let results = (outs Dataflow_Channel:$channel);
  let regions = (region SizedRegion<1>:$identity);
  let assemblyFormat = [{
    $handler (`as` $as^)? `(` $input `)` (`requests` $requests^)? attr-dict
    `:` functional-type($input, $channel)
    `identity` custom<IdentityRegion>($identity)
  }];
  let hasVerifier = 1;
}

def Dataflow_ReshardOp : Dataflow_StageOp<"reshard", [],
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a change of owner, arity or key of records";
  let description = [{
    Has no handler, costs no instruction: `move` leaves owners to the planner;
    `collect` gathers all tiles of a task, or all that was sent to it; `rekey`
    sends every record (with `rows`, every row of it) to the task of another
    domain whose axis `key` is the index element (negative: to none), all other
    axes being the source's; without index the source has axes more than it.
    Preconditions:
    - (C1) `move`: the channel is unchanged.
    - (C2) `collect`: `tiles`, or `keyed` whole records, become `collected`.
    - (C3) `rekey`: `one` or `tiles` becomes `keyed`, with the same record; with
      `rows`, every field loses its first dimension, which is the same for all.
    - (C4) `rekey` has a target, and only `rekey` has. Index, its axes and `key`
      come together; `rows` needs them.
    - (C5) The index is an integer argument of the program with one dimension
      for each index axis, and one more with `rows`; the index axes are axes of
      the source's domain.
    - (C6) `key` is an axis of the target domain; every other axis of the target
      is an axis of the source's domain.
    - (S2), (S4), (S5), (S10): see `dataflow.map`.

    Postconditions: records of a `keyed` channel come in ascending order of
    (task, tile, row) of the source, and so do those collected from it.

    Example:

    ```mlir
    %sent = dataflow.reshard "send" rekey (%rows) to @tokens by %index[group]
        key token rows
        : (!dataflow.channel<!dataflow.record<y: tensor<16x8xf32>>>,
           tensor<?x16xi32>)
        -> !dataflow.channel<!dataflow.record<y: tensor<8xf32>>, keyed>
    ```
  }];
  let arguments = (ins
    StrAttr:$as,
    Dataflow_ReshardKindAttr:$kind,
    Dataflow_Channel:$input,
    OptionalAttr<FlatSymbolRefAttr>:$tasks,
    Optional<Dataflow_IntegerTensor>:$index,
    OptionalAttr<StrArrayAttr>:$index_axes,
    OptionalAttr<StrAttr>:$key,
    UnitAttr:$rows,
    OptionalAttr<ArrayAttr>:$requests);
  let results = (outs Dataflow_Channel:$channel);
  let assemblyFormat = [{
    $as custom<Word>($kind) `(` $input `)`
    (custom<RekeyClause>($tasks, $index, $index_axes, $key, $rows)^)?
    (`requests` $requests^)? attr-dict
    `:` functional-type(operands, $channel)
  }];
  let hasVerifier = 1;
}

def Dataflow_FinalizeOp : Dataflow_StageOp<"finalize",
    ["getRangeSymbol", "isPerTile", "getReadTensors", "getWrittenTensors"],
    [AttrSizedOperandSegments]> {
  let summary = "a stage that writes output tensors";
  let description = [{
    Calls a handler for every task, or for `each` tile of a range, which returns
    the output tensors with its part of them written.

    Preconditions:
    - (C1) A range comes with `each`.
    - (C2) There is at least one output tensor.
    - (C3) Output tensors are distinct and not operands of the stage.
    - (S1) to (S10): see `dataflow.map`.

    Postconditions: the elements that the handler inserts are written once;
    others keep their values.

    Example:

    ```mlir
    dataflow.finalize @store(%total) tasks @rows outs(%sums : tensor<?xf32>)
        : (!dataflow.channel<!dataflow.record<sum: f32>>) -> ()
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$handler,
    OptionalAttr<StrAttr>:$as,
    Variadic<Dataflow_Channel>:$inputs,
    FlatSymbolRefAttr:$tasks,
    OptionalAttr<FlatSymbolRefAttr>:$range,
    UnitAttr:$each,
    Variadic<Dataflow_Tensor>:$tensors,
    Variadic<Dataflow_Tensor>:$outs,
    OptionalAttr<ArrayAttr>:$requests);
  let assemblyFormat = [{
    $handler (`as` $as^)? (`(` $inputs^ `)`)? `tasks` $tasks
    (custom<RangeClause>($range, $each)^)?
    (`operands` `(` $tensors^ `:` type($tensors) `)`)?
    `outs` `(` $outs `:` type($outs) `)`
    (`requests` $requests^)? attr-dict `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

def Dataflow_HandlerOp : Dataflow_Op<"handler", [
    HasParent<"ProgramOp">, IsolatedFromAbove, SingleBlock, FunctionOpInterface,
    DeclareOpInterfaceMethods<Dataflow_HandlerOpInterface>]> {
  let summary = "the code of a stage";
  let description = [{
    A function of ordinary ops. It is called with the task's coordinates, the
    piece of the range, tensors and records, in the order that `dataflow.map`
    states, and returns records or updated tensors. A specialised clone carries
    `variant` and `variant_of`.

    Preconditions:
    - (C1) A handler has a body of one block.
    - (C2) `variant` and `variant_of` come together.
    - (C3) `variant_of` names another handler of the program, which is itself
      no variant.
    - (C4) A variant has the type of its original, unless it is `sliced`; the
      results of a `bounded` one may be shorter along their first dimension.

    Postconditions: its effects are its results.

    Example:

    ```mlir
    dataflow.handler @add(%a: f32, %b: f32) -> f32 {
      %c = arith.addf %a, %b : f32
      dataflow.yield %c : f32
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<Dataflow_Variant>:$variant,
    OptionalAttr<FlatSymbolRefAttr>:$variant_of);
  let regions = (region AnyRegion:$body);
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Dataflow_YieldOp : Dataflow_Op<"yield", [
    ParentOneOf<["HandlerOp", "PartOp", "ReduceOp"]>, Pure, ReturnLike, Terminator]> {
  let summary = "ends a handler, a part of one or an identity region";
  let description = [{
    Returns the results of a handler or part, or the fields of an identity.

    Preconditions:
    - (C1) In a handler or part the operands have its result types, with any
      layout in a part that has `fragments`; in an identity they are the fields
      of the record (reduce's C3).

    Postconditions: control returns to whoever called.

    Example:

    ```mlir
    dataflow.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let hasVerifier = 1;
}

def Dataflow_ParamOp : Dataflow_Op<"param", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "value of a compile-time parameter";
  let description = [{
    Stands for an index parameter of the program until
    `dataflow-specialize-program` folds it to a constant.

    Preconditions:
    - (C1) The name is that of an index parameter of the enclosing program.

    Postconditions: all uses of a parameter see the same value.

    Example:

    ```mlir
    %width = dataflow.param "width" : index
    ```
  }];
  let arguments = (ins StrAttr:$param);
  let results = (outs Index:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Dataflow_RangeTilesOp : Dataflow_Op<"range_tiles", [Pure]> {
  let summary = "number of tiles of a piece";
  let description = [{
    The number of tiles that cover `[begin, end)`: the quotient of its length by
    the tile, rounded up, and 0 when end does not exceed begin.

    Preconditions:
    - (C1) A tile is at least 1, or names an index parameter of the program.

    Postconditions: folds to a constant when begin, end and tile are numbers.

    Example:

    ```mlir
    %n = dataflow.range_tiles %begin to %end tile 64 : index
    ```
  }];
  let arguments = (ins Index:$begin, Index:$end, Dataflow_TileAttr:$tile);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $begin `to` $end `tile` custom<Tile>($tile) attr-dict `:` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // DATAFLOW_IR_PROGRAMOPS_TD
