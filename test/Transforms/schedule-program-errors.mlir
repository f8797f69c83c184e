// RUN: df-opt %s --dataflow-schedule-program --split-input-file --verify-diagnostics
// RUN: not df-opt %s --split-input-file --dataflow-schedule-program="solver=magic" 2>&1 | FileCheck %s --check-prefix=SOLVER
// RUN: not df-opt %s --split-input-file --dataflow-schedule-program="combine=magic" 2>&1 | FileCheck %s --check-prefix=COMBINE
// What a program needs to be planned, and requests that no pass obeys.

// SOLVER: error: unknown solver 'magic'; known are {{.*}}stream
// COMBINE: error: option 'combine' must be automatic, scatter, fold or tree, got 'magic'

// The device is not known.
// expected-error@+1 {{program @copy: has no 'dataflow.topology'; run dataflow-attach-topology first}}
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// The batch is not known.
// expected-error@+1 {{program @copy: input 'x' is missing}}
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A shape is not what the argument has.
// expected-error@+1 {{program @copy: }}
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4, 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// Inputs of a kind that nobody makes.
// expected-error@+1 {{program @copy: input "x" of 'dataflow.inputs' must be dense integers or a shape (array<i64: ...>), got "four"}}
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = "four"}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A request that nothing obeys is refused by its name.
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  // expected-error@+1 {{request 'pipeline' on stage "load" is obeyed by dataflow-split-roles, which has made no kernel here}}
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      requests [#dataflow.pipeline<stages = 4>]
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// Of a handoff only depth 1 is obeyed.
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  // expected-error@+1 {{request 'handoff' on stage "load" is not obeyed by any pass yet}}
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      requests [#dataflow.handoff<resident, depth = 2>]
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A cost that is not one.
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  // expected-error@+1 {{attribute 'cost' has the unknown key "bytes"}}
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 attributes {cost = {bytes = 4}} {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A negative cost.
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @load tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  // expected-error@+1 {{cost "fixed_bytes" must be a non-negative integer, got -4}}
  dataflow.handler @load(%row: index, %x: tensor<?xf32>) -> f32 attributes {cost = {fixed_bytes = -4}} {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A splat of more values than fit into memory.
// expected-error@+1 {{input "x" of 'dataflow.inputs' has 4611686018427387904 values, expected at most 268435456}}
dataflow.program @fill(%x: tensor<?xi32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = dense<1> : tensor<4611686018427387904xi64>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c1 = arith.constant 1 : index
  dataflow.tasks @rows(row = %c1)
  dataflow.range @part of @rows length %x[row] tile 1 : tensor<?xi32>
  dataflow.finalize @store tasks @rows each @part outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%row: index, %begin: index, %end: index, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// Values that 64 bits cannot hold.
// expected-error@+1 {{input "x" of 'dataflow.inputs' must hold signless integers of at most 64 bits, got 'i128'}}
dataflow.program @fill(%x: tensor<?xi32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = dense<1> : tensor<1xi128>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c1 = arith.constant 1 : index
  dataflow.tasks @rows(row = %c1)
  dataflow.range @part of @rows length %x[row] tile 1 : tensor<?xi32>
  dataflow.finalize @store tasks @rows each @part outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%row: index, %begin: index, %end: index, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// The name of the schedule is taken.
// expected-error@+1 {{already has a symbol @plan}}
dataflow.program @copy(%x: tensor<?xf32>, %y: tensor<?xf32>)
    attributes {dataflow.inputs = {x = array<i64: 4>}, dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %v = dataflow.map @plan tasks @rows operands(%x : tensor<?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%v) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  // expected-note@+1 {{it is here}}
  dataflow.handler @plan(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
