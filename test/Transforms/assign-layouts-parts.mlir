// RUN: df-opt %S/../../examples/grouped-gemm/grouped_gemm.mlir --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=MEMORY
// Of a tile in registers a store may store a part; a part of memory is padded where it is loaded.

// CHECK: dataflow.part @multiply_compute
// CHECK-SAME: attributes {fragments}
// CHECK: %[[TILE:.*]] = dataflow.convert_layout {{.*}} to tensor<128x128xbf16>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[TILE]][0, 0] [%{{.*}}, %{{.*}}] [1, 1] : tensor<128x128xbf16> to tensor<?x?xbf16>
// CHECK: tensor.insert_slice %[[PART]] into

// MEMORY: dataflow.part @scale_compute
// MEMORY-SAME: attributes {fragments}
// MEMORY: %[[ROW:.*]] = tensor.extract_slice %{{.*}} : tensor<?x?xf32> to tensor<?xf32>
// MEMORY: %[[PADDED:.*]] = tensor.pad %[[ROW]]
// MEMORY: : tensor<?xf32> to tensor<256xf32, #dataflow.fragment<
// MEMORY: arith.mulf %[[PADDED]], %[[PADDED]]
dataflow.program @p(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.finalize @scale() tasks @rows operands(%x, %lengths : tensor<?x?xf32>, tensor<?xi32>) outs(%y : tensor<?x?xf32>)
      : () -> ()
  dataflow.handler @scale(%row: index, %x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c256 = arith.constant 256 : index
    %one = arith.constant 1.0 : f32
    %length = tensor.extract %lengths[%row] : tensor<?xi32>
    %n = arith.index_cast %length : i32 to index
    %missing = arith.subi %c256, %n : index
    %part = tensor.extract_slice %x[%row, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %all = tensor.pad %part low[0] high[%missing] {
    ^bb0(%i: index):
      tensor.yield %one : f32
    } : tensor<?xf32> to tensor<256xf32>
    %square = arith.mulf %all, %all : tensor<256xf32>
    %used = tensor.extract_slice %square[0] [%n] [1] : tensor<256xf32> to tensor<?xf32>
    %r = tensor.insert_slice %used into %y[%row, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}
