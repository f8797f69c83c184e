// RUN: not df-opt %s --convert-dataflow-to-nvvm=specializations=dynamic 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not df-opt %s --convert-dataflow-to-nvvm=threads=100 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not df-opt %s --convert-dataflow-to-nvvm="specializations=static max-barriers=30000" 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: not df-opt %s --convert-dataflow-to-nvvm=specializations=ticket,ticket 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed 's/tensor<?xf32>) {$/tensor<?xf32>) attributes {dataflow.specializations = "static"} {/' %s \
// RUN:   | not df-opt --convert-dataflow-to-nvvm 2>&1 | FileCheck %s --check-prefix=LIST

// TWICE: error: kernel specialisation 'ticket' is named twice
// LIST: error: 'dataflow.specializations' must be a list of names, got "static"
// NAME: error: no kernel specialisation 'dynamic', expected static, static_global or ticket
// THREADS: error: kernel 'double_static_global': 100 compute threads, expected a multiple of 128 up to 896
// ROOM: error: kernel 'double_static': rings, barriers and the exchange of fragments take 240256 bytes of shared memory, a CTA has 232448

dataflow.program @double(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @twice tasks @rows operands(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @twice(%row: index, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    %w = arith.addf %v, %v : f32
    %r = tensor.insert %w into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
