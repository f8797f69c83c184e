// The handler @attend of examples/mla-decode/mla_decode.mlir, which matrix.py puts in its place: the last page is padded with
// zeros, so that nothing behind the last token is read.

// Online softmax over the pages of [begin, end). Scores are kept in units of log2(e) so that exp2 suffices.
dataflow.handler @attend(%request: index, %block: index, %begin: index, %end: index, %q: tensor<?x?x576xf16>,
                         %pages: tensor<?x?x576xf16>, %table: tensor<?x?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>) {
  %all = dataflow.param "heads" : index
  %most = dataflow.param "block" : index
  %blocks = arith.ceildivui %all, %most : index
  %heads = arith.divui %all, %blocks : index
  %page = dataflow.param "page" : index
  %zero = arith.constant 0.0 : f32
  %minus_inf = arith.constant 0xFF800000 : f32
  %nothing = arith.constant 0.0 : f16
  // log2(e) / sqrt(576)
  %scale = arith.constant 0.060112295 : f32
  %max0 = tensor.splat %minus_inf[%heads] : tensor<?xf32>
  %sum0 = tensor.splat %zero[%heads] : tensor<?xf32>
  %acc0 = tensor.splat %zero[%heads] : tensor<?x512xf32>
  %first = arith.muli %block, %heads : index
  %query = tensor.extract_slice %q[%request, %first, 0] [1, %heads, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
  %r:3 = scf.for %t = %begin to %end step %page iter_args(%max = %max0, %sum = %sum0, %acc = %acc0)
      -> (tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>) {
    %column = arith.divui %t, %page : index
    %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
    %row = arith.index_cast %number : i32 to index
    // Rows of the last page behind the last token may hold anything.
    %left = arith.subi %end, %t : index
    %here = arith.minui %left, %page : index
    %behind = arith.subi %page, %here : index
    %key_rows = tensor.extract_slice %pages[%row, 0, 0] [1, %here, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
    %keys = tensor.pad %key_rows low[0, 0] high[%behind, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %nothing : f16
    } : tensor<?x576xf16> to tensor<?x576xf16>
    %values = tensor.extract_slice %keys[0, 0] [%page, 512] [1, 1] : tensor<?x576xf16> to tensor<?x512xf16>

    // Scores, masked behind the end.
    %s_empty = tensor.empty(%heads, %page) : tensor<?x?xf32>
    %s_init = linalg.fill ins(%zero : f32) outs(%s_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %dots = linalg.contract
        indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>]
        ins(%query, %keys : tensor<?x576xf16>, tensor<?x576xf16>) outs(%s_init : tensor<?x?xf32>) -> tensor<?x?xf32>
    %scores = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h, t)>],
                              iterator_types = ["parallel", "parallel"]}
        ins(%dots : tensor<?x?xf32>) outs(%s_empty : tensor<?x?xf32>) {
    ^bb0(%s: f32, %o: f32):
      %i = linalg.index 1 : index
      %live = arith.cmpi ult, %i, %left : index
      %scaled = arith.mulf %s, %scale : f32
      %masked = arith.select %live, %scaled, %minus_inf : f32
      linalg.yield %masked : f32
    } -> tensor<?x?xf32>

    // A tile has at least one live column, so the new maximum is finite.
    %new_max = linalg.reduce ins(%scores : tensor<?x?xf32>) outs(%max : tensor<?xf32>) dimensions = [1]
        (%s: f32, %m: f32) {
          %x = arith.maximumf %s, %m : f32
          linalg.yield %x : f32
        }
    %shrink_diff = arith.subf %max, %new_max : tensor<?xf32>
    %shrink = math.exp2 %shrink_diff : tensor<?xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%scores, %new_max : tensor<?x?xf32>, tensor<?xf32>) outs(%s_empty : tensor<?x?xf32>) {
    ^bb0(%s: f32, %m: f32, %o: f32):
      %d = arith.subf %s, %m : f32
      %e = math.exp2 %d : f32
      linalg.yield %e : f32
    } -> tensor<?x?xf32>
    %sum_scaled = arith.mulf %sum, %shrink : tensor<?xf32>
    %new_sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf32>) outs(%sum_scaled : tensor<?xf32>) dimensions = [1]

    %weights = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
    %acc_scaled = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>],
                                  iterator_types = ["parallel", "parallel"]}
        ins(%shrink : tensor<?xf32>) outs(%acc : tensor<?x512xf32>) {
    ^bb0(%f: f32, %a: f32):
      %x = arith.mulf %f, %a : f32
      linalg.yield %x : f32
    } -> tensor<?x512xf32>
    %new_acc = linalg.contract
        indexing_maps = [affine_map<(h, d, t) -> (h, t)>, affine_map<(h, d, t) -> (t, d)>, affine_map<(h, d, t) -> (h, d)>]
        ins(%weights, %values : tensor<?x?xf16>, tensor<?x512xf16>) outs(%acc_scaled : tensor<?x512xf32>) -> tensor<?x512xf32>
    scf.yield %new_max, %new_sum, %new_acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
  }
  dataflow.yield %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
}
