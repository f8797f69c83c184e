// Reads what a paged decode reads and does next to nothing with it: of each page one row of 128 elements is added up.
// Which row depends on the page's place in the range, so that a compiler has no reason to load less than the page.
//
// Operands, ranges and bytes read are those of examples/mla-decode; the result is [batch, 128] sums and the pages read.

!part = !dataflow.record<tiles: i32, acc: tensor<128xf32>>

dataflow.program @consume_pages(%q: tensor<?x?x576xf16>, %pages: tensor<?x?x576xf16>, %table: tensor<?x?xi32>,
                                %lengths: tensor<?xi32>, %sums: tensor<?x128xf32>, %tiles: tensor<?xi32>)
    params {heads = 32 : index, page = 64 : index, element = f16} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @requests(request = %batch)
  dataflow.range @tokens of @requests length %lengths[request] tile "page" : tensor<?xi32>

  %parts = dataflow.map @consume tasks @requests over @tokens
      operands(%q, %pages, %table : tensor<?x?x576xf16>, tensor<?x?x576xf16>, tensor<?x?xi32>)
      : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %none = arith.constant 0 : i32
    %zeros = arith.constant dense<0.0> : tensor<128xf32>
    dataflow.yield %none, %zeros : i32, tensor<128xf32>
  }
  dataflow.finalize @store(%whole) tasks @requests outs(%sums, %tiles : tensor<?x128xf32>, tensor<?xi32>)
      : (!dataflow.channel<!part>) -> ()

  dataflow.handler @consume(%request: index, %begin: index, %end: index, %q: tensor<?x?x576xf16>, %pages: tensor<?x?x576xf16>,
                            %table: tensor<?x?xi32>) -> (i32, tensor<128xf32>) {
    %heads = dataflow.param "heads" : index
    %page = dataflow.param "page" : index
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // A row of the query starts the sum of the piece that begins the range; the others only load it.
    %c0 = arith.constant 0 : index
    %query = tensor.extract_slice %q[%request, 0, 0] [1, %heads, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
    %head = arith.remui %request, %heads : index
    %first = tensor.extract_slice %query[%head, 0] [1, 128] [1, 1] : tensor<?x576xf16> to tensor<128xf16>
    %is_first = arith.cmpi eq, %begin, %c0 : index
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<128xf32>
    %start = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
        ins(%first : tensor<128xf16>) outs(%empty : tensor<128xf32>) {
    ^bb0(%e: f16, %o: f32):
      %x = arith.extf %e : f16 to f32
      %y = arith.select %is_first, %x, %zero : f32
      linalg.yield %y : f32
    } -> tensor<128xf32>
    %r:2 = scf.for %t = %begin to %end step %page iter_args(%n = %none, %acc = %start) -> (i32, tensor<128xf32>) {
      %column = arith.divui %t, %page : index
      %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
      %place = arith.index_cast %number : i32 to index
      %keys = tensor.extract_slice %pages[%place, 0, 0] [1, %page, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
      %row = arith.remui %column, %page : index
      %some = tensor.extract_slice %keys[%row, 0] [1, 128] [1, 1] : tensor<?x576xf16> to tensor<128xf16>
      %sum = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                             iterator_types = ["parallel"]}
          ins(%some, %acc : tensor<128xf16>, tensor<128xf32>) outs(%empty : tensor<128xf32>) {
      ^bb0(%e: f16, %a: f32, %o: f32):
        %x = arith.extf %e : f16 to f32
        %y = arith.addf %a, %x : f32
        linalg.yield %y : f32
      } -> tensor<128xf32>
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
}
