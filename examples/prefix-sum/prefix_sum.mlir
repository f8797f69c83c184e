// Prefix sums of rows of very different lengths.
//
// x       [rows, lines, 16]   element i of a row is at [i / 16, i % 16]; a multiple of tile / 16 lines
// lengths [rows]              elements of each row; what is behind them does not count, whatever it is
// y       [rows, lines, 16]   sums of the elements up to and with each one; behind the last one of a tile the sum stays
// totals  [rows]              sums of the rows

!sum = !dataflow.record<sum: f32>

dataflow.program @prefix_sum(%x: tensor<?x?x16xf16>, %lengths: tensor<?xi32>, %y: tensor<?x?x16xf32>, %totals: tensor<?xf32>)
    params {tile = 1024 : index, element = f16} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.range @columns of @rows length %lengths[row] tile "tile" : tensor<?xi32>

  // Sums of tiles. They are added up to that of the row, which is a number and has no dimension that could be shared; and all of
  // them go to each tile of the row.
  %sums = dataflow.map @sum tasks @rows each @columns operands(%x : tensor<?x?x16xf16>) : () -> !dataflow.channel<!sum, tiles>
  %total = dataflow.reduce @add(%sums) : (!dataflow.channel<!sum, tiles>) -> !dataflow.channel<!sum> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%total) tasks @rows outs(%totals : tensor<?xf32>) : (!dataflow.channel<!sum>) -> ()
  %all = dataflow.reshard "all" collect(%sums) : (!dataflow.channel<!sum, tiles>) -> !dataflow.channel<!sum, collected>
  dataflow.finalize @scan(%all) tasks @rows each @columns operands(%x : tensor<?x?x16xf16>) outs(%y : tensor<?x?x16xf32>)
      : (!dataflow.channel<!sum, collected>) -> ()

  dataflow.handler @sum(%row: index, %begin: index, %end: index, %x: tensor<?x?x16xf16>) -> f32 {
    %tile = dataflow.param "tile" : index
    %c16 = arith.constant 16 : index
    %lines = arith.divui %tile, %c16 : index
    %line = arith.divui %begin, %c16 : index
    %left = arith.subi %end, %begin : index
    %zero = arith.constant 0.0 : f32
    %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, 16] [1, 1, 1] : tensor<?x?x16xf16> to tensor<?x16xf16>
    %empty = tensor.empty(%lines) : tensor<?x16xf32>
    %live = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
        ins(%part : tensor<?x16xf16>) outs(%empty : tensor<?x16xf32>) {
    ^bb0(%v: f16, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %first = arith.muli %i, %c16 : index
      %place = arith.addi %first, %j : index
      %inside = arith.cmpi ult, %place, %left : index
      %wide = arith.extf %v : f16 to f32
      %kept = arith.select %inside, %wide, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x16xf32>
    %none = tensor.from_elements %zero : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%live : tensor<?x16xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    %s = tensor.extract %sum[] : tensor<f32>
    dataflow.yield %s : f32
  }

  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }

  // The sums of the tiles before this one, of the lines before each line, and of the elements before each element of a line.
  dataflow.handler @scan(%row: index, %begin: index, %end: index, %x: tensor<?x?x16xf16>, %sums: tensor<?xf32>,
                         %y: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
    %tile = dataflow.param "tile" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %lines = arith.divui %tile, %c16 : index
    %line = arith.divui %begin, %c16 : index
    %left = arith.subi %end, %begin : index
    %zero = arith.constant 0.0 : f32
    %number = arith.divui %begin, %tile : index
    %before = scf.for %t = %c0 to %number step %c1 iter_args(%s = %zero) -> (f32) {
      %v = tensor.extract %sums[%t] : tensor<?xf32>
      %n = arith.addf %s, %v : f32
      scf.yield %n : f32
    }
    %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, 16] [1, 1, 1] : tensor<?x?x16xf16> to tensor<?x16xf16>

    // Element k of a line counts for element j if k is not behind it.
    %wide_empty = tensor.empty(%lines) : tensor<?x16x16xf32>
    %terms = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                             iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%part : tensor<?x16xf16>) outs(%wide_empty : tensor<?x16x16xf32>) {
    ^bb0(%v: f16, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %first = arith.muli %i, %c16 : index
      %place = arith.addi %first, %k : index
      %inside = arith.cmpi ult, %place, %left : index
      %not_behind = arith.cmpi ule, %k, %j : index
      %counts = arith.andi %inside, %not_behind : i1
      %wide = arith.extf %v : f16 to f32
      %kept = arith.select %counts, %wide, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x16x16xf32>
    %empty = tensor.empty(%lines) : tensor<?x16xf32>
    %nothing = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
    %within = linalg.reduce { arith.addf } ins(%terms : tensor<?x16x16xf32>) outs(%nothing : tensor<?x16xf32>) dimensions = [2]

    // The same for lines.
    %line_empty = tensor.empty(%lines) : tensor<?xf32>
    %line_nothing = linalg.fill ins(%zero : f32) outs(%line_empty : tensor<?xf32>) -> tensor<?xf32>
    %line_live = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                                 iterator_types = ["parallel", "parallel"]}
        ins(%part : tensor<?x16xf16>) outs(%empty : tensor<?x16xf32>) {
    ^bb0(%v: f16, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %first = arith.muli %i, %c16 : index
      %place = arith.addi %first, %j : index
      %inside = arith.cmpi ult, %place, %left : index
      %wide = arith.extf %v : f16 to f32
      %kept = arith.select %inside, %wide, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x16xf32>
    %line_sums = linalg.reduce { arith.addf } ins(%line_live : tensor<?x16xf32>) outs(%line_nothing : tensor<?xf32>) dimensions = [1]
    %square_empty = tensor.empty(%lines, %lines) : tensor<?x?xf32>
    %line_terms = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i, k)>],
                                  iterator_types = ["parallel", "parallel"]}
        ins(%line_sums : tensor<?xf32>) outs(%square_empty : tensor<?x?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %i = linalg.index 0 : index
      %k = linalg.index 1 : index
      %is_before = arith.cmpi ult, %k, %i : index
      %kept = arith.select %is_before, %v, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x?xf32>
    %start = tensor.splat %before[%lines] : tensor<?xf32>
    %starts = linalg.reduce { arith.addf } ins(%line_terms : tensor<?x?xf32>) outs(%start : tensor<?xf32>) dimensions = [1]

    %prefixes = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                                iterator_types = ["parallel", "parallel"]}
        ins(%within, %starts : tensor<?x16xf32>, tensor<?xf32>) outs(%empty : tensor<?x16xf32>) {
    ^bb0(%w: f32, %s: f32, %o: f32):
      %sum = arith.addf %w, %s : f32
      linalg.yield %sum : f32
    } -> tensor<?x16xf32>
    %new_y = tensor.insert_slice %prefixes into %y[%row, %line, 0] [1, %lines, 16] [1, 1, 1]
        : tensor<?x16xf32> into tensor<?x?x16xf32>
    dataflow.yield %new_y : tensor<?x?x16xf32>
  }

  dataflow.handler @store(%row: index, %sum: f32, %totals: tensor<?xf32>) -> tensor<?xf32> {
    %new_totals = tensor.insert %sum into %totals[%row] : tensor<?xf32>
    dataflow.yield %new_totals : tensor<?xf32>
  }
}
