// RUN: df-opt %s --dataflow-bind-inputs="values=lengths=233,453,0;q[3x32x576];index[3x2]=0,1,1,0,-1,2;count=7" | FileCheck %s --check-prefix=ALL
// RUN: df-opt %s --dataflow-bind-inputs="values=lengths=" | FileCheck %s --check-prefix=EMPTY
// RUN: df-opt %s --dataflow-bind-inputs="values=lengths=1,2;q[2x32x4]" --dataflow-bind-inputs="values=lengths[3]=5,6,7" | FileCheck %s --check-prefix=AGAIN
// Values and shapes of one batch; what is bound later replaces what was bound before.

// ALL: dataflow.inputs = {count = dense<7> : tensor<i64>,
// ALL-SAME: index = dense<{{\[\[}}0, 1], [1, 0], [-1, 2]]> : tensor<3x2xi64>,
// ALL-SAME: lengths = dense<[233, 453, 0]> : tensor<3xi64>,
// ALL-SAME: q = array<i64: 3, 32, 576>}
// EMPTY: dataflow.inputs = {lengths = dense<> : tensor<0xi64>}
// AGAIN: dataflow.inputs = {lengths = dense<[5, 6, 7]> : tensor<3xi64>, q = array<i64: 2, 32, 4>}
dataflow.program @args(%q: tensor<?x32x?xf16>, %lengths: tensor<?xi32>, %index: tensor<?x2xi32>, %count: tensor<i64>) {
}
