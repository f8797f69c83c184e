// RUN: df-opt %s --dataflow-split-roles | FileCheck %s
// RUN: not df-opt %s --dataflow-split-roles=ring-bytes=65536 2>&1 | FileCheck %s --check-prefix=FIT
// The pipeline request sets the stages of what loops load, and how many compute.

// CHECK: dataflow.kernel @kernel consumers 2 {
// CHECK-NEXT: dataflow.stream @held depth 2
// CHECK-NEXT: dataflow.stream @a depth 5
// FIT: 'dataflow.finalize' op request 'pipeline' needs rings of 81920 bytes, at most 65536 are available
dataflow.program @p(%held: tensor<?x64xf32>, %a: tensor<?x64xf32>, %y: tensor<64x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%held, %a : tensor<?x64xf32>, tensor<?x64xf32>) outs(%y : tensor<64x64xf32>)
      requests [#dataflow.pipeline<stages = 5, consumers = 2>] : () -> ()
  dataflow.handler @h(%held: tensor<?x64xf32>, %a: tensor<?x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %h = tensor.extract_slice %held[0, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
    %r = scf.for %t = %c0 to %c1024 step %c64 iter_args(%acc = %y) -> tensor<64x64xf32> {
      %ta = tensor.extract_slice %a[%t, 0] [64, 64] [1, 1] : tensor<?x64xf32> to tensor<64x64xf32>
      %s = linalg.add ins(%h, %ta : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %s : tensor<64x64xf32>
    }
    dataflow.yield %r : tensor<64x64xf32>
  }
}
