// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s > %t.mlir
// RUN: df-opt %t.mlir --dataflow-select-transport | FileCheck %s
// RUN: df-opt %t.mlir --dataflow-select-transport="transport=global" | FileCheck %s --check-prefix=GLOBAL
// RUN: df-opt %t.mlir --dataflow-select-transport --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A part that was made on another CTA gets a transfer; inside a cluster from shared memory to shared memory.

// CHECK: dataflow.slot @s3 of "piece" in shared cta 0
// CHECK: dataflow.instruction "add" task 0 {{.*}}ins [@s0, @s3 wait] outs [@s2]
// CHECK: dataflow.instruction "piece" task 0 tiles [2, 4] outs [@s1]
// CHECK-NEXT: dataflow.transfer @s1 to [@s3] via #dataflow.cluster_shared

// GLOBAL: dataflow.transfer @s1 to [@s{{[0-9]+}}] via #dataflow.global

// REMARK: remark: [Passed] select-transport {{.*}} ClusterSharedBytes=16, GlobalBytes=0, MulticastBytes=0, Transfers=1

// PROGRAM sum
  dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
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
