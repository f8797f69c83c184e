// REQUIRES: plugin, mlir-opt
// RUN: mlir-opt --load-dialect-plugin=%plugin %s | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin %source/test/IR/program.mlir | FileCheck %source/test/IR/program.mlir
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s --canonicalize | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(dataflow.program(dataflow-attach-topology{ctas=4}))' \
// RUN:   | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// A stock mlir-opt learns the dialect and the passes from the plugin.

// WITHOUT: Dialect `dataflow' not found

// TOPOLOGY: dataflow.program @p(%x: tensor<f32>) attributes {dataflow.topology = #dataflow.topology<ctas = 4>}

// CHECK: dataflow.program @p(%x: tensor<f32>) {
// CHECK: dataflow.handler @h
dataflow.program @p(%x: tensor<f32>) {
  dataflow.handler @h(%a: f32) -> f32 {
    dataflow.yield %a : f32
  }
}
