// RUN: split-file %s %t
// RUN: df-opt %t/twice.mlir --dataflow-parts-to-llvm | FileCheck %s
// RUN: not df-opt %t/uneven.mlir --dataflow-parts-to-llvm 2>&1 | FileCheck %s --check-prefix=UNEVEN
// The body of a loop may be lowered several times, so that iterations have registers of their own for what they hand on: here a tile
// that is loaded two iterations ahead. Of the six iterations, one pass of the loop does two.

// CHECK: llvm.func internal @add_up$0$compute$body
// Two tiles in front of the loop, of four registers each; then two passes of the body.
// CHECK-COUNT-4: llvm.load {{.*}} vector<2xf32>
// CHECK: llvm.icmp "slt"
// CHECK-COUNT-4: llvm.fadd
// CHECK-COUNT-2: llvm.load {{.*}} vector<2xf32>
// CHECK-COUNT-4: llvm.fadd
// CHECK-COUNT-2: llvm.load {{.*}} vector<2xf32>
// CHECK-NOT: llvm.fadd
// CHECK: llvm.br

// UNEVEN: error: 'scf.for' op 'dataflow.unroll' does not divide a known number of iterations

//--- twice.mlir
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
dataflow.program @p(%x: tensor<?x64x8xf32>, %y: tensor<64x8xf32>) {
  dataflow.tasks @once()
  dataflow.finalize @add_up tasks @once operands(%x : tensor<?x64x8xf32>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @add_up(%x: tensor<?x64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @add_up_compute of @add_up compute(%x: tensor<?x64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %zeros = arith.constant dense<0.0> : tensor<64x8xf32, #tile>
      %a_slice = tensor.extract_slice %x[0, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
      %a = dataflow.convert_layout %a_slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
      %b_slice = tensor.extract_slice %x[1, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
      %b = dataflow.convert_layout %b_slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
      %r:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %zeros, %now = %a, %next = %b)
          -> (tensor<64x8xf32, #tile>, tensor<64x8xf32, #tile>, tensor<64x8xf32, #tile>) {
        %new = arith.addf %sum, %now : tensor<64x8xf32, #tile>
        %ahead = arith.addi %i, %c2 : index
        %slice = tensor.extract_slice %x[%ahead, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %tile = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        scf.yield %new, %next, %tile : tensor<64x8xf32, #tile>, tensor<64x8xf32, #tile>, tensor<64x8xf32, #tile>
      } {dataflow.unroll = 2 : i64}
      %out = tensor.insert_slice %r#0 into %y[0, 0] [64, 8] [1, 1] : tensor<64x8xf32, #tile> into tensor<64x8xf32>
      dataflow.yield %out : tensor<64x8xf32>
    }
  }
}

//--- uneven.mlir
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
dataflow.program @p(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) {
  dataflow.tasks @once()
  dataflow.finalize @add_up tasks @once operands(%x : tensor<64x8xf32>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @add_up(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @add_up_compute of @add_up compute(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %zeros = arith.constant dense<0.0> : tensor<64x8xf32, #tile>
      %a = dataflow.convert_layout %x : tensor<64x8xf32> to tensor<64x8xf32, #tile>
      %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %zeros) -> tensor<64x8xf32, #tile> {
        %new = arith.addf %sum, %a : tensor<64x8xf32, #tile>
        scf.yield %new : tensor<64x8xf32, #tile>
      } {dataflow.unroll = 2 : i64}
      %out = tensor.insert_slice %r into %y[0, 0] [64, 8] [1, 1] : tensor<64x8xf32, #tile> into tensor<64x8xf32>
      dataflow.yield %out : tensor<64x8xf32>
    }
  }
}
