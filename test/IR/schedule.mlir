// RUN: df-opt %s --verify-roundtrip | df-opt | FileCheck %s
// RUN: df-opt %s -mlir-print-op-generic | df-opt | FileCheck %s

// Every op of the schedule group, with and without its optional parts, is printed
// as it is written. The schedule is well formed but not legal.

!part = !dataflow.record<sum: f32>

// CHECK-LABEL: dataflow.program @sums
dataflow.program @sums(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %n = arith.constant 4 : index
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %n tile 1
  %parts = dataflow.map @sum tasks @rows over @columns operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!part>) -> ()

  dataflow.handler @sum(%row: index, %begin: index, %end: index, %x: tensor<?xf32>) -> f32 {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %s: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }

  // CHECK: dataflow.schedule @plan of @sums on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" shared 64 global 128 flags 4 exit_barrier attributes {note = "all"} {
  // CHECK-NEXT: dataflow.barrier cta 0 arrivals 1
  // CHECK-NEXT: dataflow.barrier cta 1 arrivals 2
  // CHECK-NEXT: dataflow.slot @s0 of "sum"{{$}}
  // CHECK-NEXT: dataflow.slot @s1 of "sum" in shared cta 1 offset 16
  // CHECK-NEXT: dataflow.slot @s2 of "sum" slices [4, 8] in shared cta 0 barrier 0 phase 1
  // CHECK-NEXT: dataflow.slot @s3 of "add" in global cta 2 offset 32 flag 3
  // CHECK-NEXT: dataflow.queue cta 0 {
  // CHECK-NEXT: dataflow.instruction "sum" task 0 tiles [0, 2] outs [@s0] id 2
  // CHECK-NEXT: dataflow.release @s0 to 1 barrier 1 phase 2 id 1
  // CHECK-NEXT: dataflow.instruction "add" variant 1 task 0 slices [0, 2] ins [@s0, @s2 row 3 wait, @s2 wait, @s1 row 0] outs [@s3, @s1] id 0
  // CHECK-NEXT: dataflow.release @s1 to 0 id 0
  // CHECK-NEXT: }
  // CHECK-NEXT: dataflow.queue cta 3 {
  // CHECK-NEXT: dataflow.instruction "sum" task 4294967296 tiles [2, 4] outs [@s1] at [0, -1] range [512, 600] id 1
  // CHECK-NEXT: dataflow.transfer @s1 to [@s2] via #dataflow.cluster_shared id 1
  // CHECK-NEXT: dataflow.transfer @s1 to [@s2, @s0] via #dataflow.multicast id 0
  // CHECK-NEXT: dataflow.transfer @s1 to [@s3] id 2
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  dataflow.schedule @plan of @sums on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand"
      shared 64 global 128 flags 4 exit_barrier attributes {note = "all"} {
    dataflow.barrier cta 0 arrivals 1
    dataflow.barrier cta 1 arrivals 2
    dataflow.slot @s0 of "sum"
    dataflow.slot @s1 of "sum" slices [0, 1] in shared cta 1 offset 16
    dataflow.slot @s2 of "sum" slices [4, 8] in shared cta 0 barrier 0 phase 1
    dataflow.slot @s3 of "add" in global cta 2 offset 32 flag 3
    dataflow.queue cta 0 {
      dataflow.instruction "sum" variant 0 task 0 tiles [0, 2] slices [0, 1] outs [@s0] id 2
      dataflow.release @s0 to 1 barrier 1 phase 2 id 1
      dataflow.instruction "add" variant 1 task 0 slices [0, 2]
          ins [@s0, @s2 row 3 wait, @s2 wait, @s1 row 0] outs [@s3, @s1] id 0
      dataflow.release @s1 to 0 id 0
    }
    dataflow.queue cta 3 {
      dataflow.instruction "sum" task 4294967296 tiles [2, 4] outs [@s1] at [0, -1] range [512, 600] id 1
      dataflow.transfer @s1 to [@s2] via #dataflow.cluster_shared id 1
      dataflow.transfer @s1 to [@s2, @s0] via #dataflow.multicast id 0
      dataflow.transfer @s1 to [@s3] id 2
    }
  }
}

// A schedule that was read from plan bytes stands alone.
// CHECK: dataflow.schedule @plan of @elsewhere on #dataflow.topology<ctas = 2> ticket solver "list"
// CHECK-SAME: attributes {fingerprint = -5 : i64, stages = [#dataflow.stage_info<name = "a", kind = finalize>]} {
// CHECK-NEXT: dataflow.queue ticket {
// CHECK-NEXT: dataflow.instruction "a" task 0 draw at [] range [0, 0]
// CHECK-NEXT: dataflow.instruction "a" task 1 tiles [0, 0] draw
// CHECK-NEXT: }
dataflow.schedule @plan of @elsewhere on #dataflow.topology<ctas = 2> ticket solver "list"
    attributes {fingerprint = -5 : i64, stages = [#dataflow.stage_info<name = "a", kind = finalize>]} {
  dataflow.queue ticket {
    dataflow.instruction "a" task 0 draw at [] range [0, 0]
    dataflow.instruction "a" task 1 tiles [0, 0] draw
  }
}

// CHECK: dataflow.schedule @idle of @elsewhere on #dataflow.topology<ctas = 2> static solver "list"
// CHECK-SAME: {
// CHECK-NEXT: dataflow.queue cta 1 {
// CHECK-NEXT: }
dataflow.schedule @idle of @elsewhere on #dataflow.topology<ctas = 2> static solver "list"
    attributes {fingerprint = 0 : i64, stages = []} {
  dataflow.queue cta 1 {
  }
}
