// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// A store of a tile's first rows: each row that a thread holds is compared once, and stored in vectors as others are.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
dataflow.program @p(%x: tensor<?x8x64xf32>, %counts: tensor<?xi32>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @copy tasks @rows operands(%x, %counts : tensor<?x8x64xf32>, tensor<?xi32>) outs(%y : tensor<?x8x64xf32>) : () -> ()
  dataflow.handler @copy(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    dataflow.yield %y : tensor<?x8x64xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @copy_compute of @copy compute(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> attributes {fragments} {
      %n = tensor.extract %counts[%row] : tensor<?xi32>
      %count = arith.index_cast %n : i32 to index
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
      %a = dataflow.convert_layout %slice : tensor<8x64xf32> to tensor<8x64xf32, #tile>
      %m = dataflow.convert_layout %a : tensor<8x64xf32, #tile> to tensor<8x64xf32>
      %part = tensor.extract_slice %m[0, 0] [%count, 64] [1, 1] : tensor<8x64xf32> to tensor<?x64xf32>
      %out = tensor.insert_slice %part into %y[%row, 0, 0] [1, %count, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<?x8x64xf32>
      dataflow.yield %out : tensor<?x8x64xf32>
    }
  }
}
// CHECK: llvm.func internal @copy$0$compute$body
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xf32>
// CHECK: %[[BELOW:.*]] = llvm.icmp "ult"
// CHECK: llvm.cond_br %[[BELOW]], ^[[STORE:.*]], ^{{.*}}
// CHECK: ^[[STORE]]:
// CHECK: llvm.store %{{.*}} : vector<4xf32>
// CHECK-NOT: llvm.store {{.*}} vector
