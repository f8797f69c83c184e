module {
  dataflow.program @ragged_sum(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>) attributes {dataflow.inputs = {lengths = dense<300> : tensor<1xi64>}, dataflow.topology = #dataflow.topology<ctas = 1>} {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %lengths, %c0 : tensor<?xi32>
    dataflow.tasks @rows(row = %dim)
    dataflow.range @columns of @rows length %lengths[row] tile 256 : tensor<?xi32>
    %sum_piece = dataflow.map @sum_piece tasks @rows over @columns operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<sum: f32>, pieces>
    %add = dataflow.reduce @add(%sum_piece) : (!dataflow.channel<!dataflow.record<sum: f32>, pieces>) -> !dataflow.channel<!dataflow.record<sum: f32>> identity {
      %cst = arith.constant 0.000000e+00 : f32
      dataflow.yield %cst : f32
    }
    dataflow.finalize @store(%add) tasks @rows outs(%sums : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<sum: f32>>) -> ()
    dataflow.handler @sum_piece(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?x?xf32>) -> f32 {
      %c1 = arith.constant 1 : index
      %cst = arith.constant 0.000000e+00 : f32
      %0 = scf.for %arg4 = %arg1 to %arg2 step %c1 iter_args(%arg5 = %cst) -> (f32) {
        %extracted = tensor.extract %arg3[%arg0, %arg4] : tensor<?x?xf32>
        %1 = arith.addf %arg5, %extracted : f32
        scf.yield %1 : f32
      }
      dataflow.yield %0 : f32
    }
    dataflow.handler @add(%arg0: f32, %arg1: f32) -> f32 {
      %0 = arith.addf %arg0, %arg1 : f32
      dataflow.yield %0 : f32
    }
    dataflow.handler @store(%arg0: index, %arg1: f32, %arg2: tensor<?xf32>) -> tensor<?xf32> {
      %inserted = tensor.insert %arg1 into %arg2[%arg0] : tensor<?xf32>
      dataflow.yield %inserted : tensor<?xf32>
    }
    dataflow.schedule @plan of @ragged_sum on #dataflow.topology<ctas = 1> static solver "stream" shared 16 {
      dataflow.slot @s0 of "sum_piece" in shared cta 0
      dataflow.queue cta 0 {
        dataflow.instruction "sum_piece" task 0 tiles [0, 2] outs [@s0]
      }
    }
  }
}

