// RUN: df-opt %s --dataflow-plan="values=n=3,60;y[2x64];z[2x64] ctas=2" | FileCheck %s
// A variant for few elements is for the stages that ask for it: others with the same handler have none.

// CHECK-DAG: dataflow.instruction "few" variant 1 task 0
// CHECK-DAG: dataflow.instruction "few" task 1
// CHECK-DAG: dataflow.instruction "all" task 0
// CHECK-DAG: dataflow.instruction "all" task 1

dataflow.program @shared(%n: tensor<?xi32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) params {rows = 64 : index}
    attributes {dataflow.extents = {y = [-1, "rows"], z = [-1, "rows"]}} {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(row = %tasks)
  dataflow.range @a of @t length %n[row] tile "rows" : tensor<?xi32>
  dataflow.finalize @store as "few" tasks @t outs(%y : tensor<?x?xf32>) requests [#dataflow.bounded<@a, [16]>] : () -> ()
  dataflow.finalize @store as "all" tasks @t outs(%z : tensor<?x?xf32>) : () -> ()
  dataflow.handler @store(%row: index, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %rows = dataflow.param "rows" : index
    %one = arith.constant 1.0 : f32
    %v = tensor.splat %one[%rows] : tensor<?xf32>
    %r = tensor.insert_slice %v into %y[%row, 0] [1, %rows] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}
