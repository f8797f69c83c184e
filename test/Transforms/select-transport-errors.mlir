// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s > %t.mlir
// RUN: df-opt %t.mlir --dataflow-select-transport="transport=cluster_shared" --split-input-file --verify-diagnostics
// RUN: not df-opt %t.mlir --split-input-file --dataflow-select-transport="transport=pigeon" 2>&1 | FileCheck %s
// A forced transport that is not legal for an edge fails, naming the edge.

// CHECK: error: option 'transport' must be automatic, local, cluster_shared, global or multicast, got 'pigeon'

// PROGRAM sum
  // expected-error@+1 {{cluster}}
  dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" {
    dataflow.slot @a of "piece" cta 0
    dataflow.slot @b of "piece" cta 1
    dataflow.slot @d of "add" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @b] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
    }
  }
}
