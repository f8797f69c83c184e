// RUN: df-opt %s --dataflow-specialize-program="params=a=bf16,b=f16,n=3" | FileCheck %s
// Several parameters at once; two types can trade places, also in constants.

// CHECK-LABEL: dataflow.program @swap
// CHECK-SAME: %x: tensor<?x3xbf16>, %y: tensor<?x3xf16>
// CHECK-SAME: dataflow.bound_params = {a = bf16, b = f16, n = 3 : index}
dataflow.program @swap(%x: tensor<?x3xf16>, %y: tensor<?x3xbf16>) params {a = f16, b = bf16, n = 2 : index} {
  %n = dataflow.param "n" : index
  // CHECK: %[[N:.*]] = arith.constant 3 : index
  // CHECK: dataflow.tasks @rows(row = %[[N]])
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @convert tasks @rows operands(%x : tensor<?x3xf16>) outs(%y : tensor<?x3xbf16>) : () -> ()
  dataflow.handler @convert(%row: index, %x: tensor<?x3xf16>, %y: tensor<?x3xbf16>) -> tensor<?x3xbf16> {
    // CHECK: arith.constant dense<5.000000e-01> : tensor<3xf16>
    %half = arith.constant dense<0.5> : tensor<3xbf16>
    // CHECK: arith.constant 2.500000e-01 : bf16
    %quarter = arith.constant 0.25 : f16
    %v = tensor.extract %x[%row, %row] : tensor<?x3xf16>
    %w = arith.mulf %v, %quarter : f16
    %z = arith.extf %w : f16 to f32
    %u = arith.truncf %z : f32 to bf16
    %s = tensor.splat %u : tensor<3xbf16>
    %t = arith.addf %s, %half : tensor<3xbf16>
    %r = tensor.insert_slice %t into %y[%row, 0] [1, 3] [1, 1] : tensor<3xbf16> into tensor<?x3xbf16>
    dataflow.yield %r : tensor<?x3xbf16>
  }
}
