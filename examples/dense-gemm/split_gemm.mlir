// Product of two matrices whose result has fewer tiles than a device has CTAs, or not a whole number of rounds of them: the
// contracted dimension is a range, which is split where that balances the work ("stream-K"), and parts are added up.
//
// a   [rows, depth]
// b   [columns, depth]
// out [rows, columns]   out[i, j] = sum over k of a[i, k] b[j, k]
//
// All sizes are bound when the program is compiled, so that the tiles of the result are tasks.

!partial = !dataflow.record<sum: tensor<?x?xf32>>

dataflow.program @split_gemm(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %out: tensor<?x?xf16>)
    params {rows = 64 : index, columns = 4096 : index, depth = 4096 : index, row_tile = 64 : index, column_tile = 128 : index, step = 64 : index,
            element = f16}
    attributes {dataflow.extents = {a = ["rows", "depth"], b = ["columns", "depth"], out = ["rows", "columns"]}} {
  %rows = dataflow.param "rows" : index
  %columns = dataflow.param "columns" : index
  %depth = dataflow.param "depth" : index
  %row_tile = dataflow.param "row_tile" : index
  %column_tile = dataflow.param "column_tile" : index
  %bands = arith.ceildivui %rows, %row_tile : index
  %blocks = arith.ceildivui %columns, %column_tile : index
  dataflow.tasks @tiles(block = %blocks, band = %bands)
  dataflow.range @terms of @tiles length %depth tile "step"

  %parts = dataflow.map @multiply tasks @tiles over @terms operands(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
      requests [#dataflow.pipeline<stages = 4, consumers = 2>]
      : () -> !dataflow.channel<!partial, pieces>
  %whole = dataflow.reduce @add(%parts) : (!dataflow.channel<!partial, pieces>) -> !dataflow.channel<!partial> identity {
    %row_tile = dataflow.param "row_tile" : index
    %column_tile = dataflow.param "column_tile" : index
    %zero = arith.constant 0.0 : f32
    %sum = tensor.splat %zero[%row_tile, %column_tile] : tensor<?x?xf32>
    dataflow.yield %sum : tensor<?x?xf32>
  }
  dataflow.finalize @store(%whole) tasks @tiles outs(%out : tensor<?x?xf16>)
      : (!dataflow.channel<!partial>) -> ()

  // The terms [begin, end) of a tile of the result. What is behind the last row or column is padded.
  dataflow.handler @multiply(%block: index, %band: index, %begin: index, %end: index, %a: tensor<?x?xf16>, %b: tensor<?x?xf16>)
      -> tensor<?x?xf32> {
    %all_rows = dataflow.param "rows" : index
    %columns = dataflow.param "columns" : index
    %row_tile = dataflow.param "row_tile" : index
    %column_tile = dataflow.param "column_tile" : index
    %step = dataflow.param "step" : index
    %zero = arith.constant 0.0 : f32
    %nothing = arith.constant 0.0 : f16
    %top = arith.muli %band, %row_tile : index
    %rows_left = arith.subi %all_rows, %top : index
    %rows = arith.minui %rows_left, %row_tile : index
    %no_rows = arith.subi %row_tile, %rows : index
    %first = arith.muli %block, %column_tile : index
    %columns_left = arith.subi %columns, %first : index
    %width = arith.minui %columns_left, %column_tile : index
    %no_columns = arith.subi %column_tile, %width : index

    %none = tensor.splat %zero[%row_tile, %column_tile] : tensor<?x?xf32>
    %sum = scf.for %k = %begin to %end step %step iter_args(%acc = %none) -> (tensor<?x?xf32>) {
      %a_part = tensor.extract_slice %a[%top, %k] [%rows, %step] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
      %b_part = tensor.extract_slice %b[%first, %k] [%width, %step] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
      %a_tile = tensor.pad %a_part low[0, 0] high[%no_rows, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %nothing : f16
      } : tensor<?x?xf16> to tensor<?x?xf16>
      %b_tile = tensor.pad %b_part low[0, 0] high[%no_columns, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %nothing : f16
      } : tensor<?x?xf16> to tensor<?x?xf16>
      %next = linalg.contract
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%a_tile, %b_tile : tensor<?x?xf16>, tensor<?x?xf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %next : tensor<?x?xf32>
    }
    dataflow.yield %sum : tensor<?x?xf32>
  }
  dataflow.handler @add(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = arith.addf %a, %b : tensor<?x?xf32>
    dataflow.yield %c : tensor<?x?xf32>
  }
  // Stores the rows and columns that the result has.
  dataflow.handler @store(%block: index, %band: index, %sum: tensor<?x?xf32>, %out: tensor<?x?xf16>)
      -> tensor<?x?xf16> {
    %all_rows = dataflow.param "rows" : index
    %columns = dataflow.param "columns" : index
    %row_tile = dataflow.param "row_tile" : index
    %column_tile = dataflow.param "column_tile" : index
    %top = arith.muli %band, %row_tile : index
    %rows_left = arith.subi %all_rows, %top : index
    %rows = arith.minui %rows_left, %row_tile : index
    %first = arith.muli %block, %column_tile : index
    %columns_left = arith.subi %columns, %first : index
    %width = arith.minui %columns_left, %column_tile : index
    %rounded = arith.truncf %sum : tensor<?x?xf32> to tensor<?x?xf16>
    %part = tensor.extract_slice %rounded[0, 0] [%rows, %width] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %new_out = tensor.insert_slice %part into %out[%top, %first] [%rows, %width] [1, 1] : tensor<?x?xf16> into tensor<?x?xf16>
    dataflow.yield %new_out : tensor<?x?xf16>
  }
}
