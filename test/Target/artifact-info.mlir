// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-prepare | df-translate --dataflow-to-artifact --targets=cpu -o %t.dfa
// RUN: df-translate --artifact-info %t.dfa | FileCheck %s
// RUN: not df-translate --artifact-info %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
// What an artifact holds, for people and scripts.

// CHECK: "program": "ragged_sum"
// CHECK: "fingerprint": "0x{{[0-9a-f]+}}"
// CHECK: "name": "sum_piece"
// CHECK: "tile_bytes": 1024
// CHECK: "sum_piece$0"
// CHECK: "code": [
// CHECK-NEXT: {
// CHECK-NEXT: "kind": "cpu",
// CHECK-NEXT: "target": "x86-64-v3"
// CHECK: "kind": "cpu_reference"
// CHECK: "kernels": []

// FOREIGN: error: {{.+}}
