// RUN: df-opt %source/examples/hello/ragged_sum.mlir --pass-pipeline="builtin.module(dataflow.program(dataflow-prepare))" -o %t.mlir
// RUN: df-translate --dataflow-to-artifact %t.mlir -o %t.dfa
// RUN: df-translate --dataflow-to-artifact %t.mlir -o %t.again.dfa
// RUN: cmp %t.dfa %t.again.dfa
// RUN: FileCheck %s --input-file=%t.dfa --check-prefix=HELLO
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --pass-pipeline="builtin.module(dataflow.program(dataflow-prepare))" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=SLICED
// RUN: df-translate --dataflow-to-artifact %t.mlir -o %t.dfa
// RUN: FileCheck %s --input-file=%t.dfa --check-prefix=ATTENTION
// The examples become artifacts, the same bytes each time, with the functions of their stages.

// HELLO-DAG: sum_piece$0
// HELLO-DAG: add$0
// HELLO-DAG: add$identity
// HELLO-DAG: store$0
// HELLO-NOT: memcpy
// HELLO-NOT: memset

// A reduce that is separable, and the finalize behind it, work on slices of 8 of 512 columns.
// SLICED: dataflow.handler @merge_sliced(%{{.*}}: index, %{{.*}}: tensor<32xf32>, %{{.*}}: tensor<32xf32>, %{{.*}}: tensor<32x8xf32>
// SLICED: dataflow.handler @normalize_sliced(%{{.*}}: index, %[[SLICE:.*]]: index, %{{.*}}: tensor<32xf32>, %{{.*}}: tensor<32xf32>, %{{.*}}: tensor<32x8xf32>
// SLICED: tensor.insert_slice {{.*}} [1, 32, 8] [1, 1, 1] : tensor<32x8xf16>
// SLICED: scf.if
// SLICED: tensor.insert_slice {{.*}} [1, 32] [1, 1]

// ATTENTION-DAG: attend$0
// ATTENTION-DAG: merge$1
// ATTENTION-DAG: merge$identity
// ATTENTION-DAG: normalize$1
// ATTENTION-DAG: exp2f
// ATTENTION-NOT: memcpy
// ATTENTION-NOT: memset
