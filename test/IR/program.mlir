// RUN: df-opt %s --verify-roundtrip | df-opt | FileCheck %s
// RUN: df-opt %s -mlir-print-op-generic | df-opt | FileCheck %s

// Every op of the program group, with and without its optional parts, is printed
// as it is written.

!part = !dataflow.record<sum: f32, row: tensor<4x8xf32>>

// CHECK-LABEL: dataflow.program @everything
// CHECK-SAME: (%x: tensor<?x?xf32>, %n: tensor<?xi32>, %grid: tensor<?x2xi32>, %w: tensor<?xi64>, %table: tensor<?x4xi32>, %y: tensor<?xf32>, %z: tensor<?xf32>)
// CHECK-SAME: params {element = f32, page = 64 : index}
// CHECK-SAME: attributes {dataflow.inputs = {n = dense<[3, 0]> : tensor<2xi64>}}
dataflow.program @everything(%x: tensor<?x?xf32>, %n: tensor<?xi32>, %grid: tensor<?x2xi32>, %w: tensor<?xi64>,
                             %table: tensor<?x4xi32>, %y: tensor<?xf32>, %z: tensor<?xf32>)
    params {page = 64 : index, element = f32}
    attributes {dataflow.inputs = {n = dense<[3, 0]> : tensor<2xi64>}} {
  %c0 = arith.constant 0 : index
  // CHECK: [[N:%.+]] = tensor.dim %n
  %rows = tensor.dim %n, %c0 : tensor<?xi32>
  %eight = arith.constant 8 : index

  // CHECK: dataflow.tasks @once()
  // CHECK: dataflow.tasks @rows(row = [[N]])
  // CHECK: dataflow.tasks @blocks(row = [[N]], block = [[EIGHT:%.+]]) weights %w : tensor<?xi64>
  // CHECK: dataflow.tasks @points(a = [[N]], b = [[EIGHT]]) coordinates %grid : tensor<?x2xi32> weights %w : tensor<?xi64> {note = "listed"}
  dataflow.tasks @once()
  dataflow.tasks @rows(row = %rows)
  dataflow.tasks @blocks(row = %rows, block = %eight) weights %w : tensor<?xi64>
  dataflow.tasks @points(a = %rows, b = %eight) coordinates %grid : tensor<?x2xi32> weights %w : tensor<?xi64> {note = "listed"}
  dataflow.tasks @tokens(token = %rows)

  // CHECK: dataflow.range @indexed of @rows length %n[row] tile "page" : tensor<?xi32>
  // CHECK: dataflow.range @shifted of @rows length [[N]] offset %n[row] tile 16 : tensor<?xi32>
  // CHECK: dataflow.range @both of @rows length %n[row] offset %w[row] tile 16 : tensor<?xi32>, tensor<?xi64>
  // CHECK: dataflow.range @plain of @blocks length [[EIGHT]] offset [[N]] tile 1{{ *$}}
  dataflow.range @indexed of @rows length %n[row] tile "page" : tensor<?xi32>
  dataflow.range @shifted of @rows length %rows offset %n[row] tile 16 : tensor<?xi32>
  dataflow.range @both of @rows length %n[row] offset %w[row] tile 16 : tensor<?xi32>, tensor<?xi64>
  dataflow.range @plain of @blocks length %eight offset %rows tile 1

  // CHECK: %make = dataflow.map @make tasks @rows over @indexed operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<sum: f32, row: tensor<4x8xf32>>, pieces>
  // CHECK: %each = dataflow.map @make as "each" tasks @rows each @indexed operands(%x : tensor<?x?xf32>)
  // CHECK-SAME: requests [#dataflow.memory<global>] : () -> !dataflow.channel<!dataflow.record<sum: f32, row: tensor<4x8xf32>>, tiles>
  %parts = dataflow.map @make tasks @rows over @indexed operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!part, pieces>
  %tiles = dataflow.map @make as "each" tasks @rows each @indexed operands(%x : tensor<?x?xf32>)
      requests [#dataflow.memory<global>] : () -> !dataflow.channel<!part, tiles>

  // CHECK: %merge = dataflow.reduce @merge(%make) : (!dataflow.channel<{{.*}}, pieces>) -> !dataflow.channel<!dataflow.record<sum: f32, row: tensor<4x8xf32>>> identity {
  // CHECK: %page = dataflow.param "page" : index
  // CHECK: dataflow.yield %{{.*}}, %{{.*}} : f32, tensor<4x8xf32>
  // CHECK-NEXT: }
  %whole = dataflow.reduce @merge(%parts)
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %page = dataflow.param "page" : index
    %zero = arith.constant 0.0 : f32
    %row = tensor.splat %zero : tensor<4x8xf32>
    dataflow.yield %zero, %row : f32, tensor<4x8xf32>
  }

  // A record goes to two stages, one of which has more axes.
  // CHECK: %wide = dataflow.map @widen as "wide"(%merge) tasks @blocks
  // CHECK: %rows = dataflow.map @rows_of as "rows"(%merge) tasks @rows
  %wide = dataflow.map @widen as "wide"(%whole) tasks @blocks
      : (!dataflow.channel<!part>) -> !dataflow.channel<!dataflow.record<sum: f32>>
  %split = dataflow.map @rows_of as "rows"(%whole) tasks @rows
      : (!dataflow.channel<!part>) -> !dataflow.channel<!dataflow.record<row: tensor<4x8xf32>>>

  // CHECK: %moved = dataflow.reshard "moved" move(%rows) : (!dataflow.channel<
  // CHECK: %gathered = dataflow.reshard "gathered" collect(%each) : (!dataflow.channel<{{.*}}, tiles>) -> !dataflow.channel<{{.*}}, collected>
  // CHECK: %sent = dataflow.reshard "sent" rekey(%moved) to @tokens by %table[row] key token rows
  // CHECK-SAME: requests [#dataflow.reshard_transport<via = #dataflow.global, order = ascending>]
  // CHECK-SAME: (!dataflow.channel<!dataflow.record<row: tensor<4x8xf32>>>, tensor<?x4xi32>) -> !dataflow.channel<!dataflow.record<row: tensor<8xf32>>, keyed>
  // CHECK: %whole = dataflow.reshard "whole" rekey(%merge) to @tokens by %n[row] key token :
  // CHECK: %same = dataflow.reshard "same" rekey(%merge) to @once : (!dataflow.channel<{{.*}}>) -> !dataflow.channel<{{.*}}, keyed>
  // CHECK: %every = dataflow.reshard "every" collect(%same) : (!dataflow.channel<{{.*}}, keyed>) -> !dataflow.channel<{{.*}}, collected>
  %moved = dataflow.reshard "moved" move(%split)
      : (!dataflow.channel<!dataflow.record<row: tensor<4x8xf32>>>) -> !dataflow.channel<!dataflow.record<row: tensor<4x8xf32>>>
  %gathered = dataflow.reshard "gathered" collect(%tiles)
      : (!dataflow.channel<!part, tiles>) -> !dataflow.channel<!part, collected>
  %sent = dataflow.reshard "sent" rekey(%moved) to @tokens by %table[row] key token rows
      requests [#dataflow.reshard_transport<via = #dataflow.global>]
      : (!dataflow.channel<!dataflow.record<row: tensor<4x8xf32>>>, tensor<?x4xi32>)
      -> !dataflow.channel<!dataflow.record<row: tensor<8xf32>>, keyed>
  %sent_whole = dataflow.reshard "whole" rekey(%whole) to @tokens by %n[row] key token
      : (!dataflow.channel<!part>, tensor<?xi32>) -> !dataflow.channel<!part, keyed>
  %same = dataflow.reshard "same" rekey(%whole) to @once : (!dataflow.channel<!part>) -> !dataflow.channel<!part, keyed>
  %every = dataflow.reshard "every" collect(%same) : (!dataflow.channel<!part, keyed>) -> !dataflow.channel<!part, collected>

  // CHECK: %total = dataflow.reduce @add as "total"(%sent)
  %total = dataflow.reduce @add as "total"(%sent)
      : (!dataflow.channel<!dataflow.record<row: tensor<8xf32>>, keyed>) -> !dataflow.channel<!dataflow.record<row: tensor<8xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %row = tensor.splat %zero : tensor<8xf32>
    dataflow.yield %row : tensor<8xf32>
  }

  // CHECK: dataflow.finalize @store(%total) tasks @tokens outs(%y : tensor<?xf32>) : (!dataflow.channel<
  // CHECK: dataflow.finalize @stack(%gathered, %merge) tasks @rows operands(%x : tensor<?x?xf32>) outs(%y, %z : tensor<?xf32>, tensor<?xf32>) : (
  // CHECK: dataflow.finalize @fill as "fill each" tasks @rows each @both outs(%z : tensor<?xf32>) : () -> ()
  dataflow.finalize @store(%total) tasks @tokens outs(%y : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<row: tensor<8xf32>>>) -> ()
  dataflow.finalize @stack(%gathered, %whole) tasks @rows operands(%x : tensor<?x?xf32>)
      outs(%y, %z : tensor<?xf32>, tensor<?xf32>)
      : (!dataflow.channel<!part, collected>, !dataflow.channel<!part>) -> ()
  dataflow.finalize @fill as "fill each" tasks @rows each @both outs(%z : tensor<?xf32>) : () -> ()

  // CHECK: dataflow.handler @make(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<?x?xf32>) -> (f32, tensor<4x8xf32>) {
  // CHECK: dataflow.range_tiles %{{.*}} to %{{.*}} tile "page" : index
  // CHECK: dataflow.range_tiles %{{.*}} to %{{.*}} tile 16 : index
  dataflow.handler @make(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> (f32, tensor<4x8xf32>) {
    %k = dataflow.range_tiles %begin to %end tile "page" : index
    %l = dataflow.range_tiles %begin to %end tile 16 : index
    %v = tensor.extract %x[%row, %begin] : tensor<?x?xf32>
    %r = tensor.splat %v : tensor<4x8xf32>
    dataflow.yield %v, %r : f32, tensor<4x8xf32>
  }
  // CHECK: dataflow.handler @make_2({{.*}}) -> (f32, tensor<4x8xf32>) attributes {variant = #dataflow.variant<tiles = 2>, variant_of = @make} {
  dataflow.handler @make_2(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> (f32, tensor<4x8xf32>)
      attributes {variant = #dataflow.variant<tiles = 2>, variant_of = @make} {
    %v = tensor.extract %x[%row, %begin] : tensor<?x?xf32>
    %r = tensor.splat %v : tensor<4x8xf32>
    dataflow.yield %v, %r : f32, tensor<4x8xf32>
  }
  // CHECK: dataflow.handler private @merge(%{{.*}}: f32 {df.note}, %{{.*}}: tensor<4x8xf32>, %{{.*}}: f32, %{{.*}}: tensor<4x8xf32>) -> (f32, tensor<4x8xf32>) {
  dataflow.handler private @merge(%s: f32 {df.note}, %r: tensor<4x8xf32>, %t: f32, %q: tensor<4x8xf32>) -> (f32, tensor<4x8xf32>) {
    dataflow.yield %s, %r : f32, tensor<4x8xf32>
  }
  // A func.func is a handler, too.
  // CHECK: func.func @widen(
  func.func @widen(%a0: index, %a1: index, %a2: f32, %a3: tensor<4x8xf32>) -> f32 {
    return %a2 : f32
  }
  dataflow.handler @rows_of(%row: index, %s: f32, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dataflow.yield %r : tensor<4x8xf32>
  }
  dataflow.handler @add(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %c = arith.addf %a, %b : tensor<8xf32>
    dataflow.yield %c : tensor<8xf32>
  }
  dataflow.handler @store(%token: index, %r: tensor<8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  // Collected fields have a new first dimension.
  dataflow.handler @stack(%row: index, %x: tensor<?x?xf32>, %s: tensor<?xf32>, %r: tensor<?x4x8xf32>,
                          %t: f32, %q: tensor<4x8xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    dataflow.yield %y, %z : tensor<?xf32>, tensor<?xf32>
  }
  dataflow.handler @fill(%row: index, %begin: index, %end: index, %z: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %z : tensor<?xf32>
  }
}

// Names that are no SSA names are kept in an attribute.
// CHECK-LABEL: dataflow.program @names(%{{.*}}: tensor<f32>, %plain: tensor<f32>)
// CHECK-SAME: attributes {arg_names = ["a b", "plain"]} {
// CHECK-NEXT: }
dataflow.program @names(%a: tensor<f32>, %b: tensor<f32>) attributes {arg_names = ["a b", "plain"]} {
}

// CHECK-LABEL: dataflow.program @empty() {
// CHECK-NEXT: }
dataflow.program @empty() {
}
