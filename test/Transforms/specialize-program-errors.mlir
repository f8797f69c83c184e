// RUN: df-opt %s --split-input-file --verify-diagnostics --dataflow-specialize-program
// What cannot be made static is named, and so are shapes that disagree.

// A dimension that is the shape of a launch.
dataflow.program @launch_shape(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  dataflow.tasks @rows(row = %n)
  // expected-error @+1 {{'dataflow.map' op field 'v' of the records of stage "load" remains 'tensor<4x?xf32>': dimension 1 could not be made static}}
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<n: f32, v: tensor<?x?xf32>>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<n: f32, v: tensor<?x?xf32>>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?x?xf32>) -> (f32, tensor<?x?xf32>) {
    %zero = arith.constant 0.0 : f32
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %width = tensor.dim %x, %c1 : tensor<?x?xf32>
    // expected-note @+1 {{its value comes from here}}
    %v = tensor.splat %zero[%c4, %width] : tensor<?x?xf32>
    dataflow.yield %zero, %v : f32, tensor<?x?xf32>
  }
  dataflow.handler @store(%row: index, %n: f32, %v: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    dataflow.yield %y : tensor<?x?xf32>
  }
}

// -----

// Two callers of one handler that give it different sizes leave it none.
dataflow.program @two_callers(%y: tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  dataflow.tasks @one(i = %c1)
  %a = dataflow.map @four tasks @one : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  %b = dataflow.map @eight tasks @one : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  // expected-error @+1 {{field 'v' of the records of stage "first" remains 'tensor<?xf32>': dimension 0 could not be made static}}
  %c = dataflow.map @double as "first" (%a) tasks @one
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>>) -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  %d = dataflow.map @double as "second" (%b) tasks @one
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>>) -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  dataflow.handler @four(%i: index) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %n = arith.constant 4 : index
    %v = tensor.splat %zero[%n] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.handler @eight(%i: index) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %n = arith.constant 8 : index
    %v = tensor.splat %zero[%n] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.handler @double(%i: index, %v: tensor<?xf32>) -> tensor<?xf32> {
    // expected-note @+1 {{its value comes from here}}
    %w = arith.addf %v, %v : tensor<?xf32>
    dataflow.yield %w : tensor<?xf32>
  }
}

// -----

// Shapes that meet in one op.
dataflow.program @disagree(%y: tensor<?xf32>) params {width = 8 : index} {
  %c1 = arith.constant 1 : index
  dataflow.tasks @one(i = %c1)
  %a = dataflow.map @add tasks @one : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>>
  dataflow.handler @add(%i: index) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %c4 = arith.constant 4 : index
    %width = dataflow.param "width" : index
    %v = tensor.splat %zero[%c4] : tensor<?xf32>
    %w = tensor.splat %zero[%width] : tensor<?xf32>
    // expected-error @+1 {{'arith.addf' op has shapes that disagree once parameters are bound: one dimension is both 4 and 8}}
    %x = arith.addf %v, %w : tensor<?xf32>
    dataflow.yield %x : tensor<?xf32>
  }
}

// -----

// The identity must have the shape of the parts.
dataflow.program @identity(%n: tensor<?xi32>) params {width = 8 : index} {
  %c1 = arith.constant 1 : index
  dataflow.tasks @one(i = %c1)
  dataflow.range @r of @one length %n[i] tile 4 : tensor<?xi32>
  %a = dataflow.map @part tasks @one over @r : () -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>, pieces>
  // expected-error @+1 {{stage "add" needs 'tensor<8xf32>' as result 0 of its identity, but gets 'tensor<16xf32>'}}
  %b = dataflow.reduce @add(%a)
      : (!dataflow.channel<!dataflow.record<v: tensor<?xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<v: tensor<?xf32>>> identity {
    %zero = arith.constant 0.0 : f32
    %n16 = arith.constant 16 : index
    %v = tensor.splat %zero[%n16] : tensor<?xf32>
    // expected-note @+1 {{yielded here}}
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.handler @part(%i: index, %begin: index, %end: index) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %width = dataflow.param "width" : index
    %v = tensor.splat %zero[%width] : tensor<?xf32>
    dataflow.yield %v : tensor<?xf32>
  }
  dataflow.handler @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %c = arith.addf %a, %b : tensor<?xf32>
    dataflow.yield %c : tensor<?xf32>
  }
}

// -----

// The default of a type parameter stands for it alone.
// expected-error @+1 {{parameters 'a' and 'b' both stand for 'f16'}}
dataflow.program @ambiguous(%x: tensor<?xf16>) params {a = f16, b = f16} {
}
