// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Between layouts elements stay in their thread, move within a warp, or go through shared memory.
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
#lanes = #dataflow.fragment<[64, 8] block [64, 8] registers [1:1, 0:8] lanes [0:1, 0:2, 0:4, 1:2, 1:4] warps [0:16, 0:32]>
#warps = #dataflow.fragment<[64, 8] block [64, 8] registers [1:1, 1:2] lanes [1:4, 0:1, 0:2, 0:4, 0:8] warps [0:16, 0:32]>
#far = #dataflow.fragment<[64, 8] block [64, 8] registers [1:1, 0:32] lanes [1:2, 1:4, 0:1, 0:2, 0:4] warps [0:8, 0:16]>
dataflow.program @p(%x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x64x8xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @move tasks @rows operands(%x : tensor<?x64x8xf32>) outs(%y : tensor<?x64x8xf32>) : () -> ()
  dataflow.handler @move(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> {
    dataflow.yield %y : tensor<?x64x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @move_compute of @move compute(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> attributes {fragments} {
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
      %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
      %b = dataflow.convert_layout %a : tensor<64x8xf32, #tile> to tensor<64x8xf32, #lanes>
      %c = dataflow.convert_layout %b : tensor<64x8xf32, #lanes> to tensor<64x8xf32, #warps>
      %d = dataflow.convert_layout %c : tensor<64x8xf32, #warps> to tensor<64x8xf32, #far>
      %out = tensor.insert_slice %d into %y[%row, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32, #far> into tensor<?x64x8xf32>
      dataflow.yield %out : tensor<?x64x8xf32>
    }
  }
}
// CHECK: llvm.func internal @move$0$compute$body
// Other lanes hold the same registers: one shuffle each.
// CHECK-COUNT-4: llvm.call @dfk_shuffle(
// Which register it is depends on the lane: two shuffles and a choice.
// CHECK-COUNT-2: llvm.call @dfk_shuffle(
// CHECK: llvm.select
// CHECK: llvm.store {{.*}} vector<4xf32>, !llvm.ptr<3>
// CHECK: llvm.call @dfk_sync
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: llvm.call @dfk_sync
