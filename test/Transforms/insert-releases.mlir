// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s > %t.mlir
// RUN: df-opt %t.mlir --dataflow-insert-releases --dataflow-verify-schedule | FileCheck %s
// RUN: not df-opt %t.mlir --dataflow-verify-schedule 2>&1 | FileCheck %s --check-prefix=BEFORE
// A slot whose memory is used again while a peer may still read it needs a release; a transfer to a peer an exit barrier.

// CHECK: dataflow.schedule @plan
// CHECK-SAME: exit_barrier
// CHECK: dataflow.instruction "add" task 0 tiles [0, 3] ins [@s0, @s2 wait] outs [@s3]
// CHECK-NEXT: dataflow.release @s1 to 5 barrier [[BARRIER:[0-9]+]]

// BEFORE: error: V

// PROGRAM sum
  dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.slot @e of "piece" in shared cta 1
    dataflow.slot @f of "piece" in shared cta 0 offset 48 barrier 1 phase 0
    dataflow.slot @g of "add" in shared cta 0 offset 64
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 3] ins [@a, @c wait] outs [@d]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@d, @f wait] outs [@g]
      dataflow.instruction "store" task 0 ins [@g]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 3] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@e]
      dataflow.transfer @e to [@f] via #dataflow.cluster_shared
    }
  }
}
