// Reads the weights of those experts that have rows, and of each block stores one element. No record leaves a CTA: what
// remains is reading. A task is an expert; one without rows has an empty range. Meant for a ticket list.
//
// weights [experts, rows, 512] in 8 bits; rows [experts]: all or none; marks [experts, blocks]

dataflow.program @consume_blocks_each(%weights: tensor<?x?x512xf8E4M3FN>, %rows: tensor<?xi32>, %marks: tensor<?x?xf32>)
    params {block = 64 : index} {
  %c0 = arith.constant 0 : index
  %experts = tensor.dim %rows, %c0 : tensor<?xi32>
  dataflow.tasks @experts(expert = %experts)
  dataflow.range @blocks of @experts length %rows[expert] tile "block" : tensor<?xi32>
  dataflow.finalize @consume tasks @experts each @blocks operands(%weights : tensor<?x?x512xf8E4M3FN>)
      outs(%marks : tensor<?x?xf32>) : () -> ()

  dataflow.handler @consume(%expert: index, %begin: index, %end: index, %weights: tensor<?x?x512xf8E4M3FN>,
                            %marks: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %block = dataflow.param "block" : index
    %tile = tensor.extract_slice %weights[%expert, %begin, 0] [1, %block, 512] [1, 1, 1]
        : tensor<?x?x512xf8E4M3FN> to tensor<?x512xf8E4M3FN>
    %c512 = arith.constant 512 : index
    %place = arith.divui %begin, %block : index
    %row = arith.remui %place, %block : index
    %at = arith.remui %place, %c512 : index
    %some = tensor.extract %tile[%row, %at] : tensor<?x512xf8E4M3FN>
    %wide = arith.extf %some : f8E4M3FN to f32
    %new = tensor.insert %wide into %marks[%expert, %place] : tensor<?x?xf32>
    dataflow.yield %new : tensor<?x?xf32>
  }
}
