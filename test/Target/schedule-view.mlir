// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1000,300,0,5000 ctas=4 cluster-size=2" -o %t.mlir
// RUN: df-translate --schedule-to-html %t.mlir | FileCheck %s --check-prefix=PAGE
// RUN: df-translate --schedule-to-dot %t.mlir | FileCheck %s --check-prefix=DOT
// RUN: df-translate --dataflow-to-plan %t.mlir | df-translate --plan-to-dataflow | df-translate --schedule-to-html \
// RUN:   | FileCheck %s --check-prefix=STEPS
// RUN: not df-translate --schedule-to-dot %s 2>&1 | FileCheck %s --check-prefix=NONE
// Pictures of a schedule: with predicted times in its program, in steps where there is none.

// PAGE: <!doctype html>
// PAGE: {"title":"plan of ragged_sum","solver":"stream","ticket":false,"timed":true,
// PAGE-SAME: "names":["sum_piece (0) [0, 1000)"
// PAGE: </html>

// DOT: digraph schedule {
// DOT: label="CTA 2, cluster 1";
// DOT: i{{[0-9]+}} -> i{{[0-9]+}} [label="{{global|cluster_shared}} s{{[0-9]+}}, 16 B", style=bold];

// STEPS: "timed":false,"measured":false,"total":{{[0-9]+}}000,"floor":0,

// NONE: has no dataflow.schedule; run dataflow-plan first
module {}
