// RUN: df-opt %s --dataflow-attach-topology | FileCheck %s --check-prefix=DEFAULT
// RUN: df-opt %s --dataflow-attach-topology="ctas=16 cluster-size=8 shared-bytes=102400 reserved-bytes=65536" | FileCheck %s --check-prefix=OPTIONS
// RUN: df-opt %s --dataflow-attach-topology="chip=h200 cluster-size=4" | FileCheck %s --check-prefix=CHIP4
// RUN: df-opt %s --dataflow-attach-topology="chip=h200 cluster-size=16" | FileCheck %s --check-prefix=CHIP16
// RUN: df-opt %s --dataflow-attach-topology="chip=h200 ctas=78" | FileCheck %s --check-prefix=FEWER
// RUN: df-opt %s --dataflow-attach-topology="ctas=8" --dataflow-attach-topology="ctas=4 cluster-size=2" | FileCheck %s --check-prefix=AGAIN
// The topology comes from the options or from a chip; the last one counts.

// DEFAULT: dataflow.topology = #dataflow.topology<ctas = 132>
// OPTIONS: dataflow.topology = #dataflow.topology<ctas = 16, cluster_size = 8, shared_bytes = 102400, reserved_bytes = 65536>
// CHIP4: dataflow.topology = #dataflow.topology<ctas = 120, cluster_size = 4>
// CHIP16: dataflow.topology = #dataflow.topology<ctas = 112, cluster_size = 16>
// FEWER: dataflow.topology = #dataflow.topology<ctas = 78>
// AGAIN: dataflow.topology = #dataflow.topology<ctas = 4, cluster_size = 2>
dataflow.program @empty() {
}
