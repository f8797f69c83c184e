// Fused mixture of experts over rows that lie grouped by expert: two products, a gated activation between them and the exchange
// that they need, in one launch. One row an assignment (a token at one of its experts), no scales.
//
// Blocks are up to `rows` consecutive rows of one expert; a router writes them. An expert with more rows has several blocks, one
// without rows has none.
//
// x       [assignments + rows, hidden]    activations; a block reads `rows` rows, those behind its last one are never used
// gate_up [experts, 2, width, hidden]     gate and up projections
// down    [experts, hidden, width]        down projection
// expert  [blocks]                        whose weights a block needs
// first   [blocks]                        its first row in x and y
// valid   [blocks]                        its number of rows, 0 to `rows`
// weight  [blocks, rows]                  factor of each row; read behind `valid`, never used there
// y       [assignments, hidden]           weight * down (silu(gate x) * (up x)), f16
//
// hidden is a multiple of `depth` and `outputs`, width one of `columns`; `outputs` is twice `columns`. What lies between the products is
// rounded to `element`.

!shard = !dataflow.record<middle: tensor<?x?xf8E4M3FN>>

dataflow.program @fused_moe_core(%x: tensor<?x?xf8E4M3FN>, %gate_up: tensor<?x2x?x?xf8E4M3FN>, %down: tensor<?x?x?xf8E4M3FN>,
                                 %expert: tensor<?xi32>, %first: tensor<?xi32>, %valid: tensor<?xi32>,
                                 %weight: tensor<?x?xf32>, %y: tensor<?x?xf16>)
    params {hidden = 7168 : index, width = 2048 : index, rows = 64 : index, columns = 128 : index, outputs = 256 : index,
            depth = 128 : index, element = f8E4M3FN}
    attributes {dataflow.extents = {x = [-1, "hidden"], gate_up = [-1, -1, "width", "hidden"], down = [-1, "hidden", "width"],
                                    weight = [-1, "rows"], y = [-1, "hidden"]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %blocks = tensor.dim %expert, %c0 : tensor<?xi32>
  %width = tensor.dim %gate_up, %c2 : tensor<?x2x?x?xf8E4M3FN>
  %hidden = tensor.dim %y, %c1 : tensor<?x?xf16>
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @width of @blocks length %width tile "columns"
  dataflow.range @hidden of @blocks length %hidden tile "outputs"
  dataflow.range @rows of @blocks length %valid[block] tile "rows" : tensor<?xi32>

  %shards = dataflow.map @up tasks @blocks each @width
      operands(%x, %gate_up, %expert, %first : tensor<?x?xf8E4M3FN>, tensor<?x2x?x?xf8E4M3FN>, tensor<?xi32>, tensor<?xi32>)
      requests [#dataflow.bounded<@rows, [32, 64]>]
      : () -> !dataflow.channel<!shard, tiles>
  %middle = dataflow.reshard "exchange" collect(%shards)
      : (!dataflow.channel<!shard, tiles>) -> !dataflow.channel<!shard, collected>
  dataflow.finalize @down(%middle) tasks @blocks each @hidden
      operands(%down, %expert, %first, %valid, %weight
               : tensor<?x?x?xf8E4M3FN>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xf32>)
      outs(%y : tensor<?x?xf16>) requests [#dataflow.bounded<@rows, [32, 64]>]
      : (!dataflow.channel<!shard, collected>) -> ()

  // Columns [begin, end) of silu(gate x) * (up x) for all rows of a block.
  dataflow.handler @up(%block: index, %begin: index, %end: index, %x: tensor<?x?xf8E4M3FN>, %gate_up: tensor<?x2x?x?xf8E4M3FN>,
                       %expert: tensor<?xi32>, %first: tensor<?xi32>) -> tensor<?x?xf8E4M3FN> {
    %c0 = arith.constant 0 : index
    %hidden = dataflow.param "hidden" : index
    %rows = dataflow.param "rows" : index
    %columns = dataflow.param "columns" : index
    %depth = dataflow.param "depth" : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %minus_log2e = arith.constant -1.44269504 : f32
    %e32 = tensor.extract %expert[%block] : tensor<?xi32>
    %e = arith.index_cast %e32 : i32 to index
    %row32 = tensor.extract %first[%block] : tensor<?xi32>
    %row = arith.index_cast %row32 : i32 to index

    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sums:2 = scf.for %k = %c0 to %hidden step %depth iter_args(%gate = %zeros, %up = %zeros)
        -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %x_tile = tensor.extract_slice %x[%row, %k] [%rows, %depth] [1, 1] : tensor<?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %gate_tile = tensor.extract_slice %gate_up[%e, 0, %begin, %k] [1, 1, %columns, %depth] [1, 1, 1, 1]
          : tensor<?x2x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %up_tile = tensor.extract_slice %gate_up[%e, 1, %begin, %k] [1, 1, %columns, %depth] [1, 1, 1, 1]
          : tensor<?x2x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %new_gate = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%x_tile, %gate_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%gate : tensor<?x?xf32>) -> tensor<?x?xf32>
      %new_up = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%x_tile, %up_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%up : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %new_gate, %new_up : tensor<?x?xf32>, tensor<?x?xf32>
    }

    %short = tensor.empty(%rows, %columns) : tensor<?x?xf8E4M3FN>
    %middle = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                               affine_map<(r, c) -> (r, c)>],
                              iterator_types = ["parallel", "parallel"]}
        ins(%sums#0, %sums#1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%short : tensor<?x?xf8E4M3FN>) {
    ^bb0(%g: f32, %u: f32, %o: f8E4M3FN):
      %exponent = arith.mulf %g, %minus_log2e : f32
      %power = math.exp2 %exponent : f32
      %divisor = arith.addf %power, %one : f32
      %silu = arith.divf %g, %divisor : f32
      %h = arith.mulf %silu, %u : f32
      %rounded = arith.truncf %h : f32 to f8E4M3FN
      linalg.yield %rounded : f8E4M3FN
    } -> tensor<?x?xf8E4M3FN>
    dataflow.yield %middle : tensor<?x?xf8E4M3FN>
  }

  // Columns [begin, end) of the block's rows of y, from all of what lies between the products: two halves, whose tiles of the
  // projection are as large as those of the first product.
  dataflow.handler @down(%block: index, %begin: index, %end: index, %down: tensor<?x?x?xf8E4M3FN>, %expert: tensor<?xi32>,
                         %first: tensor<?xi32>, %valid: tensor<?xi32>, %weight: tensor<?x?xf32>,
                         %middle: tensor<?x?x?xf8E4M3FN>, %y: tensor<?x?xf16>) -> tensor<?x?xf16> {
    %c0 = arith.constant 0 : index
    %width = dataflow.param "width" : index
    %rows = dataflow.param "rows" : index
    %columns = dataflow.param "columns" : index
    %middle_column = arith.addi %begin, %columns : index
    %zero = arith.constant 0.0 : f32
    %e32 = tensor.extract %expert[%block] : tensor<?xi32>
    %e = arith.index_cast %e32 : i32 to index
    %row32 = tensor.extract %first[%block] : tensor<?xi32>
    %row = arith.index_cast %row32 : i32 to index
    %count32 = tensor.extract %valid[%block] : tensor<?xi32>
    %count = arith.index_cast %count32 : i32 to index
    %live = arith.minui %count, %rows : index

    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sums:2 = scf.for %k = %c0 to %width step %columns iter_args(%left = %zeros, %right = %zeros)
        -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %shard = arith.divui %k, %columns : index
      %h = tensor.extract_slice %middle[%shard, 0, 0] [1, %rows, %columns] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %left_tile = tensor.extract_slice %down[%e, %begin, %k] [1, %columns, %columns] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %right_tile = tensor.extract_slice %down[%e, %middle_column, %k] [1, %columns, %columns] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %new_left = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%h, %left_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%left : tensor<?x?xf32>) -> tensor<?x?xf32>
      %new_right = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%h, %right_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%right : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %new_left, %new_right : tensor<?x?xf32>, tensor<?x?xf32>
    }

    %factors = tensor.extract_slice %weight[%block, 0] [1, %rows] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %short = tensor.empty(%rows, %columns) : tensor<?x?xf16>
    %left_scaled = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>,
                                                    affine_map<(r, c) -> (r, c)>],
                                   iterator_types = ["parallel", "parallel"]}
        ins(%factors, %sums#0 : tensor<?xf32>, tensor<?x?xf32>) outs(%short : tensor<?x?xf16>) {
    ^bb0(%w: f32, %s: f32, %o: f16):
      %p = arith.mulf %w, %s : f32
      %q = arith.truncf %p : f32 to f16
      linalg.yield %q : f16
    } -> tensor<?x?xf16>
    %right_scaled = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>,
                                                     affine_map<(r, c) -> (r, c)>],
                                    iterator_types = ["parallel", "parallel"]}
        ins(%factors, %sums#1 : tensor<?xf32>, tensor<?x?xf32>) outs(%short : tensor<?x?xf16>) {
    ^bb0(%w: f32, %s: f32, %o: f16):
      %p = arith.mulf %w, %s : f32
      %q = arith.truncf %p : f32 to f16
      linalg.yield %q : f16
    } -> tensor<?x?xf16>
    %left_part = tensor.extract_slice %left_scaled[0, 0] [%live, %columns] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %right_part = tensor.extract_slice %right_scaled[0, 0] [%live, %columns] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %left_y = tensor.insert_slice %left_part into %y[%row, %begin] [%live, %columns] [1, 1]
        : tensor<?x?xf16> into tensor<?x?xf16>
    %new_y = tensor.insert_slice %right_part into %left_y[%row, %middle_column] [%live, %columns] [1, 1]
        : tensor<?x?xf16> into tensor<?x?xf16>
    dataflow.yield %new_y : tensor<?x?xf16>
  }
}
