// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/Inputs/sum.mlir' %s | df-opt --dataflow-verify-schedule --split-input-file | FileCheck %s
// Hand-written ticket lists that are legal.

// Two draws make the parts, the third waits for both.
// CHECK-LABEL: dataflow.schedule @list
// PROGRAM sum
  dataflow.schedule @list of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 global 32 flags 2 {
    dataflow.slot @a of "piece" in global flag 0
    dataflow.slot @b of "piece" in global offset 16 flag 1
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

// Everything in one draw.
// CHECK-LABEL: dataflow.schedule @one
// PROGRAM sum
  dataflow.schedule @one of @sum on #dataflow.topology<ctas = 4, shared_bytes = 1024, reserved_bytes = 0>
      ticket solver "hand" shared 16 {
    dataflow.slot @a of "piece" in shared
    dataflow.queue ticket {
      dataflow.instruction "piece" task 0 tiles [0, 4] outs [@a] draw
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}
