// RUN: df-opt %s --split-input-file --dataflow-specialize-program="params=element=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: df-opt %s --split-input-file --dataflow-specialize-program="params=element=f32" | FileCheck %s --check-prefixes=CHECK,F32
// RUN: df-opt %s --split-input-file --dataflow-specialize-program="params=element=f8E5M2" | FileCheck %s --check-prefixes=CHECK,F8
// A type parameter replaces its default in types, constants and attributes; conversions follow.

// CHECK-LABEL: dataflow.program @types
// BF16-SAME: %x: tensor<?x4xbf16>
// BF16-SAME: dataflow.bound_params = {element = bf16}
// F32-SAME: %x: tensor<?x4xf32>
// F8-SAME: %x: tensor<?x4xf8E5M2>
dataflow.program @types(%x: tensor<?x4xf16>, %y: tensor<?x4xf32>) params {element = f16} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf16>
  dataflow.tasks @rows(row = %n)
  // BF16: !dataflow.channel<!dataflow.record<v: tensor<4xbf16>>>
  // F32: !dataflow.channel<!dataflow.record<v: tensor<4xf32>>>
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?x4xf16>) : () -> !dataflow.channel<!dataflow.record<v: tensor<4xf16>>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?x4xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<4xf16>>>) -> ()
  // CHECK-LABEL: dataflow.handler @load
  dataflow.handler @load(%row: index, %x: tensor<?x4xf16>) -> tensor<4xf16> {
    // BF16: arith.constant dense<[1.000000e+00, 3.339840e-01, -0.000000e+00, 0xFF80]> : tensor<4xbf16>
    // F32: arith.constant dense<[1.000000e+00, 0.333251953, -0.000000e+00, 0xFF800000]> : tensor<4xf32>
    %table = arith.constant dense<[1.0, 0.33333, -0.0, 0xFC00]> : tensor<4xf16>
    // BF16: arith.constant 1.000980e-01 : bf16
    // F32: arith.constant 0.0999755859 : f32
    // F8: arith.constant 9.375000e-02 : f8E5M2
    %tenth = arith.constant 0.1 : f16
    %one = tensor.splat %tenth : tensor<4xf16>
    %s = tensor.extract_slice %x[%row, 0] [1, 4] [1, 1] : tensor<?x4xf16> to tensor<4xf16>
    %t = arith.mulf %s, %table : tensor<4xf16>
    %u = arith.addf %t, %one : tensor<4xf16>
    dataflow.yield %u : tensor<4xf16>
  }
  // CHECK-LABEL: dataflow.handler @store
  dataflow.handler @store(%row: index, %v: tensor<4xf16>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
    // BF16: arith.extf %{{.*}} : tensor<4xbf16> to tensor<4xf32>
    // F32-NOT: arith.extf
    %w = arith.extf %v : tensor<4xf16> to tensor<4xf32>
    // BF16: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xbf16>
    // F32-NOT: arith.truncf
    %back = arith.truncf %w : tensor<4xf32> to tensor<4xf16>
    // F32: arith.extf %{{.*}} : tensor<4xf32> to tensor<4xf64>
    %double = arith.extf %back : tensor<4xf16> to tensor<4xf64>
    %z = arith.truncf %double : tensor<4xf64> to tensor<4xf32>
    // The region of a named op is repaired as well.
    // CHECK: linalg.contract
    %empty = tensor.empty() : tensor<f32>
    %dot = linalg.contract indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>]
        ins(%v, %back : tensor<4xf16>, tensor<4xf16>) outs(%empty : tensor<f32>) -> tensor<f32>
    %r = tensor.insert_slice %z into %y[%row, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
    dataflow.yield %r : tensor<?x4xf32>
  }
}

// -----

// A conversion whose direction no longer suits its types is turned round; two formats of one width meet in f32.
// CHECK-LABEL: dataflow.program @turned
dataflow.program @turned(%x: tensor<?xf8E5M2>, %y: tensor<?xf16>) params {element = f8E5M2} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf8E5M2>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @convert tasks @rows operands(%x : tensor<?xf8E5M2>) outs(%y : tensor<?xf16>) : () -> ()
  // CHECK-LABEL: dataflow.handler @convert
  dataflow.handler @convert(%row: index, %x: tensor<?xf8E5M2>, %y: tensor<?xf16>) -> tensor<?xf16> {
    %v = tensor.extract %x[%row] : tensor<?xf8E5M2>
    // BF16: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
    // BF16: arith.truncf %[[WIDE]] : f32 to f16
    // F32: arith.truncf %{{.*}} : f32 to f16
    // F8: arith.extf %{{.*}} : f8E5M2 to f16
    %w = arith.extf %v : f8E5M2 to f16
    %r = tensor.insert %w into %y[%row] : tensor<?xf16>
    dataflow.yield %r : tensor<?xf16>
  }
}
