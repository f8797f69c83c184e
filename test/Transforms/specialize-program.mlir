// RUN: df-opt %s --split-input-file --dataflow-specialize-program | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-specialize-program | df-opt --split-input-file --dataflow-specialize-program | FileCheck %s
// Parameters become constants, shapes follow through bodies, records and channels.

// Sizes computed from a parameter fold, and reach a later handler through the record.
// CHECK-LABEL: dataflow.program @sizes
// CHECK-SAME: dataflow.bound_params = {width = 16 : index}
// CHECK-NOT: params {
// CHECK: dataflow.range @columns of @rows length %{{.*}}[row] tile 16 :
// CHECK: dataflow.map @part
// CHECK-SAME: !dataflow.channel<!dataflow.record<sum: tensor<16xf32>, wide: tensor<4x8xf32>>, pieces>
// CHECK: dataflow.reduce @add
// CHECK-SAME: -> !dataflow.channel<!dataflow.record<sum: tensor<16xf32>, wide: tensor<4x8xf32>>>
// CHECK: tensor.splat %{{.*}} : tensor<16xf32>
// CHECK: tensor.splat %{{.*}} : tensor<4x8xf32>
dataflow.program @sizes(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>) params {width = 16 : index} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile "width" : tensor<?xi32>
  %parts = dataflow.map @part tasks @rows over @columns operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<sum: tensor<?xf32>, wide: tensor<?x?xf32>>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<sum: tensor<?xf32>, wide: tensor<?x?xf32>>, pieces>)
      -> !dataflow.channel<!dataflow.record<sum: tensor<?xf32>, wide: tensor<?x?xf32>>> identity {
    %width = dataflow.param "width" : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %sum = tensor.splat %zero[%width] : tensor<?xf32>
    %wide = tensor.splat %zero[%c4, %c8] : tensor<?x?xf32>
    dataflow.yield %sum, %wide : tensor<?xf32>, tensor<?x?xf32>
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<sum: tensor<?xf32>, wide: tensor<?x?xf32>>>) -> ()

  // CHECK-LABEL: dataflow.handler @part
  // CHECK-SAME: -> (tensor<16xf32>, tensor<4x8xf32>)
  // CHECK: %[[C16:.*]] = arith.constant 16 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[C16]] iter_args({{.*}}) -> (tensor<16xf32>)
  // The slice stays dynamic, the padded tile does not.
  // CHECK: tensor.extract_slice {{.*}} : tensor<?x?xf32> to tensor<?xf32>
  // CHECK: tensor.pad
  // CHECK: } : tensor<?xf32> to tensor<16xf32>
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<16xf32>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  dataflow.handler @part(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
    %width = dataflow.param "width" : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %init = tensor.splat %zero[%width] : tensor<?xf32>
    %sum = scf.for %i = %begin to %end step %width iter_args(%s = %init) -> tensor<?xf32> {
      %left = arith.subi %end, %i : index
      %valid = arith.minui %left, %width : index
      %rest = arith.subi %width, %valid : index
      %piece = tensor.extract_slice %x[%row, %i] [1, %valid] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
      %tile = tensor.pad %piece low[0] high[%rest] {
      ^bb0(%k: index):
        tensor.yield %zero : f32
      } : tensor<?xf32> to tensor<?xf32>
      %t = arith.addf %s, %tile : tensor<?xf32>
      scf.yield %t : tensor<?xf32>
    }
    %quarter = arith.divui %width, %c4 : index
    %double = arith.addi %quarter, %quarter : index
    %square = tensor.expand_shape %sum [[0, 1]] output_shape [%quarter, %c4] : tensor<?xf32> into tensor<?x?xf32>
    %empty = tensor.empty(%c4, %double) : tensor<?x?xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %wide = tensor.insert_slice %square into %filled[0, 0] [%quarter, %c4] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    dataflow.yield %sum, %wide : tensor<?xf32>, tensor<?x?xf32>
  }
  // CHECK-LABEL: dataflow.handler @add
  // CHECK-SAME: (%{{.*}}: tensor<16xf32>, %{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<16xf32>, %{{.*}}: tensor<4x8xf32>) -> (tensor<16xf32>, tensor<4x8xf32>)
  // CHECK-NOT: tensor.cast
  dataflow.handler @add(%a: tensor<?xf32>, %b: tensor<?x?xf32>, %c: tensor<?xf32>, %d: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
    %e = arith.addf %a, %c : tensor<?xf32>
    %f = arith.addf %b, %d : tensor<?x?xf32>
    dataflow.yield %e, %f : tensor<?xf32>, tensor<?x?xf32>
  }
  // What is always written whole is known of the tensor too; the number of rows is the launch's.
  // CHECK-LABEL: dataflow.handler @store
  // CHECK-SAME: %{{.*}}: tensor<?x16xf32>) -> tensor<?x16xf32>
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} : tensor<4x8xf32> into tensor<32xf32>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}} [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
  dataflow.handler @store(%row: index, %sum: tensor<?xf32>, %wide: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %flat = tensor.collapse_shape %wide [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %n = tensor.dim %sum, %c0 : tensor<?xf32>
    %first = tensor.extract_slice %flat[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %all = arith.addf %first, %sum : tensor<?xf32>
    %r = tensor.insert_slice %all into %y[%row, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}

// -----

// Loop-carried shapes are static only if each iteration keeps them; an op that is not known reads its old type.
// CHECK-LABEL: dataflow.program @control
dataflow.program @control(%x: tensor<?xf32>, %y: tensor<?xf32>) params {width = 8 : index} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  // CHECK: dataflow.map @body
  // CHECK-SAME: !dataflow.record<a: tensor<8xf32>, b: tensor<8xf32>>
  %r = dataflow.map @body tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<a: tensor<?xf32>, b: tensor<?xf32>>>
  dataflow.finalize @store(%r) tasks @rows outs(%y : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<a: tensor<?xf32>, b: tensor<?xf32>>>) -> ()
  // CHECK-LABEL: dataflow.handler @body
  dataflow.handler @body(%row: index, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %width = dataflow.param "width" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %init = tensor.splat %zero[%width] : tensor<?xf32>
    // Grows: the loop takes a cast of what enters it.
    // CHECK: %[[INIT:.*]] = tensor.splat %{{.*}} : tensor<8xf32>
    // CHECK: %[[CAST:.*]] = tensor.cast %[[INIT]] : tensor<8xf32> to tensor<?xf32>
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[CAST]]) -> (tensor<?xf32>)
    %grown = scf.for %i = %c0 to %width step %c1 iter_args(%s = %init) -> tensor<?xf32> {
      %d = tensor.dim %s, %c0 : tensor<?xf32>
      %d1 = arith.addi %d, %c1 : index
      %next = tensor.splat %zero[%d1] : tensor<?xf32>
      scf.yield %next : tensor<?xf32>
    }
    %first = tensor.extract_slice %grown[0] [%width] [1] : tensor<?xf32> to tensor<?xf32>
    // Both branches have 8.
    %is = arith.cmpi eq, %row, %c0 : index
    // CHECK: scf.if %{{.*}} -> (tensor<8xf32>)
    %same = scf.if %is -> tensor<?xf32> {
      scf.yield %first : tensor<?xf32>
    } else {
      scf.yield %init : tensor<?xf32>
    }
    // One branch does not.
    // CHECK: scf.if %{{.*}} -> (tensor<?xf32>)
    // CHECK: tensor.cast %{{.*}} : tensor<8xf32> to tensor<?xf32>
    %other = scf.if %is -> tensor<?xf32> {
      scf.yield %first : tensor<?xf32>
    } else {
      scf.yield %x : tensor<?xf32>
    }
    // CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<8xf32>, index) -> (tensor<8xf32>, index)
    %w:2 = scf.while (%a = %same, %i = %c0) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) {
      %go = arith.cmpi ult, %i, %width : index
      scf.condition(%go) %a, %i : tensor<?xf32>, index
    } do {
    ^bb0(%a: tensor<?xf32>, %i: index):
      %b = arith.addf %a, %a : tensor<?xf32>
      %j = arith.addi %i, %c1 : index
      scf.yield %b, %j : tensor<?xf32>, index
    }
    // An op that is not known.
    // CHECK: %[[BACK:.*]] = tensor.cast %{{.*}} : tensor<8xf32> to tensor<?xf32>
    // CHECK: tensor.concat dim(0) %[[BACK]], %{{.*}} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %both = tensor.concat dim(0) %w#0, %other : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %head = tensor.extract_slice %both[0] [%width] [1] : tensor<?xf32> to tensor<?xf32>
    // A known shape reaches an operand whose own is not.
    // CHECK: %[[TO:.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<8xf32>
    // CHECK: arith.addf %{{.*}}, %[[TO]] : tensor<8xf32>
    %sum = arith.addf %head, %other : tensor<?xf32>
    dataflow.yield %w#0, %sum : tensor<?xf32>, tensor<?xf32>
  }
  dataflow.handler @store(%row: index, %a: tensor<?xf32>, %b: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %v = tensor.extract %b[%row] : tensor<?xf32>
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// Reshards carry shapes too: collected records get a first dimension, rows lose one.
// CHECK-LABEL: dataflow.program @reshards
dataflow.program @reshards(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %index: tensor<?x4xi32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>)
    params {rows = 4 : index, width = 32 : index} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  %m = tensor.dim %y, %c0 : tensor<?x?xf32>
  dataflow.tasks @groups(group = %n)
  dataflow.tasks @tokens(token = %m)
  dataflow.range @steps of @groups length %lengths[group] tile 8 : tensor<?xi32>
  %blocks = dataflow.map @block tasks @groups operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: tensor<?x?xf32>>>
  // CHECK: dataflow.reshard "send"
  // CHECK-SAME: -> !dataflow.channel<!dataflow.record<v: tensor<32xf32>>, keyed>
  %sent = dataflow.reshard "send" rekey (%blocks) to @tokens by %index[group] key token rows
      : (!dataflow.channel<!dataflow.record<v: tensor<?x?xf32>>>, tensor<?x4xi32>)
      -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>, keyed>
  %sums = dataflow.reduce @add(%sent)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>, keyed>) -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>> identity {
    %width = dataflow.param "width" : index
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero[%width] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.finalize @store(%sums) tasks @tokens outs(%y : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>>) -> ()
  %tiles = dataflow.map @tile tasks @groups each @steps : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>, tiles>
  // CHECK: dataflow.reshard "gather"
  // CHECK-SAME: -> !dataflow.channel<!dataflow.record<v: tensor<32xf32>>, collected>
  %all = dataflow.reshard "gather" collect (%tiles)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>, tiles>) -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>, collected>
  dataflow.finalize @last(%all) tasks @groups outs(%z : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>, collected>) -> ()

  dataflow.handler @block(%group: index, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %rows = dataflow.param "rows" : index
    %width = dataflow.param "width" : index
    %v = tensor.extract_slice %x[%group, 0] [%rows, %width] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    dataflow.yield %v : tensor<?x?xf32>
  }
  // CHECK-LABEL: dataflow.handler @add
  // CHECK-SAME: (%{{.*}}: tensor<32xf32>, %{{.*}}: tensor<32xf32>) -> tensor<32xf32>
  dataflow.handler @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %c = arith.addf %a, %b : tensor<?xf32>
    dataflow.yield %c : tensor<?xf32>
  }
  dataflow.handler @store(%token: index, %v: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %width = dataflow.param "width" : index
    %r = tensor.insert_slice %v into %y[%token, 0] [1, %width] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
  dataflow.handler @tile(%group: index, %begin: index, %end: index) -> tensor<?xf32> {
    %width = dataflow.param "width" : index
    %zero = arith.constant 0.0 : f32
    %v = tensor.splat %zero[%width] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  // CHECK-LABEL: dataflow.handler @last
  // CHECK-SAME: %{{.*}}: tensor<?x32xf32>, %{{.*}}: tensor<?x32xf32>
  // CHECK: tensor.extract_slice {{.*}} : tensor<?x32xf32> to tensor<32xf32>
  dataflow.handler @last(%group: index, %v: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %width = dataflow.param "width" : index
    %c0 = arith.constant 0 : index
    %first = tensor.extract_slice %v[%c0, 0] [1, %width] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %r = tensor.insert_slice %first into %z[%group, 0] [1, %width] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}

// -----

// Extents, lengths and offsets that are computed from parameters become constants.
// CHECK-LABEL: dataflow.program @extents
// CHECK: %[[C12:.*]] = arith.constant 12 : index
// CHECK: %[[C9:.*]] = arith.constant 9 : index
// CHECK: dataflow.tasks @blocks(block = %[[C12]])
// CHECK: dataflow.range @r of @blocks length %[[C9]] tile 3
dataflow.program @extents(%x: tensor<?x3xf32>) params {n = 4 : index, width = 3 : index} {
  %c1 = arith.constant 1 : index
  %n = dataflow.param "n" : index
  %width = tensor.dim %x, %c1 : tensor<?x3xf32>
  %blocks = arith.muli %n, %width : index
  %length = arith.subi %blocks, %width : index
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @r of @blocks length %length tile "width"
}
