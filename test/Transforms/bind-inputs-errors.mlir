// RUN: not df-opt %s --dataflow-bind-inputs="values=lenghts=1" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths=1;lengths=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not df-opt %s --dataflow-bind-inputs="values=q[1x32x2]=1,2" 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not df-opt %s --dataflow-bind-inputs="values=q[3x32]" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not df-opt %s --dataflow-bind-inputs="values=q[3x16x8]" 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not df-opt %s --dataflow-bind-inputs="values=index[2x2]=1,2,3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not df-opt %s --dataflow-bind-inputs="values=index=1,2" 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths=1,x" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths[2=1,2" 2>&1 | FileCheck %s --check-prefix=BRACKET
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths[-1]" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths=5000000000" 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not df-opt %s --dataflow-bind-inputs="values=lengths=4000000000" 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// RUN: not df-opt %s --dataflow-bind-inputs="values=q[4294967296x32x4294967296]" 2>&1 | FileCheck %s --check-prefix=HUGE
// Each message names argument, limit and value.

// UNKNOWN: error: 'dataflow.program' op has no argument 'lenghts'; its arguments are q, lengths, index
// TWICE: error: 'dataflow.program' op argument 'lengths' is given twice
// FLOAT: error: 'dataflow.program' op argument 'q' of type 'tensor<?x32x?xf16>' holds no integers, but is given 2 values
// RANK: error: 'dataflow.program' op argument 'q' of type 'tensor<?x32x?xf16>' has rank 3, but is given a shape of rank 2
// STATIC: error: 'dataflow.program' op argument 'q' of type 'tensor<?x32x?xf16>' has 32 as dimension 1, but is given 16
// COUNT: error: 'dataflow.program' op argument 'index' of type 'tensor<?x2xi32>' has 4 elements, but is given 3 values
// SHAPE: error: 'dataflow.program' op argument 'index' of type 'tensor<?x2xi32>' needs a shape, as in index[2x3]=...
// NUMBER: error: 'dataflow.program' op argument 'lengths' has a value 'x' that is not a number
// BRACKET: error: 'dataflow.program' op input 'lengths[2=1,2' has a shape without ']'
// NOTHING: error: 'dataflow.program' op input 'lengths' has neither a shape nor values
// NEGATIVE: error: 'dataflow.program' op argument 'lengths' of type 'tensor<?xi32>' is given -1 as dimension 0
// WIDE: error: 'dataflow.program' op argument 'lengths' of type 'tensor<?xi32>' cannot hold the value 5000000000
// UNSIGNED: error: 'dataflow.program' op argument 'lengths' of type 'tensor<?xi32>' cannot hold the value 4000000000
// HUGE: error: 'dataflow.program' op argument 'q' of type 'tensor<?x32x?xf16>' is given a shape of more than 2^63 - 1 elements
dataflow.program @args(%q: tensor<?x32x?xf16>, %lengths: tensor<?xi32>, %index: tensor<?x2xi32>) {
}
