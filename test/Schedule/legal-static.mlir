// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' -e '/^\/\/ PROGRAM broadcast/r %S/Inputs/broadcast.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --split-input-file | FileCheck %s
// Hand-written static schedules that are legal, one for each way in which records travel.

// Everything on one CTA; the reduce is left out because there is one part.
// CHECK-LABEL: dataflow.schedule @local
// PROGRAM sum
  dataflow.schedule @local of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// The second half of the row comes from a cluster peer.
// CHECK-LABEL: dataflow.schedule @peer
// PROGRAM sum
  dataflow.schedule @peer of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
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

// The second half comes through global memory, from another cluster; one piece is computed by the variant for one tile.
// CHECK-LABEL: dataflow.schedule @global
// PROGRAM sum
  dataflow.schedule @global of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 16 flags 1 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 3
    dataflow.slot @c of "piece" in global cta 3 flag 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 3 {
      dataflow.instruction "piece" variant 1 task 0 tiles [3, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.global
    }
  }
}

// -----

// A slot is used again after its reader on the peer has released it.
// CHECK-LABEL: dataflow.schedule @reuse
// PROGRAM sum
  dataflow.schedule @reuse of @sum on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.slot @e of "piece" in shared cta 1
    dataflow.slot @f of "piece" in shared cta 0 offset 48 barrier 0 phase 1
    dataflow.slot @g of "add" in shared cta 0 offset 64
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 3] ins [@a, @c wait] outs [@d]
      dataflow.release @b to 5 barrier 1 phase 0
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

// -----

// One record reaches both CTAs of a cluster by multicast.
// CHECK-LABEL: dataflow.schedule @multicast
// PROGRAM broadcast
  dataflow.schedule @multicast of @broadcast on #dataflow.topology<ctas = 2, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 global 16 exit_barrier {
    dataflow.slot @s of "load" in global cta 0
    dataflow.slot @a of "load" in shared cta 0 barrier 0 phase 0
    dataflow.slot @b of "load" in shared cta 1 barrier 1 phase 0
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "load" task 0 outs [@s]
      dataflow.transfer @s to [@a, @b] via #dataflow.multicast
      dataflow.instruction "store" task 0 ins [@a wait]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "store" task 1 ins [@b wait]
    }
  }
}
