// RUN: df-opt %s --split-input-file --dataflow-verify-program | FileCheck %s
// Programs that can be planned; the pass changes nothing.

// CHECK-LABEL: dataflow.program @all_values
// Extents, lengths and offsets of every legal kind; scalars of the body from every legal dialect.
dataflow.program @all_values(%x: tensor<?x8xf32>, %lengths: tensor<?xi32>, %offsets: tensor<?xi64>, %y: tensor<?xf8E5M2>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  dataflow.tasks @rows(row = %n, block = %c4)
  dataflow.range @a of @rows length %lengths[row] offset %offsets[row] tile 8 : tensor<?xi32>, tensor<?xi64>
  dataflow.range @b of @rows length %n offset %c4 tile 8
  dataflow.range @c of @rows length %c0 tile 8
  %s = dataflow.map @sum tasks @rows over @a operands(%x : tensor<?x8xf32>) : () -> !dataflow.channel<!dataflow.record<s: f32>, pieces>
  %t = dataflow.reduce @add(%s) : (!dataflow.channel<!dataflow.record<s: f32>, pieces>) -> !dataflow.channel<!dataflow.record<s: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%t) tasks @rows outs(%y : tensor<?xf8E5M2>) : (!dataflow.channel<!dataflow.record<s: f32>>) -> ()
  dataflow.handler @sum(%row: index, %block: index, %begin: index, %end: index, %x: tensor<?x8xf32>) -> f32 {
    %tiles = dataflow.range_tiles %begin to %end tile 8 : index
    %i = affine.apply affine_map<(d0) -> (d0 + 1)>(%tiles)
    %j = affine.min affine_map<(d0) -> (d0, 7)>(%i)
    %k = index.add %j, %block
    %v = tensor.extract %x[%row, %k] : tensor<?x8xf32>
    %e = math.exp %v : f32
    dataflow.yield %e : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %block: index, %s: f32, %y: tensor<?xf8E5M2>) -> tensor<?xf8E5M2> {
    %c = arith.truncf %s : f32 to f8E5M2
    %r = tensor.insert %c into %y[%row] : tensor<?xf8E5M2>
    dataflow.yield %r : tensor<?xf8E5M2>
  }
}

// -----

// CHECK-LABEL: dataflow.program @func_handler
// A handler of another dialect ends with that dialect's return.
dataflow.program @func_handler(%x: tensor<4xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @store tasks @one outs(%x : tensor<4xf32>) : () -> ()
  // CHECK: func.func private @store
  func.func private @store(%y: tensor<4xf32>) -> tensor<4xf32> {
    return %y : tensor<4xf32>
  }
}
