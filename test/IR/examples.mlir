// RUN: df-opt %source/examples/hello/ragged_sum.mlir --verify-roundtrip | FileCheck %s --check-prefix=HELLO
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --verify-roundtrip | FileCheck %s --check-prefix=DECODE
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir -mlir-print-op-generic | df-opt | FileCheck %s --check-prefix=DECODE
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --emit-bytecode | df-opt | FileCheck %s --check-prefix=DECODE

// The examples are read and written in every form that MLIR has.

// HELLO: dataflow.program @ragged_sum(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>) {
// HELLO: dataflow.range @columns of @rows length %lengths[row] tile 256 : tensor<?xi32>

// DECODE: dataflow.program @mla_decode({{.*}}) params {block = 64 : index, element = f16, heads = 32 : index, page = 64 : index} attributes {dataflow.extents = {{.*}}} {
// DECODE: dataflow.handler @normalize
