//===- FragmentOps.td --------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of parts that are laid out: what is said of tiles in registers and in
// shared memory that ordinary ops on tensors do not say.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_FRAGMENTOPS_TD
#define DATAFLOW_IR_FRAGMENTOPS_TD

include "dataflow/IR/DataflowDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dataflow_StaticTensor : StaticShapeTensorOf<[AnyInteger, AnyFloat]>;

def Dataflow_DotOp : Dataflow_Op<"dot", [
    Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "adds the product of two tiles, by wgmma";
  let description = [{
    `c` plus the sum of the products of `a` and `b` over their contracted
    dimensions. The dimensions of the result are the other one of `a`, then the
    other one of `b`; with `transposed` they are exchanged. `a` gives the rows
    of wgmma (M), `b` its columns (N).

    Preconditions:
    - (C1) Contracted dimensions are 0 or 1, of the same size.
    - (C2) `c` has the shape of the product.
    - (C3) `a` and `b` have elements of one type, f16, bf16, f8E4M3FN, f8E5M2 or
      f32 (whose low bits are then ignored); those of `c` are f32, or f16 for
      those of f16 and of 8 bits.
    - (C4) `b` lies in shared memory, swizzled, and so does `a`, or it has the
      layout of wgmma's operand A in registers. Where elements do not have 16
      bits, an operand in shared memory has the contracted dimension last.
    - (C5) The contracted size is a multiple of 32 bytes.
    - (C6) `c` has the layout of wgmma's accumulator, with M where `a`'s
      dimension is. `a` in registers is split over warpgroups as `c` is.

    Postconditions: the result has the layout of `c`.

    Example:

    ```mlir
    %s = dataflow.dot %k contract 1, %q contract 1, %zero
        : tensor<64x576xf16, #tile>, tensor<32x576xf16, #tile>,
          tensor<64x32xf32, #dataflow.fragment<accumulator [64, 32] m 0>>
    ```
  }];
  let arguments = (ins
    Dataflow_StaticTensor:$a,
    Dataflow_StaticTensor:$b,
    Dataflow_StaticTensor:$c,
    I64Attr:$a_dim,
    I64Attr:$b_dim,
    UnitAttr:$transposed);
  let results = (outs Dataflow_StaticTensor:$result);
  let assemblyFormat = [{
    $a `contract` $a_dim `,` $b `contract` $b_dim `,` $c
    (`transposed` $transposed^)? attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getAType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getA().getType());
    }
    ::mlir::RankedTensorType getBType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getB().getType());
    }
    ::mlir::RankedTensorType getCType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getC().getType());
    }
    /// Sizes of the product: rows are `a`'s, columns `b`'s.
    int64_t getM() { return getAType().getDimSize(1 - getADim()); }
    int64_t getN() { return getBType().getDimSize(1 - getBDim()); }
    int64_t getK() { return getAType().getDimSize(getADim()); }
    /// The dimension of `c` that is M.
    unsigned getMDim() { return getTransposed() ? 1 : 0; }
  }];
}

def Dataflow_ConvertLayoutOp : Dataflow_Op<"convert_layout", [Pure]> {
  let summary = "the same tile, elsewhere";
  let description = [{
    Moves a tile between memory (no encoding), shared memory and registers, or
    between threads. A tile that comes to shared memory can be read by all warps
    and by wgmma.

    Preconditions:
    - (C1) Both types have the same static shape and element type.
    - (C2) The tile comes to registers, or from registers to shared memory or
      memory.

    Postconditions: the elements are the same.

    Example:

    ```mlir
    %r = dataflow.convert_layout %x
        : tensor<64xf32> to tensor<64xf32, #dataflow.fragment<[64] block [64]
            registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>>
    ```
  }];
  let arguments = (ins Dataflow_StaticTensor:$source);
  let results = (outs Dataflow_StaticTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // DATAFLOW_IR_FRAGMENTOPS_TD
