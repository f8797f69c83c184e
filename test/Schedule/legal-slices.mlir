// RUN: sed -e '/^\/\/ PROGRAM sliced/r %S/Inputs/sliced.mlir' %s \
// RUN:   | df-opt --dataflow-specialize-handlers=buckets= --dataflow-verify-schedule --split-input-file | FileCheck %s
// Reduce-scatter by hand: each of two CTAs has a part and finishes one of the two slices.

// CHECK-LABEL: dataflow.schedule @scatter
// CHECK: dataflow.instruction "add" variant 1 task 0 slices [1, 2]
// PROGRAM sliced
  dataflow.schedule @scatter of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [1, 2] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [1, 2] ins [@s4 wait, @s2] outs [@s3]
      dataflow.instruction "store" variant 1 task 0 slices [1, 2] ins [@s3]
    }
  }
}
