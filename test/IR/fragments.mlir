// RUN: df-opt %s | FileCheck %s
// RUN: df-opt %s | df-opt | FileCheck %s
// RUN: df-opt %s --mlir-print-op-generic | df-opt | FileCheck %s
// RUN: df-opt %s --canonicalize | FileCheck %s --check-prefix=FOLDED
// Layouts print as compactly as they can; the ops of parts that are laid out survive printing, and detours are removed.

#acc = #dataflow.fragment<accumulator [64, 32] m 0>
#tile = #dataflow.shared<swizzle = 128, row_group = 9216, chunk = 1024>
#rows = #dataflow.fragment<[64] block [16] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4]>

// CHECK-LABEL: @attributes
// CHECK-SAME: #dataflow.fragment<accumulator [64, 32] m 0>,
// CHECK-SAME: #dataflow.fragment<accumulator [32, 64] m 1>,
// CHECK-SAME: #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split m>,
// CHECK-SAME: #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split n>,
func.func private @attributes() attributes {layouts = [
  #dataflow.fragment<accumulator [64, 32] m 0>,
  #dataflow.fragment<accumulator [32, 64] m 1>,
  #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split m>,
  #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split n>,
  // Spelled out, and with a larger block than needed.
  // CHECK-SAME: #dataflow.fragment<accumulator [64, 16] m 0>,
  #dataflow.fragment<[64, 16] block [64, 16] registers [1:1, 0:8, 1:8] lanes [1:2, 1:4, 0:1, 0:2, 0:4] warps [0:16, 0:32]>,
  // CHECK-SAME: #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>,
  #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>,
  // CHECK-SAME: #dataflow.fragment<[24, 64] block [8, 32] order [0, 1] lanes [1:1, 1:2, 1:4, 1:8, 1:16] warps [0:1, 0:2] groups [0:4]>,
  #dataflow.fragment<[24, 64] block [8, 32] order [0, 1] lanes [1:1, 1:2, 1:4, 1:8, 1:16] warps [0:1, 0:2] groups [0:4]>,
  // The order in which one block is counted has no meaning.
  // CHECK-SAME: #dataflow.fragment<[24, 32] block [8, 32] lanes [1:1, 1:2, 1:4, 1:8, 1:16] warps [0:1, 0:2] groups [0:4]>,
  #dataflow.fragment<[24, 32] block [8, 32] order [0, 1] lanes [1:1, 1:2, 1:4, 1:8, 1:16] warps [0:1, 0:2] groups [0:4]>,
  // CHECK-SAME: #dataflow.fragment<[] block [] lanes [_, _, _, _, _]>,
  #dataflow.fragment<[] block [] lanes [_, _, _, _, _]>,
  // CHECK-SAME: #dataflow.shared<swizzle = 128, row_group = 9216, chunk = 1024>,
  #dataflow.shared<chunk = 1024, row_group = 9216, swizzle = 128>,
  // CHECK-SAME: #dataflow.shared<swizzle = 0, row_group = 64>]
  #dataflow.shared<row_group = 64>]}

// CHECK-LABEL: func.func @dots
func.func @dots(%k: tensor<64x576xf16, #tile>, %q: tensor<32x576xf16, #tile>,
                %c: tensor<64x32xf32, #acc>,
                %t: tensor<32x64xf32, #dataflow.fragment<accumulator [32, 64] m 1>>,
                %p: tensor<64x32xf16, #acc>,
                %v: tensor<32x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 4096>>,
                %o: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // CHECK: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 1, %{{.*}} : tensor<64x576xf16, #[[TILE:.*]]>, tensor<32x576xf16, #[[TILE]]>, tensor<64x32xf32, #{{.*}}>
  %0 = dataflow.dot %k contract 1, %q contract 1, %c : tensor<64x576xf16, #tile>, tensor<32x576xf16, #tile>, tensor<64x32xf32, #acc>
  // CHECK: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 1, %{{.*}} transposed :
  %1 = dataflow.dot %k contract 1, %q contract 1, %t transposed : tensor<64x576xf16, #tile>, tensor<32x576xf16, #tile>, tensor<32x64xf32, #dataflow.fragment<accumulator [32, 64] m 1>>
  // Operand A in registers.
  // CHECK: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 0, %{{.*}} :
  %2 = dataflow.dot %p contract 1, %v contract 0, %o : tensor<64x32xf16, #acc>, tensor<32x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 4096>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// The valid rows of a tile, before they are padded.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: tensor<?x576xf16, #{{.*}}>
func.func @rows(%t: tensor<64x576xf16, #tile>, %rows: tensor<?x576xf16, #tile>) {
  return
}

// CHECK-LABEL: func.func @converts
// FOLDED-LABEL: func.func @converts
// FOLDED-SAME: %[[M:.*]]: tensor<64xf32>, %[[F:.*]]: tensor<64xf32, #{{.*}}>)
func.func @converts(%m: tensor<64xf32>, %f: tensor<64xf32, #rows>)
    -> (tensor<64xf32, #rows>, tensor<64xf32, #rows>, tensor<64xf32, #rows>, tensor<64xf32>) {
  // CHECK: dataflow.convert_layout %{{.*}} : tensor<64xf32, #{{.*}}> to tensor<64xf32, #{{.*}}>
  %same = dataflow.convert_layout %f : tensor<64xf32, #rows> to tensor<64xf32, #rows>
  %away = dataflow.convert_layout %f : tensor<64xf32, #rows> to tensor<64xf32, #dataflow.fragment<[64] block [64] registers [0:1] lanes [0:2, 0:4, 0:8, 0:16, 0:32]>>
  %back = dataflow.convert_layout %away : tensor<64xf32, #dataflow.fragment<[64] block [64] registers [0:1] lanes [0:2, 0:4, 0:8, 0:16, 0:32]>> to tensor<64xf32, #rows>
  // A load keeps its layout.
  // FOLDED: %[[L:.*]] = dataflow.convert_layout %[[M]]
  // FOLDED: %[[R:.*]] = dataflow.convert_layout %[[L]]
  %load = dataflow.convert_layout %m : tensor<64xf32> to tensor<64xf32, #dataflow.fragment<[64] block [64] registers [0:1] lanes [0:2, 0:4, 0:8, 0:16, 0:32]>>
  %rows = dataflow.convert_layout %load : tensor<64xf32, #dataflow.fragment<[64] block [64] registers [0:1] lanes [0:2, 0:4, 0:8, 0:16, 0:32]>> to tensor<64xf32, #rows>
  // FOLDED: %[[S:.*]] = dataflow.convert_layout %[[F]] : tensor<64xf32, #{{.*}}> to tensor<64xf32>
  %store = dataflow.convert_layout %f : tensor<64xf32, #rows> to tensor<64xf32>
  // FOLDED: return %[[F]], %[[F]], %[[R]], %[[S]]
  return %same, %back, %rows, %store : tensor<64xf32, #rows>, tensor<64xf32, #rows>, tensor<64xf32, #rows>, tensor<64xf32>
}
