// RUN: not df-opt %s --dataflow-specialize-program="params=head=64" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not df-opt %s --dataflow-specialize-program="params=heads=bf16" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not df-opt %s --dataflow-specialize-program="params=element=64" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not df-opt %s --dataflow-specialize-program="params=element=tensor" 2>&1 | FileCheck %s --check-prefix=NOTYPE
// RUN: not df-opt %s --dataflow-specialize-program="params=element=i8" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not df-opt %s --dataflow-specialize-program="params=heads=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not df-opt %s --dataflow-specialize-program="params=heads=-4" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not df-opt %s --dataflow-specialize-program="params=heads=99999999999999999999" 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not df-opt %s --dataflow-specialize-program="params=heads" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not df-opt %s --dataflow-specialize-program="params=heads=2,heads=4" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not df-opt %s --dataflow-specialize-program="params=element=f8E4M3FN" 2>&1 | FileCheck %s --check-prefix=FITS
// Messages about parameters name the parameter and the value.

// UNKNOWN: error: 'dataflow.program' op has no parameter 'head' to bind to '64'
// UNKNOWN: note: parameter 'element' has the default f16
// UNKNOWN: note: parameter 'heads' has the default 32 : index
// NUMBER: error: 'dataflow.program' op parameter 'heads' is an integer, but is bound to 'bf16'
// TYPE: error: 'dataflow.program' op parameter 'element' is an element type, but is bound to '64'
// NOTYPE: error: 'dataflow.program' op parameter 'element' is an element type, but is bound to 'tensor'
// KIND: error: 'dataflow.program' op parameter 'element' stands for 'f16' and cannot be bound to 'i8': one is a float, the other an integer
// ZERO: error: 'dataflow.program' op parameter 'heads' is at least 1, but is bound to 0
// NEGATIVE: error: 'dataflow.program' op parameter 'heads' is at least 1, but is bound to -4
// WIDE: error: 'dataflow.program' op parameter 'heads' is an integer, but is bound to '99999999999999999999'
// NOTHING: error: 'dataflow.program' op parameter 'heads' is an integer, but is bound to ''
// TWICE: error: 'dataflow.program' op parameter 'heads' is bound twice
// FITS: error: 'dataflow.program' op constant 6.000000e+04 : f16 does not fit the type bound to its parameter
dataflow.program @params(%x: tensor<?xf16>, %y: tensor<?xf16>) params {element = f16, heads = 32 : index} {
  %heads = dataflow.param "heads" : index
  dataflow.tasks @rows(row = %heads)
  dataflow.finalize @scale tasks @rows operands(%x : tensor<?xf16>) outs(%y : tensor<?xf16>) : () -> ()
  dataflow.handler @scale(%row: index, %x: tensor<?xf16>, %y: tensor<?xf16>) -> tensor<?xf16> {
    %large = arith.constant 60000.0 : f16
    %r = tensor.insert %large into %y[%row] : tensor<?xf16>
    dataflow.yield %r : tensor<?xf16>
  }
}
