// RUN: df-opt %s --dataflow-specialize-program="params=columns=48" --dataflow-verify-program | FileCheck %s
// RUN: df-opt %s --dataflow-specialize-program="params=columns=48" | df-opt --dataflow-specialize-program | FileCheck %s
// Extents that parameters give are part of the types: of arguments, of handlers, and of what follows.

// CHECK: dataflow.program @extents(%x: tensor<?x48xf32>, %names: tensor<?xi32>, %y: tensor<48x?xf32>)
// CHECK-NOT: dataflow.extents
// A dimension that is known is no launch shape.
// CHECK: dataflow.range @columns of @rows length %c48{{.*}} tile 16
// CHECK: dataflow.map @load {{.*}} operands(%x : tensor<?x48xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<48xf32>>>
// CHECK: dataflow.handler @load(%{{.*}}: index, %{{.*}}: tensor<?x48xf32>) -> tensor<48xf32>
// CHECK: dataflow.handler @store(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<48xf32>, %{{.*}}: tensor<48x?xf32>) -> tensor<48x?xf32>
// CHECK: tensor.insert_slice {{.*}} into tensor<48x?xf32>
dataflow.program @extents(%x: tensor<?x?xf32>, %names: tensor<?xi32>, %y: tensor<?x?xf32>) params {columns = 16 : index}
    attributes {dataflow.extents = {x = [-1, "columns"], y = ["columns", -1]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %names, %c0 : tensor<?xi32>
  %length = tensor.dim %x, %c1 : tensor<?x?xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %length tile 16
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  dataflow.finalize @store(%v) tasks @rows each @columns outs(%y : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c1 = arith.constant 1 : index
    %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
    %v = tensor.extract_slice %x[%row, 0] [1, %columns] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.handler @store(%row: index, %begin: index, %end: index, %v: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %part = tensor.extract_slice %v[%begin] [16] [1] : tensor<?xf32> to tensor<16xf32>
    %r = tensor.insert_slice %part into %y[%begin, %row] [16, 1] [1, 1] : tensor<16xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}
