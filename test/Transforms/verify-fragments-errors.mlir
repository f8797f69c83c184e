// RUN: df-opt %s --split-input-file --dataflow-verify-kernel --verify-diagnostics

// Every rule of dataflow-verify-kernel for parts that are laid out, with cases
// that break it.

#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D1: a part alone takes nothing
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      // expected-error@+1 {{D1: has nothing that matches it in the load part}}
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D3: a slice of a stage is in the stage
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      %w = tensor.extract_slice %t[8, 0] [32, 32] [1, 1] : tensor<64x32xf32, #shared> to tensor<32x32xf32, #shared>
      // expected-error@+1 {{D3: gives the tile back before its last use}}
      dataflow.give @s
      // expected-note@+1 {{it is used here}}
      %v = dataflow.convert_layout %w : tensor<32x32xf32, #shared> to tensor<32x32xf32, #dataflow.fragment<[32, 32] block [16, 8] lanes [0:1, 0:2, 0:4, 1:1, 1:2] warps [1:4, 0:8]>>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D6: a portable part has no layouts
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
      // expected-error@+1 {{D6: a tile of a part without fragments has a layout, }}
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D6: arithmetic is in registers
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      // expected-error@+1 {{D6: cannot leave a tile in memory, got 'tensor<64x32xf32>'}}
      %v = arith.addf %x, %x : tensor<64x32xf32>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D6: loads are conversions
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      %f = dataflow.convert_layout %y : tensor<64xf32> to tensor<64xf32, #rows>
      // expected-error@+1 {{D6: cannot leave a tile in registers, got }}
      %v = "tensor.insert_slice"(%y, %f) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 64>, static_strides = array<i64: 1>}> : (tensor<64xf32>, tensor<64xf32, #rows>) -> tensor<64xf32, #rows>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
#warp = #dataflow.fragment<[64] block [64] registers [0:1] lanes [0:2, 0:4, 0:8, 0:16, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D6: all threads of a part work together
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      // expected-note@+1 {{for example this op's}}
      %a = dataflow.convert_layout %y : tensor<64xf32> to tensor<64xf32, #rows>
      // expected-error@+1 {{D6: has a tile over 1 warpgroups of 1 warps, others of the part lie over 1 of 4}}
      %b = dataflow.convert_layout %y : tensor<64xf32> to tensor<64xf32, #warp>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
#other = #dataflow.fragment<[64] block [64] registers [0:1] lanes [_, 0:2, 0:4, 0:8, 0:16] warps [_, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D7: arithmetic goes from register to register
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      %a = dataflow.convert_layout %y : tensor<64xf32> to tensor<64xf32, #rows>
      %i = arith.constant dense<2> : tensor<64xi32, #other>
      // expected-error@+1 {{D7: takes or makes a tile as 'tensor<64xi32, #dataflow.fragment<[64] block [64] registers [0:1] lanes [_, 0:2, 0:4, 0:8, 0:16] warps [_, 0:32]>>', but the others ask for #dataflow.fragment<[64] block [64] registers [0:8]}}
      %b = math.fpowi %a, %i : tensor<64xf32, #rows>, tensor<64xi32, #other>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#acc = #dataflow.fragment<accumulator [64, 32] m 0>
#other = #dataflow.fragment<[64] block [64] registers [0:1] lanes [_, 0:2, 0:4, 0:8, 0:16] warps [_, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D7: a sum lies as the rows of its tile
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      %a = dataflow.convert_layout %x : tensor<64x32xf32> to tensor<64x32xf32, #acc>
      %z = arith.constant dense<0.0> : tensor<64xf32, #other>
      // expected-error@+1 {{D7: takes or makes a tile as 'tensor<64xf32, #dataflow.fragment<[64] block [64] registers [0:1]}}
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<64x32xf32, #acc>) outs(%z : tensor<64xf32, #other>) {
        ^bb0(%e: f32, %o: f32):
          %p = arith.addf %e, %o : f32
          linalg.yield %p : f32
      } -> tensor<64xf32, #other>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}

// -----

#rows = #dataflow.fragment<[64] block [64] registers [0:8] lanes [_, _, 0:1, 0:2, 0:4] warps [0:16, 0:32]>
#shared = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
// D7: what is summed is in registers
dataflow.program @p(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x32xf32>) outs(%y : tensor<64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
    dataflow.yield %y : tensor<64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<64x32xf32> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x32xf32>, %y: tensor<64xf32>) {
      dataflow.fill @s, %x[0, 0] [64, 32] [1, 1] : tensor<64x32xf32> to tensor<64x32xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x32xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {fragments} {
      %t = dataflow.take @s : tensor<64x32xf32, #shared>
      dataflow.give @s
      %z = arith.constant dense<0.0> : tensor<64xf32, #rows>
      // expected-error@+1 {{D7: takes a tile that is not in registers, 'tensor<64x32xf32>'}}
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<64x32xf32>) outs(%z : tensor<64xf32, #rows>) {
        ^bb0(%e: f32, %o: f32):
          %p = arith.addf %e, %o : f32
          linalg.yield %p : f32
      } -> tensor<64xf32, #rows>
      dataflow.yield %y : tensor<64xf32>
    }
  }
}
