dataflow.program @sliced(%x: tensor<?x8xf32>, %lengths: tensor<?xi32>, %y: tensor<?x8xf32>)
    attributes {dataflow.inputs = {lengths = dense<[4]> : tensor<1xi64>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 1 : tensor<?xi32>
  %parts = dataflow.map @piece tasks @rows over @columns operands(%x : tensor<?x8xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: tensor<8xf32>>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<v: tensor<8xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<v: tensor<8xf32>>> identity {
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    dataflow.yield %zero : tensor<8xf32>
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?x8xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<8xf32>>>) -> ()
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %x: tensor<?x8xf32>) -> tensor<8xf32> {
    %v = tensor.extract_slice %x[%begin, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    dataflow.yield %v : tensor<8xf32>
  }
  dataflow.handler @add(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %c = arith.addf %a, %b : tensor<8xf32>
    dataflow.yield %c : tensor<8xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = tensor.insert_slice %v into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    dataflow.yield %r : tensor<?x8xf32>
  }
