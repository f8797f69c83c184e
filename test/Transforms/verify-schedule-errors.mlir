// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s \
// RUN:   | df-opt --split-input-file --dataflow-verify-schedule --verify-diagnostics
// The error is on the op that is to blame, where there is one. test/Schedule has a case for each clause.

// On the slot.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    // expected-error@+1 {{V9: slot 0 (stage "piece") is not placed: the schedule is not finished}}
    dataflow.slot @a of "piece" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// On the instruction with the number, wherever it is.
// PROGRAM sum
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      // expected-error@+1 {{V16: instruction 1 (stage "piece", task 0)}}
      dataflow.instruction "piece" variant 1 task 0 tiles [0, 4] outs [@a] id 1
      dataflow.instruction "store" task 0 ins [@a] id 0
    }
  }
}

// -----

// On the schedule, when nothing in it is to blame.
// PROGRAM sum
  // expected-error@+1 {{V15: stage "store", task 0: nobody covers}}
  dataflow.schedule @bad of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a]
    }
  }
}
