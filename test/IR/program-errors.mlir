// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of the ops of the program group is enforced. The splits are
// named after the constraints.

// program_c1: arguments are tensors
// expected-error@+1 {{'dataflow.program' op argument 0 must be a ranked tensor of integers or floats, got 'index'}}
dataflow.program @p(%x: index) {
}

// -----

// program_c1: tensors of numbers
// expected-error@+1 {{'dataflow.program' op argument 0 must be a ranked tensor of integers or floats, got 'tensor<?xindex>'}}
dataflow.program @p(%x: tensor<?xindex>) {
}

// -----

// program_c2: each argument has a name
// expected-error@+1 {{'dataflow.program' op has 1 arguments, but arg_names has 2 entries}}
dataflow.program @p(%x: tensor<f32>) attributes {arg_names = ["x", "y"]} {
}

// -----

// program_c2: names differ
// expected-error@+1 {{'dataflow.program' op argument name 'x' is empty or given twice}}
dataflow.program @p(%x: tensor<f32>, %y: tensor<f32>) attributes {arg_names = ["x", "x"]} {
}

// -----

// program_c3: a parameter is an index or a type
// expected-error@+1 {{'dataflow.program' op parameter 'n' must be an index or a type, got 4 : i32}}
dataflow.program @p() params {n = 4 : i32} {
}

// -----

// program_c4: stages are told apart by name
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-note@+1 {{by this stage}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op stage name 'make' is taken}}
  %b = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// program_c4: the names after 'as' count
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-note@+1 {{by this stage}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op stage name 'make' is taken}}
  %b = dataflow.reshard "make" move(%a) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// program_c5: a schedule comes last
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.schedule' op must be the last op of its program}}
  dataflow.schedule @s of @p on #dataflow.topology<ctas = 1> static solver "hand" {
  }
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// tasks_c1: each axis has an extent
dataflow.program @p() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op has 2 axes, but 1 extents}}
  "dataflow.tasks"(%n) <{sym_name = "t", axes = ["a", "b"], operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> ()
}

// -----

// tasks_c2: axes are told apart by name
dataflow.program @p() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op axis name 'a' is empty or given twice}}
  dataflow.tasks @t(a = %n, a = %n)
}

// -----

// tasks_c2: axes have names
dataflow.program @p() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op axis name '' is empty or given twice}}
  dataflow.tasks @t("" = %n)
}

// -----

// tasks_c3: at most four axes
dataflow.program @p() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op has 5 axes, at most 4 are supported}}
  dataflow.tasks @t(a = %n, b = %n, c = %n, d = %n, e = %n)
}

// -----

// tasks_c4: one coordinate for each axis
dataflow.program @p(%x: tensor<?x2xi32>) {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op coordinates must have shape [tasks, 1], got 'tensor<?x2xi32>'}}
  dataflow.tasks @t(a = %n) coordinates %x : tensor<?x2xi32>
}

// -----

// tasks_c4: coordinates are a table
dataflow.program @p(%x: tensor<?xi32>) {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op coordinates must have shape [tasks, 1], got 'tensor<?xi32>'}}
  dataflow.tasks @t(a = %n) coordinates %x : tensor<?xi32>
}

// -----

// tasks_c4: coordinates are integers
dataflow.program @p(%x: tensor<?x1xf32>) {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?x1xf32>'}}
  dataflow.tasks @t(a = %n) coordinates %x : tensor<?x1xf32>
}

// -----

// tasks_c4: coordinates are an argument
dataflow.program @p() {
  %n = arith.constant 1 : index
  %c = arith.constant dense<0> : tensor<2x1xi32>
  // expected-error@+1 {{'dataflow.tasks' op coordinates must be an argument of the program}}
  dataflow.tasks @t(a = %n) coordinates %c : tensor<2x1xi32>
}

// -----

// tasks_c5: weights are a list
dataflow.program @p(%x: tensor<?x2xi32>) {
  %n = arith.constant 1 : index
  // expected-error@+1 {{'dataflow.tasks' op weights must have rank 1, got 'tensor<?x2xi32>'}}
  dataflow.tasks @t(a = %n) weights %x : tensor<?x2xi32>
}

// -----

// tasks_c5: weights are an argument
dataflow.program @p() {
  %n = arith.constant 1 : index
  %w = arith.constant dense<1> : tensor<2xi32>
  // expected-error@+1 {{'dataflow.tasks' op weights must be an argument of the program}}
  dataflow.tasks @t(a = %n) weights %w : tensor<2xi32>
}

// -----

// range_c1: a range is of a domain
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op 'p' is not a task domain of the program}}
  dataflow.range @r of @p length %n tile 4
}

// -----

// range_c2: one index for each dimension
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op length has 1 dimensions, but 2 indices}}
  dataflow.range @r of @t length %x[a, a] tile 4 : tensor<?xi32>
}

// -----

// range_c2: one index for each dimension, for the offset too
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op offset has 1 dimensions, but 0 indices}}
  dataflow.range @r of @t length %n offset %x[] tile 4 : tensor<?xi32>
}

// -----

// range_c2: a length is an index
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op length without indices must be an index, got 'tensor<?xi32>'}}
  "dataflow.range"(%x) <{sym_name = "r", tasks = @t, tile = 4 : i64}> : (tensor<?xi32>) -> ()
}

// -----

// range_c2: an indexed length is an argument
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  %c = arith.constant dense<1> : tensor<2xi32>
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op indexed length must be an argument of the program, got 'tensor<2xi32>'}}
  dataflow.range @r of @t length %c[a] tile 4 : tensor<2xi32>
}

// -----

// range_c2: a length is an integer
dataflow.program @p(%x: tensor<?xf32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op operand #0 must be index or ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  dataflow.range @r of @t length %x[a] tile 4 : tensor<?xf32>
}

// -----

// range_c3: indices are axes
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  // expected-note@+1 {{the domain is defined here}}
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op domain 't' has no axis 'b'}}
  dataflow.range @r of @t length %x[b] tile 4 : tensor<?xi32>
}

// -----

// range_c4: a tile has elements
dataflow.program @p(%x: tensor<?xi32>) params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op tile must be at least 1, got 0}}
  dataflow.range @r of @t length %n tile 0
}

// -----

// range_c4: a tile is an index parameter
// expected-note@+1 {{the program is defined here}}
dataflow.program @p() params {f = f32, k = 4 : index} {
  %n = arith.constant 1 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.range' op 'f' is not an index parameter of program 'p'}}
  dataflow.range @r of @t length %n tile "f"
}

// -----

// map_c1: without a range there is one record
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op must have a channel of arity one, got pieces}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// map_c1: over a range there are pieces
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-error@+1 {{'dataflow.map' op must have a channel of arity pieces, got one}}
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// map_c1: for each tile there is one record
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-error@+1 {{'dataflow.map' op must have a channel of arity tiles, got pieces}}
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// map_c1: 'each' is of a range
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op has 'each' without a range}}
  %a = "dataflow.map"() <{handler = @make, tasks = @t, each, operandSegmentSizes = array<i32: 0, 0>}> : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s1: a handler is there
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op 'other' is not a handler of the program}}
  %a = dataflow.map @other tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
}

// -----

// stage_s1: a handler is no domain
dataflow.program @p() {
  // expected-note@+1 {{it names this op}}
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op 't' is not a handler of the program}}
  %a = dataflow.map @t tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
}

// -----

// stage_s1: a handler has a body
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have a body of one block, got 0}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  func.func private @make() -> f32
}

// -----

// stage_s1: a handler's body is one block
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have a body of one block, got 2}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  func.func private @make() -> f32 {
    cf.br ^exit
  ^exit:
    %z = arith.constant 0.0 : f32
    return %z : f32
  }
}

// -----

// stage_s2: a domain is there
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op 'u' is not a task domain of the program}}
  %a = dataflow.map @make tasks @u : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s2: a domain is no handler
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op 'make' is not a task domain of the program}}
  %a = dataflow.map @make tasks @make : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{it names this op}}
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s3: a range is there
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op 't' is not a range of the program}}
  %a = dataflow.map @make tasks @t over @t : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s3: a range is of the stage's domain
dataflow.program @p() {
  dataflow.tasks @t()
  dataflow.tasks @u()
  %n = arith.constant 8 : index
  // expected-note@+1 {{the range is defined here}}
  dataflow.range @r of @u length %n tile 4
  // expected-error@+1 {{'dataflow.map' op runs over range 'r' of domain 'u', but its own domain is 't'}}
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s4: records come from a stage
dataflow.program @p() {
  dataflow.tasks @t()
  %c = builtin.unrealized_conversion_cast to !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op input 0 does not come from a stage}}
  %a = dataflow.map @pass(%c) tasks @t : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// stage_s5: pieces are reduced
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-note@+1 {{the channel comes from here}}
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.map' op input 0 has arity pieces, which only a reduce can read}}
  %b = dataflow.map @pass(%a) tasks @t : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// stage_s5: tiles are read tile by tile
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-note@+1 {{the tiles come from here}}
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  // expected-error@+1 {{'dataflow.map' op reads tiles from input 0; it must run for each tile of the same range, or the tiles must be reduced or collected first}}
  %b = dataflow.map @pass(%a) tasks @t : (!dataflow.channel<!dataflow.record<x: f32>, tiles>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// stage_s5: tiles are those of one range
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  dataflow.range @q of @t length %n tile 2
  // expected-note@+1 {{the tiles come from here}}
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  // expected-error@+1 {{'dataflow.map' op reads tiles from input 0; it must run for each tile of the same range, or the tiles must be reduced or collected first}}
  %b = dataflow.map @pass(%a) tasks @t each @q : (!dataflow.channel<!dataflow.record<x: f32>, tiles>) -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// stage_s6: a consumer has the producer's axes
dataflow.program @p() {
  %n = arith.constant 8 : index
  // expected-note@+1 {{the input's domain}}
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(b = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op input 0 has axis 'a', which domain 'u' has not}}
  %b = dataflow.map @pass(%a) tasks @u : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @pass(%i: index, %x: f32) -> f32 {
    dataflow.yield %x : f32
  }
}

// -----

// stage_s7: no argument is missing
dataflow.program @p(%x: tensor<f32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 1 arguments, got 0}}
  %a = dataflow.map @make tasks @t operands(%x : tensor<f32>) : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: a tensor has its type, dynamic dimensions included
dataflow.program @p(%x: tensor<?xf32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 'tensor<?xf32>' as argument 0 (tensor operand 0), got 'tensor<4xf32>'}}
  %a = dataflow.map @make tasks @t operands(%x : tensor<?xf32>) : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make(%x: tensor<4xf32>) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: a piece has a begin and an end
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 'index' as argument 1 (end of the piece), got 'i64'}}
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make(%b: index, %e: i64) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: a field has its type
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.map' op handler 'pass' must have 'f32' as argument 0 (field 'x' of input 0), got 'f64'}}
  %b = dataflow.map @pass(%a) tasks @t : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @pass(%x: f64) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: collected fields are stacked
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  %b = dataflow.reshard "all" collect(%a) : (!dataflow.channel<!dataflow.record<x: f32>, tiles>) -> !dataflow.channel<!dataflow.record<x: f32>, collected>
  // expected-error@+1 {{'dataflow.map' op handler 'pass' must have 'tensor<?xf32>' as argument 0 (field 'x' of input 0), got 'f32'}}
  %c = dataflow.map @pass(%b) tasks @t : (!dataflow.channel<!dataflow.record<x: f32>, collected>) -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @pass(%x: f32) -> f32 {
    dataflow.yield %x : f32
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: a reduce reads two parts
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reduce' op handler 'add' must have 'f32' as argument 1 (field 'x' of the second part), got 'f16'}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>> identity {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @add(%a: f32, %b: f16) -> f32 {
    dataflow.yield %a : f32
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: a task has coordinates
dataflow.program @p() {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 'index' as argument 0 (axis 'a'), got 'i32'}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make(%a: i32) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s7: an output tensor comes last
dataflow.program @p(%y: tensor<?xf16>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.finalize' op handler 'store' must have 'tensor<?xf16>' as argument 0 (output tensor 0), got 'tensor<?xf32>'}}
  dataflow.finalize @store tasks @t outs(%y : tensor<?xf16>) : () -> ()
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @store(%y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// stage_s8: no result is missing
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 2 results, got 1}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32, y: f32>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s8: a result has its field's type
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.map' op handler 'make' must have 'f16' as result 0, got 'f32'}}
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f16>>
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s9: operands are arguments
dataflow.program @p() {
  dataflow.tasks @t()
  %x = tensor.empty() : tensor<f32>
  // expected-error@+1 {{'dataflow.map' op tensor 0 of type 'tensor<f32>' is not an argument of the program}}
  %a = dataflow.map @make tasks @t operands(%x : tensor<f32>) : () -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%x: tensor<f32>) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_acyclic: a graph has no cycle
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %a = dataflow.reshard "a" move(%b) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %b = dataflow.reshard "b" move(%a) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>>
}

// -----

// reduce_c1: only several records are reduced
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reduce' op must read a channel of arity pieces, tiles or keyed, got one}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>> identity {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
}

// -----

// reduce_c2: one record remains
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reduce' op must have '!dataflow.channel<!dataflow.record<x: f32>>' as result, got '!dataflow.channel<!dataflow.record<x: f32>, pieces>'}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>, pieces> identity {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
}

// -----

// reduce_c3: an identity has no arguments
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reduce' op identity must have no arguments, got 1}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>> identity {
  ^bb0(%z: f32):
    dataflow.yield %z : f32
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
}

// -----

// reduce_c3: an identity is a record
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reduce' op identity must yield ('f32'), got ('f16')}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>> identity {
    %z = arith.constant 0.0 : f16
    // expected-note@+1 {{it yields here}}
    dataflow.yield %z : f16
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
}

// -----

// reduce_c3: an identity ends
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reduce' op identity must end with dataflow.yield}}
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<x: f32>, pieces>) -> !dataflow.channel<!dataflow.record<x: f32>> identity {
    %z = arith.constant 0.0 : f32
  }
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
}

// -----

// reshard_c1: a move changes nothing
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  // expected-error@+1 {{'dataflow.reshard' op must have '!dataflow.channel<!dataflow.record<x: f32>, tiles>' as result, got '!dataflow.channel<!dataflow.record<x: f32>>'}}
  %b = dataflow.reshard "m" move(%a) : (!dataflow.channel<!dataflow.record<x: f32>, tiles>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c2: tiles are collected
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op collect must read a channel of arity tiles or keyed, got one}}
  %b = dataflow.reshard "c" collect(%a) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>, collected>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c2: rows are not collected
dataflow.program @p(%i: tensor<?x4xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: tensor<4xf32>>>
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k rows : (!dataflow.channel<!dataflow.record<x: tensor<4xf32>>>, tensor<?x4xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  %m = dataflow.reshard "m" move(%b) : (!dataflow.channel<!dataflow.record<x: f32>, keyed>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  // expected-error@+1 {{'dataflow.reshard' op collect must read whole records, got rows}}
  %c = dataflow.reshard "c" collect(%m) : (!dataflow.channel<!dataflow.record<x: f32>, keyed>) -> !dataflow.channel<!dataflow.record<x: f32>, collected>
  dataflow.handler @make(%i: index) -> tensor<4xf32> {
    %z = arith.constant dense<0.0> : tensor<4xf32>
    dataflow.yield %z : tensor<4xf32>
  }
}

// -----

// reshard_c2: a collection is collected
dataflow.program @p() {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t each @r : () -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  // expected-error@+1 {{'dataflow.reshard' op must have '!dataflow.channel<!dataflow.record<x: f32>, collected>' as result, got '!dataflow.channel<!dataflow.record<x: f32>, tiles>'}}
  %b = dataflow.reshard "c" collect(%a) : (!dataflow.channel<!dataflow.record<x: f32>, tiles>) -> !dataflow.channel<!dataflow.record<x: f32>, tiles>
  dataflow.handler @make(%b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c3: pieces are no records to send
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  dataflow.range @r of @t length %n tile 4
  %a = dataflow.map @make tasks @t over @r : () -> !dataflow.channel<!dataflow.record<x: f32>, pieces>
  // expected-error@+1 {{'dataflow.reshard' op rekey must read a channel of arity one or tiles, got pieces}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k : (!dataflow.channel<!dataflow.record<x: f32>, pieces>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index, %b: index, %e: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c3: sent records are keyed
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op must have '!dataflow.channel<!dataflow.record<x: f32>, keyed>' as result, got '!dataflow.channel<!dataflow.record<x: f32>>'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c3: a scalar has no rows
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op rows need fields with equal first dimensions, got '!dataflow.record<x: f32>'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k rows : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c4: a rekey has a target
dataflow.program @p() {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op rekey needs a target ('to')}}
  %b = dataflow.reshard "s" rekey(%a) : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c6: without an index every axis of the target is one of the source
dataflow.program @p() {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n, b = %n)
  dataflow.tasks @u(b = %n, k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op target axis 'k' is neither the key nor an axis of the source's domain 't'}}
  %b = dataflow.reshard "s" rekey(%a) to @u : (!dataflow.channel<!dataflow.record<x: f32>>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index, %j: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c4: only a rekey has a target
dataflow.program @p(%i: tensor<i32>) {
  dataflow.tasks @t()
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op move takes no target ('to')}}
  %b = dataflow.reshard "m" move(%a) to @t by %i[] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<i32>) -> !dataflow.channel<!dataflow.record<x: f32>>
  dataflow.handler @make() -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c5: one index for each dimension
dataflow.program @p(%i: tensor<?x2xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op index must have 1 dimensions, got 'tensor<?x2xi32>'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?x2xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c5: indices are axes of the source
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op index axis 'k' is not an axis of the source's domain 't'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[k] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c5: an index is an argument
dataflow.program @p(%i: tensor<8xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %c = arith.constant dense<0> : tensor<8xi32>
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op index must be an argument of the program}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %c[a] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<8xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c6: the key is an axis of the target
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op key 'a' is not an axis of the target domain 'u'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key a : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// reshard_c6: other axes stay
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n, l = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op target axis 'l' is neither the key nor an axis of the source's domain 't'}}
  %b = dataflow.reshard "s" rekey(%a) to @u by %i[a] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// stage_s2: the target of a rekey is a domain
dataflow.program @p(%i: tensor<?xi32>) {
  %n = arith.constant 8 : index
  dataflow.tasks @t(a = %n)
  dataflow.tasks @u(k = %n)
  %a = dataflow.map @make tasks @t : () -> !dataflow.channel<!dataflow.record<x: f32>>
  // expected-error@+1 {{'dataflow.reshard' op 's' is not a task domain of the program}}
  %b = dataflow.reshard "s" rekey(%a) to @s by %i[a] key k : (!dataflow.channel<!dataflow.record<x: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<x: f32>, keyed>
  dataflow.handler @make(%i: index) -> f32 {
    %z = arith.constant 0.0 : f32
    dataflow.yield %z : f32
  }
}

// -----

// finalize_c1: outputs are written tile by tile
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  %n = arith.constant 8 : index
  dataflow.range @r of @t length %n tile 4
  // expected-error@+1 {{'dataflow.finalize' op takes a range with 'each' only}}
  dataflow.finalize @store tasks @t over @r outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// finalize_c2: something is written
dataflow.program @p() {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.finalize' op has no output tensor}}
  "dataflow.finalize"() <{handler = @store, tasks = @t, operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
  dataflow.handler @store(%y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// finalize_c3: outputs differ
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.finalize' op output tensor 1 is given twice or read as an operand}}
  dataflow.finalize @store tasks @t outs(%y, %y : tensor<?xf32>, tensor<?xf32>) : () -> ()
  dataflow.handler @store(%y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// finalize_c3: outputs are not read
dataflow.program @p(%y: tensor<?xf32>) {
  dataflow.tasks @t()
  // expected-error@+1 {{'dataflow.finalize' op output tensor 0 is given twice or read as an operand}}
  dataflow.finalize @store tasks @t operands(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @store(%y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// handler_c1: a handler has a body
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op has no body}}
  "dataflow.handler"() <{sym_name = "h", function_type = () -> ()}> ({}) : () -> ()
}

// -----

// handler_c1: a body is one block
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op expects region #0 to have 0 or 1 blocks}}
  dataflow.handler @h() {
    cf.br ^exit
  ^exit:
    dataflow.yield
  }
}

// -----

// handler_c2: a variant is of a handler
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op has only one of variant and variant_of}}
  dataflow.handler @h() attributes {variant = #dataflow.variant<generic>} {
    dataflow.yield
  }
}

// -----

// handler_c2: a clone says for what
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op has only one of variant and variant_of}}
  dataflow.handler @h() attributes {variant_of = @g} {
    dataflow.yield
  }
}

// -----

// handler_c3: the original is there
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op variant_of 'g' is not another handler of the program}}
  dataflow.handler @h() attributes {variant = #dataflow.variant<sliced>, variant_of = @g} {
    dataflow.yield
  }
}

// -----

// handler_c3: the original is another one
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.handler' op variant_of 'h' is not another handler of the program}}
  dataflow.handler @h() attributes {variant = #dataflow.variant<sliced>, variant_of = @h} {
    dataflow.yield
  }
}

// -----

// handler_c3: variants have no variants
dataflow.program @p() {
  dataflow.handler @f() {
    dataflow.yield
  }
  dataflow.handler @g() attributes {variant = #dataflow.variant<sliced>, variant_of = @f} {
    dataflow.yield
  }
  // expected-error@+1 {{'dataflow.handler' op variant_of 'g' is itself a variant}}
  dataflow.handler @h() attributes {variant = #dataflow.variant<sliced>, variant_of = @g} {
    dataflow.yield
  }
}

// -----

// handler_c4: stages call both alike
dataflow.program @p() {
  // expected-note@+1 {{the original is defined here}}
  dataflow.handler @g(%i: index) {
    dataflow.yield
  }
  // expected-error@+1 {{'dataflow.handler' op must have the type of 'g', '(index) -> ()', got '(f32) -> ()'}}
  dataflow.handler @h(%x: f32) attributes {variant = #dataflow.variant<tiles = 2>, variant_of = @g} {
    dataflow.yield
  }
}

// -----

// handler_parent: a handler is in a program
// expected-error@+1 {{'dataflow.handler' op expects parent op 'dataflow.program'}}
dataflow.handler @h() {
  dataflow.yield
}

// -----

// yield_c1: a handler yields its results
dataflow.program @p() {
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @h(%x: f32) -> f16 {
    // expected-error@+1 {{'dataflow.yield' op yields ('f32'), but handler 'h' has results ('f16')}}
    dataflow.yield %x : f32
  }
}

// -----

// yield_parent: a yield ends a handler or an identity
func.func @f() {
  // expected-error@+1 {{'dataflow.yield' op expects parent op to be one of 'dataflow.handler, dataflow.part, dataflow.reduce'}}
  dataflow.yield
}

// -----

// param_c1: a parameter is in a program
func.func @f() -> index {
  // expected-error@+1 {{'dataflow.param' op names parameter 'n', but is not in a program}}
  %n = dataflow.param "n" : index
  return %n : index
}

// -----

// param_c1: a parameter is the program's
// expected-note@+1 {{the program is defined here}}
dataflow.program @p() params {m = 1 : index} {
  // expected-error@+1 {{'dataflow.param' op 'n' is not an index parameter of program 'p'}}
  %n = dataflow.param "n" : index
}

// -----

// range_tiles_c1: a tile has elements
func.func @f(%b: index, %e: index) -> index {
  // expected-error@+1 {{'dataflow.range_tiles' op tile must be at least 1, got -1}}
  %n = dataflow.range_tiles %b to %e tile -1 : index
  return %n : index
}
