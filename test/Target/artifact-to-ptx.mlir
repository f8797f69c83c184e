// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-prepare | df-translate --dataflow-to-artifact -o %t.dfa
// RUN: not df-translate --artifact-to-ptx %t.dfa 2>&1 | FileCheck %s
// RUN: not df-translate --artifact-to-ptx %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
// The PTX of an artifact; the unit tests print one that has some.

// CHECK: error: the artifact of 'ragged_sum' holds no PTX among its 2 code blobs
// FOREIGN: error: {{.+}}
