dataflow.program @sum(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>)
    attributes {dataflow.inputs = {lengths = dense<[4]> : tensor<1xi64>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 1 : tensor<?xi32>
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
  dataflow.handler @piece_tiles1(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32
      attributes {variant = #dataflow.variant<tiles = 1>, variant_of = @piece} {
    %v = tensor.extract %x[%row, %begin] : tensor<?x?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @piece_exact4(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32
      attributes {variant = #dataflow.variant<exact = 4>, variant_of = @piece} {
    %slice = tensor.extract_slice %x[%row, %begin] [1, 4] [1, 1] : tensor<?x?xf32> to tensor<4xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%slice : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %v = tensor.extract %sum[] : tensor<f32>
    dataflow.yield %v : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %s: f32, %sums: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %s into %sums[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
