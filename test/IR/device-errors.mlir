// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of the ops of the device group is enforced. The splits are
// named after the constraints.

// kernel_c1: parts come behind the streams
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  // expected-error@+1 {{'dataflow.kernel' op holds streams, then parts}}
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
    // expected-note@+1 {{but this op is in it}}
    dataflow.stream @s depth 2 of tensor<4x64xf32>
  }
}

// -----

// kernel_c1: nothing else is in a kernel
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  // expected-error@+1 {{'dataflow.kernel' op holds streams, then parts}}
  dataflow.kernel @k {
    // expected-note@+1 {{but this op is in it}}
    %c0 = arith.constant 0 : index
  }
}

// -----

// kernel_c2: what is filled must be taken
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op is the only part of 'h': a load part needs a compute part}}
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
  }
}

// -----

// kernel_c2: a role has one part of a handler
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the first is here}}
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
    // expected-error@+1 {{'dataflow.part' op is the second load part of 'h'}}
    dataflow.part @l2 of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
  }
}

// -----

// kernel_c3: somebody computes
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  // expected-error@+1 {{'dataflow.kernel' op consumers must be at least 1, got 0}}
  dataflow.kernel @k consumers 0 {
  }
}

// -----

// stream_c1: a ring has a stage
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op depth must be at least 1, got 0}}
    dataflow.stream @s depth 0 of tensor<4x64xf32>
  }
}

// -----

// stream_c2: a bulk copy moves 16 bytes at a time
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op a tile must have a multiple of 16 bytes, 'tensor<5xf32>' has 20}}
    dataflow.stream @s depth 1 of tensor<5xf32>
  }
}

// -----

// stream_c2: a tile has elements
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op a tile must have a multiple of 16 bytes, 'tensor<0x4xf32>' has 0}}
    dataflow.stream @s depth 1 of tensor<0x4xf32>
  }
}

// -----

// stream_c2: elements are whole bytes
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op a tile must have a multiple of 16 bytes, 'tensor<128xi1>' has 16}}
    dataflow.stream @s depth 1 of tensor<128xi1>
  }
}

// -----

// stream_c3: where a tile lies is said once
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op the type of a tile must have no encoding, got 'tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>'}}
    dataflow.stream @s depth 1 of tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>
  }
}

// -----

// stream_c3: a layout fits the tile
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.stream' op a row must be a multiple of 128 bytes, got 64}}
    dataflow.stream @s depth 1 of tensor<64x32xf16> layout <swizzle = 128, row_group = 1024, chunk = 8192>
  }
}

// -----

// part_c2: a part is of a handler
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op 'one' is not a handler of the program}}
    dataflow.part @l of @one load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @one compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
  }
}

// -----

// part_c3: a part is called as the handler is
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op must have type '(tensor<?x64xf32>, tensor<?xf32>) -> ()', got '(tensor<?x64xf32>) -> ()'}}
    dataflow.part @l of @h load(%x: tensor<?x64xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// part_c3: a compute part returns what the handler does
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  // expected-note@+1 {{the handler is defined here}}
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    // expected-error@+1 {{'dataflow.part' op must have type '(tensor<?x64xf32>, tensor<?xf32>) -> tensor<?xf32>', got '(tensor<?x64xf32>, tensor<?xf32>) -> ()'}}
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
  }
}

// -----

// part_c4: the load role has no tiles
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op has fragments, but is a load part}}
    dataflow.part @l of @h load(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) attributes {fragments} {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      dataflow.yield %y : tensor<64x8xf32>
    }
  }
}

// -----

// fill_c1: the load role fills
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error@+1 {{'dataflow.fill' op must lie in a load part}}
      dataflow.fill @s, %x[0, 0] [4, 64] [1, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c1: a fill is of a stream
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.fill' op 's' is not a stream of the kernel}}
      dataflow.fill @s, %x[0, 0] [4, 64] [1, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c1: a fill makes a tile of the stream
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the stream is defined here}}
    dataflow.stream @s depth 2 of tensor<8x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.fill' op stream 's' has tiles of 'tensor<8x64xf32>', got 'tensor<4x64xf32>'}}
      dataflow.fill @s, %x[0, 0] [4, 64] [1, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c2: a fill reads an argument
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      %e = tensor.empty() : tensor<4x64xf32>
      // expected-error@+1 {{'dataflow.fill' op source must be an argument of the part}}
      dataflow.fill @s, %e[0, 0] [4, 64] [1, 1] : tensor<4x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c2: a fill copies bits
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xi32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.fill' op copies elements of type 'f32' to 'i32'}}
      dataflow.fill @s, %x[0, 0] [4, 64] [1, 1] : tensor<?x64xf32> to tensor<4x64xi32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c3: a fill skips nothing
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.fill' op strides must be 1, got [2, 1]}}
      dataflow.fill @s, %x[0, 0] [4, 64] [2, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c4: a fill has the shape of the tile
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.fill' op a slice of sizes [4, 32] does not have the shape of 'tensor<4x64xf32>'}}
      dataflow.fill @s, %x[0, 0] [4, 32] [1, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c4: only the first dimension may be open
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      %c64 = arith.constant 64 : index
      // expected-error@+1 {{'dataflow.fill' op a slice of sizes [4, ?] does not have the shape of 'tensor<4x64xf32>'}}
      dataflow.fill @s, %x[0, 0] [4, %c64] [1, 1] : tensor<?x64xf32> to tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// fill_c5: a bulk copy moves 16 bytes at a time
dataflow.program @p(%x: tensor<?x6xf32>) {
  dataflow.tasks @one()
  dataflow.handler @h(%x: tensor<?x6xf32>) {
    dataflow.yield
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x6xf32>
    dataflow.part @l of @h load(%x: tensor<?x6xf32>) {
      %c3 = arith.constant 3 : index
      dataflow.fill @s, %x[0, 0] [4, 6] [1, 1] : tensor<?x6xf32> to tensor<4x6xf32>
      // expected-error@+1 {{'dataflow.fill' op contiguous runs must have a multiple of 16 bytes, got 24}}
      dataflow.fill @s, %x[0, 0] [%c3, 6] [1, 1] : tensor<?x6xf32> to tensor<4x6xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x6xf32>) {
      dataflow.yield
    }
  }
}

// -----

// fill_c5: of every row
dataflow.program @p(%x: tensor<?x6xf32>) {
  dataflow.tasks @one()
  dataflow.handler @h(%x: tensor<?x6xf32>) {
    dataflow.yield
  }
  dataflow.kernel @k {
    dataflow.stream @t depth 2 of tensor<4x2xf32>
    dataflow.part @l of @h load(%x: tensor<?x6xf32>) {
      // expected-error@+1 {{'dataflow.fill' op contiguous runs must have a multiple of 16 bytes, got 8}}
      dataflow.fill @t, %x[0, 4] [4, 2] [1, 1] : tensor<?x6xf32> to tensor<4x2xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x6xf32>) {
      dataflow.yield
    }
  }
}

// -----

// take_c1: the compute role takes
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.take' op must lie in a compute part}}
      %t = dataflow.take @s : tensor<4x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// take_c1: a take is from a stream
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error@+1 {{'dataflow.take' op 'l' is not a stream of the kernel}}
      %t = dataflow.take @l : tensor<4x64xf32>
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// take_c1: a take gets the tile of the stream
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the stream is defined here}}
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error@+1 {{'dataflow.take' op stream 's' has tiles of 'tensor<4x64xf32>', got 'tensor<64x4xf32>'}}
      %t = dataflow.take @s : tensor<64x4xf32>
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// take_c1: a tile lies as in the stream
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the stream is defined here}}
    dataflow.stream @s depth 2 of tensor<64x64xf16> layout <swizzle = 128, row_group = 1024, chunk = 8192>
    dataflow.part @l of @h load(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      // expected-error@+1 {{'dataflow.take' op stream 's' has tiles of 'tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>', got 'tensor<64x64xf16>'}}
      %t = dataflow.take @s : tensor<64x64xf16>
      dataflow.give @s
      dataflow.yield %y : tensor<64x8xf32>
    }
  }
}

// -----

// give_c1: the compute role gives back
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<4x64xf32>
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // expected-error@+1 {{'dataflow.give' op must lie in a compute part}}
      dataflow.give @s
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// give_c1: a give is to a stream
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error@+1 {{'dataflow.give' op 's' is not a stream of the kernel}}
      dataflow.give @s
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// -----

// yield_c1: a part yields its results
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.kernel @k {
    dataflow.part @l of @h load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    // expected-note@+1 {{the part is defined here}}
    dataflow.part @c of @h compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error@+1 {{'dataflow.yield' op yields ('tensor<?x64xf32>'), but part 'c' has results ('tensor<?xf32>')}}
      dataflow.yield %x : tensor<?x64xf32>
    }
  }
}

// -----

// yield_c1: only parts with fragments yield them
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the part is defined here}}
    dataflow.part @c of @h compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
      %r = dataflow.convert_layout %y : tensor<64x8xf32> to tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
      // expected-error@+1 {{'dataflow.yield' op yields ('tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>'), but part 'c' has results ('tensor<64x8xf32>')}}
      dataflow.yield %r : tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
    }
  }
}

// -----

// yield_c1: of the shape of the result
dataflow.program @p(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @k {
    // expected-note@+1 {{the part is defined here}}
    dataflow.part @c of @h compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      // expected-error@+1 {{'dataflow.yield' op yields ('tensor<64x64xf16>'), but part 'c' has results ('tensor<64x8xf32>')}}
      dataflow.yield %x : tensor<64x64xf16>
    }
  }
}

// -----

// part_c1: a part has a body
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.kernel @k {
    // expected-error@+1 {{'dataflow.part' op has no body}}
    "dataflow.part"() <{function_type = () -> (), handler = @h, role = #dataflow<part_role load>, sym_name = "l"}> ({
    }) : () -> ()
  }
}
