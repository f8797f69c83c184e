// RUN: df-opt %s --dataflow-schedule-program | FileCheck %s
// RUN: df-opt %s --dataflow-schedule-program="solver=longest-first name=whole" | FileCheck %s --check-prefix=WHOLE
// RUN: df-opt %s --dataflow-schedule-program="solver=tickets" | FileCheck %s --check-prefix=TICKET
// RUN: df-opt %s --dataflow-schedule-program=batch-invariant | FileCheck %s --check-prefix=INVARIANT
// RUN: df-opt %s --dataflow-schedule-program=solver=best --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEST
// RUN: df-opt %s --dataflow-schedule-program --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A solver makes queues, instructions and unplaced slots, and says why.

// CHECK: dataflow.schedule @plan of @sum on #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0> static solver "stream"
// CHECK-NOT: barrier
// CHECK: dataflow.slot @s0 of "piece" cta 0{{$}}
// CHECK: dataflow.queue cta 0
// CHECK: dataflow.instruction "piece" task 0 tiles [0, [[MIDDLE:[0-9]+]]] outs [@s{{[0-9]+}}]
// CHECK: dataflow.queue cta 1
// CHECK: dataflow.instruction "piece" task 0 tiles [[[MIDDLE]], 400]
// CHECK-NOT: dataflow.transfer
// CHECK-NOT: dataflow.release

// A task is not split; its reduce is left out.
// WHOLE: dataflow.schedule @whole of @sum {{.*}} static solver "longest-first"
// WHOLE: dataflow.instruction "piece" task 0 tiles [0, 400]
// WHOLE-NOT: "add"
// WHOLE: dataflow.instruction "store" task 0

// TICKET: dataflow.schedule @plan of @sum {{.*}} ticket solver "tickets"
// TICKET: dataflow.queue ticket
// TICKET: dataflow.instruction "piece" {{.*}} draw

// Pieces of a batch-invariant plan depend on the task alone, not on the CTAs.
// INVARIANT: dataflow.schedule @plan of @sum {{.*}} static solver "longest-first"
// INVARIANT-COUNT-3: dataflow.instruction "piece" task 0 tiles

// BEST: remark: [Analysis] solver {{.*}} next is

// REMARK: remark: [Analysis] cost {{.*}} Function=piece {{.*}}FixedBytes=0
// REMARK-SAME: FixedFlops=0, TileBytes=256, TileFlops=64
// REMARK: remark: [Analysis] split {{.*}} Function=plan
// REMARK: remark: [Passed] schedule-program {{.*}} Function=plan | Bytes=102404

dataflow.program @sum(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>)
    attributes {dataflow.inputs = {lengths = dense<[25600]> : tensor<1xi64>},
                dataflow.topology = #dataflow.topology<ctas = 2, shared_bytes = 1024, reserved_bytes = 0>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 64 : tensor<?xi32>
  %parts = dataflow.map @piece tasks @rows over @columns operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<s: f32>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<s: f32>, pieces>) -> !dataflow.channel<!dataflow.record<s: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%sums : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<s: f32>>) -> ()
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32 {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : index
    %sum = scf.for %i = %begin to %end step %one iter_args(%s = %zero) -> f32 {
      %v = tensor.extract %x[%row, %i] : tensor<?x?xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    dataflow.yield %sum : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %s: f32, %sums: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %s into %sums[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
