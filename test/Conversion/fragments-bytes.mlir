// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Roundings to 8 bits come in pairs. The instruction saturates; what is too large becomes infinity, or NaN where there is none.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
dataflow.program @p(%x: tensor<?x8x64xf32>, %y: tensor<?x8x64xf8E4M3FN>, %z: tensor<?x8x64xf8E5M2>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @round tasks @rows operands(%x : tensor<?x8x64xf32>) outs(%y, %z : tensor<?x8x64xf8E4M3FN>, tensor<?x8x64xf8E5M2>) : () -> ()
  dataflow.handler @round(%row: index, %x: tensor<?x8x64xf32>, %y: tensor<?x8x64xf8E4M3FN>, %z: tensor<?x8x64xf8E5M2>) -> (tensor<?x8x64xf8E4M3FN>, tensor<?x8x64xf8E5M2>) {
    dataflow.yield %y, %z : tensor<?x8x64xf8E4M3FN>, tensor<?x8x64xf8E5M2>
  }
  dataflow.kernel @kernel {
    dataflow.part @round_compute of @round compute(%row: index, %x: tensor<?x8x64xf32>, %y: tensor<?x8x64xf8E4M3FN>, %z: tensor<?x8x64xf8E5M2>) -> (tensor<?x8x64xf8E4M3FN>, tensor<?x8x64xf8E5M2>) attributes {fragments} {
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
      %a = dataflow.convert_layout %slice : tensor<8x64xf32> to tensor<8x64xf32, #tile>
      %b = arith.truncf %a : tensor<8x64xf32, #tile> to tensor<8x64xf8E4M3FN, #tile>
      %c = arith.truncf %a : tensor<8x64xf32, #tile> to tensor<8x64xf8E5M2, #tile>
      %y1 = tensor.insert_slice %b into %y[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf8E4M3FN, #tile> into tensor<?x8x64xf8E4M3FN>
      %z1 = tensor.insert_slice %c into %z[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf8E5M2, #tile> into tensor<?x8x64xf8E5M2>
      dataflow.yield %y1, %z1 : tensor<?x8x64xf8E4M3FN>, tensor<?x8x64xf8E5M2>
    }
  }
}
// CHECK: llvm.func internal @round$0$compute$body
// Above 464, which is rounded to 448, there is only NaN: one more than the code of 448.
// CHECK-DAG: %[[LIMIT:.*]] = llvm.mlir.constant(4.640000e+02 : f32)
// CHECK: %[[PAIR:.*]] = llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%[[SECOND:.*]], %[[FIRST:.*]]) : (f32, f32) -> i16
// CHECK: %[[SIZE:.*]] = llvm.intr.fabs(%[[FIRST]])
// CHECK: llvm.fcmp "ogt" %[[SIZE]], %[[LIMIT]]
// CHECK: llvm.add %[[PAIR]], %{{.*}} : i16
// CHECK: llvm.intr.fabs(%[[SECOND]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
// CHECK-NOT: "llvm.nvvm.ff.to.e4m3x2.rn"
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff.to.e5m2x2.rn"
// CHECK: llvm.fcmp "oge"
