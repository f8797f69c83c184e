// Grouped-query attention decode over paged keys and values: several query tokens a request (a draft), ragged lengths.
//
// q       [batch, kv heads, rows, dim]   row = token of the draft * group + query head of the group; rows = draft * group
// keys    [pages, kv heads, page, dim]
// values  [pages, kv heads, page, dim]
// table   [batch, pages of the longest request]   page numbers
// lengths [batch]                        tokens of each request, those of the draft included: they are the last ones
// out     [batch, kv heads, rows, dim]   softmax(q k^T / sqrt(dim)) v over the tokens up to the query's own; 0 where there are none
// lse     [batch, kv heads, rows]        log-sum-exp of the scaled scores, natural; -inf where there are none

!partial = !dataflow.record<max: tensor<?xf32>, sum: tensor<?xf32>, acc: tensor<?x?xf32>>

dataflow.program @gqa_decode(%q: tensor<?x?x?x?xf16>, %keys: tensor<?x?x?x?xf16>, %values: tensor<?x?x?x?xf16>,
                             %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %out: tensor<?x?x?x?xf16>,
                             %lse: tensor<?x?x?xf32>)
    params {group = 8 : index, draft = 1 : index, dim = 128 : index, page = 64 : index, element = f16} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %lengths, %c0 : tensor<?xi32>
  %kv_heads = tensor.dim %keys, %c1 : tensor<?x?x?x?xf16>
  dataflow.tasks @heads(request = %batch, head = %kv_heads)
  dataflow.range @tokens of @heads length %lengths[request] tile "page" : tensor<?xi32>

  %parts = dataflow.map @attend tasks @heads over @tokens
      operands(%q, %keys, %values, %table, %lengths
               : tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>, tensor<?x?xi32>, tensor<?xi32>)
      : () -> !dataflow.channel<!partial, pieces>
  %whole = dataflow.reduce @merge(%parts)
      : (!dataflow.channel<!partial, pieces>) -> !dataflow.channel<!partial> identity {
    %c8 = arith.constant 8 : index
    %group = dataflow.param "group" : index
    %draft = dataflow.param "draft" : index
    %dim = dataflow.param "dim" : index
    %used = arith.muli %group, %draft : index
    %eights = arith.ceildivui %used, %c8 : index
    %rows = arith.muli %eights, %c8 : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %max = tensor.splat %minus_inf[%rows] : tensor<?xf32>
    %sum = tensor.splat %zero[%rows] : tensor<?xf32>
    %acc = tensor.splat %zero[%rows, %dim] : tensor<?x?xf32>
    dataflow.yield %max, %sum, %acc : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
  }
  dataflow.finalize @normalize(%whole) tasks @heads outs(%out, %lse : tensor<?x?x?x?xf16>, tensor<?x?x?xf32>)
      : (!dataflow.channel<!partial>) -> ()

  // Online softmax over the pages of [begin, end). Scores are kept in units of log2(e) so that exp2 suffices.
  dataflow.handler @attend(%request: index, %head: index, %begin: index, %end: index, %q: tensor<?x?x?x?xf16>,
                           %keys: tensor<?x?x?x?xf16>, %values: tensor<?x?x?x?xf16>, %table: tensor<?x?xi32>,
                           %lengths: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
    %c8 = arith.constant 8 : index
    %group = dataflow.param "group" : index
    %draft = dataflow.param "draft" : index
    %dim = dataflow.param "dim" : index
    %page = dataflow.param "page" : index
    %used = arith.muli %group, %draft : index
    %eights = arith.ceildivui %used, %c8 : index
    %rows = arith.muli %eights, %c8 : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %one = arith.constant 1 : i32
    // log2(e) / sqrt(dim)
    %log2e = arith.constant 1.44269504 : f32
    %dim_int = arith.index_cast %dim : index to i32
    %dim_float = arith.sitofp %dim_int : i32 to f32
    %root = math.sqrt %dim_float : f32
    %scale = arith.divf %log2e, %root : f32

    // The tokens that a row sees: a token of the draft sees itself, and those behind it do not count.
    %length = tensor.extract %lengths[%request] : tensor<?xi32>
    %draft_int = arith.index_cast %draft : index to i32
    %before = arith.subi %length, %draft_int : i32
    %seen_empty = tensor.empty(%rows) : tensor<?xi32>
    %seen = linalg.generic {indexing_maps = [affine_map<(h) -> (h)>], iterator_types = ["parallel"]}
        outs(%seen_empty : tensor<?xi32>) {
    ^bb0(%o: i32):
      %row = linalg.index 0 : index
      %token = arith.divui %row, %group : index
      %token_int = arith.index_cast %token : index to i32
      %last = arith.addi %before, %token_int : i32
      %count = arith.addi %last, %one : i32
      linalg.yield %count : i32
    } -> tensor<?xi32>

    %max0 = tensor.splat %minus_inf[%rows] : tensor<?xf32>
    %sum0 = tensor.splat %zero[%rows] : tensor<?xf32>
    %acc0 = tensor.splat %zero[%rows, %dim] : tensor<?x?xf32>
    // The tensor cores take rows by eights.
    %missing = arith.subi %rows, %used : index
    %nothing = arith.constant 0.0 : f16
    %query_used = tensor.extract_slice %q[%request, %head, 0, 0] [1, 1, %used, %dim] [1, 1, 1, 1]
        : tensor<?x?x?x?xf16> to tensor<?x?xf16>
    %query = tensor.pad %query_used low[0, 0] high[%missing, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %nothing : f16
    } : tensor<?x?xf16> to tensor<?x?xf16>
    %r:3 = scf.for %t = %begin to %end step %page iter_args(%max = %max0, %sum = %sum0, %acc = %acc0)
        -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
      %column = arith.divui %t, %page : index
      %number = tensor.extract %table[%request, %column] : tensor<?x?xi32>
      %place = arith.index_cast %number : i32 to index
      %k = tensor.extract_slice %keys[%place, %head, 0, 0] [1, 1, %page, %dim] [1, 1, 1, 1]
          : tensor<?x?x?x?xf16> to tensor<?x?xf16>
      %v = tensor.extract_slice %values[%place, %head, 0, 0] [1, 1, %page, %dim] [1, 1, 1, 1]
          : tensor<?x?x?x?xf16> to tensor<?x?xf16>

      %s_empty = tensor.empty(%rows, %page) : tensor<?x?xf32>
      %s_init = linalg.fill ins(%zero : f32) outs(%s_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
      %dots = linalg.contract
          indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>]
          ins(%query, %k : tensor<?x?xf16>, tensor<?x?xf16>) outs(%s_init : tensor<?x?xf32>) -> tensor<?x?xf32>
      %first = arith.index_cast %t : index to i32
      %scores = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>],
                                iterator_types = ["parallel", "parallel"]}
          ins(%dots, %seen : tensor<?x?xf32>, tensor<?xi32>) outs(%s_empty : tensor<?x?xf32>) {
      ^bb0(%s: f32, %n: i32, %o: f32):
        %i = linalg.index 1 : index
        %offset = arith.index_cast %i : index to i32
        %position = arith.addi %first, %offset : i32
        %live = arith.cmpi slt, %position, %n : i32
        %scaled = arith.mulf %s, %scale : f32
        %masked = arith.select %live, %scaled, %minus_inf : f32
        linalg.yield %masked : f32
      } -> tensor<?x?xf32>

      %new_max = linalg.reduce ins(%scores : tensor<?x?xf32>) outs(%max : tensor<?xf32>) dimensions = [1]
          (%s: f32, %m: f32) {
            %x = arith.maximumf %s, %m : f32
            linalg.yield %x : f32
          }
      // A row that has seen nothing yet keeps the maximum -inf; its weights are taken from 0, since -inf - -inf is NaN.
      %none = tensor.splat %minus_inf[%rows] : tensor<?xf32>
      %zeros = tensor.splat %zero[%rows] : tensor<?xf32>
      %is_empty = arith.cmpf oeq, %new_max, %none : tensor<?xf32>
      %base = arith.select %is_empty, %zeros, %new_max : tensor<?xi1>, tensor<?xf32>
      %shrink_diff = arith.subf %max, %base : tensor<?xf32>
      %shrink = math.exp2 %shrink_diff : tensor<?xf32>
      %p = linalg.generic {indexing_maps = [affine_map<(h, t) -> (h, t)>, affine_map<(h, t) -> (h)>, affine_map<(h, t) -> (h, t)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%scores, %base : tensor<?x?xf32>, tensor<?xf32>) outs(%s_empty : tensor<?x?xf32>) {
      ^bb0(%s: f32, %m: f32, %o: f32):
        %d = arith.subf %s, %m : f32
        %e = math.exp2 %d : f32
        linalg.yield %e : f32
      } -> tensor<?x?xf32>
      // In any order: what a thread has of the sum may wait for that of others until the end.
      %sum_scaled = arith.mulf %sum, %shrink fastmath<reassoc> : tensor<?xf32>
      %new_sum = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%p : tensor<?x?xf32>) outs(%sum_scaled : tensor<?xf32>) dimensions = [1]

      %weights = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
      %acc_scaled = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>],
                                    iterator_types = ["parallel", "parallel"]}
          ins(%shrink : tensor<?xf32>) outs(%acc : tensor<?x?xf32>) {
      ^bb0(%f: f32, %a: f32):
        %x = arith.mulf %f, %a : f32
        linalg.yield %x : f32
      } -> tensor<?x?xf32>
      %new_acc = linalg.contract
          indexing_maps = [affine_map<(h, d, t) -> (h, t)>, affine_map<(h, d, t) -> (t, d)>, affine_map<(h, d, t) -> (h, d)>]
          ins(%weights, %v : tensor<?x?xf16>, tensor<?x?xf16>) outs(%acc_scaled : tensor<?x?xf32>) -> tensor<?x?xf32>
      scf.yield %new_max, %new_sum, %new_acc : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
    }
    dataflow.yield %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
  }

  // Combines two partial softmax states. A part without tokens has maximum -inf and weight 0; the difference of two
  // infinities would be NaN, so its weight is selected, not computed.
  dataflow.handler @merge(%max_a: tensor<?xf32>, %sum_a: tensor<?xf32>, %acc_a: tensor<?x?xf32>,
                          %max_b: tensor<?xf32>, %sum_b: tensor<?xf32>, %acc_b: tensor<?x?xf32>)
      -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
    %c8 = arith.constant 8 : index
    %group = dataflow.param "group" : index
    %draft = dataflow.param "draft" : index
    %dim = dataflow.param "dim" : index
    %used = arith.muli %group, %draft : index
    %eights = arith.ceildivui %used, %c8 : index
    %rows = arith.muli %eights, %c8 : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %max = arith.maximumf %max_a, %max_b : tensor<?xf32>
    %empty = tensor.splat %minus_inf[%rows] : tensor<?xf32>
    %none = tensor.splat %zero[%rows] : tensor<?xf32>
    %a_is_empty = arith.cmpf oeq, %max_a, %empty : tensor<?xf32>
    %b_is_empty = arith.cmpf oeq, %max_b, %empty : tensor<?xf32>
    %diff_a = arith.subf %max_a, %max : tensor<?xf32>
    %diff_b = arith.subf %max_b, %max : tensor<?xf32>
    %exp_a = math.exp2 %diff_a : tensor<?xf32>
    %exp_b = math.exp2 %diff_b : tensor<?xf32>
    %w_a = arith.select %a_is_empty, %none, %exp_a : tensor<?xi1>, tensor<?xf32>
    %w_b = arith.select %b_is_empty, %none, %exp_b : tensor<?xi1>, tensor<?xf32>
    %s_a = arith.mulf %sum_a, %w_a : tensor<?xf32>
    %s_b = arith.mulf %sum_b, %w_b : tensor<?xf32>
    %sum = arith.addf %s_a, %s_b : tensor<?xf32>
    %acc_empty = tensor.empty(%rows, %dim) : tensor<?x?xf32>
    %acc = linalg.generic {indexing_maps = [affine_map<(h, d) -> (h)>, affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h)>,
                                            affine_map<(h, d) -> (h, d)>, affine_map<(h, d) -> (h, d)>],
                           iterator_types = ["parallel", "parallel"]}
        ins(%w_a, %acc_a, %w_b, %acc_b : tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>)
        outs(%acc_empty : tensor<?x?xf32>) {
    ^bb0(%wa: f32, %a: f32, %wb: f32, %b: f32, %o: f32):
      %x = arith.mulf %wa, %a : f32
      %y = arith.mulf %wb, %b : f32
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    } -> tensor<?x?xf32>
    dataflow.yield %max, %sum, %acc : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
  }

  dataflow.handler @normalize(%request: index, %head: index, %max_rows: tensor<?xf32>, %sum_rows: tensor<?xf32>, %acc_rows: tensor<?x?xf32>,
                              %out: tensor<?x?x?x?xf16>, %lse: tensor<?x?x?xf32>) -> (tensor<?x?x?x?xf16>, tensor<?x?x?xf32>) {
    %group = dataflow.param "group" : index
    %draft = dataflow.param "draft" : index
    %dim = dataflow.param "dim" : index
    %used = arith.muli %group, %draft : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %ln2 = arith.constant 0.69314718 : f32
    %max = tensor.extract_slice %max_rows[0] [%used] [1] : tensor<?xf32> to tensor<?xf32>
    %sum = tensor.extract_slice %sum_rows[0] [%used] [1] : tensor<?xf32> to tensor<?xf32>
    %acc = tensor.extract_slice %acc_rows[0, 0] [%used, %dim] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %out_empty = tensor.empty(%used, %dim) : tensor<?x?xf16>
    // One division a row.
    %inverse_empty = tensor.empty(%used) : tensor<?xf32>
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
        ins(%inverse, %acc : tensor<?xf32>, tensor<?x?xf32>) outs(%out_empty : tensor<?x?xf16>) {
    ^bb0(%i: f32, %a: f32, %o: f16):
      %x = arith.mulf %a, %i : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
    } -> tensor<?x?xf16>
    %new_out = tensor.insert_slice %row into %out[%request, %head, 0, 0] [1, 1, %used, %dim] [1, 1, 1, 1]
        : tensor<?x?xf16> into tensor<?x?x?x?xf16>
    // lse = ln2 * (max + log2(sum)); log2(0) = -inf is what a row that sees nothing asks for.
    %log = math.log2 %sum : tensor<?xf32>
    %exponent = arith.addf %max, %log : tensor<?xf32>
    %factor = tensor.splat %ln2[%used] : tensor<?xf32>
    %lse_row = arith.mulf %exponent, %factor : tensor<?xf32>
    %new_lse = tensor.insert_slice %lse_row into %lse[%request, %head, 0] [1, 1, %used] [1, 1, 1]
        : tensor<?xf32> into tensor<?x?x?xf32>
    dataflow.yield %new_out, %new_lse : tensor<?x?x?x?xf16>, tensor<?x?x?xf32>
  }
}
