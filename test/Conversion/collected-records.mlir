// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm | FileCheck %s
// A handler on fragments that takes one collected record at a time reads them where they are: it gets a table of their addresses. One
// that takes several at once gets a copy of all, stacked.

// CHECK-DAG: llvm.call @dfk_stack_addresses
// CHECK-DAG: llvm.call @dfk_stack_field

!part = !dataflow.record<rows: tensor<64x64xf8E4M3FN>>

dataflow.program @ahead(%x: tensor<?x64x256xf8E4M3FN>, %w: tensor<?x64x256xf8E4M3FN>, %y: tensor<?x64x64xf32>, %z: tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x256xf8E4M3FN>
  dataflow.tasks @blocks(block = %n)
  dataflow.range @columns of @blocks length %c256 tile 64
  %parts = dataflow.map @cut tasks @blocks each @columns operands(%x : tensor<?x64x256xf8E4M3FN>) : () -> !dataflow.channel<!part, tiles>
  %all = dataflow.reshard "all" collect(%parts) : (!dataflow.channel<!part, tiles>) -> !dataflow.channel<!part, collected>
  dataflow.finalize @multiply(%all) tasks @blocks operands(%w : tensor<?x64x256xf8E4M3FN>) outs(%y : tensor<?x64x64xf32>)
      : (!dataflow.channel<!part, collected>) -> ()
  dataflow.finalize @corners(%all) tasks @blocks outs(%z : tensor<?x4xf32>) : (!dataflow.channel<!part, collected>) -> ()
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
  dataflow.handler @corners(%block: index, %parts: tensor<?x64x64xf8E4M3FN>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %v = tensor.extract_slice %parts[0, 0, 0] [4, 1, 1] [1, 1, 1] : tensor<?x64x64xf8E4M3FN> to tensor<4xf8E4M3FN>
    %w = arith.extf %v : tensor<4xf8E4M3FN> to tensor<4xf32>
    %r = tensor.insert_slice %w into %z[%block, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
    dataflow.yield %r : tensor<?x4xf32>
  }
}
