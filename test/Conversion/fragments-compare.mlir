// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// A mask compares the place of each element, which fits into 32 bits, with a length, which may not: what the elements of a thread have
// in common goes to the other side, and each is compared with a constant.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
#whole = affine_map<(i, j) -> (i, j)>
dataflow.program @p(%x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @mask tasks @rows operands(%x, %counts : tensor<?x8x64xf32>, tensor<?xi64>) outs(%y : tensor<?x8x64xf32>) : () -> ()
  dataflow.handler @mask(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    dataflow.yield %y : tensor<?x8x64xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @mask_compute of @mask compute(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> attributes {fragments} {
      %zero = arith.constant 0.0 : f32
      %c64 = arith.constant 64 : index
      %n = tensor.extract %counts[%row] : tensor<?xi64>
      %count = arith.index_cast %n : i64 to index
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
      %a = dataflow.convert_layout %slice : tensor<8x64xf32> to tensor<8x64xf32, #tile>
      %empty = tensor.empty() : tensor<8x64xf32, #tile>
      %m = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<8x64xf32, #tile>) outs(%empty : tensor<8x64xf32, #tile>) {
      ^bb0(%v: f32, %o: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %first = arith.muli %i, %c64 : index
        %place = arith.addi %first, %j : index
        %live = arith.cmpi ult, %place, %count : index
        // Two coordinates: neither needs a clamp.
        %below = arith.cmpi sle, %i, %j : index
        %both = arith.andi %live, %below : i1
        %masked = arith.select %both, %v, %zero : f32
        linalg.yield %masked : f32
      } -> tensor<8x64xf32, #tile>
      %out = tensor.insert_slice %m into %y[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32, #tile> into tensor<?x8x64xf32>
      dataflow.yield %out : tensor<?x8x64xf32>
    }
  }
}
// CHECK: llvm.func internal @mask$0$compute$body
// CHECK-DAG: %[[LIMIT:.*]] = llvm.mlir.constant(2147483647 : index) : i64
// CHECK-DAG: %[[THREE:.*]] = llvm.mlir.constant(3 : i32) : i32
// CHECK: %[[CLAMPED:.*]] = llvm.intr.umin(%{{.*}}, %[[LIMIT]])
// CHECK: %[[LEFT:.*]] = llvm.trunc %[[CLAMPED]] : i64 to i32
// CHECK: %[[REST:.*]] = llvm.sub %[[LEFT]], %{{.*}} : i32
// CHECK-NOT: llvm.icmp {{.*}} : i64
// CHECK: llvm.icmp "sgt" %[[REST]], %[[THREE]] : i32
// CHECK-NOT: llvm.icmp {{.*}} : i64
// CHECK: llvm.return
