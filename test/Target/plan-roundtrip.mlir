// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1000,300,0,5000 ctas=4 cluster-size=2" -o %t.mlir
// RUN: df-translate --dataflow-to-plan %t.mlir -o %t.plan
// RUN: df-translate --plan-to-dataflow %t.plan -o %t.read.mlir
// RUN: FileCheck %s --input-file=%t.read.mlir
// RUN: df-opt %t.read.mlir | df-translate --dataflow-to-plan -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// RUN: df-opt %t.read.mlir --mlir-print-op-generic | df-translate --dataflow-to-plan -o %t.generic.plan
// RUN: cmp %t.plan %t.generic.plan
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-plan="values=lengths=1000,300,64,0 ctas=8 cluster-size=4" -o %t.mlir
// RUN: df-translate --dataflow-to-plan %t.mlir -o %t.plan
// RUN: df-translate --plan-to-dataflow %t.plan | df-translate --dataflow-to-plan -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-plan="values=lengths=1000,300,64,0 ctas=8 solver=tickets" -o %t.mlir
// RUN: df-translate --dataflow-to-plan %t.mlir -o %t.plan
// RUN: df-translate --plan-to-dataflow %t.plan | df-translate --dataflow-to-plan -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// Plan bytes, read as a schedule without its program and packed again, are the same bytes.

// CHECK: module
// CHECK-NEXT: dataflow.schedule @plan of @ragged_sum on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "stream"
// CHECK-SAME: fingerprint = {{-?[0-9]+}} : i64
// CHECK-SAME: #dataflow.stage_info<name = "sum_piece", kind = map, head_bytes = 16>
// CHECK: dataflow.instruction "sum_piece" {{.*}}task 3 {{.*}}at [3] range [
