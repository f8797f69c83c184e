// RUN: not df-opt %s --dataflow-specialize-handlers="buckets=1,x" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not df-opt %s --dataflow-specialize-handlers="exact=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not df-opt %s --dataflow-specialize-handlers="buckets=-2" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// Lists are of positive numbers.

// NUMBER: error: 'dataflow.program' op option 'buckets' takes numbers of at least 1, got 'x'
// ZERO: error: 'dataflow.program' op option 'exact' takes numbers of at least 1, got '0'
// NEGATIVE: error: 'dataflow.program' op option 'buckets' takes numbers of at least 1, got '-2'
dataflow.program @empty() {
}
