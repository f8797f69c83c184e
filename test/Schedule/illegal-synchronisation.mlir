// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' -e '/^\/\/ PROGRAM broadcast/r %S/Inputs/broadcast.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --split-input-file --verify-diagnostics
// Clauses V11 to V17: barriers, flags, exit, outputs, variants and releases.

// V11: a barrier that waits for more arrivals than there are.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    // expected-error@+1 {{V11: barrier 0 phase 0}}
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 2
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

// V11: the first phase of a barrier is missing.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    // expected-error@+1 {{V11: barrier 0 phase 1}}
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 1
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

// V11: a transfer that arrives on no barrier.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      // expected-error@+1 {{V11: transfer 0}}
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V11: a slot on another CTA's barrier.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    // expected-error@+1 {{V11: slot 2}}
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 1 arrivals 1
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

// V11: phase 1 may arrive before phase 0 has been waited for.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.slot @e of "piece" in shared cta 1 offset 16
    dataflow.slot @f of "piece" in shared cta 0 offset 48 barrier 0 phase 1
    dataflow.slot @g of "add" in shared cta 0 offset 64
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V11: barrier 0: the wait for phase 0 by instruction 1 (stage "add", task 0) does not happen before the arrival in phase 1}}
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

// V12: a global transfer that sets no flag.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in global cta 1
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      // expected-error@+1 {{V12: transfer 0}}
      dataflow.transfer @b to [@c] via #dataflow.global
    }
  }
}

// -----

// V12: a flag that no transfer sets.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 global 16 flags 1 {
    // expected-error@+1 {{V12: flag 0 of slot 0}}
    dataflow.slot @a of "piece" in global cta 0 flag 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V12: a flag of two slots.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 32 flags 1 {
    dataflow.slot @a of "piece" in global cta 0 flag 0
    // expected-error@+1 {{V12: flag 0 of slot 1}}
    dataflow.slot @b of "piece" in global cta 1 offset 16 flag 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "add" task 0 ins [@a, @b wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@b] via #dataflow.global
    }
  }
}

// -----

// V12: more flags than slots that have one.
// PROGRAM sum
  // expected-error@+1 {{V12: flag 1 of 2 is set by no transfer}}
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 16 flags 2 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in global cta 1 flag 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
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

// -----

// V13: a queue on a CTA that the topology does not have.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 4
    // expected-error@+1 {{cta must be below 4, got 4}}
    dataflow.queue cta 4 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V14: a CTA may exit before its peer has written to it.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
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
      // expected-error@+1 {{V14: transfer 0}}
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V15: the output is written twice.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
      // expected-error@+1 {{V15: instruction 2}}
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V15: nobody writes the output.
// PROGRAM sum
  // expected-error@+1 {{V15: stage "store", task 0}}
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
    }
  }
}

// -----

// V1: a variant that does not exist.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V1: instruction 0 (stage "piece", task 0): variant 5 of 3}}
      dataflow.instruction "piece" variant 5 task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V16: the variant for one tile on four.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V16: instruction 0}}
      dataflow.instruction "piece" variant 1 task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V16: the variant for a row of four on a row in two pieces.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      // expected-error@+1 {{V16: instruction 0}}
      dataflow.instruction "piece" variant 2 task 0 tiles [0, 3] outs [@a]
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@b]
      dataflow.instruction "add" task 0 ins [@a, @b] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V17: a release on a barrier of another CTA than the receiver.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.slot @e of "piece" in shared cta 1
    dataflow.slot @f of "piece" in shared cta 0 offset 48 barrier 0 phase 1
    dataflow.slot @g of "add" in shared cta 0 offset 64
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 3] ins [@a, @c wait] outs [@d]
      // expected-error@+1 {{V17: release 0}}
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

// V17: the sender of a release has not read the slot.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @p1 of "piece" in shared cta 1
    dataflow.slot @p2 of "piece" in shared cta 1 offset 16
    dataflow.slot @p3 of "piece" in shared cta 1 offset 32
    dataflow.slot @q1 of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @q2 of "piece" in shared cta 0 offset 32 barrier 1 phase 0
    dataflow.slot @q3 of "piece" in shared cta 0 offset 48 barrier 2 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 64
    dataflow.slot @e of "add" in shared cta 0 offset 80
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 1] outs [@a]
      // expected-error@+1 {{V17: release 0}}
      dataflow.release @p1 to 5 barrier 3 phase 0
      dataflow.instruction "add" task 0 ins [@a, @q1 wait] outs [@d]
      dataflow.instruction "add" task 0 ins [@d, @q2 wait, @q3 wait] outs [@e]
      dataflow.instruction "store" task 0 ins [@e]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [1, 2] outs [@p1]
      dataflow.transfer @p1 to [@q1] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [2, 3] outs [@p2]
      dataflow.transfer @p2 to [@q2] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@p3]
      dataflow.transfer @p3 to [@q3] via #dataflow.cluster_shared
    }
  }
}

// -----

// V17: the receiver of a release neither writes the memory nor exits.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @p1 of "piece" in shared cta 1
    dataflow.slot @p2 of "piece" in shared cta 1 offset 16
    dataflow.slot @p3 of "piece" in shared cta 1 offset 32
    dataflow.slot @q1 of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @q2 of "piece" in shared cta 0 offset 32 barrier 1 phase 0
    dataflow.slot @q3 of "piece" in shared cta 0 offset 48 barrier 2 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 64
    dataflow.slot @e of "add" in shared cta 0 offset 80
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 1] outs [@a]
      dataflow.instruction "add" task 0 ins [@a, @q1 wait] outs [@d]
      // expected-error@+1 {{V17: release 0}}
      dataflow.release @p1 to 5 barrier 3 phase 0
      dataflow.instruction "add" task 0 ins [@d, @q2 wait, @q3 wait] outs [@e]
      dataflow.instruction "store" task 0 ins [@e]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [1, 2] outs [@p1]
      dataflow.transfer @p1 to [@q1] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [2, 3] outs [@p2]
      dataflow.transfer @p2 to [@q2] via #dataflow.cluster_shared
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@p3]
      dataflow.transfer @p3 to [@q3] via #dataflow.cluster_shared
    }
  }
}
