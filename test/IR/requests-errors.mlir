// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of the request attributes is enforced, alone, against the
// stage and against the stage's other requests. The splits are named after the
// constraints.

// coarsening_c1: a range has a positive extent
// expected-error@+1 {{coarsening: extent must be at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.coarsening<extent = 0, handler_extent = 64>}

// -----

// coarsening_c2: pieces are whole tiles
// expected-error@+1 {{coarsening: handler_extent must be a multiple of extent, 64, got 96}}
func.func private @f() attributes {a = #dataflow.coarsening<extent = 64, handler_extent = 96>}

// -----

// coarsening_c2: a piece has at least one tile
// expected-error@+1 {{coarsening: handler_extent must be a multiple of extent, 64, got 0}}
func.func private @f() attributes {a = #dataflow.coarsening<extent = 64, handler_extent = 0>}

// -----

// coarsening_c3: a call has one record
// expected-error@+1 {{coarsening: outputs must be 1, got 2}}
func.func private @f() attributes {a = #dataflow.coarsening<extent = 64, handler_extent = 64, outputs = 2>}

// -----

// coarsening_c4: only a range can be coarsened
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op coarsening needs a stage with a range}}
  %a = dataflow.map @make tasks @t requests [#dataflow.coarsening<extent = 64, handler_extent = 64>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// coarsening_c5: the extent repeats the tile
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 32
  // expected-error@+1 {{'dataflow.map' op coarsening: extent must be the tile of range 'r', 32, got 64}}
  %a = dataflow.map @make tasks @t over @r requests [#dataflow.coarsening<extent = 64, handler_extent = 64>]
      : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// pipeline_c1: a pipeline has stages
// expected-error@+1 {{pipeline: stages must be at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.pipeline<stages = 0>}

// -----

// pipeline_c1: somebody loads
// expected-error@+1 {{pipeline: producers must be at least 1, got -1}}
func.func private @f() attributes {a = #dataflow.pipeline<stages = 2, producers = -1>}

// -----

// pipeline_c1: somebody computes
// expected-error@+1 {{pipeline: consumers must be at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.pipeline<stages = 2, consumers = 0>}

// -----

// pipeline_c2: a reshard has no handler to pipeline
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op pipeline needs a stage with a handler, got a reshard}}
  %b = dataflow.reshard "move" move(%a) requests [#dataflow.pipeline<stages = 2>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// physical_form_c1: one space for each input
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op physical_form: inputs must have one space for each of the 0 input channels, got 1}}
  %a = dataflow.map @make tasks @t requests [#dataflow.physical_form<inputs = [shared]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// physical_form_c2: one space for the output
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op physical_form: outputs must have one space for each of the 1 output channels, got 2}}
  %a = dataflow.map @make tasks @t requests [#dataflow.physical_form<outputs = [shared, shared]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// physical_form_c2: a finalize has no record
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.finalize' op physical_form: outputs must have one space for each of the 0 output channels, got 1}}
  dataflow.finalize @store(%a) tasks @t outs(%y : tensor<?xf32>) requests [#dataflow.physical_form<outputs = [global]>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> ()
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @store(%x: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// physical_form_c3: only an input can be aliased
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op physical_form: output_aliases_input is 0, but the stage has 0 input channels}}
  %a = dataflow.map @make tasks @t requests [#dataflow.physical_form<output_aliases_input = 0>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// physical_form_c3: inputs are numbered from 0
// expected-error@+1 {{physical_form: output_aliases_input must not be negative, got -2}}
func.func private @f() attributes {a = #dataflow.physical_form<output_aliases_input = -2>}

// -----

// physical_form_c3: an alias has the same record
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op physical_form: output_aliases_input needs equal records, but input 0 has '!dataflow.record<x: f32>' and the output '!dataflow.record<y: f32>'}}
  %b = dataflow.map @pass(%a) tasks @t requests [#dataflow.physical_form<output_aliases_input = 0>]
      : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<y: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// physical_form_c4: a form says where
// expected-error@+1 {{physical_form: a space must be shared or global, got unplaced}}
func.func private @f() attributes {a = #dataflow.physical_form<outputs = [unplaced]>}

// -----

// physical_form_c5: a reshard has no form
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op physical_form needs a stage with a handler, got a reshard}}
  %b = dataflow.reshard "move" move(%a) requests [#dataflow.physical_form<direct_output>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// physical_form_c6: aliases lie in one space
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op physical_form: the output aliases input 0, but one is shared and the other global}}
  %b = dataflow.map @pass(%a) tasks @t requests [#dataflow.physical_form<inputs = [global], outputs = [shared], output_aliases_input = 0>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// physical_form_c7: a form without a demand is none
// expected-error@+1 {{physical_form demands nothing}}
func.func private @f() attributes {a = #dataflow.physical_form<inputs = []>}

// -----

// physical_form: a key is given once
// expected-error@+1 {{key 'direct_output' is given twice}}
func.func private @f() attributes {a = #dataflow.physical_form<direct_output, direct_output>}

// -----

// physical_form: keys are known
// expected-error@+1 {{unknown key 'input'}}
func.func private @f() attributes {a = #dataflow.physical_form<input = [shared]>}

// -----

// reshard_transport_c1: counts are not negative
// expected-error@+1 {{reshard_transport: logical and physical must not be negative, got -1 and 0}}
func.func private @f() attributes {a = #dataflow.reshard_transport<logical = -1>}

// -----

// reshard_transport_c1: each slot holds the same number of records
// expected-error@+1 {{reshard_transport: logical must be a multiple of physical, 4, got 6}}
func.func private @f() attributes {a = #dataflow.reshard_transport<logical = 6, physical = 4>}

// -----

// reshard_transport_c2: only a reshard is resharded
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op reshard_transport needs a reshard, got a map}}
  %a = dataflow.map @make tasks @t requests [#dataflow.reshard_transport<via = #dataflow.global>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_transport_c3: a field is named once
// expected-error@+1 {{reshard_transport: field 'x' is given twice}}
func.func private @f() attributes {a = #dataflow.reshard_transport<fields = [x = 0, x = 1]>}

// -----

// reshard_transport_c3: only fields of the record are named
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op reshard_transport: the record has no field 'y'}}
  %b = dataflow.reshard "move" move(%a) requests [#dataflow.reshard_transport<fields = [y = 0]>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_transport_c3: the field has the dimension
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op reshard_transport: field 'x' has 0 dimensions, got dimension 0}}
  %b = dataflow.reshard "move" move(%a) requests [#dataflow.reshard_transport<fields = [x = 0]>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_transport_c4: other tasks are elsewhere
dataflow.program @p(%i: tensor<i32>) {
  dataflow.tasks @t()
  %n = arith.constant 2 : index
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op reshard_transport: a rekey cannot travel by local}}
  %b = dataflow.reshard "send" rekey(%a) to @u by %i[] key k requests [#dataflow.reshard_transport<via = #dataflow.local>]
      : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<i32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// handoff_c1: at least one record waits
// expected-error@+1 {{handoff: depth must be at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.handoff<resident, depth = 0>}

// -----

// handoff_c2: a finalize hands nothing on
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.finalize' op handoff needs a stage with an output channel, got a finalize}}
  dataflow.finalize @store(%a) tasks @t outs(%y : tensor<?xf32>) requests [#dataflow.handoff<resident>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> ()
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @store(%x: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// handoff_c3: resident records are in shared memory
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handoff<resident> keeps records in shared memory, but memory<global> is requested too}}
  %a = dataflow.map @make tasks @t requests [#dataflow.handoff<resident>, #dataflow.memory<global>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// handoff_c3: resident records are in shared memory, whoever asks
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handoff<resident> keeps records in shared memory, but physical_form requests global outputs}}
  %a = dataflow.map @make tasks @t requests [#dataflow.handoff<resident>, #dataflow.physical_form<outputs = [global]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// layout_c1: operands are numbered from 0
// expected-error@+1 {{layout: operand must not be negative, got -1}}
func.func private @f() attributes {a = #dataflow.layout<operand = -1, rank = 2, family = row_major>}

// -----

// layout_c1: a layout has dimensions
// expected-error@+1 {{layout: rank must be at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.layout<operand = 0, rank = 0, family = row_major>}

// -----

// layout_c2: the operand exists
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op layout: operand is 0, but the stage has 0 tensor operands}}
  %a = dataflow.map @make tasks @t requests [#dataflow.layout<operand = 0, rank = 2, family = swizzle_128>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// layout_c3: the operand has the rank
dataflow.program @p(%x: tensor<?xf32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op layout: operand 0 has rank 1, got 2}}
  %a = dataflow.map @make tasks @t operands(%x : tensor<?xf32>)
      requests [#dataflow.layout<operand = 0, rank = 2, family = row_major>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%x: tensor<?xf32>) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// layout_c4: an operand has one layout
dataflow.program @p(%x: tensor<?xf32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op request layout is given twice for operand 0}}
  %a = dataflow.map @make tasks @t operands(%x : tensor<?xf32>)
      requests [#dataflow.layout<operand = 0, rank = 1, family = row_major>,
                #dataflow.layout<operand = 0, rank = 1, family = swizzle_32>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%x: tensor<?xf32>) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// precision_c1: numbers accumulate
// expected-error@+1 {{precision: accumulator must be a float or an integer, got 'index'}}
func.func private @f() attributes {a = #dataflow.precision<accumulator = index>}

// -----

// precision_c2: a reshard computes nothing
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op precision needs a stage with a handler, got a reshard}}
  %b = dataflow.reshard "move" move(%a) requests [#dataflow.precision<accumulator = f32>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// memory_c1: a finalize stores no record
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.finalize' op memory needs a stage with an output channel, got a finalize}}
  dataflow.finalize @store(%a) tasks @t outs(%y : tensor<?xf32>) requests [#dataflow.memory<shared>] : (!dataflow.channel<!dataflow.record<x: f32>>) -> ()
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @store(%x: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// memory_c2: two requests say the same
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op memory<global> contradicts physical_form, which requests shared outputs}}
  %a = dataflow.map @make tasks @t requests [#dataflow.memory<global>, #dataflow.physical_form<outputs = [shared]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s10: a request is given once
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op request memory is given twice}}
  %a = dataflow.map @make tasks @t requests [#dataflow.memory<global>, #dataflow.memory<shared>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s10: requests are request attributes
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op "fast" is not a request}}
  %a = dataflow.map @make tasks @t requests ["fast"] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// bounded_c1: there are sizes
// expected-error@+2 {{expected integer value}}
// expected-error@+1 {{failed to parse Dataflow_Bounded parameter 'sizes'}}
#none = #dataflow.bounded<@r, []>

// -----

// bounded_c1: sizes ascend
// expected-error@+1 {{bounded: sizes must ascend, got 16 behind 16}}
#twice = #dataflow.bounded<@r, [16, 16]>

// -----

// bounded_c1: a size is at least 1
// expected-error@+1 {{bounded: a size must be at least 1, got 0}}
#zero = #dataflow.bounded<@r, [0, 16]>

// -----

// bounded_c2: a reshard calls nothing
dataflow.program @p(%n: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(row = %tasks)
  dataflow.range @r of @t length %n[row] tile 32 : tensor<?xi32>
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op bounded needs a map or a finalize, got a reshard}}
  %b = dataflow.reshard "again" move(%a) requests [#dataflow.bounded<@r, [16]>]
      : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%row: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// bounded_c3: it names a range
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op bounded: 't' is not a range of the program}}
  %a = dataflow.map @make tasks @t requests [#dataflow.bounded<@t, [16]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// bounded_c3: the range is one of the stage's tasks
dataflow.program @p(%n: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t()
  dataflow.tasks @other(row = %tasks)
  dataflow.range @r of @other length %n[row] tile 32 : tensor<?xi32>
  // expected-error@+1 {{'dataflow.map' op bounded: range 'r' is of tasks 'other', the stage of 't'}}
  %a = dataflow.map @make tasks @t requests [#dataflow.bounded<@r, [16]>] : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// bounded_c3: the stage is not called with the range
dataflow.program @p(%n: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(row = %tasks)
  dataflow.range @r of @t length %n[row] tile 32 : tensor<?xi32>
  // expected-error@+1 {{'dataflow.map' op bounded: 'r' is the range that the stage is called with}}
  %a = dataflow.map @make tasks @t each @r requests [#dataflow.bounded<@r, [16]>]
      : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  dataflow.handler @make(%row: index, %begin: index, %end: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}
