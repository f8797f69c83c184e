// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=16" --dataflow-verify-program -o /dev/null
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1000,0,257 ctas=4" \
// RUN:   --dataflow-verify-program --dataflow-verify-schedule -o /dev/null
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-compile="params=heads=16 streams=true" \
// RUN:   --dataflow-verify-program --dataflow-verify-kernel --dataflow-verify-device -o /dev/null
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-compile --mlir-print-op-generic \
// RUN:   | FileCheck %s
// RUN: not df-opt %s --dataflow-verify-program 2>&1 | FileCheck %s --check-prefix=FOREIGN
// What docs/embedding.md promises of the output of each pipeline holds there, as the verify passes say.

// CHECK: "dataflow.program"
// CHECK: "gpu.module"
// CHECK-NOT: = "dataflow.
// CHECK-NOT: {{^ *}}"dataflow.
// CHECK-NOT: "linalg.
// CHECK-NOT: "tensor.

// FOREIGN: 'memref.alloc' op P5: is not an op that code is generated for
dataflow.program @foreign(%lengths: tensor<?xi32>, %sums: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.finalize @store tasks @rows outs(%sums : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%row: index, %sums: tensor<?xf32>) -> tensor<?xf32> {
    %m = memref.alloc() : memref<4xf32>
    dataflow.yield %sums : tensor<?xf32>
  }
}
