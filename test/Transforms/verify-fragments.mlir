// RUN: df-opt %s --dataflow-verify-kernel | FileCheck %s

// A part that is laid out as the rules want it: loads, a slice of a stage, a sum
// over rows, a transposed product with it, and a store.

#acc = #dataflow.fragment<accumulator [64, 32] m 0>
#acct = #dataflow.fragment<accumulator [32, 64] m 1>
#rows = #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>

// CHECK: dataflow.part @c of @h compute
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      %v = dataflow.convert_layout %t : tensor<64x32xf32, #shared> to tensor<64x32xf32, #acc>
      %w = tensor.extract_slice %t[8, 0] [32, 32] [1, 1] : tensor<64x32xf32, #shared> to tensor<32x32xf32, #shared>
      dataflow.give @s
      %a = dataflow.convert_layout %x : tensor<64x32xf32> to tensor<64x32xf32, #acc>
      %sum = arith.addf %a, %v : tensor<64x32xf32, #acc>
      %zero = arith.constant dense<0.0> : tensor<64xf32, #rows>
      %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%sum : tensor<64x32xf32, #acc>) outs(%zero : tensor<64xf32, #rows>) {
        ^bb0(%e: f32, %o: f32):
          %p = arith.addf %e, %o : f32
          linalg.yield %p : f32
      } -> tensor<64xf32, #rows>
      %empty = tensor.empty() : tensor<32x64xf32, #acct>
      %scaled = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%sum, %rows : tensor<64x32xf32, #acc>, tensor<64xf32, #rows>) outs(%empty : tensor<32x64xf32, #acct>) {
        ^bb0(%e: f32, %r: f32, %o: f32):
          %p = arith.mulf %e, %r : f32
          linalg.yield %p : f32
      } -> tensor<32x64xf32, #acct>
      %half = arith.truncf %scaled : tensor<32x64xf32, #acct> to tensor<32x64xf16, #acct>
      %st = dataflow.convert_layout %rows : tensor<64xf32, #rows> to tensor<64xf32>
      %out = tensor.insert_slice %st into %y[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
      dataflow.yield %out : tensor<64xf32>
    }
  }
}
