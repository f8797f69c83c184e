// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Elementwise operations on fragments become one scalar operation a register, between vector loads and stores.
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
      %e = math.exp2 %a : tensor<8x64xf32, #tile>
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
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// The row is loaded once, by the threads of all rows.
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-COUNT-4: llvm.fmul
// Roundings come in pairs.
// CHECK-COUNT-2: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: llvm.return
