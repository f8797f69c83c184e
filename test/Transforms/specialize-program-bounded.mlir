// RUN: df-opt %s --dataflow-specialize-program --dataflow-verify-program | FileCheck %s
// RUN: df-opt %s --dataflow-prepare="params=rows=32" | FileCheck %s --check-prefix=FEWER
// RUN: df-opt %s --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=KERNEL
// RUN: df-opt %s --dataflow-plan="values=valid=16,17,33,0;x[256x64];w[64x64];y[4x64x64] ctas=2" | FileCheck %s --check-prefix=PLAN
// A handler has a variant for each size that the request names and the parameter exceeds. It yields the first rows, loads them into the
// stages of the handler's own stream, and instructions name the narrowest one that holds what their task has.

// CHECK: dataflow.map @multiply {{.*}} requests [#dataflow.bounded<@rows_of, [16, 32, 128]>] : () -> !dataflow.channel<!dataflow.record<p: tensor<64x64xf32>>>
// CHECK-LABEL: dataflow.handler @multiply(
// CHECK-SAME: -> tensor<64x64xf32> {
// CHECK-LABEL: dataflow.handler @multiply_bounded16(
// CHECK-SAME: -> tensor<16x64xf32> attributes {variant = #dataflow.variant<bounded = 16>, variant_of = @multiply}
// CHECK: tensor.extract_slice {{.*}} [16, 64] [1, 1]
// CHECK-LABEL: dataflow.handler @multiply_bounded32(
// CHECK-SAME: -> tensor<32x64xf32> attributes {variant = #dataflow.variant<bounded = 32>, variant_of = @multiply}
// CHECK-NOT: bounded128
// CHECK-LABEL: dataflow.handler @store(

// FEWER: dataflow.handler @multiply_bounded16(
// FEWER-NOT: dataflow.handler @multiply_bounded

// KERNEL: dataflow.stream @x depth {{[0-9]+}} of tensor<64x64xf16>
// KERNEL-NEXT: dataflow.stream @w
// KERNEL-NOT: dataflow.stream
// KERNEL-LABEL: dataflow.part @multiply_bounded16_load
// KERNEL: %[[ROWS:.+]] = arith.constant 16 : index
// KERNEL: dataflow.fill @x, {{.*}} [%[[ROWS]], 64] [1, 1] : tensor<?x64xf16> to tensor<64x64xf16>
// KERNEL-LABEL: dataflow.part @multiply_bounded16_compute
// KERNEL: %[[TILE:.+]] = dataflow.take @x
// KERNEL: tensor.extract_slice %[[TILE]][0, 0] [16, 64] [1, 1]
// KERNEL: dataflow.dot
// KERNEL: dataflow.yield {{.*}} : tensor<16x64xf32

// PLAN-DAG: dataflow.instruction "multiply" variant 1 task 0 outs
// PLAN-DAG: dataflow.instruction "multiply" variant 2 task 1 outs
// PLAN-DAG: dataflow.instruction "multiply" task 2 outs
// PLAN-DAG: dataflow.instruction "multiply" variant 1 task 3 outs

dataflow.program @rows(%x: tensor<?x?xf16>, %w: tensor<?x?xf16>, %valid: tensor<?xi32>, %y: tensor<?x?x?xf32>)
    params {rows = 64 : index, columns = 64 : index}
    attributes {dataflow.extents = {x = [-1, "columns"], w = ["columns", "columns"], y = [-1, "rows", "columns"]}} {
  %c0 = arith.constant 0 : index
  %blocks = tensor.dim %valid, %c0 : tensor<?xi32>
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @rows_of of @blocks length %valid[block] tile "rows" : tensor<?xi32>
  %products = dataflow.map @multiply tasks @blocks operands(%x, %w : tensor<?x?xf16>, tensor<?x?xf16>)
      requests [#dataflow.bounded<@rows_of, [16, 32, 128]>]
      : () -> !dataflow.channel<!dataflow.record<p: tensor<?x?xf32>>>
  dataflow.finalize @store(%products) tasks @blocks operands(%valid : tensor<?xi32>) outs(%y : tensor<?x?x?xf32>)
      : (!dataflow.channel<!dataflow.record<p: tensor<?x?xf32>>>) -> ()
  dataflow.handler @multiply(%block: index, %x: tensor<?x?xf16>, %w: tensor<?x?xf16>) -> tensor<?x?xf32> {
    %rows = dataflow.param "rows" : index
    %columns = dataflow.param "columns" : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %first = arith.muli %block, %c64 : index
    %a = tensor.extract_slice %x[%first, 0] [%rows, %columns] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %b = tensor.extract_slice %w[0, 0] [%columns, %columns] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %p = linalg.contract
        indexing_maps = [affine_map<(r, c, d) -> (r, d)>, affine_map<(r, c, d) -> (c, d)>, affine_map<(r, c, d) -> (r, c)>]
        ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
    dataflow.yield %p : tensor<?x?xf32>
  }
  dataflow.handler @store(%block: index, %valid: tensor<?xi32>, %p: tensor<?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
    %columns = dataflow.param "columns" : index
    %count32 = tensor.extract %valid[%block] : tensor<?xi32>
    %count = arith.index_cast %count32 : i32 to index
    %live = tensor.extract_slice %p[0, 0] [%count, %columns] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %r = tensor.insert_slice %live into %y[%block, 0, 0] [1, %count, %columns] [1, 1, 1] : tensor<?x?xf32> into tensor<?x?x?xf32>
    dataflow.yield %r : tensor<?x?x?xf32>
  }
}
