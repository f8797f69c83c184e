// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' -e '/^\/\/ PROGRAM broadcast/r %S/Inputs/broadcast.mlir' %s \
// RUN:   | df-opt --dataflow-verify-schedule --split-input-file --verify-diagnostics
// Ticket lists: what must hold for every assignment of draws to CTAs.

// V2: the list begins inside a draw.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared
    dataflow.queue ticket {
      // expected-error@+1 {{is the first of a ticket list and must begin a draw}}
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V1: a slot of a ticket list has no owner.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 {
    // expected-error@+1 {{V1: slot 0}}
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a] draw
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V3: a tile that no draw computes.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 32 flags 2 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in global offset 16 flag 1
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      // expected-error@+1 {{V3: stage "piece", task 0: nobody covers tiles [2, 3) before instruction 1}}
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@b] draw
      dataflow.transfer @b to [@b] via #dataflow.global
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @b wait] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V6: another draw is read without a wait.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 32 flags 2 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in global offset 16 flag 1
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b] draw
      dataflow.transfer @b to [@b] via #dataflow.global
      // expected-error@+1 {{V6: instruction 2}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @b] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V7: a draw waits for one behind it in the list.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 32 flags 2 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in global offset 16 flag 1
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      // expected-error@+1 {{V7: instruction 1}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @b wait] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b] draw
      dataflow.transfer @b to [@b] via #dataflow.global
    }
  }
}

// -----

// V8: a global slot is used again while another draw may read it.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 64 global 48 flags 3 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in global offset 16 flag 1
    dataflow.slot @e of "add" in global offset 32 flag 2
    // expected-error@+1 {{V8: slot 3}}
    dataflow.slot @f of "piece" in global
    dataflow.slot @g of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [2, 3] outs [@b] draw
      dataflow.transfer @b to [@b] via #dataflow.global
      dataflow.instruction "add" task 0 tiles [0, 3] ins [@a wait, @b wait] outs [@e] draw
      dataflow.transfer @e to [@e] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [3, 4] outs [@f] draw
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@e wait, @f] outs [@g]
      dataflow.instruction "store" task 0 ins [@g]
    }
  }
}

// -----

// V10: shared memory does not connect draws.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 48 global 16 flags 1 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in shared offset 16
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b] draw
      // expected-error@+1 {{V10: instruction 2}}
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @b] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V10: no draw knows on which CTA another one runs.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 48 global 16 flags 1 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in shared offset 16
    dataflow.slot @c of "piece" in shared offset 32
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b] draw
      // expected-error@+1 {{V10: transfer 1}}
      dataflow.transfer @b to [@c] via #dataflow.cluster_shared
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @c wait] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V11: a ticket list has no barriers.
// PROGRAM sum
  // expected-error@+1 {{V11: a ticket schedule has 1 barriers}}
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared
    dataflow.barrier cta 0 arrivals 1
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a] draw
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// V12: a flag of two draws.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 32 flags 1 {
    dataflow.slot @a of "piece" in global flag 0
    // expected-error@+1 {{V12: flag 0 of slot 1}}
    dataflow.slot @b of "piece" in global offset 16 flag 0
    dataflow.slot @d of "add" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 2] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "piece" task 0 tiles [2, 4] outs [@b] draw
      dataflow.transfer @b to [@b] via #dataflow.global
      dataflow.instruction "add" task 0 tiles [0, 4] ins [@a wait, @b wait] outs [@d] draw
      dataflow.instruction "store" task 0 ins [@d]
    }
  }
}

// -----

// V15: two draws write the output.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 16 flags 1 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a] draw
      dataflow.transfer @a to [@a] via #dataflow.global
      dataflow.instruction "store" task 0 ins [@a]
      // expected-error@+1 {{V15: instruction 2}}
      dataflow.instruction "store" task 0 ins [@a wait] draw
    }
  }
}
