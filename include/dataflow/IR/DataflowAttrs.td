//===- DataflowAttrs.td ------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device topology, handler variants, plan-time facts of a stage, transports,
// the requests that a stage can carry, and layouts of tiles.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOWATTRS_TD
#define DATAFLOW_IR_DATAFLOWATTRS_TD

include "dataflow/IR/DataflowDialect.td"
include "dataflow/IR/DataflowInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def Dataflow_Topology : Dataflow_Attr<"Topology", "topology"> {
  let summary = "the device as the planner sees it";
  let description = [{
    CTA `c` has rank `c % cluster_size` in cluster `c / cluster_size`. Slots may
    use `shared_bytes - reserved_bytes` of a CTA's shared memory.

    Constraints:
    - (C1) `ctas` is 1 to 65536.
    - (C2) `cluster_size` is 1, 2, 4, 8 or 16 and divides `ctas`.
    - (C3) `reserved_bytes` is at most `shared_bytes`.

    Example:

    ```mlir
    #dataflow.topology<ctas = 132, cluster_size = 2>
    ```
  }];
  let parameters = (ins
    "uint32_t":$ctas,
    DefaultValuedParameter<"uint32_t", "1">:$cluster_size,
    DefaultValuedParameter<"uint64_t", "232448">:$shared_bytes,
    DefaultValuedParameter<"uint64_t", "131072">:$reserved_bytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static TopologyAttr get(::mlir::MLIRContext *context,
                            const ::dfrt::Topology &topology);
    ::dfrt::Topology getTopology() const;
  }];
}

def Dataflow_Variant : Dataflow_Attr<"Variant", "variant"> {
  let summary = "what a handler is specialised for";
  let description = [{
    `generic` takes any piece; `tiles = n` exactly n tiles, the last of which
    may be partial; `exact = n` exactly n range elements; `sliced` computes one
    slice of the separable dimension; `bounded = n` takes tasks with at most n
    elements in the range that the stage's request `bounded` names.

    Constraints:
    - (C1) The number of tiles or elements is at least 1.

    Example:

    ```mlir
    #dataflow.variant<tiles = 2>
    ```
  }];
  let parameters = (ins
    EnumParameter<Dataflow_VariantKind>:$kind,
    DefaultValuedParameter<"int64_t", "0">:$value);
  let assemblyFormat = "`<` $kind (`=` $value^)? `>`";
  let genVerifyDecl = 1;
}

def Dataflow_StageInfo : Dataflow_Attr<"StageInfo", "stage_info"> {
  let summary = "what a plan tells of a stage";
  let description = [{
    A schedule that was read from plan bytes has no program next to it; these
    attributes replace it.

    Constraints:
    - (C1) The name is not empty.
    - (C2) There is at least one slice.

    Example:

    ```mlir
    #dataflow.stage_info<name = "sum", kind = map, head_bytes = 16>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name of the stage">:$name,
    EnumParameter<Dataflow_StageKind>:$kind,
    DefaultValuedParameter<"uint64_t", "0">:$head_bytes,
    DefaultValuedParameter<"uint64_t", "0">:$slice_bytes,
    DefaultValuedParameter<"uint32_t", "1">:$slices);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Transports
//===----------------------------------------------------------------------===//

class Dataflow_TransportAttr<string name, string attrMnemonic>
    : Dataflow_Attr<name, attrMnemonic, [DeclareAttrInterfaceMethods<
        Dataflow_TransportAttrInterface>]>;

def Dataflow_Local : Dataflow_TransportAttr<"Local", "local"> {
  let summary = "the consumer runs on the producer's CTA";
  let description = "The record stays in its slot.";
}

def Dataflow_ClusterShared
    : Dataflow_TransportAttr<"ClusterShared", "cluster_shared"> {
  let summary = "from shared memory to shared memory of a cluster peer";
  let description = "Asynchronous: the destination's barrier says when.";
}

def Dataflow_Global : Dataflow_TransportAttr<"Global", "global"> {
  let summary = "through a slot in global memory";
  let description = [{
    Reaches every CTA. The destination may be the source itself: the handler
    wrote it in place and only the flag is set.
  }];
}

def Dataflow_Multicast : Dataflow_TransportAttr<"Multicast", "multicast"> {
  let summary = "one global slot into several CTAs of one cluster";
  let description = "The destination slots have the same offset.";
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

class Dataflow_RequestAttr<string name, string attrMnemonic>
    : Dataflow_Attr<name, attrMnemonic, [DeclareAttrInterfaceMethods<
        Dataflow_RequestAttrInterface>]>;

def Dataflow_Coarsening : Dataflow_RequestAttr<"Coarsening", "coarsening"> {
  let summary = "smallest piece of a range that one handler call gets";
  let description = [{
    `extent` repeats the range's tile; a piece has at least
    `handler_extent / extent` tiles, but for the last one of a task. A call has
    `outputs` records. The planner obeys it.

    Constraints:
    - (C1) `extent` is at least 1.
    - (C2) `handler_extent` is a multiple of `extent` and at least `extent`.
    - (C3) `outputs` is 1.
    - (C4) The stage has a range.
    - (C5) `extent` equals the range's tile once that is a number.

    Example:

    ```mlir
    #dataflow.coarsening<extent = 64, handler_extent = 256>
    ```
  }];
  let parameters = (ins
    "int64_t":$extent,
    "int64_t":$handler_extent,
    DefaultValuedParameter<"int64_t", "1">:$outputs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dataflow_Pipeline : Dataflow_RequestAttr<"Pipeline", "pipeline"> {
  let summary = "depth of the handler's staging and who works on it";
  let description = [{
    `stages` buffers lie between `producers` loading warps and `consumers`
    computing warpgroups.

    Constraints:
    - (C1) `stages`, `producers` and `consumers` are at least 1.
    - (C2) The stage has a handler.

    Example:

    ```mlir
    #dataflow.pipeline<stages = 4, producers = 1, consumers = 2>
    ```
  }];
  let parameters = (ins
    "int64_t":$stages,
    DefaultValuedParameter<"int64_t", "1">:$producers,
    DefaultValuedParameter<"int64_t", "1">:$consumers);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dataflow_Bounded : Dataflow_RequestAttr<"Bounded", "bounded"> {
  let summary = "variants of the handler for tasks with few of something";
  let description = [{
    The tile of `range` is a parameter of the program: how many elements one
    call of the handler has room for (rows of a block, say); the length is how
    many a task really has. For each of `sizes` below the parameter there is a
    variant of the handler in which the parameter is that size
    (`dataflow-specialize-program` makes it), and every instruction names the
    narrowest one that holds what its task has. Such a variant returns, of each
    field of its record, the first elements of the first dimension only: behind
    those that a task has, records hold anything.

    By asking for it the author says that results, as far as they are used, do
    not depend on the parameter as long as it is at least the length.

    Constraints:
    - (C1) `sizes` is not empty, its numbers are at least 1 and ascend.
    - (C2) The stage is a map or a finalize.
    - (C3) `range` is a range of the stage's tasks, and not the stage's own.

    Example:

    ```mlir
    #dataflow.bounded<@rows, [16, 32, 64]>
    ```
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$range,
    ArrayRefParameter<"int64_t">:$sizes);
  let assemblyFormat = "`<` $range `,` `[` $sizes `]` `>`";
  let genVerifyDecl = 1;
}

def Dataflow_PhysicalForm
    : Dataflow_RequestAttr<"PhysicalForm", "physical_form"> {
  let summary = "where a handler finds its inputs and leaves its outputs";
  let description = [{
    `inputs` has one space for each input channel and `outputs` one for the
    output channel. With `direct_output` the handler writes the consumer's slot
    or the output tensor itself. `output_aliases_input = n` lets the output
    record take the slot of input channel n.

    Constraints:
    - (C1) `inputs` is absent or has one entry for each input channel.
    - (C2) `outputs` is absent or has one entry; a finalize has none.
    - (C3) `output_aliases_input` names an input channel with the same record.
    - (C4) The spaces are `shared` or `global`.
    - (C5) The stage has a handler.
    - (C6) An aliased input and the output have the same space where both are
      given.
    - (C7) It demands something.

    Example:

    ```mlir
    #dataflow.physical_form<inputs = [shared], outputs = [global], direct_output>
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::df::Space">:$inputs,
    OptionalArrayRefParameter<"::mlir::df::Space">:$outputs,
    DefaultValuedParameter<"bool", "false">:$direct_output,
    DefaultValuedParameter<"int64_t", "-1">:$output_aliases_input);
  let assemblyFormat = [{
    `<` custom<PhysicalForm>($inputs, $outputs, $direct_output,
                             $output_aliases_input) `>`
  }];
  let genVerifyDecl = 1;
}

def Dataflow_ReshardTransport
    : Dataflow_RequestAttr<"ReshardTransport", "reshard_transport"> {
  let summary = "how the records of a reshard travel";
  let description = [{
    `via` is the transport; 0 for `logical` and `physical` leaves the number of
    records that cross, and of slots that hold them, to the planner. `fields`
    names for fields of the record the dimension along which they may be cut.
    `order` is the order in which the consumer reads the records. The planner
    obeys `via` and `order = ascending`; it refuses two transports on the way of
    one record to one reader. A record that need not leave its CTA stays there.

    Constraints:
    - (C1) `logical` and `physical` are not negative, and `logical` is a
      multiple of `physical` where both are given.
    - (C2) The stage is a reshard.
    - (C3) `fields` names fields of the record once each, and dimensions that
      they have.
    - (C4) `via` is not `local` for a reshard that re-keys.

    Example:

    ```mlir
    #dataflow.reshard_transport<via = #dataflow.global, fields = [h = 1]>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::df::TransportAttrInterface">:$via,
    DefaultValuedParameter<"int64_t", "0">:$logical,
    DefaultValuedParameter<"int64_t", "0">:$physical,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$field_names,
    OptionalArrayRefParameter<"int64_t">:$field_axes,
    DefaultValuedParameter<"::mlir::df::ConsumerOrder",
      "::mlir::df::ConsumerOrder::ascending">:$order);
  let assemblyFormat = [{
    `<` custom<ReshardTransport>($via, $logical, $physical, $field_names,
                                 $field_axes, $order) `>`
  }];
  let genVerifyDecl = 1;
}

def Dataflow_Handoff : Dataflow_RequestAttr<"Handoff", "handoff"> {
  let summary = "the consumer runs where the record already is";
  let description = [{
    With `resident` the record stays in the shared memory of the CTA that made
    it and its consumer runs there; `depth` records may wait at a time. The
    planner obeys a depth of 1.

    Constraints:
    - (C1) `depth` is at least 1.
    - (C2) The stage has an output channel.
    - (C3) The stage's records are not requested in global memory.

    Example:

    ```mlir
    #dataflow.handoff<resident, depth = 2>
    ```
  }];
  let parameters = (ins
    EnumParameter<Dataflow_HandoffKind>:$kind,
    DefaultValuedParameter<"int64_t", "1">:$depth);
  let assemblyFormat = "`<` $kind (`,` `depth` `=` $depth^)? `>`";
  let genVerifyDecl = 1;
}

def Dataflow_Layout : Dataflow_RequestAttr<"Layout", "layout"> {
  let summary = "physical layout of a staged tensor operand";
  let description = [{
    Constraints:
    - (C1) `operand` is not negative and `rank` is at least 1.
    - (C2) `operand` is the number of a tensor operand of the stage.
    - (C3) That operand has rank `rank`.
    - (C4) At most one layout request names an operand.

    Example:

    ```mlir
    #dataflow.layout<operand = 0, rank = 3, family = swizzle_128>
    ```
  }];
  let parameters = (ins
    "int64_t":$operand,
    "int64_t":$rank,
    EnumParameter<Dataflow_LayoutFamily>:$family);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dataflow_Precision : Dataflow_RequestAttr<"Precision", "precision"> {
  let summary = "precision of accumulators and of merged parts";
  let description = [{
    On a reduce, `accumulator` is the element type of the separable fields, in
    which they are merged, and `merge` the type in which kernels store these
    fields of the parts and of the result. Narrow fields take half of the bytes
    that parts are written and read with. What a kernel has in registers is not
    rounded: neither what has been merged, nor what a finalize takes from
    registers. The CPU device stores the accumulator.

    `automatic` asks for what the outputs that are made of these fields have in
    common, f16 or bf16, and f32 where there is no such type. So values of parts
    must fit the range of that type, as those of the outputs do: a softmax, say,
    is normalised by the handler of its map, not only at its end. Without a
    request, f32 stays f32.

    Constraints:
    - (C1) `accumulator` is a float or an integer type.
    - (C2) The stage has a handler.

    Example:

    ```mlir
    #dataflow.precision<accumulator = f32, merge = f16>
    ```
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "type of accumulators">:$accumulator,
    DefaultValuedParameter<"::mlir::df::MergePrecision",
      "::mlir::df::MergePrecision::automatic">:$merge);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dataflow_Memory : Dataflow_RequestAttr<"Memory", "memory"> {
  let summary = "memory in which the stage's records are stored";
  let description = [{
    The planner obeys it. On a reshard it concerns the records of the stage
    behind it; the planner refuses requests that contradict each other.

    Constraints:
    - (C1) The stage has an output channel.
    - (C2) A physical form's `outputs` names the same space, where both name
      one.

    Example:

    ```mlir
    #dataflow.memory<global>
    ```
  }];
  let parameters = (ins EnumParameter<Dataflow_MemoryKind>:$kind);
  let assemblyFormat = "`<` $kind `>`";
}

//===----------------------------------------------------------------------===//
// Layouts of tiles
//===----------------------------------------------------------------------===//

class Dataflow_LayoutParameter<string type>
    : AttrOrTypeParameter<"::mlir::df::" # type, "the layout"> {
  let cppAccessorType = "const " # cppType # " &";
}

def Dataflow_Fragment : Dataflow_Attr<"Fragment", "fragment", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tile lies over the registers of the compute threads";
  let description = [{
    The encoding of a tensor whose elements threads hold in registers. The first
    list is the shape of the tile. Within a `block`, every bit of the number of a
    register, of the lane, of the warp in its warpgroup and of the warpgroup adds
    `dimension:step` to the coordinates, or nothing (`_`) where the element is
    replicated. Blocks fill the tile in an `order` of dimensions, fastest first;
    by default the last dimension is the fastest. Without `warps` each warp holds
    a tile of its own.

    The layouts that wgmma prescribes for its accumulator are written by name:
    `m` is the dimension of the rows, in steps of 64; several warpgroups `split`
    rows or columns.

    Constraints:
    - (C1) The bases make a layout: they are powers of two and cover the block
      exactly once; the block divides the tile.
    - (C2) The tensor has the shape of the layout.

    Example:

    ```mlir
    #dataflow.fragment<accumulator [64, 32] m 0>
    #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split n>
    #dataflow.fragment<[64] block [64] registers [0:8]
      lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
    ```
  }];
  let parameters = (ins Dataflow_LayoutParameter<"FragmentLayout">:$layout);
  let hasCustomAssemblyFormat = 1;
}

def Dataflow_Shared : Dataflow_Attr<"Shared", "shared", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tile lies in shared memory";
  let description = [{
    The encoding of a two-dimensional tensor in shared memory, and the layout of
    a stream's stages. A chunk is `swizzle` bytes of columns; 8 rows of a chunk
    are an atom, within which 16-byte units are exchanged as TMA and wgmma do in
    their mode of that width. `row_group` is the number of bytes from 8 rows to
    the next, `chunk` from a chunk to the next. Without swizzle the tile is
    row-major.

    A slice of whole atoms keeps the layout of its tile.

    Constraints:
    - (C1) `swizzle` is 0, 32, 64 or 128; the strides are multiples of the 8 *
      `swizzle` bytes of an atom. Without swizzle `row_group` is a multiple of 8
      and `chunk` is 0.
    - (C2) The tensor has rank 2 and elements of whole bytes. Only the number of
      its rows may be unknown: those of a tile that are valid.
    - (C3) A swizzled tile has whole atoms, which do not overlap; the rows of
      another do not.

    Example:

    ```mlir
    #dataflow.shared<swizzle = 128, row_group = 9216, chunk = 1024>
    ```
  }];
  let parameters = (ins Dataflow_LayoutParameter<"SharedLayout">:$layout);
  let hasCustomAssemblyFormat = 1;
}

#endif // DATAFLOW_IR_DATAFLOWATTRS_TD
