// RUN: df-opt %s --split-input-file --dataflow-split-roles --verify-diagnostics

// A request that cannot be obeyed is refused by name, with limit and value.

// One load warp fills the rings.
dataflow.program @p(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-error@+1 {{request 'pipeline' asks for 2 producers, a kernel has 1}}
  dataflow.finalize @h tasks @one operands(%a : tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2, producers = 2>] : () -> ()
  dataflow.handler @h(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}

// -----

// All stages of a kernel compute with the same threads.
dataflow.program @p(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-note@+1 {{because of this stage}}
  dataflow.finalize @h tasks @one operands(%a : tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  // expected-error@+1 {{request 'pipeline' asks for 2 consumers, the kernel has 1}}
  dataflow.finalize @h as "z" tasks @one operands(%a : tensor<?x64xf32>) outs(%z : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2, consumers = 2>] : () -> ()
  dataflow.handler @h(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}

// -----

// A handler has one set of rings.
dataflow.program @p(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-note@+1 {{because of this stage}}
  dataflow.finalize @h tasks @one operands(%a : tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  // expected-error@+1 {{request 'pipeline' asks for 3 stages of a handler that has 2}}
  dataflow.finalize @h as "z" tasks @one operands(%a : tensor<?x64xf32>) outs(%z : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 3>] : () -> ()
  dataflow.handler @h(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}

// -----

// So have two handlers that load the same tiles.
dataflow.program @p(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-note@+1 {{because of this stage}}
  dataflow.finalize @h tasks @one operands(%a : tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  // expected-error@+1 {{request 'pipeline' asks for 3 stages of the stream of 'a', which has 2}}
  dataflow.finalize @g tasks @one operands(%a : tensor<?x64xf32>) outs(%z : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 3>] : () -> ()
  dataflow.handler @h(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
  dataflow.handler @g(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}

// -----

// Nothing to load ahead.
dataflow.program @p(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-error@+1 {{request 'pipeline' needs a slice of an operand that can be streamed, handler 'n' has none}}
  dataflow.finalize @n tasks @one operands(%a : tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  dataflow.handler @n(%a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    dataflow.yield %y : tensor<64x64xf32>
  }
}

// -----

// Stages that call a handler with different operands keep it from being split.
dataflow.program @p(%a: tensor<64x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-error@+1 {{request 'pipeline' needs a handler that can be split, but the stages that call 'h' have different operands}}
  dataflow.finalize @h tasks @one operands(%a : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  %r = dataflow.map @m tasks @one operands(%a : tensor<64x64xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<64x64xf32>>>
  dataflow.finalize @h as "z"(%r) tasks @one outs(%z : tensor<64x64xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<64x64xf32>>>) -> ()
  dataflow.handler @h(%a: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
  dataflow.handler @m(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    dataflow.yield %a : tensor<64x64xf32>
  }
}
