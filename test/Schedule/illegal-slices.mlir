// RUN: sed -e '/^\/\/ PROGRAM sliced/r %S/Inputs/sliced.mlir' %s \
// RUN:   | df-opt --dataflow-specialize-handlers=buckets= --dataflow-verify-schedule --split-input-file --verify-diagnostics
// Work on slices: each once, by the variant for it, from records that hold it.

// V15: nobody finishes slice 1.
// PROGRAM sliced
  // expected-error@+1 {{V15: stage "store", task 0, slice 1: nobody covers}}
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
    }
  }
}

// -----

// V10: a CTA finishes the slice that a peer has computed.
// PROGRAM sliced
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [1, 2] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [1, 2] ins [@s4 wait, @s2] outs [@s3]
      // expected-error@+1 {{V10: instruction 5 (stage "store", task 0) on CTA 1 reads slot 1}}
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
  }
}

// -----

// V4: both CTAs combine slice 0, so that nobody has slice 1 to finish.
// PROGRAM sliced
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [0, 1] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s4 wait, @s2] outs [@s3]
      // expected-error@+1 {{V4: instruction 5 (stage "store", task 0) needs slices [1, 2) of slot 3}}
      dataflow.instruction "store" variant 1 task 0 slices [1, 2] ins [@s3]
    }
  }
}

// -----

// V16: the generic variant on one slice.
// PROGRAM sliced
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [1, 2] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      // expected-error@+1 {{V16: instruction 1}}
      dataflow.instruction "add" task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [1, 2] ins [@s4 wait, @s2] outs [@s3]
      dataflow.instruction "store" variant 1 task 0 slices [1, 2] ins [@s3]
    }
  }
}

// -----

// V15: both CTAs combine and finish slice 0.
// PROGRAM sliced
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [0, 1] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [0, 1] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 2] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [0, 1] ins [@s4 wait, @s2] outs [@s3]
      // expected-error@+1 {{V15: instruction 5 (stage "store", task 0) computes slice 0 again}}
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s3]
    }
  }
}

// -----

// V4: a copy of half a part.
// PROGRAM sliced
  dataflow.schedule @bad of @sliced on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 64 global 64 flags 2 {
    dataflow.slot @s0 of "piece" slices [0, 2] in shared cta 0
    dataflow.slot @s1 of "add" slices [1, 2] in shared cta 0 offset 32
    dataflow.slot @s2 of "piece" slices [0, 2] in shared cta 1
    dataflow.slot @s3 of "add" slices [1, 2] in shared cta 1 offset 32
    dataflow.slot @s4 of "piece" slices [0, 2] in global cta 0 flag 0
    dataflow.slot @s5 of "piece" slices [0, 1] in global cta 1 offset 32 flag 1
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 3] slices [0, 2] outs [@s0]
      dataflow.transfer @s0 to [@s4] via #dataflow.global
      // expected-error@+1 {{V4: instruction 1}}
      dataflow.instruction "add" variant 1 task 0 slices [1, 2] ins [@s0, @s5 wait] outs [@s1]
      dataflow.instruction "store" variant 1 task 0 slices [0, 1] ins [@s1]
    }
    dataflow.queue cta 1 {
      dataflow.instruction "piece" task 0 tiles [3, 4] slices [0, 2] outs [@s2]
      dataflow.transfer @s2 to [@s5] via #dataflow.global
      dataflow.instruction "add" variant 1 task 0 slices [1, 2] ins [@s4 wait, @s2] outs [@s3]
      dataflow.instruction "store" variant 1 task 0 slices [1, 2] ins [@s3]
    }
  }
}
