// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// A tile that the compute role loads and stages in every iteration of a loop is loaded two iterations ahead: the loop carries it and the
// next one, and the loads of the one behind stand between staging and the product. The last iterations load the last tile again. Two
// iterations are lowered at a time, so that no tile moves to other registers.

!part = !dataflow.record<rows: tensor<64x64xf8E4M3FN>>

// CHECK: dataflow.part @multiply_compute
// CHECK: %[[FIRST_SLICE:.*]] = tensor.extract_slice %[[PARTS:.*]][%{{.*}}, 0, 0] [1, 64, 64]
// CHECK: %[[FIRST:.*]] = dataflow.convert_layout %[[FIRST_SLICE]]
// CHECK: %[[SECOND_SLICE:.*]] = tensor.extract_slice %[[PARTS]][%{{.*}}, 0, 0] [1, 64, 64]
// CHECK: %[[SECOND:.*]] = dataflow.convert_layout %[[SECOND_SLICE]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[TILE:.*]] = %[[FIRST]], %[[LATER:.*]] = %[[SECOND]])
// CHECK:   %[[STAGED:.*]] = dataflow.convert_layout %[[TILE]] : {{.*}} to tensor<64x64xf8E4M3FN, #dataflow.shared<
// CHECK:   %[[AHEAD:.*]] = arith.constant 128 : index
// CHECK:   %[[NEXT:.*]] = arith.addi %[[K]], %[[AHEAD]]
// CHECK:   %[[LAST:.*]] = arith.constant 192 : index
// CHECK:   %[[PLACE:.*]] = arith.minui %[[NEXT]], %[[LAST]]
// CHECK:   %[[NUMBER:.*]] = arith.divui %[[PLACE]]
// CHECK:   %[[SLICE:.*]] = tensor.extract_slice %[[PARTS]][%[[NUMBER]], 0, 0]
// CHECK:   %[[FOLLOWING:.*]] = dataflow.convert_layout %[[SLICE]]
// CHECK:   dataflow.dot
// CHECK:   scf.yield %{{.*}}, %[[LATER]], %[[FOLLOWING]]
// CHECK: dataflow.unroll = 2
dataflow.program @ahead(%x: tensor<?x64x256xf8E4M3FN>, %w: tensor<?x64x256xf8E4M3FN>, %y: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x256xf8E4M3FN>
  dataflow.tasks @blocks(block = %n)
  dataflow.range @columns of @blocks length %c256 tile 64
  %parts = dataflow.map @cut tasks @blocks each @columns operands(%x : tensor<?x64x256xf8E4M3FN>) : () -> !dataflow.channel<!part, tiles>
  %all = dataflow.reshard "all" collect(%parts) : (!dataflow.channel<!part, tiles>) -> !dataflow.channel<!part, collected>
  dataflow.finalize @multiply(%all) tasks @blocks operands(%w : tensor<?x64x256xf8E4M3FN>) outs(%y : tensor<?x64x64xf32>)
      : (!dataflow.channel<!part, collected>) -> ()
  dataflow.handler @cut(%block: index, %begin: index, %end: index, %x: tensor<?x64x256xf8E4M3FN>) -> tensor<64x64xf8E4M3FN> {
    %v = tensor.extract_slice %x[%block, 0, %begin] [1, 64, 64] [1, 1, 1] : tensor<?x64x256xf8E4M3FN> to tensor<64x64xf8E4M3FN>
    dataflow.yield %v : tensor<64x64xf8E4M3FN>
  }
  dataflow.handler @multiply(%block: index, %w: tensor<?x64x256xf8E4M3FN>, %parts: tensor<?x64x64xf8E4M3FN>, %y: tensor<?x64x64xf32>)
      -> tensor<?x64x64xf32> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
    %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zeros) -> tensor<64x64xf32> {
      %number = arith.divui %k, %c64 : index
      %a = tensor.extract_slice %parts[%number, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
      %b = tensor.extract_slice %w[%block, 0, %k] [1, 64, 64] [1, 1, 1] : tensor<?x64x256xf8E4M3FN> to tensor<64x64xf8E4M3FN>
      %c = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%b, %a : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %c : tensor<64x64xf32>
    }
    %r = tensor.insert_slice %sum into %y[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}

// The last place is found without a sign: a loop that begins below 0 loads nothing ahead.

// CHECK-LABEL: dataflow.program @below
// CHECK: dataflow.part @multiply_compute
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) ->
dataflow.program @below(%x: tensor<?x64x256xf8E4M3FN>, %w: tensor<?x64x256xf8E4M3FN>, %y: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x256xf8E4M3FN>
  dataflow.tasks @blocks(block = %n)
  dataflow.range @columns of @blocks length %c256 tile 64
  %parts = dataflow.map @cut tasks @blocks each @columns operands(%x : tensor<?x64x256xf8E4M3FN>) : () -> !dataflow.channel<!part, tiles>
  %all = dataflow.reshard "all" collect(%parts) : (!dataflow.channel<!part, tiles>) -> !dataflow.channel<!part, collected>
  dataflow.finalize @multiply(%all) tasks @blocks operands(%w : tensor<?x64x256xf8E4M3FN>) outs(%y : tensor<?x64x64xf32>)
      : (!dataflow.channel<!part, collected>) -> ()
  dataflow.handler @cut(%block: index, %begin: index, %end: index, %x: tensor<?x64x256xf8E4M3FN>) -> tensor<64x64xf8E4M3FN> {
    %v = tensor.extract_slice %x[%block, 0, %begin] [1, 64, 64] [1, 1, 1] : tensor<?x64x256xf8E4M3FN> to tensor<64x64xf8E4M3FN>
    dataflow.yield %v : tensor<64x64xf8E4M3FN>
  }
  dataflow.handler @multiply(%block: index, %w: tensor<?x64x256xf8E4M3FN>, %parts: tensor<?x64x64xf8E4M3FN>, %y: tensor<?x64x64xf32>)
      -> tensor<?x64x64xf32> {
    %first = arith.constant -192 : index
    %c64 = arith.constant 64 : index
    %c192 = arith.constant 192 : index
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
    %sum = scf.for %k = %first to %c64 step %c64 iter_args(%acc = %zeros) -> tensor<64x64xf32> {
      %column = arith.addi %k, %c192 : index
      %number = arith.divui %column, %c64 : index
      %a = tensor.extract_slice %parts[%number, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf8E4M3FN> to tensor<64x64xf8E4M3FN>
      %b = tensor.extract_slice %w[%block, 0, %column] [1, 64, 64] [1, 1, 1] : tensor<?x64x256xf8E4M3FN> to tensor<64x64xf8E4M3FN>
      %c = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%b, %a : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %c : tensor<64x64xf32>
    }
    %r = tensor.insert_slice %sum into %y[%block, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}
