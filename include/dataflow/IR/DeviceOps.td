//===- DeviceOps.td ----------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device group: what the roles of one CTA do, and the rings between them.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DEVICEOPS_TD
#define DATAFLOW_IR_DEVICEOPS_TD

include "dataflow/IR/DataflowAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Dataflow_PartRole
    : Dataflow_Enum<"PartRole", "which warps of a CTA run a part", [
  I32EnumAttrCase<"load", 0>,
  I32EnumAttrCase<"compute", 1>
]>;
def Dataflow_PartRoleAttr
    : EnumAttr<Dataflow_Dialect, Dataflow_PartRole, "part_role">;

def Dataflow_Tile : StaticShapeTensorOf<[AnyInteger, AnyFloat]>;

def Dataflow_KernelOp : Dataflow_Op<"kernel", [
    HasParent<"ProgramOp">, IsolatedFromAbove, NoTerminator, SingleBlock,
    Symbol, SymbolTable]> {
  let summary = "the roles of a CTA and the rings between them";
  let description = [{
    Describes one kernel of the program. A handler with parts is run by two
    roles: a load warp runs its load part and fills rings in shared memory, the
    compute threads run its compute part and take what was filled. Both walk the
    same instructions in the same order, the load warp ahead of the others, over
    as many instruction boundaries as the rings have room for. A handler without
    parts is run by the compute threads alone, and so is one with a compute part
    only, which takes from no stream.

    `consumers` is the number of compute warpgroups that a stage asks for.

    Preconditions:
    - (C1) The body holds streams, then parts.
    - (C2) A handler has at most one part of each role, and no load part
      without a compute part.
    - (C3) `consumers` is at least 1.

    Postconditions: none. `dataflow-verify-kernel` proves that both parts of
    every handler agree.

    Example:

    ```mlir
    dataflow.kernel @kernel {
      dataflow.stream @x depth 2 of tensor<16x64xf32> evict_first
      dataflow.part @sum_load of @sum load(%row: index, %x: tensor<?x64xf32>) {
        dataflow.fill @x, %x[%row, 0] [16, 64] [1, 1]
            : tensor<?x64xf32> to tensor<16x64xf32>
        dataflow.yield
      }
      dataflow.part @sum_compute of @sum compute(%row: index, %x: tensor<?x64xf32>)
          -> tensor<16xf32> {
        %tile = dataflow.take @x : tensor<16x64xf32>
        %zero = arith.constant dense<0.0> : tensor<16xf32>
        %sum = linalg.reduce { arith.addf } ins(%tile : tensor<16x64xf32>)
            outs(%zero : tensor<16xf32>) dimensions = [1]
        dataflow.give @x
        dataflow.yield %sum : tensor<16xf32>
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<I32Attr>:$consumers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`consumers` $consumers^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Streams in the order in which their rings lie in shared memory.
    auto getStreams() { return getBody().getOps<::mlir::df::StreamOp>(); }
    auto getParts() { return getBody().getOps<::mlir::df::PartOp>(); }
    /// The part of a handler, or null when the handler is not split.
    ::mlir::df::PartOp getPart(::mlir::StringAttr handler,
                               ::mlir::df::PartRole role);
    /// Shared memory that the stages of all rings take.
    uint64_t getRingBytes();
  }];
}

def Dataflow_StreamOp : Dataflow_Op<"stream", [
    HasParent<"KernelOp">, Symbol]> {
  let summary = "a ring of stages in shared memory";
  let description = [{
    Declares a ring of `depth` stages, each of which holds one tile: row-major,
    or in the `layout` that is given. Tiles are taken in the order in which they were filled; the ring goes on
    from one instruction to the next. With `evict_first` the data are read only
    once and should not displace others in the L2 cache.

    Preconditions:
    - (C1) `depth` is at least 1.
    - (C2) A tile has at least one element and a multiple of 16 bytes.
    - (C3) The type of the tile has no encoding; the tile can lie in the layout.

    Postconditions: a stage takes the bytes of a tile, rounded up to 1024.

    Example:

    ```mlir
    dataflow.stream @x depth 2 of tensor<16x64xf32> evict_first
    dataflow.stream @y depth 2 of tensor<16x64xf16>
        layout <swizzle = 128, row_group = 1024, chunk = 2048>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    I32Attr:$depth,
    TypeAttrOf<Dataflow_Tile>:$tile,
    OptionalAttr<Dataflow_Shared>:$layout,
    UnitAttr:$evict_first);
  let assemblyFormat = [{
    $sym_name `depth` $depth `of` $tile (`layout` $layout^)?
    (`evict_first` $evict_first^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getTile());
    }
    /// The type of a tile where it is taken: with the layout as its encoding.
    ::mlir::RankedTensorType getTakeType();
    /// Bytes that fill a stage.
    uint64_t getTileBytes() { return getTileBytes(getTileType()); }
    /// Bytes between two stages of the ring.
    uint64_t getStageBytes();
    static uint64_t getTileBytes(::mlir::RankedTensorType tile);
    static uint64_t getStageBytes(::mlir::RankedTensorType tile);
    /// Stages begin at multiples of this: the widest swizzle repeats after it.
    static constexpr uint64_t stageAlignment = 1024;
  }];
}

def Dataflow_PartOp : Dataflow_Op<"part", [
    HasParent<"KernelOp">, IsolatedFromAbove, SingleBlock, FunctionOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what one role does of a handler";
  let description = [{
    A function with the arguments of the handler that it is a part of. The load
    part fills streams and returns nothing; the compute part takes from them and
    returns what the handler does.

    A compute part is portable, or laid out: then it has `fragments`, and the
    types of its tiles say where they lie. Tensors without encoding are in
    memory, those with `#dataflow.shared` in shared memory and those with
    `#dataflow.fragment` in registers; the part may yield any of them for a
    result of the same shape.

    Preconditions:
    - (C1) A part has a body of one block.
    - (C2) `of` names a handler of the program.
    - (C3) The arguments are those of the handler. So are the results of a
      compute part; a load part has none.
    - (C4) Only a compute part has `fragments`.

    Postconditions: parts of one handler, called with the same arguments, fill
    and take the same tiles in the same order.

    Example:

    ```mlir
    dataflow.part @sum_load of @sum load(%row: index, %x: tensor<?x64xf32>) {
      dataflow.fill @x, %x[%row, 0] [16, 64] [1, 1]
          : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    FlatSymbolRefAttr:$handler,
    Dataflow_PartRoleAttr:$role,
    TypeAttrOf<FunctionType>:$function_type,
    UnitAttr:$fragments,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
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
    /// The handler, or null when `of` names none.
    ::mlir::df::HandlerOpInterface lookupHandler();
  }];
}

def Dataflow_FillOp : Dataflow_Op<"fill", [
    AttrSizedOperandSegments, OffsetSizeAndStrideOpInterface,
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "copies a slice of a tensor into the next stage of a stream";
  let description = [{
    Waits until the next stage of the ring is free and starts to copy the slice,
    which is described as in `tensor.extract_slice`, to its beginning. When
    fewer rows than the tile has are copied, the others hold anything. A fill of
    a stream with a layout copies the tile's whole box all the same, unless the
    number of rows is a constant multiple of 8: the others hold what lies behind
    the slice, or zero outside of the tensor.

    Preconditions:
    - (C1) It lies in a load part; the stream is one of the kernel, of tiles of
      this type.
    - (C2) The source is an argument of the part with the tile's element type.
    - (C3) All strides are 1.
    - (C4) The slice, without dimensions of size 1 where the tile has fewer, has
      the shape of the tile. The first dimension may be unknown, and is then at
      most the tile's.
    - (C5) Contiguous runs of the slice have a multiple of 16 bytes.

    Postconditions: the tile is the next one that a take of the stream returns.

    Example:

    ```mlir
    dataflow.fill @x, %x[%i, 0] [%rows, 64] [1, 1]
        : tensor<?x64xf32> to tensor<16x64xf32>
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$stream,
    RankedTensorOf<[AnyInteger, AnyFloat]>:$source,
    Variadic<Index>:$offsets,
    Variadic<Index>:$sizes,
    Variadic<Index>:$strides,
    DenseI64ArrayAttr:$static_offsets,
    DenseI64ArrayAttr:$static_sizes,
    DenseI64ArrayAttr:$static_strides,
    TypeAttrOf<Dataflow_Tile>:$tile);
  let assemblyFormat = [{
    $stream `,` $source ``
    custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes)
    custom<DynamicIndexList>($strides, $static_strides)
    attr-dict `:` type($source) `to` $tile
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getSourceType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getSource().getType());
    }
    ::mlir::RankedTensorType getTileType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getTile());
    }
    /// Dimensions of the source that the tile has too, in order; nothing when
    /// the shapes do not match.
    std::optional<::llvm::SmallVector<unsigned>> getTileDims();
    /// Rows of the tile that copies through a tensor map bring: a constant
    /// number of them if they are whole atoms, else all.
    int64_t getCopiedRows();
    /// The outermost dimension of a contiguous run of a slice: behind it all
    /// dimensions of the source are whole.
    static unsigned getRunDim(::mlir::RankedTensorType source,
                              ::llvm::ArrayRef<int64_t> sizes);
    std::array<unsigned, 3> getArrayAttrMaxRanks() {
      unsigned rank = getSourceType().getRank();
      return {rank, rank, rank};
    }
    static unsigned getOffsetSizeAndStrideStartOperandIndex() { return 1; }
  }];
}

def Dataflow_TakeOp : Dataflow_Op<"take", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the next tile of a stream";
  let description = [{
    Waits until the next stage of the ring is filled. The tile lies in the stage
    until it is given back; where the fill copied fewer rows, it has undefined
    elements behind them.

    Preconditions:
    - (C1) It lies in a compute part; the stream is one of the kernel, of tiles
      of this type. A stream's layout is the encoding of the type.

    Postconditions: the tile is not changed until `dataflow.give`.

    Example:

    ```mlir
    %tile = dataflow.take @x : tensor<16x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$stream);
  let results = (outs Dataflow_Tile:$tile);
  let assemblyFormat = "$stream attr-dict `:` type($tile)";
}

def Dataflow_GiveOp : Dataflow_Op<"give", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives the stage of the last tile back to the load role";
  let description = [{
    Follows the last use of the tile that was taken from the stream last; the
    stage may then be filled again.

    Preconditions:
    - (C1) It lies in a compute part; the stream is one of the kernel.

    Postconditions: the tile is undefined.

    Example:

    ```mlir
    dataflow.give @x
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$stream);
  let assemblyFormat = "$stream attr-dict";
}

#endif // DATAFLOW_IR_DEVICEOPS_TD
