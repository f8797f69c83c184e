// RUN: df-opt %s --dataflow-prepare --dataflow-handlers-to-llvm | FileCheck %s
// RUN: sed "/requests/d" %s | df-opt --dataflow-prepare --dataflow-handlers-to-llvm | FileCheck %s --check-prefix=CUT
// Records are not cut into slices along the dimension of which a variant for few elements writes the first only: these are the first
// slices, not a part of each.

// CHECK: llvm.func internal @add$0(
// CHECK-NOT: llvm.func internal @add$1(
// CHECK: llvm.func internal @store$0(
// CUT: llvm.func internal @add$0(
// CUT: llvm.func internal @add$1(
dataflow.program @rows(%x: tensor<?x?xf32>, %valid: tensor<?xi32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>)
    params {rows = 64 : index}
    attributes {dataflow.extents = {x = [-1, "rows"], y = [-1, "rows"]}} {
  %c0 = arith.constant 0 : index
  %blocks = tensor.dim %valid, %c0 : tensor<?xi32>
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @rows_of of @blocks length %valid[block] tile "rows" : tensor<?xi32>
  dataflow.range @steps of @blocks length %lengths[block] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @blocks over @steps operands(%x : tensor<?x?xf32>)
      requests [#dataflow.bounded<@rows_of, [16, 32]>]
      : () -> !dataflow.channel<!dataflow.record<p: tensor<?xf32>>, pieces>
  %sum = dataflow.reduce @add(%parts)
   : (!dataflow.channel<!dataflow.record<p: tensor<?xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<p: tensor<?xf32>>> identity {
    %rows = dataflow.param "rows" : index
    %z = arith.constant 0.0 : f32
    %v = tensor.splat %z[%rows] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.finalize @store(%sum) tasks @blocks outs(%y : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<p: tensor<?xf32>>>) -> ()
  dataflow.handler @take(%block: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> tensor<?xf32> {
    %rows = dataflow.param "rows" : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %v = tensor.splat %z[%rows] : tensor<?xf32>
    %s = scf.for %i = %begin to %end step %c1 iter_args(%a = %v) -> tensor<?xf32> {
      %t = tensor.extract_slice %x[%i, 0] [1, %rows] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
      %b = arith.addf %a, %t : tensor<?xf32>
      scf.yield %b : tensor<?xf32>
    }
    dataflow.yield %s : tensor<?xf32>
  }
  dataflow.handler @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %c = arith.addf %a, %b : tensor<?xf32>
    dataflow.yield %c : tensor<?xf32>
  }
  dataflow.handler @store(%block: index, %p: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %rows = dataflow.param "rows" : index
    %r = tensor.insert_slice %p into %y[%block, 0] [1, %rows] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}
