// RUN: df-translate --dataflow-to-artifact --targets=sm_90a --no-cache %s -o %t.dfa
// RUN: df-translate --artifact-to-ptx %t.dfa | FileCheck %s
// A device module beside a program is taken as it is, unless it holds a kernel of another program.

// CHECK-NOT: .entry other_static
// CHECK:     .entry double_static_global(
// CHECK-NOT: .entry other_static

dataflow.program @double(%x: tensor<?xf32>, %y: tensor<?xf32>) attributes {dataflow.specializations = ["static_global"]} {
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

gpu.module @other_static attributes {dataflow.kernel = {symbol = "other_static", program = "other"}} {
  llvm.func @other_static() attributes {nvvm.kernel} {
    llvm.return
  }
}
