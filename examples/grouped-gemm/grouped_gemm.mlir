// Products of groups of rows with a matrix for each group: groups have any number of rows, or none.
//
// a       [rows, depth]            the rows of group g are offsets[g] ... offsets[g] + lengths[g] - 1
// b       [groups, columns, depth]
// a_scale [1], b_scale [groups]    the elements of a and b[g] are multiplied with these
// out     [rows, columns]          out[i, j] = a_scale b_scale[g] sum over k of a[i, k] b[g, j, k], g the group of row i

dataflow.program @grouped_gemm(%a: tensor<?x?xf16>, %b: tensor<?x?x?xf16>, %a_scale: tensor<?xf32>, %b_scale: tensor<?xf32>,
                               %offsets: tensor<?xi32>, %lengths: tensor<?xi32>, %out: tensor<?x?xbf16>)
    params {columns = 1024 : index, depth = 1024 : index, row_tile = 128 : index, column_tile = 128 : index, step = 64 : index,
            element = f16, result = bf16}
    attributes {dataflow.extents = {a = [-1, "depth"], b = [-1, "columns", "depth"], out = [-1, "columns"]}} {
  %c0 = arith.constant 0 : index
  %columns = dataflow.param "columns" : index
  %column_tile = dataflow.param "column_tile" : index
  %groups = tensor.dim %lengths, %c0 : tensor<?xi32>
  %blocks = arith.ceildivui %columns, %column_tile : index
  dataflow.tasks @blocks(group = %groups, block = %blocks)
  dataflow.range @rows of @blocks length %lengths[group] offset %offsets[group] tile "row_tile" : tensor<?xi32>, tensor<?xi32>

  dataflow.finalize @multiply() tasks @blocks each @rows
      operands(%a, %b, %a_scale, %b_scale : tensor<?x?xf16>, tensor<?x?x?xf16>, tensor<?xf32>, tensor<?xf32>)
      outs(%out : tensor<?x?xbf16>) requests [#dataflow.pipeline<stages = 4, consumers = 2>] : () -> ()

  // A tile of the result: row_tile rows of one group, column_tile columns. What is behind the group's last row, or the last
  // column, is padded and not stored.
  dataflow.handler @multiply(%group: index, %block: index, %begin: index, %end: index, %a: tensor<?x?xf16>, %b: tensor<?x?x?xf16>,
                             %a_scale: tensor<?xf32>, %b_scale: tensor<?xf32>, %out: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
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
    %left = arith.subi %columns, %first : index
    %width = arith.minui %left, %column_tile : index
    %no_columns = arith.subi %column_tile, %width : index

    %none = tensor.splat %zero[%row_tile, %column_tile] : tensor<?x?xf32>
    %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %none) -> (tensor<?x?xf32>) {
      %a_part = tensor.extract_slice %a[%begin, %k] [%rows, %step] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
      %b_part = tensor.extract_slice %b[%group, %first, %k] [1, %width, %step] [1, 1, 1] : tensor<?x?x?xf16> to tensor<?x?xf16>
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

    %scale_a = tensor.extract %a_scale[%c0] : tensor<?xf32>
    %scale_b = tensor.extract %b_scale[%group] : tensor<?xf32>
    %scale = arith.mulf %scale_a, %scale_b : f32
    %scales = tensor.splat %scale[%row_tile, %column_tile] : tensor<?x?xf32>
    %scaled = arith.mulf %sum, %scales : tensor<?x?xf32>
    %rounded = arith.truncf %scaled : tensor<?x?xf32> to tensor<?x?xbf16>
    %part = tensor.extract_slice %rounded[0, 0] [%rows, %width] [1, 1] : tensor<?x?xbf16> to tensor<?x?xbf16>
    %new_out = tensor.insert_slice %part into %out[%begin, %first] [%rows, %width] [1, 1] : tensor<?x?xbf16> into tensor<?x?xbf16>
    dataflow.yield %new_out : tensor<?x?xbf16>
  }
}
