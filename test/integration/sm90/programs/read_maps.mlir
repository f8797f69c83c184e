// Tiles that come through tensor maps, in both orders of atoms, are read back by every thread: sums over rows with a weight for
// each row, so that an element at a wrong place shows. The last tile of a range is partial; what lies behind it must not count.
// The kernel is written by hand.

#tile = #dataflow.fragment<[16, 128] block [8, 128] registers [1:1, 1:2, 1:4] lanes [1:8, 1:16, 1:32, 1:64, 0:1] warps [0:2, 0:4]>
#columns = #dataflow.fragment<[128] block [128] registers [0:1, 0:2, 0:4] lanes [0:8, 0:16, 0:32, 0:64, _] warps [_, _]>
!by_rows = tensor<16x128xf16, #dataflow.shared<swizzle = 128, row_group = 2048, chunk = 1024>>
!by_columns = tensor<16x128xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 2048>>
!part = !dataflow.record<tiles: i32, acc: tensor<128xf32>>

dataflow.program @read_maps(%pages: tensor<?x16x128xf16>, %rows: tensor<?x128xf16>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>,
                            %sums: tensor<?x128xf32>, %tiles: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @requests(request = %batch)
  dataflow.range @tokens of @requests length %lengths[request] tile 16 : tensor<?xi32>

  %parts = dataflow.map @read tasks @requests over @tokens
      operands(%pages, %rows, %table : tensor<?x16x128xf16>, tensor<?x128xf16>, tensor<?x?xi32>)
      : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %none = arith.constant 0 : i32
    %zeros = arith.constant dense<0.0> : tensor<128xf32>
    dataflow.yield %none, %zeros : i32, tensor<128xf32>
  }
  dataflow.finalize @store(%whole) tasks @requests outs(%sums, %tiles : tensor<?x128xf32>, tensor<?xi32>)
      : (!dataflow.channel<!part>) -> ()

  dataflow.handler @read(%request: index, %begin: index, %end: index, %pages: tensor<?x16x128xf16>, %rows: tensor<?x128xf16>,
                         %table: tensor<?x?xi32>) -> (i32, tensor<128xf32>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %half = arith.constant 0.0 : f16
    %zero = arith.constant 0.0 : f32
    %start = arith.constant dense<0.0> : tensor<128xf32>
    %empty = tensor.empty() : tensor<16x128xf32>
    %r:2 = scf.for %t = %begin to %end step %c16 iter_args(%n = %none, %acc = %start) -> (i32, tensor<128xf32>) {
      %column = arith.divui %t, %c16 : index
      %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
      %place = arith.index_cast %number : i32 to index
      %page = tensor.extract_slice %pages[%place, 0, 0] [1, 16, 128] [1, 1, 1] : tensor<?x16x128xf16> to tensor<16x128xf16>
      %left = arith.subi %end, %t : index
      %valid = arith.minui %left, %c16 : index
      %some = tensor.extract_slice %rows[%t, 0] [%valid, 128] [1, 1] : tensor<?x128xf16> to tensor<?x128xf16>
      %missing = arith.subi %c16, %valid : index
      %row = tensor.pad %some low[%c0, 0] high[%missing, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %half : f16
      } : tensor<?x128xf16> to tensor<16x128xf16>
      %weighted = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%page, %row : tensor<16x128xf16>, tensor<16x128xf16>) outs(%empty : tensor<16x128xf32>) {
      ^bb0(%a: f16, %b: f16, %o: f32):
        %i = linalg.index 0 : index
        %k = arith.index_cast %i : index to i32
        %more = arith.addi %k, %one : i32
        %w = arith.sitofp %more : i32 to f32
        %x = arith.extf %a : f16 to f32
        %y = arith.extf %b : f16 to f32
        %wx = arith.mulf %w, %x : f32
        %z = arith.subf %wx, %y : f32
        %counts = arith.cmpi ult, %i, %valid : index
        %v = arith.select %counts, %z, %zero : f32
        linalg.yield %v : f32
      } -> tensor<16x128xf32>
      %sum = linalg.reduce {arith.addf} ins(%weighted : tensor<16x128xf32>) outs(%acc : tensor<128xf32>) dimensions = [0]
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
  dataflow.handler @store(%request: index, %n: i32, %acc: tensor<128xf32>, %sums: tensor<?x128xf32>, %tiles: tensor<?xi32>)
      -> (tensor<?x128xf32>, tensor<?xi32>) {
    %new_sums = tensor.insert_slice %acc into %sums[%request, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<?x128xf32>
    %new_tiles = tensor.insert %n into %tiles[%request] : tensor<?xi32>
    dataflow.yield %new_sums, %new_tiles : tensor<?x128xf32>, tensor<?xi32>
  }

  dataflow.kernel @kernel consumers 1 {
    dataflow.stream @pages depth 3 of tensor<16x128xf16> layout <swizzle = 128, row_group = 2048, chunk = 1024> evict_first
    dataflow.stream @rows depth 2 of tensor<16x128xf16> layout <swizzle = 128, row_group = 1024, chunk = 2048>
    dataflow.part @read_load of @read load(%request: index, %begin: index, %end: index, %pages: tensor<?x16x128xf16>,
                                           %rows: tensor<?x128xf16>, %table: tensor<?x?xi32>) {
      %c16 = arith.constant 16 : index
      scf.for %t = %begin to %end step %c16 {
        %column = arith.divui %t, %c16 : index
        %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
        %place = arith.index_cast %number : i32 to index
        dataflow.fill @pages, %pages[%place, 0, 0] [1, 16, 128] [1, 1, 1] : tensor<?x16x128xf16> to tensor<16x128xf16>
        %left = arith.subi %end, %t : index
        %valid = arith.minui %left, %c16 : index
        dataflow.fill @rows, %rows[%t, 0] [%valid, 128] [1, 1] : tensor<?x128xf16> to tensor<16x128xf16>
      }
      dataflow.yield
    }
    dataflow.part @read_compute of @read compute(%request: index, %begin: index, %end: index, %pages: tensor<?x16x128xf16>,
                                                 %rows: tensor<?x128xf16>, %table: tensor<?x?xi32>) -> (i32, tensor<128xf32>)
        attributes {fragments} {
      %c16 = arith.constant 16 : index
      %none = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %zero = arith.constant 0.0 : f32
      %start = arith.constant dense<0.0> : tensor<128xf32, #columns>
      %empty = tensor.empty() : tensor<16x128xf32, #tile>
      %r:2 = scf.for %t = %begin to %end step %c16 iter_args(%n = %none, %acc = %start) -> (i32, tensor<128xf32, #columns>) {
        %left = arith.subi %end, %t : index
        %valid = arith.minui %left, %c16 : index
        %page_stage = dataflow.take @pages : !by_rows
        %page = dataflow.convert_layout %page_stage : !by_rows to tensor<16x128xf16, #tile>
        dataflow.give @pages
        %row_stage = dataflow.take @rows : !by_columns
        %row = dataflow.convert_layout %row_stage : !by_columns to tensor<16x128xf16, #tile>
        dataflow.give @rows
        %weighted = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                                    iterator_types = ["parallel", "parallel"]}
            ins(%page, %row : tensor<16x128xf16, #tile>, tensor<16x128xf16, #tile>) outs(%empty : tensor<16x128xf32, #tile>) {
        ^bb0(%a: f16, %b: f16, %o: f32):
          %i = linalg.index 0 : index
          %k = arith.index_cast %i : index to i32
          %more = arith.addi %k, %one : i32
          %w = arith.sitofp %more : i32 to f32
          %x = arith.extf %a : f16 to f32
          %y = arith.extf %b : f16 to f32
          %wx = arith.mulf %w, %x : f32
          %z = arith.subf %wx, %y : f32
          %counts = arith.cmpi ult, %i, %valid : index
          %v = arith.select %counts, %z, %zero : f32
          linalg.yield %v : f32
        } -> tensor<16x128xf32, #tile>
        %sum = linalg.reduce {arith.addf} ins(%weighted : tensor<16x128xf32, #tile>) outs(%acc : tensor<128xf32, #columns>) dimensions = [0]
        %m = arith.addi %n, %one : i32
        scf.yield %m, %sum : i32, tensor<128xf32, #columns>
      }
      dataflow.yield %r#0, %r#1 : i32, tensor<128xf32, #columns>
    }
  }
}
