// RUN: df-opt %s --split-input-file --dataflow-specialize-handlers="exact=20,64" | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-specialize-handlers="exact=20,64" > %t.once
// RUN: df-opt %t.once --split-input-file --dataflow-specialize-handlers="exact=20,64" | diff %t.once -
// RUN: df-opt %s --split-input-file --dataflow-specialize-handlers="buckets= slices=false" | FileCheck %s --check-prefix=NONE
// RUN: df-opt %s --split-input-file --dataflow-specialize-handlers=exact=20 --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Clones for pieces of known size: tile counts and loop bounds become constants, loops of one iteration go away.

// NONE-NOT: variant_of

// CHECK-LABEL: dataflow.program @loops
// REMARK: Function=sum | Remark="made variant 'sum_tiles1'"
// REMARK: Function=sum | Remark="made variant 'sum_exact20'"
dataflow.program @loops(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 16 : tensor<?xi32>
  %parts = dataflow.map @sum tasks @rows over @columns operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<s: f32, t: f32>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<s: f32, t: f32>, pieces>) -> !dataflow.channel<!dataflow.record<s: f32, t: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero, %zero : f32, f32
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<s: f32, t: f32>>) -> ()

  // The generic handler stays as it is.
  // CHECK: dataflow.handler @sum(%{{[^)]*}}) -> (f32, f32) {
  // CHECK: dataflow.range_tiles
  // CHECK: scf.for
  dataflow.handler @sum(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> (f32, f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %tiles = dataflow.range_tiles %begin to %end tile 16 : index
    // By whole tiles, with a mask for the last one.
    %s = scf.for %i = %begin to %end step %c16 iter_args(%a = %zero) -> f32 {
      %left = arith.subi %end, %i : index
      %valid = arith.minui %left, %c16 : index
      %v = tensor.extract %x[%row, %valid] : tensor<?x?xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    // By the number of tiles.
    %t = scf.for %i = %c0 to %tiles step %c1 iter_args(%a = %zero) -> f32 {
      %v = tensor.extract %x[%row, %i] : tensor<?x?xf32>
      %b = arith.mulf %a, %v : f32
      scf.yield %b : f32
    }
    // By elements of the piece.
    %length = arith.subi %end, %begin : index
    %u = scf.for %i = %c0 to %length step %c1 iter_args(%a = %s) -> f32 {
      %v = tensor.extract %x[%i, %row] : tensor<?x?xf32>
      %b = arith.divf %a, %v : f32
      scf.yield %b : f32
    }
    dataflow.yield %u, %t : f32, f32
  }
  dataflow.handler @add(%a: f32, %b: f32, %c: f32, %d: f32) -> (f32, f32) {
    %e = arith.addf %a, %c : f32
    %f = arith.addf %b, %d : f32
    dataflow.yield %e, %f : f32, f32
  }
  dataflow.handler @store(%row: index, %s: f32, %t: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %s into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
  // One tile: both loops over tiles are inlined, the one over elements stays.
  // CHECK-LABEL: dataflow.handler @sum_tiles1(
  // CHECK-SAME: %[[ROW:[a-z0-9]*]]: index, %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index
  // CHECK-SAME: attributes {variant = #dataflow.variant<tiles = 1>, variant_of = @sum}
  // CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[BEGIN]] : index
  // CHECK: arith.minui %[[LEFT]]
  // CHECK-NOT: scf.for
  // CHECK: arith.mulf
  // CHECK: scf.for
  // CHECK: arith.divf

  // Two tiles: trip counts are known, positions follow from them.
  // CHECK-LABEL: dataflow.handler @sum_tiles2(
  // CHECK-SAME: attributes {variant = #dataflow.variant<tiles = 2>, variant_of = @sum}
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[C2]] step %{{.*}}
  // CHECK: arith.muli %[[I]]
  // CHECK: scf.for
  // CHECK-LABEL: dataflow.handler @sum_tiles4(

  // 20 elements: two tiles of which the last has four, and twenty steps.
  // CHECK-LABEL: dataflow.handler @sum_exact20(
  // CHECK-DAG: arith.constant 20 : index
  // CHECK-DAG: arith.constant 2 : index
  // CHECK-NOT: dataflow.range_tiles
  // CHECK-LABEL: dataflow.handler @sum_exact64(
}

// -----

// Where the size of the piece changes nothing there is no variant; one tile is all that a handler called for each tile gets.
// CHECK-LABEL: dataflow.program @each
// REMARK: Function=scan | Remark="no variant 'scan_tiles1': nothing in the body would change"
// REMARK-NOT: scan_tiles2
dataflow.program @each(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 32 : tensor<?xi32>
  dataflow.finalize @scan tasks @rows each @columns operands(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) : () -> ()
  // CHECK: dataflow.handler @scan(
  dataflow.handler @scan(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %length = arith.subi %end, %begin : index
    %v = tensor.extract_slice %x[%row, %begin] [1, %length] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %r = tensor.insert_slice %v into %y[%row, %begin] [1, %length] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
  // CHECK-NOT: scan_tiles
  // Known sizes become static shapes.
  // CHECK: dataflow.handler @scan_exact20(
  // CHECK: tensor.extract_slice {{.*}} [1, 20] [1, 1] : tensor<?x?xf32> to tensor<20xf32>
  // More elements than a tile cannot come.
  // CHECK-NOT: scan_exact64
}

// -----

// Two stages that call one handler with different tiles leave it generic.
// CHECK-LABEL: dataflow.program @shared
// CHECK-NOT: variant_of
// REMARK: Function=sum | Remark="no variants for piece sizes: the stages that call it have different tiles or axes"
dataflow.program @shared(%lengths: tensor<?xi32>, %y: tensor<?xf32>, %z: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @a of @rows length %lengths[row] tile 32 : tensor<?xi32>
  dataflow.range @b of @rows length %lengths[row] tile 64 : tensor<?xi32>
  dataflow.finalize @sum as "p" tasks @rows each @a outs(%y : tensor<?xf32>) : () -> ()
  dataflow.finalize @sum as "q" tasks @rows each @b outs(%z : tensor<?xf32>) : () -> ()
  dataflow.handler @sum(%row: index, %begin: index, %end: index, %y: tensor<?xf32>) -> tensor<?xf32> {
    %tiles = dataflow.range_tiles %begin to %end tile 32 : index
    %i = arith.index_cast %tiles : index to i32
    %v = arith.sitofp %i : i32 to f32
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A reduce that can work slice by slice gets a variant for it, and so does what reads it.
// CHECK-LABEL: dataflow.program @slices
// REMARK: Function=merge | Remark="in slices: 8"
dataflow.program @slices(%x: tensor<?x32xf32>, %lengths: tensor<?xi32>, %y: tensor<?x32xf32>, %m: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 16 : tensor<?xi32>
  %parts = dataflow.map @part tasks @rows over @columns operands(%x : tensor<?x32xf32>)
      : () -> !dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>, pieces>
  %whole = dataflow.reduce @merge(%parts)
      : (!dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32xf32>
    dataflow.yield %zero, %v : f32, tensor<32xf32>
  }
  %here = dataflow.reshard "here" move (%whole)
      : (!dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>>) -> !dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>>
  dataflow.finalize @store(%here) tasks @rows outs(%y, %m : tensor<?x32xf32>, tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<m: f32, v: tensor<32xf32>>>) -> ()
  dataflow.handler @part(%row: index, %begin: index, %end: index, %x: tensor<?x32xf32>) -> (f32, tensor<32xf32>) {
    %zero = arith.constant 0.0 : f32
    %v = tensor.extract_slice %x[%row, 0] [1, 32] [1, 1] : tensor<?x32xf32> to tensor<32xf32>
    dataflow.yield %zero, %v : f32, tensor<32xf32>
  }
  // CHECK: dataflow.handler @merge(
  // CHECK: dataflow.handler @merge_sliced(%{{.*}}: index, %{{.*}}: f32, %{{.*}}: tensor<4xf32>, %{{.*}}: f32, %{{.*}}: tensor<4xf32>) -> (f32, tensor<4xf32>)
  // CHECK-SAME: variant = #dataflow.variant<sliced>, variant_of = @merge
  dataflow.handler @merge(%ma: f32, %va: tensor<32xf32>, %mb: f32, %vb: tensor<32xf32>) -> (f32, tensor<32xf32>) {
    %m = arith.maximumf %ma, %mb : f32
    %v = arith.addf %va, %vb : tensor<32xf32>
    dataflow.yield %m, %v : f32, tensor<32xf32>
  }
  // CHECK: dataflow.handler @store(
  // CHECK: dataflow.handler @store_sliced(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<?x32xf32>, %{{.*}}: tensor<?xf32>)
  // CHECK-SAME: variant_of = @store
  dataflow.handler @store(%row: index, %s: f32, %v: tensor<32xf32>, %y: tensor<?x32xf32>, %m: tensor<?xf32>) -> (tensor<?x32xf32>, tensor<?xf32>) {
    %r = tensor.insert_slice %v into %y[%row, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<?x32xf32>
    %t = tensor.insert %s into %m[%row] : tensor<?xf32>
    dataflow.yield %r, %t : tensor<?x32xf32>, tensor<?xf32>
  }
}

// -----

// A value that mixes the elements of a dimension keeps it whole.
// CHECK-LABEL: dataflow.program @mixed
// CHECK-NOT: _sliced
// REMARK: Function=merge | Remark="not in slices: {{.+}}"
dataflow.program @mixed(%lengths: tensor<?xi32>, %y: tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 16 : tensor<?xi32>
  %parts = dataflow.map @part tasks @rows over @columns : () -> !dataflow.channel<!dataflow.record<v: tensor<32xf32>>, pieces>
  %whole = dataflow.reduce @merge(%parts)
      : (!dataflow.channel<!dataflow.record<v: tensor<32xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<v: tensor<32xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32xf32>
    dataflow.yield %v : tensor<32xf32>
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?x32xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<32xf32>>>) -> ()
  dataflow.handler @part(%row: index, %begin: index, %end: index) -> tensor<32xf32> {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32xf32>
    dataflow.yield %v : tensor<32xf32>
  }
  dataflow.handler @merge(%a: tensor<32xf32>, %b: tensor<32xf32>) -> tensor<32xf32> {
    %c0 = arith.constant 0 : index
    %first = tensor.extract %a[%c0] : tensor<32xf32>
    %all = tensor.splat %first : tensor<32xf32>
    %c = arith.addf %all, %b : tensor<32xf32>
    dataflow.yield %c : tensor<32xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<32xf32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
    %r = tensor.insert_slice %v into %y[%row, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<?x32xf32>
    dataflow.yield %r : tensor<?x32xf32>
  }
}

// -----

// Two stages that need one handler cut along different dimensions: neither is.
// CHECK-LABEL: dataflow.program @torn
// CHECK-NOT: _sliced
// REMARK: Function=first | Remark="not in slices: stages need handler 'merge' cut in different ways"
// REMARK: Function=second | Remark="not in slices: stages need handler 'merge' cut in different ways"
dataflow.program @torn(%lengths: tensor<?xi32>, %y: tensor<?x32x16xf32>, %z: tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 16 : tensor<?xi32>
  %parts = dataflow.map @part tasks @rows over @columns : () -> !dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>, pieces>
  %more = dataflow.map @part as "more" tasks @rows over @columns : () -> !dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>, pieces>
  %first = dataflow.reduce @merge as "first" (%parts)
      : (!dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32x16xf32>
    dataflow.yield %v : tensor<32x16xf32>
  }
  %second = dataflow.reduce @merge as "second" (%more)
      : (!dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32x16xf32>
    dataflow.yield %v : tensor<32x16xf32>
  }
  dataflow.finalize @all(%first) tasks @rows outs(%y : tensor<?x32x16xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>>) -> ()
  dataflow.finalize @sums(%second) tasks @rows outs(%z : tensor<?x16xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<32x16xf32>>>) -> ()
  dataflow.handler @part(%row: index, %begin: index, %end: index) -> tensor<32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero : tensor<32x16xf32>
    dataflow.yield %v : tensor<32x16xf32>
  }
  dataflow.handler @merge(%a: tensor<32x16xf32>, %b: tensor<32x16xf32>) -> tensor<32x16xf32> {
    %c = arith.addf %a, %b : tensor<32x16xf32>
    dataflow.yield %c : tensor<32x16xf32>
  }
  dataflow.handler @all(%row: index, %v: tensor<32x16xf32>, %y: tensor<?x32x16xf32>) -> tensor<?x32x16xf32> {
    %r = tensor.insert_slice %v into %y[%row, 0, 0] [1, 32, 16] [1, 1, 1] : tensor<32x16xf32> into tensor<?x32x16xf32>
    dataflow.yield %r : tensor<?x32x16xf32>
  }
  dataflow.handler @sums(%row: index, %v: tensor<32x16xf32>, %z: tensor<?x16xf32>) -> tensor<?x16xf32> {
    %zero = arith.constant 0.0 : f32
    %init = tensor.splat %zero : tensor<16xf32>
    %s = linalg.reduce { arith.addf } ins(%v : tensor<32x16xf32>) outs(%init : tensor<16xf32>) dimensions = [0]
    %r = tensor.insert_slice %s into %z[%row, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
    dataflow.yield %r : tensor<?x16xf32>
  }
}
