// Softmax of rows of very different lengths, up to a million elements and more: a long row is shared by many CTAs.
//
// x       [rows, lines, lanes] element i of a row is at [i / lanes, i % lanes]; a multiple of tile / lanes lines
// lengths [rows]               valid elements of each row; what is behind them does not count, whatever it is
// y       [rows, lines, lanes] softmax; 0 behind the valid elements of a row's last tile, and nothing is written behind that
// lse     [rows]               log-sum-exp, natural; -inf where a row is empty

!state = !dataflow.record<max: f32, sum: f32>

dataflow.program @ragged_softmax(%x: tensor<?x?x?xf16>, %lengths: tensor<?xi32>, %y: tensor<?x?x?xf16>, %lse: tensor<?xf32>)
    params {tile = 16384 : index, lanes = 2048 : index, element = f16}
    attributes {dataflow.extents = {x = [-1, -1, "lanes"], y = [-1, -1, "lanes"]}} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.range @columns of @rows length %lengths[row] tile "tile" : tensor<?xi32>

  %parts = dataflow.map @scan tasks @rows over @columns operands(%x : tensor<?x?x?xf16>)
      requests [#dataflow.pipeline<stages = 4, consumers = 2>] : () -> !dataflow.channel<!state, pieces>
  %whole = dataflow.reduce @merge(%parts) : (!dataflow.channel<!state, pieces>) -> !dataflow.channel<!state> identity {
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    dataflow.yield %minus_inf, %zero : f32, f32
  }
  dataflow.finalize @scale(%whole) tasks @rows each @columns operands(%x : tensor<?x?x?xf16>) outs(%y : tensor<?x?x?xf16>)
      : (!dataflow.channel<!state>) -> ()
  dataflow.finalize @store(%whole) tasks @rows outs(%lse : tensor<?xf32>) : (!dataflow.channel<!state>) -> ()

  // Maximum and sum of exponentials of the elements [begin, end): a state for each lane, so that nothing is exchanged between
  // threads before the end. Where a state has seen nothing, its maximum is -inf, and weights are taken from 0, since the
  // difference of two infinities is NaN. Only the last tile of a row has elements that do not count.
  dataflow.handler @scan(%row: index, %begin: index, %end: index, %x: tensor<?x?x?xf16>) -> (f32, f32) {
    %tile = dataflow.param "tile" : index
    %lanes = dataflow.param "lanes" : index
    %lines = arith.divui %tile, %lanes : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %log2e = arith.constant 1.44269504 : f32
    %nothing = tensor.splat %minus_inf[%lanes] : tensor<?xf32>
    %zeros = tensor.splat %zero[%lanes] : tensor<?xf32>
    %log2es = tensor.splat %log2e[%lanes] : tensor<?xf32>
    %states:2 = scf.for %t = %begin to %end step %tile iter_args(%max = %nothing, %sum = %zeros)
        -> (tensor<?xf32>, tensor<?xf32>) {
      %line = arith.divui %t, %lanes : index
      %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, %lanes] [1, 1, 1] : tensor<?x?x?xf16> to tensor<?x?xf16>
      %left = arith.subi %end, %t : index
      %empty = tensor.empty(%lines, %lanes) : tensor<?x?xf32>
      %all = arith.extf %part : tensor<?x?xf16> to tensor<?x?xf32>
      %whole = arith.cmpi uge, %left, %tile : index
      %scores = scf.if %whole -> tensor<?x?xf32> {
        scf.yield %all : tensor<?x?xf32>
      } else {
        %valid = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                                 iterator_types = ["parallel", "parallel"]}
            ins(%all : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) {
        ^bb0(%v: f32, %o: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %first = arith.muli %i, %lanes : index
          %place = arith.addi %first, %j : index
          %live = arith.cmpi ult, %place, %left : index
          %masked = arith.select %live, %v, %minus_inf : f32
          linalg.yield %masked : f32
        } -> tensor<?x?xf32>
        scf.yield %valid : tensor<?x?xf32>
      }
      %new_max = linalg.reduce { arith.maximumf } ins(%scores : tensor<?x?xf32>) outs(%max : tensor<?xf32>) dimensions = [0]
      %is_empty = arith.cmpf oeq, %new_max, %nothing : tensor<?xf32>
      %base = arith.select %is_empty, %zeros, %new_max : tensor<?xi1>, tensor<?xf32>
      %scaled_base = arith.mulf %base, %log2es : tensor<?xf32>
      %below = arith.negf %scaled_base : tensor<?xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%scores, %below : tensor<?x?xf32>, tensor<?xf32>) outs(%empty : tensor<?x?xf32>) {
      ^bb0(%s: f32, %m: f32, %o: f32):
        %d = math.fma %s, %log2e, %m : f32
        %e = math.exp2 %d : f32
        linalg.yield %e : f32
      } -> tensor<?x?xf32>
      %grown = math.fma %max, %log2es, %below : tensor<?xf32>
      %shrink = math.exp2 %grown : tensor<?xf32>
      %older = arith.mulf %sum, %shrink : tensor<?xf32>
      %new_sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf32>) outs(%older : tensor<?xf32>) dimensions = [0]
      scf.yield %new_max, %new_sum : tensor<?xf32>, tensor<?xf32>
    }
    %none = tensor.from_elements %minus_inf : tensor<f32>
    %max_all = linalg.reduce { arith.maximumf } ins(%states#0 : tensor<?xf32>) outs(%none : tensor<f32>) dimensions = [0]
    %max_one = tensor.extract %max_all[] : tensor<f32>
    %saw_nothing = arith.cmpf oeq, %max_one, %minus_inf : f32
    %base_one = arith.select %saw_nothing, %zero, %max_one : f32
    %bases = tensor.splat %base_one[%lanes] : tensor<?xf32>
    %below_one = arith.subf %states#0, %bases : tensor<?xf32>
    %scaled = arith.mulf %below_one, %log2es : tensor<?xf32>
    %weights = math.exp2 %scaled : tensor<?xf32>
    %weighted = arith.mulf %states#1, %weights : tensor<?xf32>
    %zero_all = tensor.from_elements %zero : tensor<f32>
    %sum_all = linalg.reduce { arith.addf } ins(%weighted : tensor<?xf32>) outs(%zero_all : tensor<f32>) dimensions = [0]
    %sum_one = tensor.extract %sum_all[] : tensor<f32>
    dataflow.yield %max_one, %sum_one : f32, f32
  }

  dataflow.handler @merge(%max_a: f32, %sum_a: f32, %max_b: f32, %sum_b: f32) -> (f32, f32) {
    %zero = arith.constant 0.0 : f32
    %log2e = arith.constant 1.44269504 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %max = arith.maximumf %max_a, %max_b : f32
    %is_empty = arith.cmpf oeq, %max, %minus_inf : f32
    %base = arith.select %is_empty, %zero, %max : f32
    %below_a = arith.subf %max_a, %base : f32
    %below_b = arith.subf %max_b, %base : f32
    %scaled_a = arith.mulf %below_a, %log2e : f32
    %scaled_b = arith.mulf %below_b, %log2e : f32
    %w_a = math.exp2 %scaled_a : f32
    %w_b = math.exp2 %scaled_b : f32
    %s_a = arith.mulf %sum_a, %w_a : f32
    %s_b = arith.mulf %sum_b, %w_b : f32
    %sum = arith.addf %s_a, %s_b : f32
    dataflow.yield %max, %sum : f32, f32
  }

  // A tile of the result. A row that has a tile has a finite maximum and a sum of at least 1.
  dataflow.handler @scale(%row: index, %begin: index, %end: index, %x: tensor<?x?x?xf16>, %max: f32, %sum: f32,
                          %y: tensor<?x?x?xf16>) -> tensor<?x?x?xf16> {
    %tile = dataflow.param "tile" : index
    %lanes = dataflow.param "lanes" : index
    %lines = arith.divui %tile, %lanes : index
    %nothing = arith.constant 0.0 : f16
    %one = arith.constant 1.0 : f32
    %log2e = arith.constant 1.44269504 : f32
    %inverse = arith.divf %one, %sum : f32
    %line = arith.divui %begin, %lanes : index
    %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, %lanes] [1, 1, 1] : tensor<?x?x?xf16> to tensor<?x?xf16>
    %left = arith.subi %end, %begin : index
    %empty = tensor.empty(%lines, %lanes) : tensor<?x?xf16>
    %scaled_max = arith.mulf %max, %log2e : f32
    %below = arith.negf %scaled_max : f32
    %all = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%part : tensor<?x?xf16>) outs(%empty : tensor<?x?xf16>) {
    ^bb0(%v: f16, %o: f16):
      %wide = arith.extf %v : f16 to f32
      %score = math.fma %wide, %log2e, %below : f32
      %e = math.exp2 %score : f32
      %p = arith.mulf %e, %inverse : f32
      %short = arith.truncf %p : f32 to f16
      linalg.yield %short : f16
    } -> tensor<?x?xf16>
    %whole = arith.cmpi uge, %left, %tile : index
    %scaled = scf.if %whole -> tensor<?x?xf16> {
      scf.yield %all : tensor<?x?xf16>
    } else {
      %valid = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
          ins(%all : tensor<?x?xf16>) outs(%empty : tensor<?x?xf16>) {
      ^bb0(%v: f16, %o: f16):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %first = arith.muli %i, %lanes : index
        %place = arith.addi %first, %j : index
        %live = arith.cmpi ult, %place, %left : index
        %masked = arith.select %live, %v, %nothing : f16
        linalg.yield %masked : f16
      } -> tensor<?x?xf16>
      scf.yield %valid : tensor<?x?xf16>
    }
    %new_y = tensor.insert_slice %scaled into %y[%row, %line, 0] [1, %lines, %lanes] [1, 1, 1]
        : tensor<?x?xf16> into tensor<?x?x?xf16>
    dataflow.yield %new_y : tensor<?x?x?xf16>
  }

  dataflow.handler @store(%row: index, %max: f32, %sum: f32, %lse: tensor<?xf32>) -> tensor<?xf32> {
    %ln2 = arith.constant 0.69314718 : f32
    %log = math.log2 %sum : f32
    %natural = math.fma %log, %ln2, %max : f32
    %new_lse = tensor.insert %natural into %lse[%row] : tensor<?xf32>
    dataflow.yield %new_lse : tensor<?xf32>
  }
}
