// RUN: df-opt %s --dataflow-split-roles --dataflow-verify-kernel | FileCheck %s
// Handlers that load equal tiles of different operands share a ring: they do not run at the same time. In one handler two operands have
// a ring each, and a ring whose depth a request says is left alone.

!part = !dataflow.record<sum: tensor<32x32xf32>>

// CHECK: dataflow.kernel @kernel
// CHECK-NEXT: dataflow.stream @a depth {{[0-9]+}} of tensor<32x32xf32>
// CHECK-NEXT: dataflow.stream @b depth {{[0-9]+}} of tensor<32x32xf32>
// CHECK-NEXT: dataflow.stream @d depth 3 of tensor<32x32xf32>
// CHECK-NOT: dataflow.stream
// CHECK-LABEL: dataflow.part @first_load
// CHECK: dataflow.fill @a
// CHECK: dataflow.fill @b
// CHECK-LABEL: dataflow.part @second_load
// CHECK: dataflow.fill @a
// CHECK-LABEL: dataflow.part @third_load
// CHECK: dataflow.fill @d
dataflow.program @join(%a: tensor<?x32x32xf32>, %b: tensor<?x32x32xf32>, %c: tensor<?x32x32xf32>, %d: tensor<?x32x32xf32>,
                       %y: tensor<?x32x32xf32>, %z: tensor<?x32x32xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x32x32xf32>
  dataflow.tasks @blocks(block = %n)
  %sums = dataflow.map @first tasks @blocks operands(%a, %b : tensor<?x32x32xf32>, tensor<?x32x32xf32>)
      : () -> !dataflow.channel<!part>
  dataflow.finalize @second(%sums) tasks @blocks operands(%c : tensor<?x32x32xf32>) outs(%y : tensor<?x32x32xf32>)
      : (!dataflow.channel<!part>) -> ()
  dataflow.finalize @third(%sums) tasks @blocks operands(%d : tensor<?x32x32xf32>) outs(%z : tensor<?x32x32xf32>)
      requests [#dataflow.pipeline<stages = 3, producers = 1, consumers = 1>] : (!dataflow.channel<!part>) -> ()
  dataflow.handler @first(%block: index, %a: tensor<?x32x32xf32>, %b: tensor<?x32x32xf32>) -> tensor<32x32xf32> {
    %u = tensor.extract_slice %a[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<?x32x32xf32> to tensor<32x32xf32>
    %v = tensor.extract_slice %b[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<?x32x32xf32> to tensor<32x32xf32>
    %s = arith.addf %u, %v : tensor<32x32xf32>
    dataflow.yield %s : tensor<32x32xf32>
  }
  dataflow.handler @second(%block: index, %c: tensor<?x32x32xf32>, %sum: tensor<32x32xf32>, %y: tensor<?x32x32xf32>)
      -> tensor<?x32x32xf32> {
    %u = tensor.extract_slice %c[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<?x32x32xf32> to tensor<32x32xf32>
    %s = arith.mulf %u, %sum : tensor<32x32xf32>
    %r = tensor.insert_slice %s into %y[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<32x32xf32> into tensor<?x32x32xf32>
    dataflow.yield %r : tensor<?x32x32xf32>
  }
  dataflow.handler @third(%block: index, %d: tensor<?x32x32xf32>, %sum: tensor<32x32xf32>, %z: tensor<?x32x32xf32>)
      -> tensor<?x32x32xf32> {
    %u = tensor.extract_slice %d[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<?x32x32xf32> to tensor<32x32xf32>
    %s = arith.mulf %u, %sum : tensor<32x32xf32>
    %r = tensor.insert_slice %s into %z[%block, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<32x32xf32> into tensor<?x32x32xf32>
    dataflow.yield %r : tensor<?x32x32xf32>
  }
}
