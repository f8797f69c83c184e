// RUN: df-opt %s --dataflow-split-roles | FileCheck %s
// RUN: df-opt %s --dataflow-split-roles="ring-bytes=114688" | FileCheck %s --check-prefix=ONE
// RUN: df-opt %s --dataflow-split-roles="ring-bytes=65536" --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: df-opt %s --dataflow-split-roles="ring-bytes=65536" | FileCheck %s --check-prefix=SMALL
// RUN: df-opt %s --dataflow-split-roles="ring-bytes=81920" | FileCheck %s --check-prefix=BACK
// RUN: df-opt %s --dataflow-split-roles="flight-bytes=221184" | FileCheck %s --check-prefix=DEEP
// RUN: df-opt %s --dataflow-split-roles="kernel=other variants=exact" | FileCheck %s --check-prefix=OTHER
// RUN: not df-opt %s --dataflow-split-roles --dataflow-split-roles 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not df-opt %s --dataflow-split-roles=variants=generic,fast 2>&1 | FileCheck %s --check-prefix=WORD
// Depths follow from the memory for rings: what loops load keeps two stages longest.

// Without limits the held tile has 16 KiB a stage, the two in the loop 32 and 16 KiB: 2 * (16 + 32 + 16) = 128 KiB.
// CHECK: dataflow.stream @held depth 2 of tensor<64x64xf32>{{$}}
// CHECK-NEXT: dataflow.stream @a depth 2 of tensor<128x64xf32> evict_first
// CHECK-NEXT: dataflow.stream @b depth 2 of tensor<64x64xf32> evict_first
// All tasks read the held tile, each one its own of the others.

// Not enough for that: what is loaded once has one stage.
// ONE: dataflow.stream @held depth 1
// ONE-NEXT: dataflow.stream @a depth 2
// ONE-NEXT: dataflow.stream @b depth 2

// DEEP: dataflow.stream @held depth 2
// DEEP-NEXT: dataflow.stream @a depth 4
// DEEP-NEXT: dataflow.stream @b depth 3

// NONE: Remark="the compute role loads this slice itself: a stage of 16384 bytes does not fit into rings of 65536 bytes"
// NONE: Remark="loaded ahead through stream 'a': 1 stages of 32768 bytes"

// One stage of it does not help either: the compute role loads it, and the largest in the loop has one stage.
// SMALL-NOT: @held depth
// SMALL: dataflow.stream @a depth 1
// SMALL-NEXT: dataflow.stream @b depth 2
// SMALL: dataflow.part @h_compute
// SMALL: tensor.extract_slice %{{.*}} to tensor<64x64xf32>

// 80 KiB: without the second stage of the largest there is room for the held tile again.
// BACK: dataflow.stream @held depth 1
// BACK-NEXT: dataflow.stream @a depth 1
// BACK-NEXT: dataflow.stream @b depth 2

// OTHER: dataflow.kernel @other {
// OTHER-NEXT: }

// TWICE: error: program @p: already has a symbol @kernel; name the kernel differently
// WORD: error: program @p: option 'variants' takes generic, tiles, exact, sliced and bounded, got 'fast'

dataflow.program @p(%held: tensor<?x64xf32>, %a: tensor<?x64xf32>, %b: tensor<?x64xf32>, %y: tensor<64x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4)
  dataflow.finalize @h tasks @four operands(%held, %a, %b : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%y : tensor<64x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %held: tensor<?x64xf32>, %a: tensor<?x64xf32>, %b: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %h = tensor.extract_slice %held[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %r = scf.for %t = %c0 to %c1024 step %c64 iter_args(%acc = %y) -> tensor<64x64xf32> {
      %at = arith.addi %n, %t : index
      %ta = tensor.extract_slice %a[%at, 0] [128, 64] [1, 1] : tensor<?x64xf32> to tensor<128x64xf32>
      %tb = tensor.extract_slice %b[%at, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %va = tensor.extract_slice %ta[64, 0] [64, 64] [1, 1] : tensor<128x64xf32> to tensor<64x64xf32>
      %s = linalg.add ins(%va, %tb : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      %u = linalg.mul ins(%h, %s : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %u : tensor<64x64xf32>
    }
    dataflow.yield %r : tensor<64x64xf32>
  }
}
