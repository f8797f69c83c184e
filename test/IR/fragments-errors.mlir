// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of layouts, and of the ops of parts that are laid out, is
// enforced. The splits are named after the constraints.

// fragment_c1: every element is somewhere
// expected-error@+1 {{no bit adds 1 to dimension 1 of the block, which has 16 elements there}}
func.func private @f() attributes {a = #dataflow.fragment<[8, 16] block [8, 16] lanes [1:2, 1:4, 0:1, 0:2, 0:4]>}

// -----

// fragment_c1: at one place
// expected-error@+1 {{two bits add 2 to dimension 1}}
func.func private @f() attributes {a = #dataflow.fragment<[8, 8] block [8, 8] registers [1:1, 1:2] lanes [1:2, 1:4, 0:1, 0:2, 0:4]>}

// -----

// fragment_c1: steps are powers of two
// expected-error@+1 {{a register bit must add a power of two below the block's 8 to dimension 1, got 3}}
func.func private @f() attributes {a = #dataflow.fragment<[8, 8] block [8, 8] registers [1:3] lanes [1:2, 1:4, 0:1, 0:2, 0:4]>}

// -----

// fragment_c1: blocks fill the tile
// expected-error@+1 {{block must be a power of two that divides the 12 elements of dimension 0, got 8}}
func.func private @f() attributes {a = #dataflow.fragment<[12, 8] block [8, 8] registers [1:1] lanes [1:2, 1:4, 0:1, 0:2, 0:4]>}

// -----

// fragment_c1: a warp has 32 lanes
// expected-error@+1 {{there must be 5 lane bits, got 3}}
func.func private @f() attributes {a = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4]>}

// -----

// fragment_c1: a warpgroup has 4 warps
// expected-error@+1 {{there must be 0 or 2 warp bits, got 1}}
func.func private @f() attributes {a = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4, _, _] warps [_]>}

// -----

// fragment_c1: nothing is written one way
// expected-error@+1 {{a step of 0 is written '_'}}
func.func private @f() attributes {a = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4, 0:0, _]>}

// -----

// fragment_c1: an accumulator has whole instructions
// expected-error@+1 {{an accumulator has 64 rows a step and 8 columns, of each of 1, 2 or 4 warpgroups that split them; got [32, 8] with rows along dimension 0, 1 warpgroups}}
func.func private @f() attributes {a = #dataflow.fragment<accumulator [32, 8] m 0>}

// -----

// fragment_c1: for every warpgroup
// expected-error@+1 {{got [64, 24] with rows along dimension 0, 2 warpgroups}}
func.func private @f() attributes {a = #dataflow.fragment<accumulator [64, 24] m 0 groups 2 split n>}

// -----

// fragment_c2: a layout is that of the tensor
// expected-error@+1 {{a fragment of shape [64, 32] is the encoding of a tensor of shape [64, 16]}}
func.func private @f(tensor<64x16xf32, #dataflow.fragment<accumulator [64, 32] m 0>>)

// -----

// shared_c1: swizzles are those of the hardware
// expected-error@+1 {{swizzle must be 0, 32, 64 or 128, got 16}}
func.func private @f() attributes {a = #dataflow.shared<swizzle = 16, row_group = 128, chunk = 128>}

// -----

// shared_c1: atoms are aligned
// expected-error@+1 {{chunk must be a multiple of the 1024 bytes of an atom, got 512}}
func.func private @f() attributes {a = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 512>}

// -----

// shared_c1: rows have bytes
// expected-error@+1 {{row_group must be 8 rows of at least 1 byte, got 4}}
func.func private @f() attributes {a = #dataflow.shared<swizzle = 0, row_group = 4>}

// -----

// shared_c2: a tile has rows and columns
// expected-error@+1 {{a tile in shared memory must have rank 2 and a known number of columns, got 'tensor<64xf16>'}}
func.func private @f(tensor<64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>)

// -----

// shared_c2: elements can be addressed
// expected-error@+1 {{a tile in shared memory must have elements of whole bytes, got 'i1'}}
func.func private @f(tensor<8x1024xi1, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>)

// -----

// shared_c3: chunks are whole
// expected-error@+1 {{a row must be a multiple of 128 bytes, got 192}}
func.func private @f(tensor<64x96xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>)

// -----

// shared_c3: so are groups of rows
// expected-error@+1 {{rows must be a multiple of 8, got 12}}
func.func private @f(tensor<12x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>)

// -----

// shared_c3: atoms do not overlap
// expected-error@+1 {{atoms overlap: 2 chunks, 4096 apart, and 8 groups of rows, 1024 apart}}
func.func private @f(tensor<64x128xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 4096>>)

// -----

// shared_c3: rows do not overlap
// expected-error@+1 {{a row has 256 bytes, rows are 128 apart}}
func.func private @f(tensor<64x128xf16, #dataflow.shared<swizzle = 0, row_group = 1024>>)

// -----

// dot_c1: a matrix has two dimensions
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op contracts dimension 2 of a, }}
  %0 = dataflow.dot %a contract 2, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c1: as many elements as the other
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x128xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op contracts 64 elements of a with 128 of b}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x128xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c2: c is the product
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<128x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 16384>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op makes a tile of shape [64, 128], but c has shape [64, 64]}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<128x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 16384>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c2: transposed where it says so
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<128x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 16384>>, %c: tensor<64x128xf32, #dataflow.fragment<accumulator [64, 128] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op makes a tile of shape [128, 64], but c has shape [64, 128]}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c transposed : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<128x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 16384>>, tensor<64x128xf32, #dataflow.fragment<accumulator [64, 128] m 0>>
  return
}

// -----

// dot_c3: operands have one type
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op multiplies elements of type 'f16' and 'bf16'}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c3: one that tensor cores know
func.func @f(%a: tensor<64x64xi16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xi16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op multiplies elements of type f16, bf16, f8E4M3FN, f8E5M2 or f32, got 'i16'}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xi16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xi16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c3: sums have their precision
func.func @f(%a: tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf16, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op cannot add products of 'bf16' up in 'f16'}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xbf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf16, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c4: registers hold a as wgmma does
func.func @f(%a: tensor<64x64xf16, #dataflow.fragment<accumulator [64, 64] m 1>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op a must have the layout of operand A in registers, got #dataflow.fragment<accumulator [64, 64] m 1>}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.fragment<accumulator [64, 64] m 1>>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c4: b is swizzled
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 0, row_group = 1024>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op b must lie in shared memory, swizzled, got }}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf16, #dataflow.shared<swizzle = 0, row_group = 1024>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c4: memory is not shared memory
func.func @f(%a: tensor<64x64xf16>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op a must lie in shared memory, swizzled, got 'tensor<64x64xf16>'}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c4: only elements of 16 bits are transposed
func.func @f(%a: tensor<64x64xf8E4M3FN, #dataflow.shared<swizzle = 64, row_group = 512, chunk = 4096>>, %b: tensor<64x64xf8E4M3FN, #dataflow.shared<swizzle = 64, row_group = 512, chunk = 4096>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op b must have the contracted dimension last, as its elements have 8 bits, not 16}}
  %0 = dataflow.dot %a contract 1, %b contract 0, %c : tensor<64x64xf8E4M3FN, #dataflow.shared<swizzle = 64, row_group = 512, chunk = 4096>>, tensor<64x64xf8E4M3FN, #dataflow.shared<swizzle = 64, row_group = 512, chunk = 4096>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c5: an instruction contracts 32 bytes
func.func @f(%a: tensor<8x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<8x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op contracts a multiple of 32 bytes, got 8 elements of 2}}
  %0 = dataflow.dot %a contract 0, %b contract 0, %c : tensor<8x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<8x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c6: c is an accumulator
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32>) {
  // expected-error@+1 {{'dataflow.dot' op c must have the layout of an accumulator with rows along dimension 0, got 'tensor<64x64xf32>'}}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32>
  return
}

// -----

// dot_c6: its rows are a's
func.func @f(%a: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>) {
  // expected-error@+1 {{'dataflow.dot' op c must have the layout of an accumulator with rows along dimension 1, got }}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c transposed : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<64x64xf32, #dataflow.fragment<accumulator [64, 64] m 0>>
  return
}

// -----

// dot_c6: warpgroups have the rows that they compute
func.func @f(%a: tensor<128x64xf16, #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split m>>, %b: tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, %c: tensor<128x64xf32, #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split n>>) {
  // expected-error@+1 {{'dataflow.dot' op splits a and c differently over warpgroups: }}
  %0 = dataflow.dot %a contract 1, %b contract 1, %c : tensor<128x64xf16, #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split m>>, tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>, tensor<128x64xf32, #dataflow.fragment<accumulator [128, 64] m 0 groups 2 split n>>
  return
}

// -----

// convert_layout_c1: elements stay
func.func @f(%a: tensor<64x8xf16>) {
  // expected-error@+1 {{'dataflow.convert_layout' op changes only the layout, got 'tensor<64x8xf16>' and }}
  %0 = dataflow.convert_layout %a : tensor<64x8xf16> to tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
  return
}

// -----

// convert_layout_c1: so does the shape
func.func @f(%a: tensor<8x64xf32>) {
  // expected-error@+1 {{'dataflow.convert_layout' op changes only the layout, got 'tensor<8x64xf32>' and }}
  %0 = dataflow.convert_layout %a : tensor<8x64xf32> to tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
  return
}

// -----

// convert_layout_c2: copies of memory go through registers
func.func @f(%a: tensor<64x64xf16>) {
  // expected-error@+1 {{'dataflow.convert_layout' op comes from or to registers, got 'tensor<64x64xf16>' and }}
  %0 = dataflow.convert_layout %a : tensor<64x64xf16> to tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>
  return
}
