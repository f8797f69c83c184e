// Reads the weights of those experts that have rows, block by block, and adds up one row of 128 elements of each block.
// A task is an expert; one without rows has an empty range. Meant for a ticket list.
//
// weights [experts, rows, 512] in 8 bits: gate, up and down matrices of an expert in rows of 512 bytes
// rows    [experts]            rows to read: all or none

!part = !dataflow.record<blocks: i32, acc: tensor<128xf32>>

dataflow.program @consume_blocks(%weights: tensor<?x?x512xf8E4M3FN>, %rows: tensor<?xi32>, %sums: tensor<?x128xf32>,
                                 %blocks: tensor<?xi32>)
    params {block = 64 : index} {
  %c0 = arith.constant 0 : index
  %experts = tensor.dim %rows, %c0 : tensor<?xi32>
  dataflow.tasks @experts(expert = %experts)
  dataflow.range @blocks of @experts length %rows[expert] tile "block" : tensor<?xi32>

  %parts = dataflow.map @consume tasks @experts over @blocks operands(%weights : tensor<?x?x512xf8E4M3FN>)
      : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %none = arith.constant 0 : i32
    %zeros = arith.constant dense<0.0> : tensor<128xf32>
    dataflow.yield %none, %zeros : i32, tensor<128xf32>
  }
  dataflow.finalize @store(%whole) tasks @experts outs(%sums, %blocks : tensor<?x128xf32>, tensor<?xi32>)
      : (!dataflow.channel<!part>) -> ()

  dataflow.handler @consume(%expert: index, %begin: index, %end: index, %weights: tensor<?x?x512xf8E4M3FN>)
      -> (i32, tensor<128xf32>) {
    %block = dataflow.param "block" : index
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<128xf32>
    %empty = tensor.empty() : tensor<128xf32>
    %r:2 = scf.for %t = %begin to %end step %block iter_args(%n = %none, %acc = %zeros) -> (i32, tensor<128xf32>) {
      %tile = tensor.extract_slice %weights[%expert, %t, 0] [1, %block, 512] [1, 1, 1]
          : tensor<?x?x512xf8E4M3FN> to tensor<?x512xf8E4M3FN>
      // Which row depends on the place of the block: no reason to load less than all of it.
      %place = arith.divui %t, %block : index
      %row = arith.remui %place, %block : index
      %some = tensor.extract_slice %tile[%row, 0] [1, 128] [1, 1] : tensor<?x512xf8E4M3FN> to tensor<128xf8E4M3FN>
      %sum = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                             iterator_types = ["parallel"]}
          ins(%some, %acc : tensor<128xf8E4M3FN>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
      ^bb0(%e: f8E4M3FN, %a: f32, %o: f32):
        %x = arith.extf %e : f8E4M3FN to f32
        %y = arith.addf %a, %x : f32
        linalg.yield %y : f32
      } -> tensor<128xf32>
      %m = arith.addi %n, %one : i32
      scf.yield %m, %sum : i32, tensor<128xf32>
    }
    dataflow.yield %r#0, %r#1 : i32, tensor<128xf32>
  }
  dataflow.handler @add(%n_a: i32, %a: tensor<128xf32>, %n_b: i32, %b: tensor<128xf32>) -> (i32, tensor<128xf32>) {
    %n = arith.addi %n_a, %n_b : i32
    %c = arith.addf %a, %b : tensor<128xf32>
    dataflow.yield %n, %c : i32, tensor<128xf32>
  }
  dataflow.handler @store(%expert: index, %n: i32, %acc: tensor<128xf32>, %sums: tensor<?x128xf32>, %blocks: tensor<?xi32>)
      -> (tensor<?x128xf32>, tensor<?xi32>) {
    %new_sums = tensor.insert_slice %acc into %sums[%expert, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<?x128xf32>
    %new_blocks = tensor.insert %n into %blocks[%expert] : tensor<?xi32>
    dataflow.yield %new_sums, %new_blocks : tensor<?x128xf32>, tensor<?xi32>
  }
}
