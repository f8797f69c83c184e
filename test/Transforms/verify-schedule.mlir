// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s
// A legal schedule passes, and stays as it is. test/Schedule has a case for each clause.

// CHECK: remark: [Passed] verify-schedule {{.*}}Function=hand | Instructions=2
// PROGRAM sum
  dataflow.schedule @hand of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}
