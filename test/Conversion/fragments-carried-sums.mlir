// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// A sum that a loop carries: threads add what they hold, and exchange it behind the loop. Where the sum is multiplied first, operations
// say that they may be reordered.
#tile = #dataflow.fragment<accumulator [64, 8] m 0>
#column = #dataflow.fragment<[8] block [8] registers [0:1] lanes [0:2, 0:4, _, _, _] warps [_, _]>
dataflow.program @p(%x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @plain tasks @rows operands(%x, %f : tensor<?x64x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.finalize @scaled tasks @rows operands(%x, %f : tensor<?x64x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.finalize @branch tasks @rows operands(%x, %f : tensor<?x64x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.finalize @strict tasks @rows operands(%x, %f : tensor<?x64x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.finalize @read tasks @rows operands(%x, %f : tensor<?x64x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) : () -> ()
  dataflow.handler @plain(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.handler @scaled(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.handler @branch(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.handler @strict(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.handler @read(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    dataflow.yield %y : tensor<?x8xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @plain_compute of @plain compute(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %start = arith.constant dense<0.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
        %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
        %r = linalg.reduce { arith.addf } ins(%a : tensor<64x8xf32, #tile>) outs(%acc : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
    dataflow.part @scaled_compute of @scaled compute(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %start = arith.constant dense<3.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
        %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
        %s = arith.mulf %g, %acc fastmath<reassoc> : tensor<8xf32, #column>
        %r = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%a : tensor<64x8xf32, #tile>) outs(%s : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
    dataflow.part @branch_compute of @branch compute(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %start = arith.constant dense<0.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
        %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
        %first = arith.cmpi eq, %i, %c0 : index
        %s = scf.if %first -> tensor<8xf32, #column> {
          %m = arith.mulf %acc, %g fastmath<reassoc> : tensor<8xf32, #column>
          scf.yield %m : tensor<8xf32, #column>
        } else {
          scf.yield %acc : tensor<8xf32, #column>
        }
        %r = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%a : tensor<64x8xf32, #tile>) outs(%s : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
    dataflow.part @strict_compute of @strict compute(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %start = arith.constant dense<0.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
        %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
        %s = arith.mulf %acc, %g : tensor<8xf32, #column>
        %r = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%a : tensor<64x8xf32, #tile>) outs(%s : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
    dataflow.part @read_compute of @read compute(%row: index, %x: tensor<?x64x8xf32>, %f: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fragments} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c0 : tensor<?x64x8xf32>
      %start = arith.constant dense<0.0> : tensor<8xf32, #column>
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> tensor<8xf32, #column> {
        %slice = tensor.extract_slice %x[%i, 0, 0] [1, 64, 8] [1, 1, 1] : tensor<?x64x8xf32> to tensor<64x8xf32>
        %a = dataflow.convert_layout %slice : tensor<64x8xf32> to tensor<64x8xf32, #tile>
        %factors = tensor.extract_slice %f[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
        %g = dataflow.convert_layout %factors : tensor<8xf32> to tensor<8xf32, #column>
        %s = arith.mulf %acc, %acc fastmath<reassoc> : tensor<8xf32, #column>
        %r = linalg.reduce { arith.addf {fastmath = #arith.fastmath<reassoc>} } ins(%a : tensor<64x8xf32, #tile>) outs(%s : tensor<8xf32, #column>) dimensions = [0]
        scf.yield %r : tensor<8xf32, #column>
      }
      %out = tensor.insert_slice %total into %y[%row, 0] [1, 8] [1, 1] : tensor<8xf32, #column> into tensor<?x8xf32>
      dataflow.yield %out : tensor<?x8xf32>
    }
  }
}
// CHECK: llvm.func internal @plain$0$compute$body
// CHECK: llvm.cond_br
// CHECK-NOT: @dfk_shuffle_xor
// CHECK: llvm.br
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.call @dfk_sync
// CHECK: llvm.return

// One of the threads that share an element begins with what the loop begins with.
// CHECK: llvm.func internal @scaled$0$compute$body
// CHECK: %[[first:.*]] = llvm.icmp "eq"
// CHECK: llvm.select %[[first]]
// CHECK: llvm.cond_br
// CHECK-NOT: @dfk_shuffle_xor
// CHECK: llvm.fmul
// CHECK-NOT: @dfk_shuffle_xor
// CHECK: llvm.br
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.return

// CHECK: llvm.func internal @branch$0$compute$body
// CHECK: llvm.fmul
// CHECK-NOT: @dfk_shuffle_xor
// CHECK: llvm.br ^bb1(
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.return

// CHECK: llvm.func internal @strict$0$compute$body
// CHECK: llvm.cond_br
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.br
// CHECK: llvm.return

// CHECK: llvm.func internal @read$0$compute$body
// CHECK: llvm.cond_br
// CHECK-COUNT-6: llvm.call @dfk_shuffle_xor
// CHECK: llvm.br
// CHECK: llvm.return
