// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// How much of a tile is stored may be known at run time only: the tile is cut on its way to memory.

// CHECK-LABEL: dataflow.program @rows
dataflow.program @rows(%x: tensor<?x64x32xf32>, %counts: tensor<?xi32>, %y: tensor<?x32xf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %counts, %c0 : tensor<?xi32>
  dataflow.tasks @blocks(block = %n)
  dataflow.finalize @store tasks @blocks operands(%x, %counts : tensor<?x64x32xf32>, tensor<?xi32>) outs(%y : tensor<?x32xf16>) : () -> ()
  dataflow.handler @store(%block: index, %x: tensor<?x64x32xf32>, %counts: tensor<?xi32>, %y: tensor<?x32xf16>) -> tensor<?x32xf16> {
    %c64 = arith.constant 64 : index
    %n = tensor.extract %counts[%block] : tensor<?xi32>
    %count = arith.index_cast %n : i32 to index
    %first = arith.muli %block, %c64 : index
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 64, 32] [1, 1, 1] : tensor<?x64x32xf32> to tensor<64x32xf32>
    %short = arith.truncf %tile : tensor<64x32xf32> to tensor<64x32xf16>
    %part = tensor.extract_slice %short[0, 0] [%count, 32] [1, 1] : tensor<64x32xf16> to tensor<?x32xf16>
    %r = tensor.insert_slice %part into %y[%first, 0] [%count, 32] [1, 1] : tensor<?x32xf16> into tensor<?x32xf16>
    dataflow.yield %r : tensor<?x32xf16>
  }
}
// CHECK: dataflow.part @store_compute
// CHECK-SAME: attributes {fragments}
// CHECK: %[[SHORT:.*]] = arith.truncf
// CHECK: %[[MEMORY:.*]] = dataflow.convert_layout %[[SHORT]] : tensor<64x32xf16, #dataflow.fragment<{{.*}}>> to tensor<64x32xf16>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[MEMORY]][0, 0] [%{{.*}}, 32] [1, 1] : tensor<64x32xf16> to tensor<?x32xf16>
// CHECK: tensor.insert_slice %[[PART]] into

// -----

// Rows in the middle would have to change threads.
dataflow.program @middle(%x: tensor<?x64x32xf32>, %counts: tensor<?xi32>, %y: tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %counts, %c0 : tensor<?xi32>
  dataflow.tasks @blocks(block = %n)
  dataflow.finalize @store tasks @blocks operands(%x, %counts : tensor<?x64x32xf32>, tensor<?xi32>) outs(%y : tensor<?x32xf32>) : () -> ()
  dataflow.handler @store(%block: index, %x: tensor<?x64x32xf32>, %counts: tensor<?xi32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.extract %counts[%block] : tensor<?xi32>
    %count = arith.index_cast %n : i32 to index
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 64, 32] [1, 1, 1] : tensor<?x64x32xf32> to tensor<64x32xf32>
    %c1 = arith.constant 1 : index
    %root = scf.for %i = %c0 to %count step %c1 iter_args(%t = %tile) -> tensor<64x32xf32> {
      %u = math.sqrt %t : tensor<64x32xf32>
      scf.yield %u : tensor<64x32xf32>
    }
    %part = tensor.extract_slice %root[%count, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
    %r = tensor.insert_slice %part into %y[%block, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<?x32xf32>
    dataflow.yield %r : tensor<?x32xf32>
  }
}
// REMARK: [Missed] assign-layouts | Category:dataflow | Function=store | Remark="stays portable because of 'tensor.extract_slice': a tile in registers cannot be cut"
