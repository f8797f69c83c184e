// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Products of tiles in shared memory are on their way together: each is waited for where its result is needed, and the first one's is
// multiplied while the second still runs.
#product = #dataflow.fragment<accumulator [64, 8] m 0>
#a = #dataflow.fragment<accumulator [64, 64] m 0>
#b = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:32] lanes [1:2, 1:4, 0:1, 0:2, 0:4] warps [1:8, 1:16]>
#tile = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 1024>
#rows = #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 8192>
dataflow.program @p(%x: tensor<?x64x64xf16>, %w: tensor<?x8x64xf16>, %y: tensor<?x64x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x64x8xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @multiply tasks @rows operands(%x, %w : tensor<?x64x64xf16>, tensor<?x8x64xf16>) outs(%y : tensor<?x64x8xf32>) : () -> ()
  dataflow.handler @multiply(%row: index, %x: tensor<?x64x64xf16>, %w: tensor<?x8x64xf16>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> {
    dataflow.yield %y : tensor<?x64x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @multiply_compute of @multiply compute(%row: index, %x: tensor<?x64x64xf16>, %w: tensor<?x8x64xf16>, %y: tensor<?x64x8xf32>) -> tensor<?x64x8xf32> attributes {fragments} {
      %zero = arith.constant 0.0 : f32
      %two = arith.constant 2.0 : f32
      %none = tensor.splat %zero : tensor<64x8xf32, #product>
      %twos = tensor.splat %two : tensor<64x8xf32, #product>
      %x_row = tensor.extract_slice %x[%row, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf16> to tensor<64x64xf16>
      %w_row = tensor.extract_slice %w[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf16> to tensor<8x64xf16>
      %a = dataflow.convert_layout %x_row : tensor<64x64xf16> to tensor<64x64xf16, #a>
      %b = dataflow.convert_layout %w_row : tensor<8x64xf16> to tensor<8x64xf16, #b>
      %a_tile = dataflow.convert_layout %a : tensor<64x64xf16, #a> to tensor<64x64xf16, #rows>
      %b_tile = dataflow.convert_layout %b : tensor<8x64xf16, #b> to tensor<8x64xf16, #tile>
      %first = dataflow.dot %a_tile contract 1, %b_tile contract 1, %none : tensor<64x64xf16, #rows>, tensor<8x64xf16, #tile>, tensor<64x8xf32, #product>
      %second = dataflow.dot %a_tile contract 1, %b_tile contract 1, %none : tensor<64x64xf16, #rows>, tensor<8x64xf16, #tile>, tensor<64x8xf32, #product>
      %scaled = arith.mulf %first, %twos : tensor<64x8xf32, #product>
      %sum = arith.addf %scaled, %second : tensor<64x8xf32, #product>
      // In registers, operand A has to stay as it is: such a product ends before anything else begins.
      %third = dataflow.dot %a contract 1, %b_tile contract 1, %sum : tensor<64x64xf16, #a>, tensor<8x64xf16, #tile>, tensor<64x8xf32, #product>
      %fourth = dataflow.dot %a_tile contract 1, %b_tile contract 1, %none : tensor<64x64xf16, #rows>, tensor<8x64xf16, #tile>, tensor<64x8xf32, #product>
      %all = arith.addf %third, %fourth : tensor<64x8xf32, #product>
      %memory = dataflow.convert_layout %all : tensor<64x8xf32, #product> to tensor<64x8xf32>
      %out = tensor.insert_slice %memory into %y[%row, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<64x8xf32> into tensor<?x64x8xf32>
      dataflow.yield %out : tensor<?x64x8xf32>
    }
  }
}
// CHECK: llvm.func internal @multiply$0$compute$body
// CHECK-COUNT-4: "wgmma.mma_async
// CHECK-NOT: wait_group
// CHECK: "wgmma.commit_group.sync.aligned;"
// CHECK-COUNT-4: "wgmma.mma_async
// CHECK-NOT: wait_group
// CHECK: "wgmma.commit_group.sync.aligned;"
// CHECK: "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
// CHECK-COUNT-4: llvm.fmul
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
// CHECK-COUNT-4: llvm.fadd
// CHECK-COUNT-4: "wgmma.mma_async
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK-COUNT-4: "wgmma.mma_async
// CHECK: "wgmma.wait_group.sync.aligned 0;"
