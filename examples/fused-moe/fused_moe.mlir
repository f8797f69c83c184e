// Fused mixture of experts: tokens in model order are gathered where they are needed, multiplied with 8-bit weights in scaled blocks,
// and the contributions of a token's experts are added up, in one launch.
//
// Blocks are up to `rows` tokens of one expert; a router writes them. An expert with more tokens has several blocks, one without
// tokens has none. A token may go to up to `choices` experts, or none.
//
// x             [tokens, hidden]                             activations, e4m3
// x_scale       [tokens, hidden / group]                     of 1 x group elements of x
// gate_up       [experts, 2, width, hidden]                  gate and up projections, e4m3
// gate_up_scale [experts, 2, width / group, hidden / group]  of group x group elements
// down          [experts, hidden, width]                     down projection, e4m3
// down_scale    [experts, hidden / group, width / group]     of group x group elements
// expert        [blocks]                                     whose weights a block needs
// valid         [blocks]                                     its number of tokens, 0 to `rows`
// token         [blocks, rows]                               a block's tokens; behind the last one, -1
// weight        [blocks, rows]                               route weights; any finite number where there is no token
// place         [tokens, choices]                            block * rows + row of each of a token's rows; behind the last one, -1
// y             [tokens, hidden / (2 * group), 2, group]     sum over a token's experts of weight * down (silu(gate x) * (up x)), bf16
//
// Products of a group are summed in f32, scaled, and added up in f32. What lies between the products is rounded to e4m3 again, with a
// scale for each token and group of columns. A token's contributions are rounded to bf16 and added in f32, in the order of `place`.

!shard = !dataflow.record<middle: tensor<?x?xf8E4M3FN>, scale: tensor<?xf32>>
!part = !dataflow.record<left: tensor<?x?xbf16>, right: tensor<?x?xbf16>>

dataflow.program @fused_moe(%x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf32>, %gate_up: tensor<?x2x?x?xf8E4M3FN>,
                            %gate_up_scale: tensor<?x2x?x?xf32>, %down: tensor<?x?x?xf8E4M3FN>, %down_scale: tensor<?x?x?xf32>,
                            %expert: tensor<?xi32>, %valid: tensor<?xi32>, %token: tensor<?x?xi32>, %weight: tensor<?x?xf32>,
                            %place: tensor<?x?xi32>, %y: tensor<?x?x2x?xbf16>)
    params {hidden = 7168 : index, width = 2048 : index, rows = 64 : index, group = 128 : index, tokens = 64 : index,
            choices = 2 : index}
    attributes {dataflow.extents = {x = [-1, "hidden"], gate_up = [-1, -1, "width", "hidden"], down = [-1, "hidden", "width"],
                                    token = [-1, "rows"], weight = [-1, "rows"], place = [-1, "choices"], y = [-1, -1, -1, "group"]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %blocks = tensor.dim %expert, %c0 : tensor<?xi32>
  %tokens = tensor.dim %x, %c0 : tensor<?x?xf8E4M3FN>
  %columns = tensor.dim %y, %c1 : tensor<?x?x2x?xbf16>
  %width = tensor.dim %gate_up, %c2 : tensor<?x2x?x?xf8E4M3FN>
  dataflow.tasks @blocks(block = %blocks)
  dataflow.tasks @tiles(block = %blocks, column = %columns)
  dataflow.tasks @columns(column = %columns)
  dataflow.range @width of @blocks length %width tile "group"
  dataflow.range @tokens of @columns length %tokens tile "tokens"
  dataflow.range @rows of @blocks length %valid[block] tile "rows" : tensor<?xi32>
  dataflow.range @tile_rows of @tiles length %valid[block] tile "rows" : tensor<?xi32>

  %shards = dataflow.map @up tasks @blocks each @width
      operands(%x, %x_scale, %gate_up, %gate_up_scale, %expert, %token
               : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x2x?x?xf8E4M3FN>, tensor<?x2x?x?xf32>, tensor<?xi32>, tensor<?x?xi32>)
      requests [#dataflow.bounded<@rows, [16, 32]>] : () -> !dataflow.channel<!shard, tiles>
  %middle = dataflow.reshard "exchange" collect(%shards)
      : (!dataflow.channel<!shard, tiles>) -> !dataflow.channel<!shard, collected>
  %parts = dataflow.map @down(%middle) tasks @tiles
      operands(%down, %down_scale, %expert, %weight : tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf32>, tensor<?xi32>, tensor<?x?xf32>)
      requests [#dataflow.bounded<@tile_rows, [16, 32]>]
      : (!dataflow.channel<!shard, collected>) -> !dataflow.channel<!part>
  %sent = dataflow.reshard "return" rekey (%parts) to @columns : (!dataflow.channel<!part>) -> !dataflow.channel<!part, keyed>
  %all = dataflow.reshard "all" collect (%sent) : (!dataflow.channel<!part, keyed>) -> !dataflow.channel<!part, collected>
  dataflow.finalize @sum(%all) tasks @columns each @tokens operands(%place : tensor<?x?xi32>) outs(%y : tensor<?x?x2x?xbf16>)
      : (!dataflow.channel<!part, collected>) -> ()

  // Columns [begin, end), a group, of silu(gate x) * (up x) for the tokens of a block.
  dataflow.handler @up(%block: index, %begin: index, %end: index, %x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf32>,
                       %gate_up: tensor<?x2x?x?xf8E4M3FN>, %gate_up_scale: tensor<?x2x?x?xf32>, %expert: tensor<?xi32>,
                       %token: tensor<?x?xi32>) -> (tensor<?x?xf8E4M3FN>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %hidden = dataflow.param "hidden" : index
    %rows = dataflow.param "rows" : index
    %group = dataflow.param "group" : index
    %none = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %least = arith.constant 1.0e-12 : f32
    %most = arith.constant 448.0 : f32
    %minus_log2e = arith.constant -1.44269504 : f32
    %e32 = tensor.extract %expert[%block] : tensor<?xi32>
    %e = arith.index_cast %e32 : i32 to index
    %column = arith.divui %begin, %group : index
    %tokens = tensor.extract_slice %token[%block, 0] [1, %rows] [1, 1] : tensor<?x?xi32> to tensor<?xi32>

    %empty = tensor.empty(%rows, %group) : tensor<?x?xf32>
    %empty_row = tensor.empty(%rows) : tensor<?xf32>
    %empty_tile = tensor.empty(%rows, %group) : tensor<?x?xf8E4M3FN>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sums:2 = scf.for %k = %c0 to %hidden step %group iter_args(%gate = %zeros, %up = %zeros)
        -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %step = arith.divui %k, %group : index
      // Rows of absent tokens are those of token 0; nobody reads what becomes of them.
      %x_tile = linalg.generic {indexing_maps = [affine_map<(r, d) -> (r)>, affine_map<(r, d) -> (r, d)>],
                                iterator_types = ["parallel", "parallel"]}
          ins(%tokens : tensor<?xi32>) outs(%empty_tile : tensor<?x?xf8E4M3FN>) {
      ^bb0(%t: i32, %o: f8E4M3FN):
        %present = arith.maxsi %t, %none : i32
        %row = arith.index_cast %present : i32 to index
        %d = linalg.index 1 : index
        %at = arith.addi %k, %d : index
        %v = tensor.extract %x[%row, %at] : tensor<?x?xf8E4M3FN>
        linalg.yield %v : f8E4M3FN
      } -> tensor<?x?xf8E4M3FN>
      %scales = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
          ins(%tokens : tensor<?xi32>) outs(%empty_row : tensor<?xf32>) {
      ^bb0(%t: i32, %o: f32):
        %present = arith.maxsi %t, %none : i32
        %row = arith.index_cast %present : i32 to index
        %v = tensor.extract %x_scale[%row, %step] : tensor<?x?xf32>
        linalg.yield %v : f32
      } -> tensor<?xf32>
      %gate_tile = tensor.extract_slice %gate_up[%e, 0, %begin, %k] [1, 1, %group, %group] [1, 1, 1, 1]
          : tensor<?x2x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %up_tile = tensor.extract_slice %gate_up[%e, 1, %begin, %k] [1, 1, %group, %group] [1, 1, 1, 1]
          : tensor<?x2x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %gate_scale = tensor.extract %gate_up_scale[%e, %c0, %column, %step] : tensor<?x2x?x?xf32>
      %up_scale = tensor.extract %gate_up_scale[%e, %c1, %column, %step] : tensor<?x2x?x?xf32>
      %gate_part = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%x_tile, %gate_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
      %up_part = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%x_tile, %up_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
      %new_gate = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%scales, %gate_part : tensor<?xf32>, tensor<?x?xf32>) outs(%gate : tensor<?x?xf32>) {
      ^bb0(%s: f32, %p: f32, %a: f32):
        %factor = arith.mulf %s, %gate_scale : f32
        %scaled = arith.mulf %p, %factor : f32
        %sum = arith.addf %a, %scaled : f32
        linalg.yield %sum : f32
      } -> tensor<?x?xf32>
      %new_up = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                                iterator_types = ["parallel", "parallel"]}
          ins(%scales, %up_part : tensor<?xf32>, tensor<?x?xf32>) outs(%up : tensor<?x?xf32>) {
      ^bb0(%s: f32, %p: f32, %a: f32):
        %factor = arith.mulf %s, %up_scale : f32
        %scaled = arith.mulf %p, %factor : f32
        %sum = arith.addf %a, %scaled : f32
        linalg.yield %sum : f32
      } -> tensor<?x?xf32>
      scf.yield %new_gate, %new_up : tensor<?x?xf32>, tensor<?x?xf32>
    }

    %activated = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                                  affine_map<(r, c) -> (r, c)>],
                                 iterator_types = ["parallel", "parallel"]}
        ins(%sums#0, %sums#1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) {
    ^bb0(%g: f32, %u: f32, %o: f32):
      %exponent = arith.mulf %g, %minus_log2e : f32
      %power = math.exp2 %exponent : f32
      %divisor = arith.addf %power, %one : f32
      %silu = arith.divf %g, %divisor : f32
      %h = arith.mulf %silu, %u : f32
      linalg.yield %h : f32
    } -> tensor<?x?xf32>
    %sizes = math.absf %activated : tensor<?x?xf32>
    %least_row = linalg.fill ins(%least : f32) outs(%empty_row : tensor<?xf32>) -> tensor<?xf32>
    %largest = linalg.reduce { arith.maximumf } ins(%sizes : tensor<?x?xf32>) outs(%least_row : tensor<?xf32>) dimensions = [1]
    %most_row = linalg.fill ins(%most : f32) outs(%empty_row : tensor<?xf32>) -> tensor<?xf32>
    %scale = arith.divf %largest, %most_row : tensor<?xf32>
    %inverse = arith.divf %most_row, %largest : tensor<?xf32>
    %middle = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                              iterator_types = ["parallel", "parallel"]}
        ins(%inverse, %activated : tensor<?xf32>, tensor<?x?xf32>) outs(%empty_tile : tensor<?x?xf8E4M3FN>) {
    ^bb0(%i: f32, %h: f32, %o: f8E4M3FN):
      %scaled = arith.mulf %h, %i : f32
      %rounded = arith.truncf %scaled : f32 to f8E4M3FN
      linalg.yield %rounded : f8E4M3FN
    } -> tensor<?x?xf8E4M3FN>
    dataflow.yield %middle, %scale : tensor<?x?xf8E4M3FN>, tensor<?xf32>
  }

  // Two groups of columns of the block's contributions, from all of what lies between the products.
  dataflow.handler @down(%block: index, %column: index, %down: tensor<?x?x?xf8E4M3FN>, %down_scale: tensor<?x?x?xf32>,
                         %expert: tensor<?xi32>, %weight: tensor<?x?xf32>, %middle: tensor<?x?x?xf8E4M3FN>,
                         %scale: tensor<?x?xf32>) -> (tensor<?x?xbf16>, tensor<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %width = dataflow.param "width" : index
    %rows = dataflow.param "rows" : index
    %group = dataflow.param "group" : index
    %zero = arith.constant 0.0 : f32
    %e32 = tensor.extract %expert[%block] : tensor<?xi32>
    %e = arith.index_cast %e32 : i32 to index
    %left_column = arith.muli %column, %c2 : index
    %right_column = arith.addi %left_column, %c1 : index
    %left_begin = arith.muli %left_column, %group : index
    %right_begin = arith.addi %left_begin, %group : index

    %empty = tensor.empty(%rows, %group) : tensor<?x?xf32>
    %empty_part = tensor.empty(%rows, %group) : tensor<?x?xbf16>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sums:2 = scf.for %k = %c0 to %width step %group iter_args(%left = %zeros, %right = %zeros)
        -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %shard = arith.divui %k, %group : index
      %h = tensor.extract_slice %middle[%shard, 0, 0] [1, %rows, %group] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %scales = tensor.extract_slice %scale[%shard, 0] [1, %rows] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
      %left_tile = tensor.extract_slice %down[%e, %left_begin, %k] [1, %group, %group] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %right_tile = tensor.extract_slice %down[%e, %right_begin, %k] [1, %group, %group] [1, 1, 1]
          : tensor<?x?x?xf8E4M3FN> to tensor<?x?xf8E4M3FN>
      %left_scale = tensor.extract %down_scale[%e, %left_column, %shard] : tensor<?x?x?xf32>
      %right_scale = tensor.extract %down_scale[%e, %right_column, %shard] : tensor<?x?x?xf32>
      %left_part = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%h, %left_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
      %right_part = linalg.contract
          indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
          ins(%h, %right_tile : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
      %new_left = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%scales, %left_part : tensor<?xf32>, tensor<?x?xf32>) outs(%left : tensor<?x?xf32>) {
      ^bb0(%s: f32, %p: f32, %a: f32):
        %factor = arith.mulf %s, %left_scale : f32
        %scaled = arith.mulf %p, %factor : f32
        %new = arith.addf %a, %scaled : f32
        linalg.yield %new : f32
      } -> tensor<?x?xf32>
      %new_right = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%scales, %right_part : tensor<?xf32>, tensor<?x?xf32>) outs(%right : tensor<?x?xf32>) {
      ^bb0(%s: f32, %p: f32, %a: f32):
        %factor = arith.mulf %s, %right_scale : f32
        %scaled = arith.mulf %p, %factor : f32
        %new = arith.addf %a, %scaled : f32
        linalg.yield %new : f32
      } -> tensor<?x?xf32>
      scf.yield %new_left, %new_right : tensor<?x?xf32>, tensor<?x?xf32>
    }

    %factors = tensor.extract_slice %weight[%block, 0] [1, %rows] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %left_weighted = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>,
                                                      affine_map<(r, c) -> (r, c)>],
                                     iterator_types = ["parallel", "parallel"]}
        ins(%factors, %sums#0 : tensor<?xf32>, tensor<?x?xf32>) outs(%empty_part : tensor<?x?xbf16>) {
    ^bb0(%w: f32, %s: f32, %o: bf16):
      %p = arith.mulf %w, %s : f32
      %short = arith.truncf %p : f32 to bf16
      linalg.yield %short : bf16
    } -> tensor<?x?xbf16>
    %right_weighted = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>,
                                                      affine_map<(r, c) -> (r, c)>],
                                     iterator_types = ["parallel", "parallel"]}
        ins(%factors, %sums#1 : tensor<?xf32>, tensor<?x?xf32>) outs(%empty_part : tensor<?x?xbf16>) {
    ^bb0(%w: f32, %s: f32, %o: bf16):
      %p = arith.mulf %w, %s : f32
      %short = arith.truncf %p : f32 to bf16
      linalg.yield %short : bf16
    } -> tensor<?x?xbf16>
    dataflow.yield %left_weighted, %right_weighted : tensor<?x?xbf16>, tensor<?x?xbf16>
  }

  // Tokens [begin, end) of two groups of columns of y, from all blocks' contributions to those columns.
  dataflow.handler @sum(%column: index, %begin: index, %end: index, %place: tensor<?x?xi32>, %left: tensor<?x?x?xbf16>,
                        %right: tensor<?x?x?xbf16>, %y: tensor<?x?x2x?xbf16>) -> tensor<?x?x2x?xbf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = dataflow.param "rows" : index
    %group = dataflow.param "group" : index
    %tokens = dataflow.param "tokens" : index
    %choices = dataflow.param "choices" : index
    %none = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %short_zero = arith.constant 0.0 : bf16
    %live = arith.subi %end, %begin : index
    %last = arith.subi %end, %c1 : index

    %empty = tensor.empty(%tokens, %group) : tensor<?x?xf32>
    %empty_part = tensor.empty(%tokens, %group) : tensor<?x?xbf16>
    %empty_places = tensor.empty(%tokens) : tensor<?xi32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    // Without blocks there is nothing to read, not even for an absent row.
    %blocks = tensor.dim %left, %c0 : tensor<?x?x?xbf16>
    %any = arith.cmpi ne, %blocks, %c0 : index
    %sums:2 = scf.if %any -> (tensor<?x?xf32>, tensor<?x?xf32>) {
      %all:2 = scf.for %k = %c0 to %choices step %c1 iter_args(%left_sum = %zeros, %right_sum = %zeros)
          -> (tensor<?x?xf32>, tensor<?x?xf32>) {
        %places = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>], iterator_types = ["parallel"]}
            outs(%empty_places : tensor<?xi32>) {
        ^bb0(%o: i32):
          %t = linalg.index 0 : index
          %behind = arith.addi %begin, %t : index
          %token = arith.minui %behind, %last : index
          %p = tensor.extract %place[%token, %k] : tensor<?x?xi32>
          linalg.yield %p : i32
        } -> tensor<?xi32>
        %left_summands = linalg.generic {indexing_maps = [affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t, c)>],
                                         iterator_types = ["parallel", "parallel"]}
            ins(%places : tensor<?xi32>) outs(%empty_part : tensor<?x?xbf16>) {
        ^bb0(%p: i32, %o: bf16):
          %present = arith.maxsi %p, %none : i32
          %at = arith.index_cast %present : i32 to index
          %block = arith.divui %at, %rows : index
          %row = arith.remui %at, %rows : index
          %c = linalg.index 1 : index
          %v = tensor.extract %left[%block, %row, %c] : tensor<?x?x?xbf16>
          %absent = arith.cmpi slt, %p, %none : i32
          %summand = arith.select %absent, %short_zero, %v : bf16
          linalg.yield %summand : bf16
        } -> tensor<?x?xbf16>
        %left_wide = arith.extf %left_summands : tensor<?x?xbf16> to tensor<?x?xf32>
        %new_left = arith.addf %left_sum, %left_wide : tensor<?x?xf32>
        %right_summands = linalg.generic {indexing_maps = [affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t, c)>],
                                         iterator_types = ["parallel", "parallel"]}
            ins(%places : tensor<?xi32>) outs(%empty_part : tensor<?x?xbf16>) {
        ^bb0(%p: i32, %o: bf16):
          %present = arith.maxsi %p, %none : i32
          %at = arith.index_cast %present : i32 to index
          %block = arith.divui %at, %rows : index
          %row = arith.remui %at, %rows : index
          %c = linalg.index 1 : index
          %v = tensor.extract %right[%block, %row, %c] : tensor<?x?x?xbf16>
          %absent = arith.cmpi slt, %p, %none : i32
          %summand = arith.select %absent, %short_zero, %v : bf16
          linalg.yield %summand : bf16
        } -> tensor<?x?xbf16>
        %right_wide = arith.extf %right_summands : tensor<?x?xbf16> to tensor<?x?xf32>
        %new_right = arith.addf %right_sum, %right_wide : tensor<?x?xf32>
        scf.yield %new_left, %new_right : tensor<?x?xf32>, tensor<?x?xf32>
      }
      scf.yield %all#0, %all#1 : tensor<?x?xf32>, tensor<?x?xf32>
    } else {
      scf.yield %zeros, %zeros : tensor<?x?xf32>, tensor<?x?xf32>
    }

    %left_short = arith.truncf %sums#0 : tensor<?x?xf32> to tensor<?x?xbf16>
    %left_valid = tensor.extract_slice %left_short[0, 0] [%live, %group] [1, 1] : tensor<?x?xbf16> to tensor<?x?xbf16>
    %left_y = tensor.insert_slice %left_valid into %y[%begin, %column, 0, 0] [%live, 1, 1, %group] [1, 1, 1, 1]
        : tensor<?x?xbf16> into tensor<?x?x2x?xbf16>
    %right_short = arith.truncf %sums#1 : tensor<?x?xf32> to tensor<?x?xbf16>
    %right_valid = tensor.extract_slice %right_short[0, 0] [%live, %group] [1, 1] : tensor<?x?xbf16> to tensor<?x?xbf16>
    %right_y = tensor.insert_slice %right_valid into %left_y[%begin, %column, 1, 0] [%live, 1, 1, %group] [1, 1, 1, 1]
        : tensor<?x?xbf16> into tensor<?x?x2x?xbf16>
    dataflow.yield %right_y : tensor<?x?x2x?xbf16>
  }
}
