// RUN: df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json cluster-size=4" | FileCheck %s
// RUN: df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json ctas=8 reserved-bytes=1024" | FileCheck %s --check-prefix=OPTIONS
// RUN: df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json" --dataflow-attach-topology="ctas=4" | FileCheck %s --check-prefix=AGAIN
// RUN: not df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json cluster-size=4 ctas=20" 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: not df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json cluster-size=16" 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not df-opt %s --dataflow-attach-topology="profile=%source/test/unit/fixtures/profile-v1.json chip=h200" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not df-opt %s --dataflow-attach-topology="profile=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not df-opt %s --dataflow-attach-topology="profile=%s" 2>&1 | FileCheck %s --check-prefix=FOREIGN
// A device profile gives the topology and the constants of the cost model.

// CHECK: dataflow.costs = {bandwidth = 4.500000e+02 : f64, clockGHz = 1.000000e+00 : f64, clusterBytesPerCycle = {{.*}}readRates = array<f64: 1.600000e+01, 4.500000e+02>
// CHECK-SAME: dataflow.topology = #dataflow.topology<ctas = 16, cluster_size = 4, shared_bytes = 200000>
// OPTIONS: readRates = array<f64: 1.000000e+00, 5.000000e+01, 1.000000e+01, 4.000000e+02, 2.000000e+01, 5.000000e+02>
// OPTIONS-SAME: #dataflow.topology<ctas = 8, shared_bytes = 200000, reserved_bytes = 1024>
// AGAIN-NOT: dataflow.costs
// AGAIN: dataflow.topology = #dataflow.topology<ctas = 4>
// RESIDENT: error: 'dataflow.program' op cannot have this topology: device profile of 'A card for tests' keeps at most 16 CTAs resident in clusters of 4, but 20 are asked for
// REFUSED: error: 'dataflow.program' op cannot have this topology: device profile of 'A card for tests' has no clusters of 16
// BOTH: error: 'dataflow.program' op has both a chip, 'h200', and a profile
// NONE: error: 'dataflow.program' op cannot be planned with this profile: cannot read device profile
// FOREIGN: error: 'dataflow.program' op cannot be planned with this profile: {{.*}}not valid JSON
dataflow.program @empty() {
}
