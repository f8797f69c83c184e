// The streams of consume_pages with a layout: tiles come through tensor maps, swizzled, and nobody reads them. What it takes is
// what a kernel cannot avoid: to read the pages. The kernel is written by hand; its handler counts tiles.
//
// The bytes read are those of consume_pages; the result is the number of pages, 128 times, so that tasks that are cut are combined
// as those of consume_pages are.

!part = !dataflow.record<tiles: tensor<128xf32>>
!counts = tensor<128xf32, #dataflow.fragment<[128] block [128] lanes [0:1, 0:2, 0:4, 0:8, 0:16] warps [0:32, 0:64]>>
!tile = tensor<64x576xf16, #dataflow.shared<swizzle = 128, row_group = 9216, chunk = 1024>>
!rows = tensor<32x576xf16, #dataflow.shared<swizzle = 128, row_group = 9216, chunk = 1024>>

dataflow.program @consume_maps(%q: tensor<?x32x576xf16>, %pages: tensor<?x64x576xf16>, %table: tensor<?x?xi32>,
                               %lengths: tensor<?xi32>, %tiles: tensor<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @requests(request = %batch)
  dataflow.range @tokens of @requests length %lengths[request] tile 64 : tensor<?xi32>

  %parts = dataflow.map @consume tasks @requests over @tokens
      operands(%q, %pages, %table : tensor<?x32x576xf16>, tensor<?x64x576xf16>, tensor<?x?xi32>)
      : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %none = arith.constant dense<0.0> : tensor<128xf32>
    dataflow.yield %none : tensor<128xf32>
  }
  dataflow.finalize @store(%whole) tasks @requests outs(%tiles : tensor<?x128xf32>) : (!dataflow.channel<!part>) -> ()

  dataflow.handler @consume(%request: index, %begin: index, %end: index, %q: tensor<?x32x576xf16>, %pages: tensor<?x64x576xf16>,
                            %table: tensor<?x?xi32>) -> tensor<128xf32>
      attributes {cost = {fixed_bytes = 36864, tile_bytes = 73728}} {
    %page = arith.constant 64 : index
    %none = arith.constant dense<0.0> : tensor<128xf32>
    %one = arith.constant dense<1.0> : tensor<128xf32>
    %r = scf.for %t = %begin to %end step %page iter_args(%n = %none) -> (tensor<128xf32>) {
      %m = arith.addf %n, %one : tensor<128xf32>
      scf.yield %m : tensor<128xf32>
    }
    dataflow.yield %r : tensor<128xf32>
  }
  dataflow.handler @add(%a: tensor<128xf32>, %b: tensor<128xf32>) -> tensor<128xf32> {
    %c = arith.addf %a, %b : tensor<128xf32>
    dataflow.yield %c : tensor<128xf32>
  }
  dataflow.handler @store(%request: index, %n: tensor<128xf32>, %tiles: tensor<?x128xf32>) -> tensor<?x128xf32> {
    %new = tensor.insert_slice %n into %tiles[%request, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<?x128xf32>
    dataflow.yield %new : tensor<?x128xf32>
  }

  dataflow.kernel @kernel consumers 1 {
    dataflow.stream @q depth 1 of tensor<32x576xf16> layout <swizzle = 128, row_group = 9216, chunk = 1024>
    dataflow.stream @pages depth 2 of tensor<64x576xf16> layout <swizzle = 128, row_group = 9216, chunk = 1024> evict_first
    dataflow.part @consume_load of @consume load(%request: index, %begin: index, %end: index, %q: tensor<?x32x576xf16>,
                                                 %pages: tensor<?x64x576xf16>, %table: tensor<?x?xi32>) {
      %page = arith.constant 64 : index
      dataflow.fill @q, %q[%request, 0, 0] [1, 32, 576] [1, 1, 1] : tensor<?x32x576xf16> to tensor<32x576xf16>
      scf.for %t = %begin to %end step %page {
        %column = arith.divui %t, %page : index
        %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
        %place = arith.index_cast %number : i32 to index
        dataflow.fill @pages, %pages[%place, 0, 0] [1, 64, 576] [1, 1, 1] : tensor<?x64x576xf16> to tensor<64x576xf16>
      }
      dataflow.yield
    }
    dataflow.part @consume_compute of @consume compute(%request: index, %begin: index, %end: index, %q: tensor<?x32x576xf16>,
                                                       %pages: tensor<?x64x576xf16>, %table: tensor<?x?xi32>)
        -> tensor<128xf32> attributes {fragments} {
      %page = arith.constant 64 : index
      %none = arith.constant dense<0.0> : !counts
      %one = arith.constant dense<1.0> : !counts
      %query = dataflow.take @q : !rows
      dataflow.give @q
      %r = scf.for %t = %begin to %end step %page iter_args(%n = %none) -> (!counts) {
        %keys = dataflow.take @pages : !tile
        dataflow.give @pages
        %m = arith.addf %n, %one : !counts
        scf.yield %m : !counts
      }
      dataflow.yield %r : !counts
    }
  }
}
