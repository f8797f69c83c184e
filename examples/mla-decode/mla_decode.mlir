// Multi-head latent attention decode over paged keys: one query token a request, any number of heads, ragged lengths.
//
// A task is a request and a block of heads: up to `block` heads read a tile of keys together, more heads are several blocks of
// equal size. (65 heads and the like, which blocks do not divide, need another `block`.)
//
// q      [batch, heads, 576]     512 latent and 64 rotary dimensions
// pages  [pages, page, 576]      the first 512 dimensions of a key are also its value
// table  [batch, pages of the longest request]   page numbers
// lengths [batch]                tokens of each request
// out    [batch, heads, 512]     softmax(q k^T / sqrt(576)) v; 0 where a request has no tokens
// lse    [batch, heads]          log-sum-exp of the scaled scores, natural; -inf where a request has no tokens

!partial = !dataflow.record<max: tensor<?xf32>, sum: tensor<?xf32>, acc: tensor<?x512xf32>>

dataflow.program @mla_decode(%q: tensor<?x?x576xf16>, %pages: tensor<?x?x576xf16>, %table: tensor<?x?xi32>,
                             %lengths: tensor<?xi32>, %out: tensor<?x?x512xf16>, %lse: tensor<?x?xf32>)
    params {heads = 32 : index, block = 64 : index, page = 64 : index, element = f16}
    attributes {dataflow.extents = {q = [-1, "heads", -1], out = [-1, "heads", -1], lse = [-1, "heads"]}} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  %all = dataflow.param "heads" : index
  %most = dataflow.param "block" : index
  %blocks = arith.ceildivui %all, %most : index
  dataflow.tasks @requests(request = %batch, block = %blocks)
  dataflow.range @tokens of @requests length %lengths[request] tile "page" : tensor<?xi32>

  %parts = dataflow.map @attend tasks @requests over @tokens
      operands(%q, %pages, %table : tensor<?x?x576xf16>, tensor<?x?x576xf16>, tensor<?x?xi32>)
      : () -> !dataflow.channel<!partial, pieces>
  %whole = dataflow.reduce @merge(%parts) requests [#dataflow.precision<accumulator = f32>]
      : (!dataflow.channel<!partial, pieces>) -> !dataflow.channel<!partial> identity {
    %all = dataflow.param "heads" : index
    %most = dataflow.param "block" : index
    %blocks = arith.ceildivui %all, %most : index
    %heads = arith.divui %all, %blocks : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %max = tensor.splat %minus_inf[%heads] : tensor<?xf32>
    %sum = tensor.splat %zero[%heads] : tensor<?xf32>
    %acc = tensor.splat %zero[%heads] : tensor<?x512xf32>
    dataflow.yield %max, %sum, %acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
  }
  dataflow.finalize @normalize(%whole) tasks @requests outs(%out, %lse : tensor<?x?x512xf16>, tensor<?x?xf32>)
      : (!dataflow.channel<!partial>) -> ()

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
    // log2(e) / sqrt(576)
    %scale = arith.constant 0.060112295 : f32
    %max0 = tensor.splat %minus_inf[%heads] : tensor<?xf32>
    %sum0 = tensor.splat %zero[%heads] : tensor<?xf32>
    %acc0 = tensor.splat %zero[%heads] : tensor<?x512xf32>
    %slack = arith.constant 8.0 : f32
    %none = arith.constant dense<false> : tensor<i1>
    %first = arith.muli %block, %heads : index
    %query = tensor.extract_slice %q[%request, %first, 0] [1, %heads, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
    %r:3 = scf.for %t = %begin to %end step %page iter_args(%max = %max0, %sum = %sum0, %acc = %acc0)
        -> (tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>) {
      %column = arith.divui %t, %page : index
      %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
      %row = arith.index_cast %number : i32 to index
      %keys = tensor.extract_slice %pages[%row, 0, 0] [1, %page, 576] [1, 1, 1] : tensor<?x?x576xf16> to tensor<?x576xf16>
      %values = tensor.extract_slice %keys[0, 0] [%page, 512] [1, 1] : tensor<?x576xf16> to tensor<?x512xf16>

      // Scores, masked behind the end.
      %s_empty = tensor.empty(%heads, %page) : tensor<?x?xf32>
      %s_init = linalg.fill ins(%zero : f32) outs(%s_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
      %dots = linalg.contract
          indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>]
          ins(%query, %keys : tensor<?x576xf16>, tensor<?x576xf16>) outs(%s_init : tensor<?x?xf32>) -> tensor<?x?xf32>
      %left = arith.subi %end, %t : index
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

      // exp2(s - m) is exact for any m. So the maximum, and what was summed up with it, change only when a score is far above it;
      // weights are at most 2^8 then. A tile has at least one live column, so the maximum is finite from the first tile on.
      %above_empty = tensor.empty(%heads, %page) : tensor<?x?xi1>
      %above = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>],
                               iterator_types = ["parallel", "parallel"]}
          ins(%scores, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%above_empty : tensor<?x?xi1>) {
      ^bb0(%s: f32, %m: f32, %o: i1):
        %d = arith.subf %s, %m : f32
        %e = arith.cmpf ogt, %d, %slack : f32
        linalg.yield %e : i1
      } -> tensor<?x?xi1>
      %any = linalg.reduce { arith.ori } ins(%above : tensor<?x?xi1>) outs(%none : tensor<i1>) dimensions = [0, 1]
      %grows = tensor.extract %any[] : tensor<i1>
      %c:3 = scf.if %grows -> (tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>) {
        %new_max = linalg.reduce ins(%scores : tensor<?x?xf32>) outs(%max : tensor<?xf32>) dimensions = [1]
            (%s: f32, %m: f32) {
              %x = arith.maximumf %s, %m : f32
              linalg.yield %x : f32
            }
        %diff = arith.subf %max, %new_max : tensor<?xf32>
        %shrink = math.exp2 %diff : tensor<?xf32>
        // In any order: what a thread has of the sum may wait for that of others until the end.
        %sum_scaled = arith.mulf %sum, %shrink fastmath<reassoc> : tensor<?xf32>
        %acc_scaled = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>],
                                      iterator_types = ["parallel", "parallel"]}
            ins(%shrink : tensor<?xf32>) outs(%acc : tensor<?x512xf32>) {
        ^bb0(%f: f32, %a: f32):
          %x = arith.mulf %f, %a : f32
          linalg.yield %x : f32
        } -> tensor<?x512xf32>
        scf.yield %new_max, %sum_scaled, %acc_scaled : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
      } else {
        scf.yield %max, %sum, %acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
      }
      %p = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%scores, %c#0 : tensor<?x?xf32>, tensor<?xf32>) outs(%s_empty : tensor<?x?xf32>) {
      ^bb0(%s: f32, %m: f32, %o: f32):
        %d = arith.subf %s, %m : f32
        %e = math.exp2 %d : f32
        linalg.yield %e : f32
      } -> tensor<?x?xf32>
      %new_sum = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%p : tensor<?x?xf32>) outs(%c#1 : tensor<?xf32>) dimensions = [1]

      %weights = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
      %new_acc = linalg.contract
          indexing_maps = [affine_map<(h, d, t) -> (h, t)>, affine_map<(h, d, t) -> (t, d)>, affine_map<(h, d, t) -> (h, d)>]
          ins(%weights, %values : tensor<?x?xf16>, tensor<?x512xf16>) outs(%c#2 : tensor<?x512xf32>) -> tensor<?x512xf32>
      scf.yield %c#0, %new_sum, %new_acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
    }
    // (max + k, sum 2^-k, acc 2^-k) is the same state for any k. With a sum of about 1, acc is within the range of the values, so
    // that it may be stored in 16 bits; an empty piece keeps its sum of 0.
    %least = arith.constant 0x0D800000 : f32
    %floor = tensor.splat %least[%heads] : tensor<?xf32>
    %positive = arith.maximumf %r#1, %floor : tensor<?xf32>
    %k = math.log2 %positive fastmath<afn> : tensor<?xf32>
    %minus_k = arith.negf %k : tensor<?xf32>
    %unit = math.exp2 %minus_k : tensor<?xf32>
    %unit_max = arith.addf %r#0, %k : tensor<?xf32>
    %unit_sum = arith.mulf %r#1, %unit : tensor<?xf32>
    %unit_acc = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>],
                                iterator_types = ["parallel", "parallel"]}
        ins(%unit : tensor<?xf32>) outs(%r#2 : tensor<?x512xf32>) {
    ^bb0(%f: f32, %a: f32):
      %x = arith.mulf %f, %a : f32
      linalg.yield %x : f32
    } -> tensor<?x512xf32>
    dataflow.yield %unit_max, %unit_sum, %unit_acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
  }

  // Combines two partial softmax states. A part of an empty request has maximum -inf and weight 0; the difference of two
  // infinities would be NaN, so the weight of an empty part is selected, not computed.
  dataflow.handler @merge(%max_a: tensor<?xf32>, %sum_a: tensor<?xf32>, %acc_a: tensor<?x512xf32>,
                          %max_b: tensor<?xf32>, %sum_b: tensor<?xf32>, %acc_b: tensor<?x512xf32>)
      -> (tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>) {
    %all = dataflow.param "heads" : index
    %most = dataflow.param "block" : index
    %blocks = arith.ceildivui %all, %most : index
    %heads = arith.divui %all, %blocks : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %max = arith.maximumf %max_a, %max_b : tensor<?xf32>
    %empty = tensor.splat %minus_inf[%heads] : tensor<?xf32>
    %none = tensor.splat %zero[%heads] : tensor<?xf32>
    %a_is_empty = arith.cmpf oeq, %max_a, %empty : tensor<?xf32>
    %b_is_empty = arith.cmpf oeq, %max_b, %empty : tensor<?xf32>
    %diff_a = arith.subf %max_a, %max : tensor<?xf32>
    %diff_b = arith.subf %max_b, %max : tensor<?xf32>
    %exp_a = math.exp2 %diff_a : tensor<?xf32>
    %exp_b = math.exp2 %diff_b : tensor<?xf32>
    %w_a = arith.select %a_is_empty, %none, %exp_a : tensor<?xi1>, tensor<?xf32>
    %w_b = arith.select %b_is_empty, %none, %exp_b : tensor<?xi1>, tensor<?xf32>
    %s_a = arith.mulf %sum_a, %w_a fastmath<contract> : tensor<?xf32>
    %s_b = arith.mulf %sum_b, %w_b fastmath<contract> : tensor<?xf32>
    %sum = arith.addf %s_a, %s_b fastmath<contract> : tensor<?xf32>
    %acc_empty = tensor.empty(%heads) : tensor<?x512xf32>
    %acc = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>,
                                            affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%w_a, %acc_a, %w_b, %acc_b : tensor<?xf32>, tensor<?x512xf32>, tensor<?xf32>, tensor<?x512xf32>)
        outs(%acc_empty : tensor<?x512xf32>) {
    ^bb0(%wa: f32, %a: f32, %wb: f32, %b: f32, %o: f32):
      %x = arith.mulf %wa, %a fastmath<contract> : f32
      %y = arith.mulf %wb, %b fastmath<contract> : f32
      %z = arith.addf %x, %y fastmath<contract> : f32
      linalg.yield %z : f32
    } -> tensor<?x512xf32>
    dataflow.yield %max, %sum, %acc : tensor<?xf32>, tensor<?xf32>, tensor<?x512xf32>
  }

  dataflow.handler @normalize(%request: index, %block: index, %max: tensor<?xf32>, %sum: tensor<?xf32>, %acc: tensor<?x512xf32>,
                              %out: tensor<?x?x512xf16>, %lse: tensor<?x?xf32>) -> (tensor<?x?x512xf16>, tensor<?x?xf32>) {
    %all = dataflow.param "heads" : index
    %most = dataflow.param "block" : index
    %blocks = arith.ceildivui %all, %most : index
    %heads = arith.divui %all, %blocks : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %ln2 = arith.constant 0.69314718 : f32
    %out_empty = tensor.empty(%heads) : tensor<?x512xf16>
    // One division a head.
    %inverse_empty = tensor.empty(%heads) : tensor<?xf32>
    %inverse = linalg.generic {indexing_maps = [affine_map<(h) -> (h)>, affine_map<(h) -> (h)>], iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf32>) outs(%inverse_empty : tensor<?xf32>) {
    ^bb0(%s: f32, %o: f32):
      %is_empty = arith.cmpf oeq, %s, %zero : f32
      %d = arith.select %is_empty, %one, %s : f32
      %x = arith.divf %one, %d : f32
      linalg.yield %x : f32
    } -> tensor<?xf32>
    %row = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%inverse, %acc : tensor<?xf32>, tensor<?x512xf32>) outs(%out_empty : tensor<?x512xf16>) {
    ^bb0(%i: f32, %a: f32, %o: f16):
      %x = arith.mulf %a, %i : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
    } -> tensor<?x512xf16>
    %first = arith.muli %block, %heads : index
    %new_out = tensor.insert_slice %row into %out[%request, %first, 0] [1, %heads, 512] [1, 1, 1]
        : tensor<?x512xf16> into tensor<?x?x512xf16>
    // lse = ln2 * (max + log2(sum)); log2(0) = -inf is what an empty request asks for.
    %log = math.log2 %sum : tensor<?xf32>
    %exponent = arith.addf %max, %log : tensor<?xf32>
    %factor = tensor.splat %ln2[%heads] : tensor<?xf32>
    %lse_row = arith.mulf %exponent, %factor : tensor<?xf32>
    %new_lse = tensor.insert_slice %lse_row into %lse[%request, %first] [1, %heads] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %new_out, %new_lse : tensor<?x?x512xf16>, tensor<?x?xf32>
  }
}
