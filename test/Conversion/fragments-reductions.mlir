// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// A reduction goes over registers, lanes and warps in this order, and the initial value comes last. In a loop its place in shared
// memory has two buffers, so that one barrier is enough.
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
#column = #dataflow.fragment<[8] block [8] registers [0:1] lanes [0:2, 0:4, _, _, _] warps [_, _]>
dataflow.program @p(%x: tensor<?x64x8xf32>, %y: tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @most tasks @rows operands(%x : tensor<?x64x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.handler @most(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @most_compute of @most compute(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %zero = arith.constant dense<0.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %r = linalg.reduce { arith.maximumf } ins(%a : tensor<64x8xf32, #tile>) outs(%acc : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
  }
}
// CHECK: llvm.func internal @most$0$compute$body
// The number of iterations is the same in all lanes.
// CHECK: llvm.call @dfk_uniform
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr -> vector<2xf32>
// CHECK-COUNT-2: llvm.intr.maximum
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.call @dfk_fragment_pointer
// CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: llvm.call @dfk_sync
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT: llvm.call @dfk_sync
// CHECK: llvm.return
