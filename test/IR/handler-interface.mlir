// RUN: df-opt %s --canonicalize --cse --symbol-dce | FileCheck %s

// A func.func is a handler by an external model: a stage accepts it, and upstream
// passes neither remove what stages use nor move values into isolated regions.

!c = !dataflow.channel<!dataflow.record<x: f32>>

// CHECK-LABEL: dataflow.program @p
dataflow.program @p(%y: tensor<?xf32>) {
  // CHECK: dataflow.tasks @t()
  // CHECK: %make = dataflow.map @make tasks @t
  // CHECK: dataflow.finalize @store(%make)
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !c
  dataflow.finalize @store(%a) tasks @t outs(%y : tensor<?xf32>) : (!c) -> ()
  // CHECK: func.func private @make() -> f32 {
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant
  // CHECK-NEXT: return %[[ZERO]] : f32
  func.func private @make() -> f32 {
    %z = arith.constant 0.0 : f32
    %w = arith.addf %z, %z : f32
    return %w : f32
  }
  // CHECK-NOT: @unused
  func.func private @unused() -> f32 {
    %z = arith.constant 1.0 : f32
    return %z : f32
  }
  // CHECK: dataflow.handler @store
  dataflow.handler @store(%x: f32, %z: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %z : tensor<?xf32>
  }
}
