// RUN: df-opt %s --dataflow-split-roles=variants=exact --verify-diagnostics
// A request is refused when no variant of its handler may be split.

dataflow.program @p(%a: tensor<64x64xf32>, %y: tensor<64x64xf32>) {
  dataflow.tasks @one()
  // expected-error@+1 {{request 'pipeline' needs a handler that is split, but option 'variants' leaves none of 'h', got 'exact'}}
  dataflow.finalize @h tasks @one operands(%a : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 2>] : () -> ()
  dataflow.handler @h(%a: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %t = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> to tensor<64x64xf32>
    %s = linalg.exp ins(%t : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}
