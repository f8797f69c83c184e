// RUN: df-opt %s --split-input-file --dataflow-verify-kernel --verify-diagnostics

// Rule D8 of dataflow-verify-kernel, and what a part with a following finalize must look like, with cases that break it.

#rows = #dataflow.fragment<[64] block [64] lanes [0:1, 0:2, 0:4, 0:8, 0:16] warps [0:32, _]>
!part = !dataflow.record<rows: tensor<64xf32>>
// D8: a portable part has no following finalize
dataflow.program @p(%y: tensor<64xf32>) {
  dataflow.tasks @one()
  %r = dataflow.map @make tasks @one : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%r) tasks @one outs(%y : tensor<64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @make() -> tensor<64xf32> {
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    dataflow.yield %zeros : tensor<64xf32>
  }
  dataflow.handler @put(%r: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{D8: has a following finalize, but no fragments}}
    dataflow.part @c of @make compute(%y: tensor<64xf32>, %follows: i1) -> (tensor<64xf32>, tensor<64xf32>) attributes {following = @put} {
      %zeros = arith.constant dense<0.0> : tensor<64xf32>
      dataflow.yield %zeros, %y : tensor<64xf32>, tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] lanes [0:1, 0:2, 0:4, 0:8, 0:16] warps [0:32, _]>
!part = !dataflow.record<rows: tensor<64xf32>>
// D8: whether to do it is not asked
dataflow.program @p(%y: tensor<64xf32>) {
  dataflow.tasks @one()
  %r = dataflow.map @make tasks @one : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%r) tasks @one outs(%y : tensor<64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @make() -> tensor<64xf32> {
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    dataflow.yield %zeros : tensor<64xf32>
  }
  dataflow.handler @put(%r: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{D8: its last argument is not the condition of one branch in its block}}
    dataflow.part @c of @make compute(%y: tensor<64xf32>, %follows: i1) -> (tensor<64xf32>, tensor<64xf32>) attributes {following = @put, fragments} {
      %zero = arith.constant 0.0 : f32
      %zeros = tensor.splat %zero : tensor<64xf32, #rows>
      %m = dataflow.convert_layout %zeros : tensor<64xf32, #rows> to tensor<64xf32>
      %new = tensor.insert_slice %m into %y[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
      dataflow.yield %zeros, %new : tensor<64xf32, #rows>, tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] lanes [0:1, 0:2, 0:4, 0:8, 0:16] warps [0:32, _]>
!part = !dataflow.record<rows: tensor<64xf32>>
// D8: an output is written although nobody asked for it
dataflow.program @p(%y: tensor<64xf32>) {
  dataflow.tasks @one()
  %r = dataflow.map @make tasks @one : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%r) tasks @one outs(%y : tensor<64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @make() -> tensor<64xf32> {
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    dataflow.yield %zeros : tensor<64xf32>
  }
  dataflow.handler @put(%r: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.part @c of @make compute(%y: tensor<64xf32>, %follows: i1) -> (tensor<64xf32>, tensor<64xf32>) attributes {following = @put, fragments} {
      %zero = arith.constant 0.0 : f32
      %zeros = tensor.splat %zero : tensor<64xf32, #rows>
      %m = dataflow.convert_layout %zeros : tensor<64xf32, #rows> to tensor<64xf32>
      %out = scf.if %follows -> (tensor<64xf32>) {
        scf.yield %y : tensor<64xf32>
      } else {
        // expected-error@+1 {{D8: uses an output of the following finalize outside of its branch}}
        %new = tensor.insert_slice %m into %y[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
        scf.yield %new : tensor<64xf32>
      }
      dataflow.yield %zeros, %out : tensor<64xf32, #rows>, tensor<64xf32>
    }
  }
}

// -----

!part = !dataflow.record<rows: tensor<64xf32>>
// The arguments end in what the finalize writes, and whether it is to be done.
dataflow.program @p(%y: tensor<64xf32>) {
  dataflow.tasks @one()
  %r = dataflow.map @make tasks @one : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%r) tasks @one outs(%y : tensor<64xf32>) : (!dataflow.channel<!part>) -> ()
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @make() -> tensor<64xf32> {
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    dataflow.yield %zeros : tensor<64xf32>
  }
  dataflow.handler @put(%r: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op must have type '(tensor<64xf32>, i1) -> (tensor<64xf32>, tensor<64xf32>)', got '(tensor<64xf32>) -> tensor<64xf32>'}}
    dataflow.part @c of @make compute(%y: tensor<64xf32>) -> tensor<64xf32> attributes {following = @put} {
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

// A following finalize is a handler.
dataflow.program @p(%y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @put tasks @one outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @put(%y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op 'one' is not a handler of the program}}
    dataflow.part @c of @put compute(%y: tensor<64xf32>) -> tensor<64xf32> attributes {following = @one} {
      dataflow.yield %y : tensor<64xf32>
    }
  }
}
