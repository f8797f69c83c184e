// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s \
// RUN:   | df-opt --split-input-file --dataflow-insert-releases --verify-diagnostics
// Releases are only inserted into a schedule whose writers are known.

// PROGRAM sum
  // expected-error@+1 {{slot 0 is written twice}}
  dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 1] outs [@a]
      dataflow.instruction "piece" task 0 tiles [1, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}
