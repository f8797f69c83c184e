// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s > %t.mlir
// RUN: df-opt %t.mlir --split-input-file --dataflow-plan-slots | FileCheck %s
// RUN: df-opt %t.mlir --split-input-file --dataflow-plan-slots --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Every slot gets a place; what arrives by a transfer gets a barrier phase or a flag.

// CHECK-LABEL: dataflow.schedule @peer
// CHECK-SAME: shared
// CHECK: dataflow.slot @s0 of "piece" in shared cta 0
// CHECK: dataflow.slot @s1 of "piece" in shared cta 1
// CHECK: dataflow.slot @s2 of "piece" in shared cta 0 {{.*}}barrier 0
// CHECK: dataflow.slot @s3 of "add" in shared cta 0
// CHECK: dataflow.barrier cta 0 arrivals 1

// CHECK-LABEL: dataflow.schedule @memory
// CHECK-SAME: flags 1
// CHECK: dataflow.slot @s2 of "piece" in global cta 1 {{.*}}flag 0

// REMARK: remark: [Passed] plan-slots {{.*}}Function=peer {{.*}}Barriers=1, Flags=0
// REMARK: remark: [Passed] plan-slots {{.*}}Function=memory {{.*}}Barriers=0, Flags=1

// PROGRAM sum
  dataflow.schedule @peer of @sum on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" {
    dataflow.slot @a of "piece" cta 0
    dataflow.slot @b of "piece" cta 1
    dataflow.slot @c of "piece" in shared cta 0
    dataflow.slot @d of "add" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// PROGRAM sum
  dataflow.schedule @memory of @sum on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" {
    dataflow.slot @a of "piece" cta 0
    dataflow.slot @b of "piece" cta 1
    dataflow.slot @c of "piece" in global cta 1
    dataflow.slot @d of "add" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.global
    }
  }
}
