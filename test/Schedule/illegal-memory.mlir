// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' -e '/^\/\/ PROGRAM broadcast/r %S/Inputs/broadcast.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --split-input-file --verify-diagnostics
// Clauses V7 to V10: order, memory and routes.

// V7: each CTA first waits for what the other computes later.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @p0 of "piece" in shared cta 0
    dataflow.slot @p1 of "piece" in shared cta 1
    dataflow.slot @p2 of "piece" in shared cta 0 offset 16
    dataflow.slot @p3 of "piece" in shared cta 1 offset 16
    dataflow.slot @q1 of "piece" in shared cta 0 offset 32 barrier 0 phase 0
    dataflow.slot @q2 of "piece" in shared cta 1 offset 32 barrier 1 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 48
    dataflow.slot @e of "add" in shared cta 1 offset 48
    dataflow.slot @f of "add" in shared cta 0 offset 64 barrier 2 phase 0
    dataflow.slot @g of "add" in shared cta 0 offset 80
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 1] outs [@p0]
      // expected-error@+1 {{V7: instruction 1 (stage "add", task 0) can never start}}
      dataflow.instruction "add" task 0 ins [@p0, @q1 wait] outs [@d]
      dataflow.instruction "piece" task 0 tiles [2, 3] outs [@p2]
      dataflow.transfer @p2 to [@q2] via #dataflow.cluster_shared
      dataflow.instruction "add" task 0 ins [@d, @f wait] outs [@g]
      dataflow.instruction "store" task 0 ins [@g]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@p3]
      dataflow.instruction "add" task 0 ins [@q2 wait, @p3] outs [@e]
      dataflow.transfer @e to [@f] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [1, 2] outs [@p1]
      dataflow.transfer @p1 to [@q1] via #dataflow.cluster_shared
    }
  }
}

// -----

// V7: the producer waits for a release that its consumer sends.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V7: instruction}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.release @b to 3 barrier 1 phase 0
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V8: a slot is overwritten while a peer may still read it.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    // expected-error@+1 {{V8: slot 4}}
    dataflow.slot @e of "piece" in shared cta 1
    dataflow.slot @f of "piece" in shared cta 0 offset 48 barrier 0 phase 1
    dataflow.slot @g of "add" in shared cta 0 offset 64
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

// -----

// V8: an output on top of an operand.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    // expected-error@+1 {{V8: slot 3}}
    dataflow.slot @d of "add" in shared cta 0
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

// V8: a transfer arrives on top of a slot that is still to be read.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    // expected-error@+1 {{V8: slot 2 (stage "piece", task 0) takes over the memory of slot 0}}
    dataflow.slot @c of "piece" in shared cta 0 offset 0 barrier 0 phase 0
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

// V9: a slot behind the end of the arena.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    // expected-error@+1 {{V9: slot 0}}
    dataflow.slot @a of "piece" in shared cta 0 offset 16
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V9: a slot that is not aligned.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    // expected-error@+1 {{V9: slot 0}}
    dataflow.slot @a of "piece" in shared cta 0 offset 8
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V9: a slot without a place.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    // expected-error@+1 {{V9: slot 0}}
    dataflow.slot @a of "piece" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V9: an arena larger than the shared memory that slots may use.
// PROGRAM sum
  // expected-error@+1 {{V9: the shared slot arena has 2048 bytes, the topology leaves 1024}}
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 2048 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V10: a transfer to shared memory of another cluster.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 2
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 2 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      // expected-error@+1 {{V10: transfer 0 of instruction 3 (stage "piece", task 0) to slot 2 (stage "piece", task 0): CTA 0 is not in the cluster}}
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V10: a handler that reads a peer's shared memory.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V10: instruction 1}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @b] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
    }
  }
}

// -----

// V10: a global transfer into shared memory.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      // expected-error@+1 {{V10: transfer 0}}
      dataflow.transfer @b to [@c] via #dataflow.global
    }
  }
}

// -----

// V10: multicast to different offsets.
// PROGRAM broadcast
  dataflow.schedule @bad of @broadcast on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 32 global 16 exit_barrier {
    dataflow.slot @s of "load" in global cta 0
    dataflow.slot @a of "load" in shared cta 0 barrier 0 phase 0
    dataflow.slot @b of "load" in shared cta 1 offset 16 barrier 1 phase 0
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "load" task 0 outs [@s]
      // expected-error@+1 {{V10: transfer 0}}
      dataflow.transfer @s to [@a, @b] via #dataflow.multicast
      dataflow.instruction "store" task 0 ins [@a wait]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "store" task 1 ins [@b wait]
    }
  }
}

// -----

// V10: multicast from shared memory.
// PROGRAM broadcast
  dataflow.schedule @bad of @broadcast on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 32 global 16 exit_barrier {
    dataflow.slot @s of "load" in shared cta 0 offset 16
    dataflow.slot @a of "load" in shared cta 0 barrier 0 phase 0
    dataflow.slot @b of "load" in shared cta 1 barrier 1 phase 0
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "load" task 0 outs [@s]
      // expected-error@+1 {{V10: transfer 0}}
      dataflow.transfer @s to [@a, @b] via #dataflow.multicast
      dataflow.instruction "store" task 0 ins [@a wait]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "store" task 1 ins [@b wait]
    }
  }
}
