// Every form of instruction in one program: pieces, tiles, one record; folds of pieces, tiles, records and rows; a record
// that goes to larger domains, tiles that are collected, sent on one by one or by row, finalized per tile and per task; a
// reduce that works slice by slice, one that cannot, identities.
//
// x       [rows, longest, 16]    the elements of each row
// y       [rows, columns, 16]    one vector for each cell
// target  [rows]                 to which column a row's tiles go; -1: nowhere
// targets [rows, 3]              to which column each of three rows of a record goes
// lengths [rows]

!sum = !dataflow.record<n: i32, scale: f32, v: tensor<16xf32>>
!tile = !dataflow.record<n: i32, p: tensor<2x2xf32>>
!rows = !dataflow.record<id: tensor<3xi32>, v: tensor<3x16xf32>>
!row = !dataflow.record<id: i32, v: tensor<16xf32>>
!cell = !dataflow.record<n: i32, p: tensor<2x2xf32>, v: tensor<16xf32>>

dataflow.program @exchange(%x: tensor<?x?x16xf16>, %y: tensor<?x?x16xf32>, %target: tensor<?xi32>, %targets: tensor<?x3xi64>,
                           %lengths: tensor<?xi32>, %means: tensor<?x16xf32>, %counts: tensor<?xi32>,
                           %tiles: tensor<?x?xf32>, %cells: tensor<?x?x16xf32>, %products: tensor<?x?x2x2xf32>,
                           %ids: tensor<?xi32>, %sent: tensor<?x16xf32>, %keyed: tensor<?x2x2xf32>)
    params {element = f16} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nrows = tensor.dim %y, %c0 : tensor<?x?x16xf32>
  %ncolumns = tensor.dim %y, %c1 : tensor<?x?x16xf32>
  dataflow.tasks @rows(row = %nrows)
  dataflow.tasks @cells(column = %ncolumns, row = %nrows)
  dataflow.tasks @columns(column = %ncolumns)
  dataflow.range @elements of @rows length %lengths[row] tile 8 : tensor<?xi32>

  // Pieces of each row, folded slice by slice where they are split.
  %pieces = dataflow.map @scan tasks @rows over @elements operands(%x : tensor<?x?x16xf16>)
      : () -> !dataflow.channel<!sum, pieces>
  %whole = dataflow.reduce @join(%pieces)
      : (!dataflow.channel<!sum, pieces>) -> !dataflow.channel<!sum> identity {
    %none = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    %zeros = arith.constant dense<0.0> : tensor<16xf32>
    dataflow.yield %none, %one, %zeros : i32, f32, tensor<16xf32>
  }
  dataflow.finalize @store_means(%whole) tasks @rows outs(%means, %counts : tensor<?x16xf32>, tensor<?xi32>)
      : (!dataflow.channel<!sum>) -> ()

  // Tiles: a map of each, finalized each; collected; sent on; the order shows in the products.
  %each = dataflow.map @square tasks @rows each @elements operands(%x : tensor<?x?x16xf16>)
      : () -> !dataflow.channel<!tile, tiles>
  %turned = dataflow.map @turn(%each) tasks @rows each @elements
      : (!dataflow.channel<!tile, tiles>) -> !dataflow.channel<!tile, tiles>
  dataflow.finalize @store_tile(%turned) tasks @rows each @elements outs(%tiles : tensor<?x?xf32>)
      : (!dataflow.channel<!tile, tiles>) -> ()
  %moved = dataflow.reshard "moved" move(%turned) : (!dataflow.channel<!tile, tiles>) -> !dataflow.channel<!tile, tiles>
  %all = dataflow.reshard "all" collect(%moved) : (!dataflow.channel<!tile, tiles>) -> !dataflow.channel<!tile, collected>

  // Cells read the row's sum and all of its tiles.
  %cell = dataflow.map @combine(%whole, %all) tasks @cells operands(%y : tensor<?x?x16xf32>)
      : (!dataflow.channel<!sum>, !dataflow.channel<!tile, collected>) -> !dataflow.channel<!cell>
  dataflow.finalize @store_cell(%cell) tasks @cells outs(%cells, %products : tensor<?x?x16xf32>, tensor<?x?x2x2xf32>)
      : (!dataflow.channel<!cell>) -> ()

  // Tiles of a row go to one column, rows of a record to several.
  %by_tile = dataflow.reshard "by tile" rekey(%each) to @columns by %target[row] key column
      : (!dataflow.channel<!tile, tiles>, tensor<?xi32>) -> !dataflow.channel<!tile, keyed>
  %chain = dataflow.reduce @multiply(%by_tile)
      : (!dataflow.channel<!tile, keyed>) -> !dataflow.channel<!tile> identity {
    %none = arith.constant 0 : i32
    %unit = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
    dataflow.yield %none, %unit : i32, tensor<2x2xf32>
  }
  dataflow.finalize @store_chain(%chain) tasks @columns outs(%keyed : tensor<?x2x2xf32>)
      : (!dataflow.channel<!tile>) -> ()
  %three = dataflow.map @spread(%whole) tasks @rows : (!dataflow.channel<!sum>) -> !dataflow.channel<!rows>
  %by_row = dataflow.reshard "by row" rekey(%three) to @columns by %targets[row] key column rows
      : (!dataflow.channel<!rows>, tensor<?x3xi64>) -> !dataflow.channel<!row, keyed>
  %gathered = dataflow.reduce @gather(%by_row)
      : (!dataflow.channel<!row, keyed>) -> !dataflow.channel<!row> identity {
    %none = arith.constant -1 : i32
    %zeros = arith.constant dense<0.0> : tensor<16xf32>
    dataflow.yield %none, %zeros : i32, tensor<16xf32>
  }
  dataflow.finalize @store_row(%gathered) tasks @columns outs(%ids, %sent : tensor<?xi32>, tensor<?x16xf32>)
      : (!dataflow.channel<!row>) -> ()

  // The scale of a part is a product, so parts weigh in by what follows them.
  dataflow.handler @scan(%row: index, %begin: index, %end: index, %x: tensor<?x?x16xf16>) -> (i32, f32, tensor<16xf32>) {
    %c1 = arith.constant 1 : index
    %none = arith.constant 0 : i32
    %one_i = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %near_one = arith.constant 0.984375 : f32
    %zeros = arith.constant dense<0.0> : tensor<16xf32>
    %r:3 = scf.for %i = %begin to %end step %c1 iter_args(%n = %none, %s = %one, %v = %zeros) -> (i32, f32, tensor<16xf32>) {
      %e = tensor.extract_slice %x[%row, %i, 0] [1, 1, 16] [1, 1, 1] : tensor<?x?x16xf16> to tensor<16xf16>
      %w = arith.extf %e : tensor<16xf16> to tensor<16xf32>
      %f = tensor.splat %near_one : tensor<16xf32>
      %older = arith.mulf %v, %f : tensor<16xf32>
      %u = arith.addf %older, %w : tensor<16xf32>
      %m = arith.addi %n, %one_i : i32
      %t = arith.mulf %s, %near_one : f32
      scf.yield %m, %t, %u : i32, f32, tensor<16xf32>
    }
    dataflow.yield %r#0, %r#1, %r#2 : i32, f32, tensor<16xf32>
  }
  dataflow.handler @join(%n_a: i32, %s_a: f32, %v_a: tensor<16xf32>, %n_b: i32, %s_b: f32, %v_b: tensor<16xf32>)
      -> (i32, f32, tensor<16xf32>) {
    %n = arith.addi %n_a, %n_b : i32
    %s = arith.mulf %s_a, %s_b : f32
    %f = tensor.splat %s_b : tensor<16xf32>
    %older = arith.mulf %v_a, %f : tensor<16xf32>
    %v = arith.addf %older, %v_b : tensor<16xf32>
    dataflow.yield %n, %s, %v : i32, f32, tensor<16xf32>
  }
  dataflow.handler @store_means(%row: index, %n: i32, %s: f32, %v: tensor<16xf32>, %means: tensor<?x16xf32>, %counts: tensor<?xi32>)
      -> (tensor<?x16xf32>, tensor<?xi32>) {
    %two = arith.constant 2.0 : f32
    %d = arith.subf %two, %s : f32
    %f = tensor.splat %d : tensor<16xf32>
    %q = arith.divf %v, %f : tensor<16xf32>
    %a = tensor.insert_slice %q into %means[%row, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
    %b = tensor.insert %n into %counts[%row] : tensor<?xi32>
    dataflow.yield %a, %b : tensor<?x16xf32>, tensor<?xi32>
  }

  // A stochastic matrix from the first and the last element of a tile: products neither commute nor grow.
  dataflow.handler @square(%row: index, %begin: index, %end: index, %x: tensor<?x?x16xf16>) -> (i32, tensor<2x2xf32>) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %one = arith.constant 1.0 : f32
    %quarter = arith.constant 0.25 : f32
    %last = arith.subi %end, %c1 : index
    %e = tensor.extract %x[%row, %begin, %c3] : tensor<?x?x16xf16>
    %f = tensor.extract %x[%row, %last, %c1] : tensor<?x?x16xf16>
    %e_wide = arith.extf %e : f16 to f32
    %f_wide = arith.extf %f : f16 to f32
    %p = arith.mulf %e_wide, %quarter : f32
    %q = arith.mulf %f_wide, %quarter : f32
    %not_p = arith.subf %one, %p : f32
    %not_q = arith.subf %one, %q : f32
    %m = tensor.from_elements %not_p, %p, %q, %not_q : tensor<2x2xf32>
    %length = arith.subi %end, %begin : index
    %n = arith.index_cast %length : index to i32
    dataflow.yield %n, %m : i32, tensor<2x2xf32>
  }
  dataflow.handler @turn(%row: index, %begin: index, %end: index, %n: i32, %p: tensor<2x2xf32>) -> (i32, tensor<2x2xf32>) {
    %swap = arith.constant dense<[[0.25, 0.75], [0.5, 0.5]]> : tensor<2x2xf32>
    %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
    %m = linalg.matmul ins(%p, %swap : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zeros : tensor<2x2xf32>) -> tensor<2x2xf32>
    dataflow.yield %n, %m : i32, tensor<2x2xf32>
  }
  dataflow.handler @store_tile(%row: index, %begin: index, %end: index, %n: i32, %p: tensor<2x2xf32>, %tiles: tensor<?x?xf32>)
      -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %tile = arith.divui %begin, %c8 : index
    %v = tensor.extract %p[%c0, %c1] : tensor<2x2xf32>
    %f = arith.sitofp %n : i32 to f32
    %w = arith.addf %v, %f : f32
    %r = tensor.insert %w into %tiles[%row, %tile] : tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }

  dataflow.handler @combine(%column: index, %row: index, %y: tensor<?x?x16xf32>, %n: i32, %s: f32, %v: tensor<16xf32>,
                            %tile_n: tensor<?xi32>, %tile_p: tensor<?x2x2xf32>) -> (i32, tensor<2x2xf32>, tensor<16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %unit = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
    %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
    %count = tensor.dim %tile_n, %c0 : tensor<?xi32>
    %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%m = %n, %p = %unit) -> (i32, tensor<2x2xf32>) {
      %k = tensor.extract %tile_n[%i] : tensor<?xi32>
      %j = arith.addi %m, %k : i32
      %q = tensor.extract_slice %tile_p[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<?x2x2xf32> to tensor<2x2xf32>
      %o = linalg.matmul ins(%p, %q : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zeros : tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %j, %o : i32, tensor<2x2xf32>
    }
    %own = tensor.extract_slice %y[%row, %column, 0] [1, 1, 16] [1, 1, 1] : tensor<?x?x16xf32> to tensor<16xf32>
    %sum = arith.addf %own, %v : tensor<16xf32>
    dataflow.yield %r#0, %r#1, %sum : i32, tensor<2x2xf32>, tensor<16xf32>
  }
  dataflow.handler @store_cell(%column: index, %row: index, %n: i32, %p: tensor<2x2xf32>, %v: tensor<16xf32>,
                               %cells: tensor<?x?x16xf32>, %products: tensor<?x?x2x2xf32>)
      -> (tensor<?x?x16xf32>, tensor<?x?x2x2xf32>) {
    %f = arith.sitofp %n : i32 to f32
    %wide = tensor.splat %f : tensor<16xf32>
    %w = arith.addf %v, %wide : tensor<16xf32>
    %a = tensor.insert_slice %w into %cells[%row, %column, 0] [1, 1, 16] [1, 1, 1] : tensor<16xf32> into tensor<?x?x16xf32>
    %b = tensor.insert_slice %p into %products[%row, %column, 0, 0] [1, 1, 2, 2] [1, 1, 1, 1]
        : tensor<2x2xf32> into tensor<?x?x2x2xf32>
    dataflow.yield %a, %b : tensor<?x?x16xf32>, tensor<?x?x2x2xf32>
  }

  dataflow.handler @multiply(%n_a: i32, %p_a: tensor<2x2xf32>, %n_b: i32, %p_b: tensor<2x2xf32>) -> (i32, tensor<2x2xf32>) {
    %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
    %n = arith.addi %n_a, %n_b : i32
    %p = linalg.matmul ins(%p_a, %p_b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zeros : tensor<2x2xf32>) -> tensor<2x2xf32>
    dataflow.yield %n, %p : i32, tensor<2x2xf32>
  }
  dataflow.handler @store_chain(%column: index, %n: i32, %p: tensor<2x2xf32>, %keyed: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
    %f = arith.sitofp %n : i32 to f32
    %wide = tensor.splat %f : tensor<2x2xf32>
    %w = arith.addf %p, %wide : tensor<2x2xf32>
    %r = tensor.insert_slice %w into %keyed[%column, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2xf32> into tensor<?x2x2xf32>
    dataflow.yield %r : tensor<?x2x2xf32>
  }

  // Row k of the record is the sum plus k, and knows where it is from.
  dataflow.handler @spread(%row: index, %n: i32, %s: f32, %v: tensor<16xf32>) -> (tensor<3xi32>, tensor<3x16xf32>) {
    %from = arith.index_cast %row : index to i32
    %empty_i = tensor.empty() : tensor<3xi32>
    %empty = tensor.empty() : tensor<3x16xf32>
    %three = arith.constant 3 : i32
    %first = arith.muli %from, %three : i32
    %id = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>], iterator_types = ["parallel"]} outs(%empty_i : tensor<3xi32>) {
    ^bb0(%o: i32):
      %k = linalg.index 0 : index
      %i = arith.index_cast %k : index to i32
      %j = arith.addi %first, %i : i32
      linalg.yield %j : i32
    } -> tensor<3xi32>
    %w = linalg.generic {indexing_maps = [affine_map<(k, d) -> (d)>, affine_map<(k, d) -> (k, d)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<16xf32>) outs(%empty : tensor<3x16xf32>) {
    ^bb0(%e: f32, %o: f32):
      %k = linalg.index 0 : index
      %i = arith.index_cast %k : index to i32
      %f = arith.sitofp %i : i32 to f32
      %u = arith.addf %e, %f : f32
      linalg.yield %u : f32
    } -> tensor<3x16xf32>
    dataflow.yield %id, %w : tensor<3xi32>, tensor<3x16xf32>
  }
  // Keeps the later identity, so the order of parts shows.
  dataflow.handler @gather(%id_a: i32, %v_a: tensor<16xf32>, %id_b: i32, %v_b: tensor<16xf32>) -> (i32, tensor<16xf32>) {
    %none = arith.constant 0 : i32
    %is_empty = arith.cmpi slt, %id_b, %none : i32
    %id = arith.select %is_empty, %id_a, %id_b : i32
    %v = arith.addf %v_a, %v_b : tensor<16xf32>
    dataflow.yield %id, %v : i32, tensor<16xf32>
  }
  dataflow.handler @store_row(%column: index, %id: i32, %v: tensor<16xf32>, %ids: tensor<?xi32>, %sent: tensor<?x16xf32>)
      -> (tensor<?xi32>, tensor<?x16xf32>) {
    %a = tensor.insert %id into %ids[%column] : tensor<?xi32>
    %b = tensor.insert_slice %v into %sent[%column, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
    dataflow.yield %a, %b : tensor<?xi32>, tensor<?x16xf32>
  }
}
