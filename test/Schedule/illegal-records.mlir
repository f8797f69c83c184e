// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' -e '/^\/\/ PROGRAM broadcast/r %S/Inputs/broadcast.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --split-input-file --verify-diagnostics
// Clauses V1 to V6: what is computed, by whom, and that records are there when they are read.

// V1: the program has one task.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V1: instruction 0 (stage "piece", task 7): task 7 of 1}}
      dataflow.instruction "piece" task 7 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V1: a finalize of one channel of arity one reads one record.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      // expected-error@+1 {{V1: instruction 1 (stage "store", task 0) has 2 operands, must have 1}}
      dataflow.instruction "store" task 0 ins [@a, @a]
    }
  }
}

// -----

// V1: a map has one output slot.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 32 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @e of "piece" in shared cta 0 offset 16
    dataflow.queue cta 0 {
      // expected-error@+1 {{V1: instruction 0}}
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a, @e]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V3: tiles beyond the range.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V3: instruction 0 (stage "piece", task 0): tiles [0, 5) are not in [0, 4)}}
      dataflow.instruction "piece" task 0 tiles [0, 5] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V2: a CTA has two queues.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    // expected-note@+1 {{the first is here}}
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
    }
    // expected-error@+1 {{is the second of cta 0}}
    dataflow.queue cta 0 {
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V2: a draw in a static queue.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{begins a draw, but is in the queue of a cta}}
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a] draw
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V3: nobody computes tile 2.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @e of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V3: stage "piece", task 0: nobody covers tiles [2, 3) before instruction 1}}
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@e]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @e] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V3: two pieces hold tile 1.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @e of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V3: instruction 1}}
      dataflow.instruction "piece" task 0 tiles [1, 4] outs [@e]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @e] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V3: a combined part that nobody combines further.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 128 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @e of "piece" in shared cta 0 offset 16
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.slot @f of "add" in shared cta 0 offset 48
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@e]
      // expected-error@+1 {{V3: instruction 2}}
      dataflow.instruction "add" task 0 ins [@a] outs [@f]
      dataflow.instruction "add" task 0 ins [@a, @e] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V4: parts in descending order.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V4: instruction 1}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@c wait, @a] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V4: the finalize reads a part instead of the whole.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      // expected-error@+1 {{V4: instruction 2}}
      dataflow.instruction "store" task 0 ins [@a]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V4: a row of a record that is not split into rows.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      // expected-error@+1 {{V4: instruction 1}}
      dataflow.instruction "store" task 0 ins [@a row 0]
    }
  }
}

// -----

// V5: a slot with two writers.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    // expected-error@+1 {{V5: slot 0 (stage "piece", task 0) is written by instruction 0 (stage "piece", task 0) and again by instruction 1}}
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@a]
      dataflow.instruction "add" task 0 ins [@a, @a] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V5: a handler that writes a peer's slot.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    // expected-error@+1 {{V5: slot 1}}
    dataflow.slot @b of "piece" in shared cta 0 offset 48
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

// V5: a slot without a writer.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 {
    dataflow.slot @a of "piece" in shared cta 0
    // expected-error@+1 {{V5: slot 1 (stage "piece") is never written}}
    dataflow.slot @e of "piece" in shared cta 0 offset 16
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V5: a transfer of a slot that the instruction did not write.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V5: transfer 0}}
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c wait] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
    }
  }
}

// -----

// V5: a slot that two transfers reach.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    // expected-error@+1 {{V5: slot 2 (stage "piece", task 0) is written by transfer 0}}
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
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V6: the consumer does not wait for a transfer from a peer.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 exit_barrier {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in shared cta 0 offset 16 barrier 0 phase 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V6: instruction 1}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
    }
  }
}

// -----

// V6: the consumer does not wait for a global slot.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 16 flags 1 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.slot @b of "piece" in shared cta 1
    dataflow.slot @c of "piece" in global cta 1 flag 0
    dataflow.slot @d of "add" in shared cta 0 offset 32
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a]
      // expected-error@+1 {{V6: instruction 1}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a, @c] outs [@d]
      dataflow.instruction "store" task 0 ins [@d]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b]
      dataflow.transfer @b to [@c] via #dataflow.global
    }
  }
}

// -----

// V6: a wait for a slot that nothing announces.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      // expected-error@+1 {{V6: instruction 1}}
      dataflow.instruction "store" task 0 ins [@a wait]
    }
  }
}

// -----

// V6: the producer comes later in the same queue.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V6: instruction 0}}
      dataflow.instruction "store" task 0 ins [@a]
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
    }
  }
}
