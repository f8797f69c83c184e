// RUN: not df-opt %s --dataflow-specialize-program="params=element=i16" 2>&1 | FileCheck %s
// A type that attributes of ops have cannot be told from a parameter's.

// CHECK: error: 'dataflow.program' op parameter 'element' stands for 'i32', which cannot be told from the attributes of ops
dataflow.program @attributes(%x: tensor<?xi32>) params {element = i32} {
}
