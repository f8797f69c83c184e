// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=32" --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=NARROW
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=64" --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=WIDE
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=32" --dataflow-split-roles --dataflow-assign-layouts="shared-bytes=225280" --dataflow-verify-kernel | FileCheck %s --check-prefix=ROOM
// RUN: df-opt %source/examples/mla-decode/mla_decode_dense.mlir --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=DENSE
// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// Two products with a softmax between them: few rows of the first are columns of wgmma, many its rows.

// NARROW: dataflow.kernel @kernel consumers 1
// NARROW: dataflow.stream @q depth 2 of tensor<32x576xf16> layout <swizzle = 128
// NARROW: dataflow.stream @pages depth 2 of tensor<64x576xf16> layout <swizzle = 128{{.*}}> evict_first
// NARROW: dataflow.part @attend_compute
// NARROW-SAME: attributes {following = @normalize, fragments}
// NARROW: %[[Q:.*]] = dataflow.take @q
// NARROW: scf.for {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}})
// NARROW:   %[[K:.*]] = dataflow.take @pages
// Values are a window of the keys.
// NARROW:   %[[V:.*]] = tensor.extract_slice %[[K]][0, 0] [64, 512] [1, 1]
// NARROW:   dataflow.dot %[[K]] contract 1, %[[Q]] contract 1, %{{.*}} transposed
// NARROW:   linalg.generic {{.*}}"reduction"{{.*}} outs(%[[MAX]] : tensor<32xf32, #dataflow.fragment<[32] block [8] registers [0:1] lanes [0:2, 0:4, _, _, _] warps [_, _]>>)
// Weights go to all warps; nothing else moves.
// NARROW:   %[[P:.*]] = arith.truncf
// NARROW-NOT: convert_layout
// NARROW:   %[[STAGED:.*]] = dataflow.convert_layout %[[P]] : {{.*}} to tensor<32x64xf16, #dataflow.shared<swizzle = 128
// NARROW-NEXT: dataflow.dot %[[V]] contract 0, %[[STAGED]] contract 1, %{{.*}} transposed : {{.*}}, tensor<32x512xf32, #dataflow.fragment<accumulator [32, 512] m 1>>
// NARROW-NEXT: dataflow.give @pages
// What normalize does with a whole record, on what the loop leaves.
// NARROW: scf.if %{{.*}} -> (tensor<?x32x512xf16>, tensor<?x32xf32>) {
// NARROW-COUNT-2: tensor.insert_slice
// NARROW: } else {
// NARROW: dataflow.part @merge_compute
// NARROW-SAME: attributes {fragments}
// Slices are for one warp.
// NARROW: dataflow.part @merge_sliced_compute
// NARROW-SAME: attributes {fragments, warp}
// NARROW: dataflow.part @normalize_sliced_compute
// NARROW-SAME: attributes {fragments, warp}
// NARROW:   scf.if %{{.*}} -> (tensor<?x32xf32>)

// Weights that are staged need what a second stage of a ring would take.
// ROOM: dataflow.stream @q depth 1
// ROOM: dataflow.stream @pages depth 2
// ROOM: dataflow.dot

// WIDE: dataflow.kernel @kernel consumers 2
// Two stages of pages, the queries and the exchange of the weights fit just so.
// WIDE: dataflow.stream @pages depth 2 of tensor<64x576xf16> layout <swizzle = 128
// WIDE: dataflow.part @attend_compute
// WIDE: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 1, %{{.*}} : {{.*}} tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0 groups 2 split n>>
// WIDE: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 0, %{{.*}} : {{.*}} tensor<64x512xf32, #dataflow.fragment<accumulator [64, 512] m 0 groups 2 split n>>
// A slice is some columns of all rows; what rows have in common is computed once a slice.
// WIDE: dataflow.part @merge_sliced_compute
// WIDE-SAME: attributes {fragments, warp}

// The last tile may be partial: rows behind the valid ones are zeroed in their stage.
// DENSE: dataflow.part @attend_compute
// DENSE: %[[TILE:.*]] = dataflow.take @latent : tensor<64x512xf16, #[[SHARED:dataflow.shared<.*>]]>
// DENSE: %[[VALID:.*]] = tensor.extract_slice %[[TILE]][0, 0] [%{{.*}}, 512] [1, 1] : {{.*}} to tensor<?x512xf16, #dataflow.shared
// DENSE: %[[PADDED:.*]] = tensor.pad %[[VALID]]
// DENSE: dataflow.dot %[[PADDED]] contract 1
// DENSE: dataflow.dot %[[PADDED]] contract 0

// A branch that corrects what a loop carries, steered by a tile.
// CHECK: dataflow.part @scores_compute
// CHECK: scf.for {{.*}} iter_args(%[[LIMIT:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (tensor<64xf32, #[[ROW:.*]]>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>)
// CHECK:   %[[OVER:.*]] = arith.cmpf
// CHECK:   %[[ANY:.*]] = linalg.generic {{.*}} ins(%[[OVER]] : {{.*}}) outs(%{{.*}} : tensor<i1, #dataflow.fragment
// CHECK:   %[[STEER:.*]] = tensor.extract %[[ANY]][]
// CHECK:   scf.if %[[STEER]] -> (tensor<64xf32, {{.*}}>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
// CHECK:   } else {
// CHECK-NEXT: scf.yield %[[LIMIT]], %[[ACC]]
dataflow.program @corrected(%x: tensor<64x64xbf16>, %k: tensor<1024x64xbf16>, %y: tensor<64x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @scores tasks @one operands(%x, %k : tensor<64x64xbf16>, tensor<1024x64xbf16>) outs(%y : tensor<64x64xf32>) : () -> ()
  dataflow.handler @scores(%x: tensor<64x64xbf16>, %k: tensor<1024x64xbf16>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %false = arith.constant false
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %first = arith.constant dense<0.0> : tensor<64xf32>
    %none = tensor.splat %false : tensor<i1>
    %empty = tensor.empty() : tensor<64x64xf32>
    %rows = tensor.extract_slice %x[0, 0] [64, 64] [1, 1] : tensor<64x64xbf16> to tensor<64x64xbf16>
    %r:2 = scf.for %t = %c0 to %c1024 step %c64 iter_args(%limit = %first, %acc = %zero) -> (tensor<64xf32>, tensor<64x64xf32>) {
      %tile = tensor.extract_slice %k[%t, 0] [64, 64] [1, 1] : tensor<1024x64xbf16> to tensor<64x64xbf16>
      %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%rows, %tile : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
      %wide = linalg.broadcast ins(%limit : tensor<64xf32>) outs(%empty : tensor<64x64xf32>) dimensions = [1]
      %over = arith.cmpf ugt, %s, %wide : tensor<64x64xf32>
      %any = linalg.reduce { arith.ori } ins(%over : tensor<64x64xi1>) outs(%none : tensor<i1>) dimensions = [0, 1]
      %steer = tensor.extract %any[] : tensor<i1>
      %state:2 = scf.if %steer -> (tensor<64xf32>, tensor<64x64xf32>) {
        %m = linalg.reduce { arith.maximumf } ins(%s : tensor<64x64xf32>) outs(%limit : tensor<64xf32>) dimensions = [1]
        %scaled = arith.mulf %acc, %wide : tensor<64x64xf32>
        scf.yield %m, %scaled : tensor<64xf32>, tensor<64x64xf32>
      } else {
        scf.yield %limit, %acc : tensor<64xf32>, tensor<64x64xf32>
      }
      %next = arith.addf %state#1, %s : tensor<64x64xf32>
      scf.yield %state#0, %next : tensor<64xf32>, tensor<64x64xf32>
    }
    %out = tensor.insert_slice %r#1 into %y[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x64xf32>
    dataflow.yield %out : tensor<64x64xf32>
  }
}
