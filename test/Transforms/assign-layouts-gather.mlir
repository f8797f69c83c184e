// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// Rows that a list names, multiplied with a streamed tile: they are taken by a generic operation, lie for coalesced access, and are
// staged for the product.

// CHECK: dataflow.part @multiply_compute
// CHECK-SAME: attributes {fragments}
// CHECK: %[[ROWS:.*]] = linalg.generic
// CHECK: tensor.extract %{{.*}} : tensor<?x128xf16>
// CHECK: } -> tensor<64x128xf16, #dataflow.fragment<[64, 128] block [{{.*}}] registers [1:1, 1:2, 1:4
// CHECK: dataflow.convert_layout %[[ROWS]] : {{.*}} to tensor<64x128xf16, #dataflow.shared<
// CHECK: dataflow.dot
dataflow.program @gather(%x: tensor<?x128xf16>, %list: tensor<?x64xi32>, %w: tensor<?x64x128xf16>, %y: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %list, %c0 : tensor<?x64xi32>
  dataflow.tasks @blocks(block = %n)
  dataflow.finalize @multiply tasks @blocks operands(%x, %list, %w : tensor<?x128xf16>, tensor<?x64xi32>, tensor<?x64x128xf16>)
      outs(%y : tensor<?x64x64xf32>) : () -> ()
  dataflow.handler @multiply(%block: index, %x: tensor<?x128xf16>, %list: tensor<?x64xi32>, %w: tensor<?x64x128xf16>,
                             %y: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
    %rows = tensor.extract_slice %list[%block, 0] [1, 64] [1, 1] : tensor<?x64xi32> to tensor<64xi32>
    %empty = tensor.empty() : tensor<64x128xf16>
    %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<64xi32>) outs(%empty : tensor<64x128xf16>) {
    ^bb0(%t: i32, %o: f16):
      %row = arith.index_cast %t : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %x[%row, %j] : tensor<?x128xf16>
      linalg.yield %v : f16
    } -> tensor<64x128xf16>
    %b = tensor.extract_slice %w[%block, 0, 0] [1, 64, 128] [1, 1, 1] : tensor<?x64x128xf16> to tensor<64x128xf16>
    %c = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%a, %b : tensor<64x128xf16>, tensor<64x128xf16>) outs(%zeros : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = tensor.insert_slice %c into %y[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}
