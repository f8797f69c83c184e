// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// tanh without the branches of a library; in one instruction only where approximations are allowed.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
#row = #dataflow.fragment<[64] block [64] registers [0:1, 0:2] lanes [0:4, 0:8, 0:16, 0:32, _] warps [_, _]>
dataflow.program @p(%x: tensor<?x8x64xf32>, %w: tensor<64xf32>, %y: tensor<?x8x64xf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @scale tasks @rows operands(%x, %w : tensor<?x8x64xf32>, tensor<64xf32>) outs(%y : tensor<?x8x64xf16>) : () -> ()
  dataflow.handler @scale(%row: index, %x: tensor<?x8x64xf32>, %w: tensor<64xf32>, %y: tensor<?x8x64xf16>) -> tensor<?x8x64xf16> {
    dataflow.yield %y : tensor<?x8x64xf16>
  }
  dataflow.kernel @kernel {
    dataflow.part @scale_compute of @scale compute(%row: index, %x: tensor<?x8x64xf32>, %w: tensor<64xf32>, %y: tensor<?x8x64xf16>) -> tensor<?x8x64xf16> attributes {fragments} {
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
      %a = dataflow.convert_layout %slice : tensor<8x64xf32> to tensor<8x64xf32, #tile>
      %b = dataflow.convert_layout %w : tensor<64xf32> to tensor<64xf32, #row>
      %exact = math.tanh %a : tensor<8x64xf32, #tile>
      %e = math.tanh %exact fastmath<afn> : tensor<8x64xf32, #tile>
      %init = tensor.empty() : tensor<8x64xf16, #tile>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%e, %b : tensor<8x64xf32, #tile>, tensor<64xf32, #row>) outs(%init : tensor<8x64xf16, #tile>) {
      ^bb0(%s: f32, %f: f32, %o: f16):
        %m = arith.mulf %s, %f : f32
        %t = arith.truncf %m : f32 to f16
        linalg.yield %t : f16
      } -> tensor<8x64xf16, #tile>
      %out = tensor.insert_slice %r into %y[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf16, #tile> into tensor<?x8x64xf16>
      dataflow.yield %out : tensor<?x8x64xf16>
    }
  }
}
// CHECK: llvm.func internal @scale$0$compute$body
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT: ex2
// CHECK-COUNT-4: "tanh.approx.f32 $0, $1;", "=f,f"
// CHECK-NOT: tanh
// CHECK: llvm.return
