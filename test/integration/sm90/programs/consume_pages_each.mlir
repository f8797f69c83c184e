// Reads the pages that a paged decode reads, and of each stores one element. No record leaves a CTA: what remains is
// reading, so the time above a kernel that only reads is that of the queue, the rings and the launch.
//
// Keys, ranges and their bytes are those of examples/mla-decode; `marks` has an element for each page of a request.

dataflow.program @consume_pages_each(%pages: tensor<?x?x576xf16>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>,
                                     %marks: tensor<?x?xf32>)
    params {page = 64 : index, element = f16} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @requests(request = %batch)
  dataflow.range @tokens of @requests length %lengths[request] tile "page" : tensor<?xi32>
  dataflow.finalize @consume tasks @requests each @tokens
      operands(%pages, %table : tensor<?x?x576xf16>, tensor<?x?xi32>) outs(%marks : tensor<?x?xf32>) : () -> ()

  dataflow.handler @consume(%request: index, %begin: index, %end: index, %pages: tensor<?x?x576xf16>, %table: tensor<?x?xi32>,
                            %marks: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %page = dataflow.param "page" : index
    %column = arith.divui %begin, %page : index
    %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
    %place = arith.index_cast %number : i32 to index
    %keys = tensor.extract_slice %pages[%place, 0, 0] [1, %page, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
    // The place of the element depends on that of the page: no reason to load less than all of it.
    %c576 = arith.constant 576 : index
    %row = arith.remui %column, %page : index
    %at = arith.remui %column, %c576 : index
    %some = tensor.extract %keys[%row, %at] : tensor<?x576xf16>
    %wide = arith.extf %some : f16 to f32
    %new = tensor.insert %wide into %marks[%request, %column] : tensor<?x?xf32>
    dataflow.yield %new : tensor<?x?xf32>
  }
}
