// RUN: df-opt %s --canonicalize | FileCheck %s

// range_tiles folds on constants; what depends on a parameter waits for
// specialisation.

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[THREE:.+]] = arith.constant 3 : index
// CHECK: return %[[THREE]], %[[ONE]], %[[ZERO]], %[[ZERO]] : index
func.func @constants() -> (index, index, index, index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c131 = arith.constant 131 : index
  %three = dataflow.range_tiles %c2 to %c131 tile 64 : index
  %one = dataflow.range_tiles %c2 to %c3 tile 64 : index
  %empty = dataflow.range_tiles %c3 to %c3 tile 64 : index
  %reverse = dataflow.range_tiles %c131 to %c2 tile 64 : index
  return %three, %one, %empty, %reverse : index, index, index, index
}

// CHECK-LABEL: dataflow.handler @params
// CHECK: dataflow.param "page"
// CHECK: dataflow.range_tiles %{{.*}} to %{{.*}} tile "page" : index
// CHECK: dataflow.range_tiles %{{.*}} to %{{.*}} tile 4 : index
dataflow.program @p() params {page = 4 : index} {
  dataflow.handler @params(%n: index) -> (index, index, index) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %page = dataflow.param "page" : index
    %unused = dataflow.param "page" : index
    %named = dataflow.range_tiles %c0 to %c8 tile "page" : index
    %dynamic = dataflow.range_tiles %c0 to %n tile 4 : index
    dataflow.yield %page, %named, %dynamic : index, index, index
  }
}
