// RUN: not df-opt %s --dataflow-attach-topology="ctas=132 cluster-size=3" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not df-opt %s --dataflow-attach-topology="ctas=78 cluster-size=4" 2>&1 | FileCheck %s --check-prefix=DIVIDES
// RUN: not df-opt %s --dataflow-attach-topology="ctas=70000" 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: not df-opt %s --dataflow-attach-topology="shared-bytes=1024 reserved-bytes=2048" 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not df-opt %s --dataflow-attach-topology="chip=h300" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not df-opt %s --dataflow-attach-topology="chip=h200 ctas=132 cluster-size=4" 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: not df-opt %s --dataflow-attach-topology="chip=h200 shared-bytes=300000" 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not df-opt %s --dataflow-attach-topology="chip=h200 cluster-size=6" 2>&1 | FileCheck %s --check-prefix=CHIPSIZE
// Each limit is named with the value that breaks it.

// SIZE: error: 'dataflow.program' op cannot have this topology: {{.*}}3
// DIVIDES: error: 'dataflow.program' op cannot have this topology: {{.*}}4{{.*}}78
// CTAS: error: 'dataflow.program' op cannot have this topology: {{.*}}70000
// BYTES: error: 'dataflow.program' op cannot have this topology: {{.*}}2048{{.*}}1024
// CHIP: error: 'dataflow.program' op chip 'h300' is not known; known: h200
// RESIDENT: error: 'dataflow.program' op chip 'h200' keeps at most 120 CTAs resident in clusters of 4, but 132 are asked for
// SHARED: error: 'dataflow.program' op chip 'h200' has 232448 bytes of shared memory a CTA, but 300000 are asked for
// CHIPSIZE: error: 'dataflow.program' op cannot have this topology: {{.*}}6
dataflow.program @empty() {
}
