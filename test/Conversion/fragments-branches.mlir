// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// A condition that all threads find out together needs no memory: a barrier reduces it, and all lanes branch alike. Registers pass
// through the branches one by one.
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
#one = #dataflow.fragment<[] block [] lanes [_, _, _, _, _] warps [_, _]>
dataflow.program @p(%x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x64x8xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @clamp tasks @rows operands(%x : tensor<?x64x8xf32>) outs(%y : tensor<?x64x8xf32>) : () -> ()
  dataflow.handler @clamp(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> {
    dataflow.yield %y : tensor<?x64x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @clamp_compute of @clamp compute(%row: index, %x: tensor<?x64x8xf32>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> attributes {fragments} {
      %false = arith.constant dense<false> : tensor<i1, #one>
      %limit = arith.constant dense<8.0> : tensor<64x8xf32, #tile>
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
      %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
      %above = arith.cmpf ogt, %a, %limit : tensor<64x8xf32, #tile>
      %any = linalg.reduce { arith.ori } ins(%above : tensor<64x8xi1, #tile>) outs(%false : tensor<i1, #one>) dimensions = [0, 1]
      %some = tensor.extract %any[] : tensor<i1, #one>
      %r = scf.if %some -> tensor<64x8xf32, #tile> {
        %m = arith.minimumf %a, %limit : tensor<64x8xf32, #tile>
        scf.yield %m : tensor<64x8xf32, #tile>
      } else {
        scf.yield %a : tensor<64x8xf32, #tile>
      }
      %out = tensor.insert_slice %r into %y[%row, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32, #tile> into tensor<?x64x8xf32>
      dataflow.yield %out : tensor<?x64x8xf32>
    }
  }
}
// CHECK: llvm.func internal @clamp$0$compute$body
// CHECK-COUNT-4: llvm.fcmp "ogt"
// CHECK-COUNT-3: llvm.or
// CHECK: %[[SOME:.*]] = llvm.call @dfk_any_thread(
// CHECK-NOT: llvm.call @dfk_sync
// CHECK: %[[SAME:.*]] = llvm.call @dfk_any(
// CHECK: llvm.cond_br %[[SAME]]
// CHECK-COUNT-4: llvm.intr.minimum
// CHECK-COUNT-2: llvm.store {{.*}} vector<2xf32>
