// RUN: echo "module {}" | not df-translate --dataflow-to-artifact 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not df-translate --dataflow-to-artifact --split-input-file %s 2>&1 | FileCheck %s
// What cannot be compiled is named.

// NONE: error: expected one dataflow.program, found 0

// CHECK: error: 'dataflow.param' op is left in handler 'store'; specialise the program first
dataflow.program @param(%n: tensor<?xi32>, %out: tensor<?xf32>) params {width = 4 : index} {
  %c1 = arith.constant 1 : index
  dataflow.tasks @t(task = %c1)
  dataflow.finalize @store tasks @t outs(%out : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%task: index, %out: tensor<?xf32>) -> tensor<?xf32> {
    %width = dataflow.param "width" : index
    %i = arith.index_cast %width : index to i32
    %f = arith.sitofp %i : i32 to f32
    %r = tensor.insert %f into %out[%task] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// CHECK: error: a tensor of dynamic size needs a buffer here
dataflow.program @dynamic(%x: tensor<?xf32>, %out: tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  dataflow.tasks @t(task = %c1)
  dataflow.finalize @store tasks @t operands(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%task: index, %x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %e = math.exp2 %x : tensor<?xf32>
    %l = math.log2 %e : tensor<?xf32>
    %s = arith.addf %e, %l : tensor<?xf32>
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %r = tensor.insert_slice %s into %out[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// CHECK: error: 'cf.assert' op cannot be compiled for the cpu
dataflow.program @assert(%x: tensor<?xi32>, %out: tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  dataflow.tasks @t(task = %c1)
  dataflow.finalize @store tasks @t operands(%x : tensor<?xi32>) outs(%out : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%task: index, %x: tensor<?xi32>, %out: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : i32
    %f = arith.constant 0.0 : f32
    %v = tensor.extract %x[%task] : tensor<?xi32>
    %ok = arith.cmpi sgt, %v, %zero : i32
    cf.assert %ok, "positive"
    %r = tensor.insert %f into %out[%task] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
