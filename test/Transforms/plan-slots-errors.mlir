// RUN: sed -e '/^\/\/ PROGRAM sum/r %S/../Schedule/Inputs/sum.mlir' %s \
// RUN:   | df-opt --split-input-file --dataflow-plan-slots --verify-diagnostics
// A slot that cannot get a place, and a schedule that cannot be read.

// Records that have to be in shared memory, of which there is none.
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>) attributes {dataflow.inputs = {x = array<i64: 1>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>) requests [#dataflow.memory<shared>]
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
  // expected-error@+1 {{slot 0 of stage 'load' needs 16 bytes of the 0 bytes that slots have in the shared memory of CTA 0}}
  dataflow.schedule @plan of @copy on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 1024>
      static solver "hand" {
    dataflow.slot @a of "load" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "load" task 0 outs [@a]
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}

// -----

// PROGRAM sum
  // expected-error@+1 {{slot 0 is never written}}
  dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 1, shared_bytes = 1024, reserved_bytes = 0>
      static solver "hand" {
    dataflow.slot @a of "piece" cta 0
    dataflow.queue cta 0 {
      dataflow.instruction "store" task 0 ins [@a]
    }
  }
}
