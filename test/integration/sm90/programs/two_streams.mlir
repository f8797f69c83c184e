// A handler that no example has: two streams of different tiles, a gate in whole numbers, a record of 12 bytes with an
// integer in it.
//
// signal    [rows, elements, 40]      a vector for each element; storage up to a whole tile behind the last one
// marks     [rows, elements / 2, 16]  eight numbers for each element: it counts if their sum is positive
// direction [rows, 40]                what the vectors are multiplied with
// lengths   [rows]
// totals, peaks, hits [rows]          sum and largest of the products that count (-inf if none), and how many do

!mix = !dataflow.record<total: f32, peak: f32, hits: i32>

dataflow.program @two_streams(%signal: tensor<?x?x40xf16>, %marks: tensor<?x?x16xi32>, %direction: tensor<?x40xf16>,
                              %lengths: tensor<?xi32>, %totals: tensor<?xf32>, %peaks: tensor<?xf32>, %hits: tensor<?xi32>)
    params {element = f16} {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %count)
  dataflow.range @elements of @rows length %lengths[row] tile 64 : tensor<?xi32>

  %parts = dataflow.map @measure tasks @rows over @elements
      operands(%signal, %marks, %direction : tensor<?x?x40xf16>, tensor<?x?x16xi32>, tensor<?x40xf16>)
      : () -> !dataflow.channel<!mix, pieces>
  %whole = dataflow.reduce @join(%parts)
      : (!dataflow.channel<!mix, pieces>) -> !dataflow.channel<!mix> identity {
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %none = arith.constant 0 : i32
    dataflow.yield %zero, %minus_inf, %none : f32, f32, i32
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%totals, %peaks, %hits : tensor<?xf32>, tensor<?xf32>, tensor<?xi32>)
      : (!dataflow.channel<!mix>) -> ()

  dataflow.handler @measure(%row: index, %begin: index, %end: index, %signal: tensor<?x?x40xf16>, %marks: tensor<?x?x16xi32>,
                            %direction: tensor<?x40xf16>) -> (f32, f32, i32) {
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    %nothing = arith.constant dense<0> : tensor<64xi32>
    %to = tensor.extract_slice %direction[%row, 0] [1, 40] [1, 1] : tensor<?x40xf16> to tensor<40xf16>
    %r:3 = scf.for %t = %begin to %end step %c64 iter_args(%total = %zero, %peak = %minus_inf, %hits = %none)
        -> (f32, f32, i32) {
      %vectors = tensor.extract_slice %signal[%row, %t, 0] [1, 64, 40] [1, 1, 1] : tensor<?x?x40xf16> to tensor<64x40xf16>
      %pair = arith.divui %t, %c2 : index
      %pairs = tensor.extract_slice %marks[%row, %pair, 0] [1, 32, 16] [1, 1, 1] : tensor<?x?x16xi32> to tensor<32x16xi32>
      %flat = tensor.collapse_shape %pairs [[0, 1]] : tensor<32x16xi32> into tensor<512xi32>
      %eights = tensor.expand_shape %flat [[0, 1]] output_shape [64, 8] : tensor<512xi32> into tensor<64x8xi32>
      %gate = linalg.reduce { arith.addi } ins(%eights : tensor<64x8xi32>) outs(%nothing : tensor<64xi32>) dimensions = [1]
      %products = linalg.contract
          indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (d)>, affine_map<(i, d) -> (i)>]
          ins(%vectors, %to : tensor<64x40xf16>, tensor<40xf16>) outs(%zeros : tensor<64xf32>) -> tensor<64xf32>
      %left = arith.subi %end, %t : index
      %empty_f = tensor.empty() : tensor<64xf32>
      %empty_i = tensor.empty() : tensor<64xi32>
      %kept:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                                 affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%products, %gate : tensor<64xf32>, tensor<64xi32>)
          outs(%empty_f, %empty_f, %empty_i : tensor<64xf32>, tensor<64xf32>, tensor<64xi32>) {
      ^bb0(%p: f32, %g: i32, %o0: f32, %o1: f32, %o2: i32):
        %i = linalg.index 0 : index
        %inside = arith.cmpi ult, %i, %left : index
        %open = arith.cmpi sgt, %g, %none : i32
        %live = arith.andi %inside, %open : i1
        %add = arith.select %live, %p, %zero : f32
        %max = arith.select %live, %p, %minus_inf : f32
        %hit = arith.select %live, %one, %none : i32
        linalg.yield %add, %max, %hit : f32, f32, i32
      } -> (tensor<64xf32>, tensor<64xf32>, tensor<64xi32>)
      %t0 = tensor.from_elements %total : tensor<f32>
      %t1 = tensor.from_elements %peak : tensor<f32>
      %t2 = tensor.from_elements %hits : tensor<i32>
      %s0 = linalg.reduce { arith.addf } ins(%kept#0 : tensor<64xf32>) outs(%t0 : tensor<f32>) dimensions = [0]
      %s1 = linalg.reduce { arith.maximumf } ins(%kept#1 : tensor<64xf32>) outs(%t1 : tensor<f32>) dimensions = [0]
      %s2 = linalg.reduce { arith.addi } ins(%kept#2 : tensor<64xi32>) outs(%t2 : tensor<i32>) dimensions = [0]
      %new_total = tensor.extract %s0[] : tensor<f32>
      %new_peak = tensor.extract %s1[] : tensor<f32>
      %new_hits = tensor.extract %s2[] : tensor<i32>
      scf.yield %new_total, %new_peak, %new_hits : f32, f32, i32
    }
    dataflow.yield %r#0, %r#1, %r#2 : f32, f32, i32
  }
  dataflow.handler @join(%total_a: f32, %peak_a: f32, %hits_a: i32, %total_b: f32, %peak_b: f32, %hits_b: i32)
      -> (f32, f32, i32) {
    %total = arith.addf %total_a, %total_b : f32
    %peak = arith.maximumf %peak_a, %peak_b : f32
    %hits = arith.addi %hits_a, %hits_b : i32
    dataflow.yield %total, %peak, %hits : f32, f32, i32
  }
  dataflow.handler @store(%row: index, %total: f32, %peak: f32, %n: i32, %totals: tensor<?xf32>, %peaks: tensor<?xf32>,
                          %hits: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xi32>) {
    %a = tensor.insert %total into %totals[%row] : tensor<?xf32>
    %b = tensor.insert %peak into %peaks[%row] : tensor<?xf32>
    %c = tensor.insert %n into %hits[%row] : tensor<?xi32>
    dataflow.yield %a, %b, %c : tensor<?xf32>, tensor<?xf32>, tensor<?xi32>
  }
}
