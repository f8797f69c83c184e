// RUN: df-opt %s | FileCheck %s
// RUN: df-opt %s | df-opt | FileCheck %s
// RUN: df-opt %s --mlir-print-op-generic | df-opt | FileCheck %s
// RUN: df-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
// The device group can be written by hand and survives printing; no ordinary pass removes or merges its ops.

// CHECK-LABEL: dataflow.program @sums
dataflow.program @sums(%x: tensor<?x64xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @sum tasks @rows operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  dataflow.handler @sum(%row: index, %x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }

  // CHECK: dataflow.kernel @kernel consumers 2 {
  dataflow.kernel @kernel consumers 2 {
    // CHECK-NEXT: dataflow.stream @x depth 2 of tensor<16x64xf32> evict_first
    dataflow.stream @x depth 2 of tensor<16x64xf32> evict_first
    // CHECK-NEXT: dataflow.stream @other depth 1 of tensor<1x64xf32>
    dataflow.stream @other depth 1 of tensor<1x64xf32>
    // CHECK-NEXT: dataflow.part @sum_load of @sum load(%[[ROW:.*]]: index, %[[X:.*]]: tensor<?x64xf32>, %{{.*}}: tensor<?xf32>) {
    dataflow.part @sum_load of @sum load(%row: index, %x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      // CHECK-NEXT: dataflow.fill @x, %[[X]][%[[ROW]], 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.fill @x, %x[%row, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      // Fewer rows than the tile has.
      // CHECK-NEXT: dataflow.fill @x, %[[X]][0, 0] [%[[ROW]], 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.fill @x, %x[0, 0] [%row, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      // CHECK-NEXT: dataflow.fill @other
      dataflow.fill @other, %x[1, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
      // CHECK-NEXT: dataflow.yield
      dataflow.yield
    }
    // CHECK: dataflow.part @sum_compute of @sum compute(%{{.*}}) -> tensor<?xf32> attributes {note = "by hand"} {
    // KEPT: dataflow.part @sum_compute
    dataflow.part @sum_compute of @sum compute(%row: index, %x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> attributes {note = "by hand"} {
      // CHECK-NEXT: %{{.*}} = dataflow.take @x : tensor<16x64xf32>
      // CHECK-NEXT: dataflow.give @x
      // KEPT-NEXT: dataflow.take @x
      // KEPT-NEXT: dataflow.give @x
      // KEPT-NEXT: dataflow.take @x
      // KEPT-NEXT: dataflow.give @x
      // KEPT-NEXT: dataflow.take @other
      // KEPT-NEXT: dataflow.give @other
      %a = dataflow.take @x : tensor<16x64xf32>
      dataflow.give @x
      %b = dataflow.take @x : tensor<16x64xf32>
      dataflow.give @x
      %c = dataflow.take @other : tensor<1x64xf32>
      dataflow.give @other
      dataflow.yield %y : tensor<?xf32>
    }
  }
}

// A compute part may stand alone, and be laid out: it yields tiles wherever they lie.
// CHECK-LABEL: dataflow.program @laid_out
dataflow.program @laid_out(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<64x64xf16>) outs(%y : tensor<64x8xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.handler @other(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
    dataflow.yield %y : tensor<64x8xf32>
  }
  dataflow.kernel @kernel {
    // CHECK: dataflow.stream @s depth 2 of tensor<64x64xf16> layout <swizzle = 128, row_group = 1024, chunk = 8192> evict_first
    dataflow.stream @s depth 2 of tensor<64x64xf16> layout #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192> evict_first
    dataflow.part @l of @h load(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) {
      // CHECK: dataflow.fill @s, %{{.*}}[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> to tensor<64x64xf16>
      dataflow.fill @s, %x[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> to tensor<64x64xf16>
      dataflow.yield
    }
    // CHECK: dataflow.part @c of @h compute(%{{.*}}) -> tensor<64x8xf32> attributes {fragments} {
    dataflow.part @c of @h compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {fragments} {
      // CHECK-NEXT: dataflow.take @s : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>
      %t = dataflow.take @s : tensor<64x64xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>>
      dataflow.give @s
      // CHECK: %[[R:.*]] = dataflow.convert_layout
      %r = dataflow.convert_layout %y : tensor<64x8xf32> to tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
      // CHECK: dataflow.yield %[[R]] : tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
      dataflow.yield %r : tensor<64x8xf32, #dataflow.fragment<accumulator [64, 8] m 0>>
    }
    // CHECK: dataflow.part @alone of @other compute
    dataflow.part @alone of @other compute(%x: tensor<64x64xf16>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
      dataflow.yield %y : tensor<64x8xf32>
    }
  }
}

// A kernel may be empty, and a handler may be a foreign function.
// CHECK-LABEL: dataflow.program @foreign
dataflow.program @foreign(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @sum tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?xf32>) : () -> ()
  func.func @sum(%a: tensor<?x64xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    return %b : tensor<?xf32>
  }
  // CHECK: dataflow.kernel @empty {
  // CHECK-NEXT: }
  dataflow.kernel @empty {
  }
  // CHECK: dataflow.part @load of @sum load
  dataflow.kernel @kernel {
    dataflow.part @load of @sum load(%x: tensor<?x64xf32>, %y: tensor<?xf32>) {
      dataflow.yield
    }
    dataflow.part @compute of @sum compute(%x: tensor<?x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  }
}
