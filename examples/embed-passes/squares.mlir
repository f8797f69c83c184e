// Sums the squares of the rows of a ragged matrix. The handler of the map is a function of
// another compiler, the others are ours.

dataflow.program @squares(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.range @columns of @rows length %lengths[row] tile 256 : tensor<?xi32>

  %parts = dataflow.map @square_piece tasks @rows over @columns operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<sum: f32>, pieces>
  %total = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<sum: f32>, pieces>) -> !dataflow.channel<!dataflow.record<sum: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%total) tasks @rows outs(%sums : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<sum: f32>>) -> ()

  toy.kernel @square_piece(%row: index, %begin: index, %end: index, %values: tensor<?x?xf32>) -> f32 {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %end step %c1 iter_args(%s = %zero) -> f32 {
      %v = tensor.extract %values[%row, %i] : tensor<?x?xf32>
      %q = toy.square %v : f32
      %t = arith.addf %s, %q : f32
      scf.yield %t : f32
    }
    toy.result %sum : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %sum: f32, %sums: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %sum into %sums[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
