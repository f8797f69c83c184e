// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Elements of operands may be taken in the body of an operation on tiles: a thread loads those that it holds, side by side where the
// index of the last dimension goes along the tile, also behind a place that is the smaller of two. The first row goes to where the list
// says.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
#column = #dataflow.fragment<[8] block [8] lanes [_, _, _, _, 0:1] warps [0:2, 0:4]>
dataflow.program @p(%x: tensor<?x256xf16>, %scale: tensor<?x4xf32>, %list: tensor<?x8xi32>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %list, %c0 : tensor<?x8xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @collect tasks @rows operands(%x, %scale, %list : tensor<?x256xf16>, tensor<?x4xf32>, tensor<?x8xi32>) outs(%y : tensor<?x8x64xf32>) : () -> ()
  dataflow.handler @collect(%row: index, %x: tensor<?x256xf16>, %scale: tensor<?x4xf32>, %list: tensor<?x8xi32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    dataflow.yield %y : tensor<?x8x64xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @collect_compute of @collect compute(%row: index, %x: tensor<?x256xf16>, %scale: tensor<?x4xf32>, %list: tensor<?x8xi32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> attributes {fragments} {
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %behind = arith.muli %row, %c64 : index
      %first = arith.minui %behind, %c128 : index
      %slice = tensor.extract_slice %list[%row, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<8xi32>
      %own = dataflow.convert_layout %slice : tensor<8xi32> to tensor<8xi32, #column>
      %init = tensor.empty() : tensor<8x64xf32, #tile>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%own : tensor<8xi32, #column>) outs(%init : tensor<8x64xf32, #tile>) {
      ^bb0(%t: i32, %o: f32):
        %from = arith.index_cast %t : i32 to index
        %j = linalg.index 1 : index
        %at = arith.addi %j, %first : index
        %e = tensor.extract %x[%from, %at] : tensor<?x256xf16>
        %f = arith.extf %e : f16 to f32
        %s = tensor.extract %scale[%from, %c2] : tensor<?x4xf32>
        %m = arith.mulf %f, %s : f32
        linalg.yield %m : f32
      } -> tensor<8x64xf32, #tile>
      %out = tensor.insert_slice %r into %y[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32, #tile> into tensor<?x8x64xf32>
      dataflow.yield %out : tensor<?x8x64xf32>
    }
  }
}
// CHECK: llvm.func internal @collect$0$compute$body
// The number of the row, then four elements of it at a time.
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<4xf16>
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK-NOT: -> vector<4xf16>
