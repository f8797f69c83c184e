// RUN: df-opt %s --dataflow-handlers-to-llvm="target=cpu" | FileCheck %s
// Two sums that start from the same zeros have places of their own: neither field is a copy of the other.
!pair = !dataflow.record<rows: tensor<16xf32>, columns: tensor<16xf32>>
dataflow.program @p(%x: tensor<?x16x16xf32>, %y: tensor<?x16xf32>, %z: tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16x16xf32>
  dataflow.tasks @tiles(tile = %n)
  %sums = dataflow.map @sum tasks @tiles operands(%x : tensor<?x16x16xf32>) : () -> !dataflow.channel<!pair>
  dataflow.finalize @store(%sums) tasks @tiles outs(%y, %z : tensor<?x16xf32>, tensor<?x16xf32>) : (!dataflow.channel<!pair>) -> ()
  dataflow.handler @sum(%tile: index, %x: tensor<?x16x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
    %zeros = arith.constant dense<0.0> : tensor<16xf32>
    %t = tensor.extract_slice %x[%tile, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<?x16x16xf32> to tensor<16x16xf32>
    %rows = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%zeros : tensor<16xf32>) dimensions = [1]
    %columns = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%zeros : tensor<16xf32>) dimensions = [0]
    dataflow.yield %rows, %columns : tensor<16xf32>, tensor<16xf32>
  }
  dataflow.handler @store(%tile: index, %rows: tensor<16xf32>, %columns: tensor<16xf32>, %y: tensor<?x16xf32>, %z: tensor<?x16xf32>)
      -> (tensor<?x16xf32>, tensor<?x16xf32>) {
    %a = tensor.insert_slice %rows into %y[%tile, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
    %b = tensor.insert_slice %columns into %z[%tile, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<?x16xf32>
    dataflow.yield %a, %b : tensor<?x16xf32>, tensor<?x16xf32>
  }
}
// CHECK-LABEL: llvm.func internal @sum$0$body
// CHECK: llvm.store %[[ZERO:.*]], %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.getelementptr %arg3[64]
// CHECK: llvm.store %[[ZERO]], %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.fadd
// CHECK: llvm.fadd
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK: llvm.return
