// Product of two matrices: tiles of the result are independent, and nothing is exchanged.
//
// a   [rows, depth]
// b   [columns, depth]
// out [rows, columns]   out[i, j] = sum over k of a[i, k] b[j, k]
//
// Rows are the launch's; columns and depth, those of a weight, are bound when the program is compiled.

dataflow.program @dense_gemm(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %out: tensor<?x?xf16>)
    params {columns = 4096 : index, depth = 4096 : index, row_tile = 128 : index, column_tile = 256 : index, step = 64 : index,
            element = f16}
    attributes {dataflow.extents = {a = [-1, "depth"], b = ["columns", "depth"], out = [-1, "columns"]}} {
  %c0 = arith.constant 0 : index
  %columns = dataflow.param "columns" : index
  %column_tile = dataflow.param "column_tile" : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf16>
  %blocks = arith.ceildivui %columns, %column_tile : index
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @rows of @blocks length %rows tile "row_tile"

  dataflow.finalize @multiply() tasks @blocks each @rows operands(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%out : tensor<?x?xf16>)
      requests [#dataflow.pipeline<stages = 4, consumers = 2>] : () -> ()

  // A tile of the result. What is behind the last row or column is padded and not stored.
  dataflow.handler @multiply(%block: index, %begin: index, %end: index, %a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %out: tensor<?x?xf16>)
      -> tensor<?x?xf16> {
    %c0 = arith.constant 0 : index
    %columns = dataflow.param "columns" : index
    %depth = dataflow.param "depth" : index
    %row_tile = dataflow.param "row_tile" : index
    %column_tile = dataflow.param "column_tile" : index
    %step = dataflow.param "step" : index
    %zero = arith.constant 0.0 : f32
    %nothing = arith.constant 0.0 : f16
    %rows = arith.subi %end, %begin : index
    %no_rows = arith.subi %row_tile, %rows : index
    %first = arith.muli %block, %column_tile : index
    %columns_left = arith.subi %columns, %first : index
    %width = arith.minui %columns_left, %column_tile : index
    %no_columns = arith.subi %column_tile, %width : index

    %none = tensor.splat %zero[%row_tile, %column_tile] : tensor<?x?xf32>
    %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %none) -> (tensor<?x?xf32>) {
      %a_part = tensor.extract_slice %a[%begin, %k] [%rows, %step] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
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
    %rounded = arith.truncf %sum : tensor<?x?xf32> to tensor<?x?xf16>
    %part = tensor.extract_slice %rounded[0, 0] [%rows, %width] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %new_out = tensor.insert_slice %part into %out[%begin, %first] [%rows, %width] [1, 1] : tensor<?x?xf16> into tensor<?x?xf16>
    dataflow.yield %new_out : tensor<?x?xf16>
  }
}
