// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-prepare | df-translate --dataflow-to-artifact --targets=cpu -o %t.dfa
// RUN: not df-translate --artifact-to-ptx %t.dfa 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: not df-translate --artifact-to-llvm %t.dfa 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: not df-translate --artifact-to-ptx %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: not df-translate --artifact-to-llvm %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
// The texts of an artifact; the unit tests print one that has some.

// PTX: error: the artifact of 'ragged_sum' holds no ptx, but cpu, cpu_reference
// LLVM: error: the artifact of 'ragged_sum' holds no llvm, but cpu, cpu_reference
// FOREIGN: error: artifact: file identifier is not 'DFAR'
