// RUN: df-opt %s --split-input-file --dataflow-prepare | FileCheck %s
// RUN: sed "s/requests.*]>]//" %s | df-opt --split-input-file --dataflow-prepare | FileCheck %s --check-prefix=CUT
// Records are not cut into slices along the dimension of which a variant for few elements writes the first only: these are the first
// slices, not a part of each. They are cut along another one, if there is.

// CHECK: dataflow.handler @add(
// CHECK-NOT: dataflow.handler @add_sliced(
// CHECK: dataflow.handler @store(
// CUT: dataflow.handler @add_sliced({{.*}}) -> tensor<4xf32>
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

// -----

// CHECK: dataflow.handler @add_sliced({{.*}}) -> tensor<64x4xf32>
// CUT: dataflow.handler @add_sliced({{.*}}) -> tensor<1x32xf32>
dataflow.program @rows(%x: tensor<?x?x32xf32>, %valid: tensor<?xi32>, %lengths: tensor<?xi32>, %y: tensor<?x?x32xf32>)
    params {rows = 64 : index}
    attributes {dataflow.extents = {x = [-1, "rows", -1], y = [-1, "rows", -1]}} {
  %c0 = arith.constant 0 : index
  %blocks = tensor.dim %valid, %c0 : tensor<?xi32>
  dataflow.tasks @blocks(block = %blocks)
  dataflow.range @rows_of of @blocks length %valid[block] tile "rows" : tensor<?xi32>
  dataflow.range @steps of @blocks length %lengths[block] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @blocks over @steps operands(%x : tensor<?x?x32xf32>)
      requests [#dataflow.bounded<@rows_of, [16, 32]>]
      : () -> !dataflow.channel<!dataflow.record<p: tensor<?x32xf32>>, pieces>
  %sum = dataflow.reduce @add(%parts)
   : (!dataflow.channel<!dataflow.record<p: tensor<?x32xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<p: tensor<?x32xf32>>> identity {
    %rows = dataflow.param "rows" : index
    %z = arith.constant 0.0 : f32
    %v = tensor.splat %z[%rows] : tensor<?x32xf32>
    dataflow.yield %v : tensor<?x32xf32>
  }
  dataflow.finalize @store(%sum) tasks @blocks operands(%valid : tensor<?xi32>) outs(%y : tensor<?x?x32xf32>)
      : (!dataflow.channel<!dataflow.record<p: tensor<?x32xf32>>>) -> ()
  dataflow.handler @take(%block: index, %begin: index, %end: index, %x: tensor<?x?x32xf32>) -> tensor<?x32xf32> {
    %rows = dataflow.param "rows" : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %v = tensor.splat %z[%rows] : tensor<?x32xf32>
    %s = scf.for %i = %begin to %end step %c1 iter_args(%a = %v) -> tensor<?x32xf32> {
      %t = tensor.extract_slice %x[%i, 0, 0] [1, %rows, 32] [1, 1, 1] : tensor<?x?x32xf32> to tensor<?x32xf32>
      %b = arith.addf %a, %t : tensor<?x32xf32>
      scf.yield %b : tensor<?x32xf32>
    }
    dataflow.yield %s : tensor<?x32xf32>
  }
  dataflow.handler @add(%a: tensor<?x32xf32>, %b: tensor<?x32xf32>) -> tensor<?x32xf32> {
    %c = arith.addf %a, %b : tensor<?x32xf32>
    dataflow.yield %c : tensor<?x32xf32>
  }
  dataflow.handler @store(%block: index, %valid: tensor<?xi32>, %p: tensor<?x32xf32>, %y: tensor<?x?x32xf32>) -> tensor<?x?x32xf32> {
    %rows = dataflow.param "rows" : index
    %v32 = tensor.extract %valid[%block] : tensor<?xi32>
    %count = arith.index_cast %v32 : i32 to index
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%rows) : tensor<?x32xf32>
    %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %live = arith.cmpi ult, %i, %count : index
      %s = arith.select %live, %a, %zero : f32
      linalg.yield %s : f32
    } -> tensor<?x32xf32>
    %r = tensor.insert_slice %m into %y[%block, 0, 0] [1, %rows, 32] [1, 1, 1] : tensor<?x32xf32> into tensor<?x?x32xf32>
    dataflow.yield %r : tensor<?x?x32xf32>
  }
}
