// RUN: df-opt %s --split-input-file --dataflow-specialize-program --dataflow-schedule-program --verify-diagnostics
// What dataflow-specialize-program and the planner refuse of the request `bounded`.

// Two parameters of one handler cannot both be smaller.
dataflow.program @two(%n: tensor<?xi32>, %y: tensor<?xf32>) params {rows = 64 : index, lines = 64 : index} {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(row = %tasks)
  dataflow.range @a of @t length %n[row] tile "rows" : tensor<?xi32>
  dataflow.range @b of @t length %n[row] tile "lines" : tensor<?xi32>
  // expected-note@+1 {{the other stage}}
  %u = dataflow.map @make as "first" tasks @t requests [#dataflow.bounded<@a, [16]>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error@+1 {{request 'bounded' is about the parameter 'lines' of handler 'make', another stage's about 'rows'}}
  %v = dataflow.map @make as "second" tasks @t requests [#dataflow.bounded<@b, [16]>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%u) tasks @t outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A tile that is a number says nothing about the handler.
dataflow.program @number(%n: tensor<2xi32>, %y: tensor<2xf32>)
    attributes {dataflow.topology = #dataflow.topology<ctas = 1>, dataflow.inputs = {n = dense<[1, 2]> : tensor<2xi64>, y = array<i64: 2>}} {
  %c2 = arith.constant 2 : index
  dataflow.tasks @t(row = %c2)
  dataflow.range @a of @t length %n[row] tile 64 : tensor<2xi32>
  // expected-error@+1 {{request 'bounded' needs a variant of 'make' for at most 16 elements of range 'a'}}
  %u = dataflow.map @make tasks @t requests [#dataflow.bounded<@a, [16]>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%u) tasks @t outs(%y : tensor<2xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<2xf32>) -> tensor<2xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<2xf32>
    dataflow.yield %r : tensor<2xf32>
  }
}

// -----

// A variant returns fewer rows, not fewer columns.
dataflow.program @across(%n: tensor<?xi32>, %y: tensor<?xf32>) params {rows = 64 : index} {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(row = %tasks)
  dataflow.range @a of @t length %n[row] tile "rows" : tensor<?xi32>
  %u = dataflow.map @make tasks @t requests [#dataflow.bounded<@a, [16]>]
      : () -> !dataflow.channel<!dataflow.record<v: tensor<2x?xf32>>>
  dataflow.finalize @store(%u) tasks @t outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<2x?xf32>>>) -> ()
  // expected-note@+1 {{the original is defined here}}
  dataflow.handler @make(%row: index) -> tensor<2x?xf32> { // expected-error {{'dataflow.handler' op must have the type of 'make'}}
    %rows = dataflow.param "rows" : index
    %z = arith.constant 0.0 : f32
    %e = tensor.empty(%rows) : tensor<2x?xf32>
    %v = linalg.fill ins(%z : f32) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
    dataflow.yield %v : tensor<2x?xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<2x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}
