// Shape of the distribution of each row's elements: how many lie far from the mean, and the third and fourth moments. It takes the
// mean and the deviation of the whole row before any element can be looked at: map -> reshard -> map -> reshard -> map -> reduce.
//
// x        [rows, lines, 128]   element i of a row is at [i / 128, i % 128]; a multiple of tile / 128 lines
// lengths  [rows]               elements of each row; what is behind them does not count, whatever it is
// mean, deviation [rows]        of the elements; 0 of a row without any
// skewness, kurtosis [rows]     means of z^3 and z^4, z = (x - mean) / deviation; 0 of a row without any
// far      [rows]               elements with |z| > 2

!moments = !dataflow.record<count: f32, mean: f32, square: f32>
!scale = !dataflow.record<mean: f32, inverse: f32, deviation: f32, count: f32>
!tail = !dataflow.record<third: f32, fourth: f32, far: i32>

dataflow.program @three_maps(%x: tensor<?x?x128xf16>, %lengths: tensor<?xi32>, %mean: tensor<?xf32>, %deviation: tensor<?xf32>,
                             %skewness: tensor<?xf32>, %kurtosis: tensor<?xf32>, %far: tensor<?xi32>)
    params {tile = 4096 : index, element = f16} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.range @columns of @rows length %lengths[row] tile "tile" : tensor<?xi32>

  %parts = dataflow.map @moments tasks @rows each @columns operands(%x : tensor<?x?x128xf16>)
      : () -> !dataflow.channel<!moments, tiles>
  %all = dataflow.reshard "all" collect(%parts) : (!dataflow.channel<!moments, tiles>) -> !dataflow.channel<!moments, collected>
  %scales = dataflow.map @scale(%all) tasks @rows : (!dataflow.channel<!moments, collected>) -> !dataflow.channel<!scale>
  %sent = dataflow.reshard "scales" move(%scales) : (!dataflow.channel<!scale>) -> !dataflow.channel<!scale>
  %tails = dataflow.map @tail(%sent) tasks @rows each @columns operands(%x : tensor<?x?x128xf16>)
      : (!dataflow.channel<!scale>) -> !dataflow.channel<!tail, tiles>
  %whole = dataflow.reduce @add(%tails) : (!dataflow.channel<!tail, tiles>) -> !dataflow.channel<!tail> identity {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    dataflow.yield %zero, %zero, %none : f32, f32, i32
  }
  dataflow.finalize @store(%whole, %scales) tasks @rows
      outs(%mean, %deviation, %skewness, %kurtosis, %far : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi32>)
      : (!dataflow.channel<!tail>, !dataflow.channel<!scale>) -> ()

  // Number, mean, and sum of squared distances from the mean of a tile's elements.
  dataflow.handler @moments(%row: index, %begin: index, %end: index, %x: tensor<?x?x128xf16>) -> (f32, f32, f32) {
    %tile = dataflow.param "tile" : index
    %c128 = arith.constant 128 : index
    %lines = arith.divui %tile, %c128 : index
    %line = arith.divui %begin, %c128 : index
    %left = arith.subi %end, %begin : index
    %zero = arith.constant 0.0 : f32
    %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, 128] [1, 1, 1] : tensor<?x?x128xf16> to tensor<?x128xf16>
    %left_int = arith.index_cast %left : index to i32
    %count = arith.sitofp %left_int : i32 to f32
    %empty = tensor.empty(%lines) : tensor<?x128xf32>
    %live = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
        ins(%part : tensor<?x128xf16>) outs(%empty : tensor<?x128xf32>) {
    ^bb0(%v: f16, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %first = arith.muli %i, %c128 : index
      %place = arith.addi %first, %j : index
      %inside = arith.cmpi ult, %place, %left : index
      %wide = arith.extf %v : f16 to f32
      %kept = arith.select %inside, %wide, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x128xf32>
    %none = tensor.from_elements %zero : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%live : tensor<?x128xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    %s = tensor.extract %sum[] : tensor<f32>
    %mean = arith.divf %s, %count : f32
    %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
        ins(%live : tensor<?x128xf32>) outs(%empty : tensor<?x128xf32>) {
    ^bb0(%v: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %first = arith.muli %i, %c128 : index
      %place = arith.addi %first, %j : index
      %inside = arith.cmpi ult, %place, %left : index
      %d = arith.subf %v, %mean : f32
      %d2 = arith.mulf %d, %d : f32
      %kept = arith.select %inside, %d2, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x128xf32>
    %square = linalg.reduce { arith.addf } ins(%squares : tensor<?x128xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    %q = tensor.extract %square[] : tensor<f32>
    dataflow.yield %count, %mean, %q : f32, f32, f32
  }

  // Moments of the row from those of its tiles, in their order.
  dataflow.handler @scale(%row: index, %counts: tensor<?xf32>, %means: tensor<?xf32>, %squares: tensor<?xf32>) -> (f32, f32, f32, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %tiles = tensor.dim %counts, %c0 : tensor<?xf32>
    %m:3 = scf.for %t = %c0 to %tiles step %c1 iter_args(%count = %zero, %mean = %zero, %square = %zero) -> (f32, f32, f32) {
      %n = tensor.extract %counts[%t] : tensor<?xf32>
      %mu = tensor.extract %means[%t] : tensor<?xf32>
      %q = tensor.extract %squares[%t] : tensor<?xf32>
      %total = arith.addf %count, %n : f32
      %d = arith.subf %mu, %mean : f32
      %share = arith.divf %n, %total : f32
      %step = arith.mulf %d, %share : f32
      %new_mean = arith.addf %mean, %step : f32
      %between = arith.mulf %d, %step : f32
      %weighted = arith.mulf %between, %count : f32
      %within = arith.addf %square, %q : f32
      %new_square = arith.addf %within, %weighted : f32
      scf.yield %total, %new_mean, %new_square : f32, f32, f32
    }
    %is_empty = arith.cmpf oeq, %m#0, %zero : f32
    %divisor = arith.select %is_empty, %one, %m#0 : f32
    %variance = arith.divf %m#2, %divisor : f32
    %deviation = math.sqrt %variance : f32
    %is_flat = arith.cmpf oeq, %deviation, %zero : f32
    %width = arith.select %is_flat, %one, %deviation : f32
    %inverse = arith.divf %one, %width : f32
    dataflow.yield %m#1, %inverse, %deviation, %m#0 : f32, f32, f32, f32
  }

  dataflow.handler @tail(%row: index, %begin: index, %end: index, %x: tensor<?x?x128xf16>, %mean: f32, %inverse: f32, %deviation: f32,
                         %count: f32) -> (f32, f32, i32) {
    %tile = dataflow.param "tile" : index
    %c128 = arith.constant 128 : index
    %lines = arith.divui %tile, %c128 : index
    %line = arith.divui %begin, %c128 : index
    %left = arith.subi %end, %begin : index
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %part = tensor.extract_slice %x[%row, %line, 0] [1, %lines, 128] [1, 1, 1] : tensor<?x?x128xf16> to tensor<?x128xf16>
    %empty = tensor.empty(%lines) : tensor<?x128xf32>
    %empty_int = tensor.empty(%lines) : tensor<?x128xi32>
    %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%part : tensor<?x128xf16>) outs(%empty : tensor<?x128xf32>) {
    ^bb0(%v: f16, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %first = arith.muli %i, %c128 : index
      %place = arith.addi %first, %j : index
      %inside = arith.cmpi ult, %place, %left : index
      %wide = arith.extf %v : f16 to f32
      %d = arith.subf %wide, %mean : f32
      %scaled = arith.mulf %d, %inverse : f32
      %kept = arith.select %inside, %scaled, %zero : f32
      linalg.yield %kept : f32
    } -> tensor<?x128xf32>
    %z2 = arith.mulf %z, %z : tensor<?x128xf32>
    %z3 = arith.mulf %z2, %z : tensor<?x128xf32>
    %z4 = arith.mulf %z2, %z2 : tensor<?x128xf32>
    %is_far = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                              iterator_types = ["parallel", "parallel"]}
        ins(%z : tensor<?x128xf32>) outs(%empty_int : tensor<?x128xi32>) {
    ^bb0(%v: f32, %o: i32):
      %distance = math.absf %v : f32
      %over = arith.cmpf ogt, %distance, %two : f32
      %hit = arith.select %over, %one, %none : i32
      linalg.yield %hit : i32
    } -> tensor<?x128xi32>
    %start = tensor.from_elements %zero : tensor<f32>
    %start_int = tensor.from_elements %none : tensor<i32>
    %third = linalg.reduce { arith.addf } ins(%z3 : tensor<?x128xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
    %fourth = linalg.reduce { arith.addf } ins(%z4 : tensor<?x128xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
    %far = linalg.reduce { arith.addi } ins(%is_far : tensor<?x128xi32>) outs(%start_int : tensor<i32>) dimensions = [0, 1]
    %t = tensor.extract %third[] : tensor<f32>
    %f = tensor.extract %fourth[] : tensor<f32>
    %n = tensor.extract %far[] : tensor<i32>
    dataflow.yield %t, %f, %n : f32, f32, i32
  }

  dataflow.handler @add(%third_a: f32, %fourth_a: f32, %far_a: i32, %third_b: f32, %fourth_b: f32, %far_b: i32) -> (f32, f32, i32) {
    %third = arith.addf %third_a, %third_b : f32
    %fourth = arith.addf %fourth_a, %fourth_b : f32
    %far = arith.addi %far_a, %far_b : i32
    dataflow.yield %third, %fourth, %far : f32, f32, i32
  }

  dataflow.handler @store(%row: index, %third: f32, %fourth: f32, %n: i32, %mu: f32, %inverse: f32, %sigma: f32, %count: f32,
                          %mean: tensor<?xf32>, %deviation: tensor<?xf32>, %skewness: tensor<?xf32>, %kurtosis: tensor<?xf32>,
                          %far: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi32>) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %is_empty = arith.cmpf oeq, %count, %zero : f32
    %divisor = arith.select %is_empty, %one, %count : f32
    %skew = arith.divf %third, %divisor : f32
    %kurt = arith.divf %fourth, %divisor : f32
    %a = tensor.insert %mu into %mean[%row] : tensor<?xf32>
    %b = tensor.insert %sigma into %deviation[%row] : tensor<?xf32>
    %c = tensor.insert %skew into %skewness[%row] : tensor<?xf32>
    %d = tensor.insert %kurt into %kurtosis[%row] : tensor<?xf32>
    %e = tensor.insert %n into %far[%row] : tensor<?xi32>
    dataflow.yield %a, %b, %c, %d, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xi32>
  }
}
