// RUN: df-opt %s --dataflow-split-roles --dataflow-verify-kernel --dataflow-parts-to-llvm | FileCheck %s
// RUN: df-opt %s --dataflow-split-roles --canonicalize --cse --dataflow-verify-kernel --dataflow-parts-to-llvm -o /dev/null
// Fills become bulk copies of contiguous runs, takes the address of a stage; the rings lie one behind the other.
dataflow.program @sums(%whole: tensor<?x?x192xf32>, %rows: tensor<?x128xf32>, %table: tensor<?xi32>, %lengths: tensor<?xi32>, %y: tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @tokens of @rows length %lengths[row] tile 64 : tensor<?xi32>
  %parts = dataflow.map @piece tasks @rows over @tokens operands(%whole, %rows, %table : tensor<?x?x192xf32>, tensor<?x128xf32>, tensor<?xi32>)
      : () -> !dataflow.channel<!dataflow.record<s: tensor<64xf32>>, pieces>
  %total = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<s: tensor<64xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<s: tensor<64xf32>>> identity {
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    dataflow.yield %zero : tensor<64xf32>
  }
  dataflow.finalize @store(%total) tasks @rows outs(%y : tensor<?x64xf32>) : (!dataflow.channel<!dataflow.record<s: tensor<64xf32>>>) -> ()
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %whole: tensor<?x?x192xf32>, %rows: tensor<?x128xf32>, %table: tensor<?xi32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %r = scf.for %t = %begin to %end step %c64 iter_args(%acc = %zero) -> tensor<64xf32> {
      %number = tensor.extract %table[%row] : tensor<?xi32>
      %first = arith.index_cast %number : i32 to index
      %page = arith.addi %first, %t : index
      // One run of 48 KiB, in three pieces.
      %tile = tensor.extract_slice %whole[%page, 0, 0] [1, 64, 192] [1, 1, 1] : tensor<?x?x192xf32> to tensor<64x192xf32>
      // Up to 64 runs of 256 bytes.
      %left = arith.subi %end, %t : index
      %valid = arith.minui %left, %c64 : index
      %part = tensor.extract_slice %rows[%t, 64] [%valid, 64] [1, 1] : tensor<?x128xf32> to tensor<?x64xf32>
      %view = tensor.extract_slice %tile[0, 0] [64, 64] [1, 1] : tensor<64x192xf32> to tensor<64x64xf32>
      %sum = linalg.reduce { arith.addf } ins(%view : tensor<64x64xf32>) outs(%acc : tensor<64xf32>) dimensions = [0]
      %more = scf.for %i = %c0 to %valid step %c1 iter_args(%a = %sum) -> tensor<64xf32> {
        %line = tensor.extract_slice %part[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
        %b = linalg.add ins(%a, %line : tensor<64xf32>, tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
        scf.yield %b : tensor<64xf32>
      }
      scf.yield %more : tensor<64xf32>
    }
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.handler @add(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
    %c = arith.addf %a, %b : tensor<64xf32>
    dataflow.yield %c : tensor<64xf32>
  }
  dataflow.handler @store(%row: index, %s: tensor<64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %r = tensor.insert_slice %s into %y[%row, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
}
// Rings: 2 * 48 KiB, then 2 * 16 KiB; from 128 KiB on two full and two empty barriers for each.
// Bulk copies need tensors at multiples of 16 bytes.
// CHECK-LABEL: gpu.module @sums_kernel
// CHECK-SAME: dataflow.argument_alignment = array<i64: 16, 16, 1, 1, 1>

// Indices and operands, then scratch, counters and the parameter of the kernel: no record.
// CHECK: llvm.func internal @piece$0$load$body(
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: !llvm.ptr, %[[COUNTERS:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr)
// CHECK-DAG: %[[FULL0:.*]] = llvm.mlir.constant(131072 : i32)
// CHECK-DAG: %[[EMPTY0:.*]] = llvm.mlir.constant(131088 : i32)
// CHECK-DAG: %[[FULL1:.*]] = llvm.mlir.constant(131104 : i32)
// CHECK-DAG: %[[EMPTY1:.*]] = llvm.mlir.constant(131120 : i32)
// CHECK-DAG: %[[BASE0:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[BASE1:.*]] = llvm.mlir.constant(98304 : i32)
// CHECK-DAG: %[[BYTES0:.*]] = llvm.mlir.constant(49152 : i32)
// CHECK-DAG: %[[BYTES1:.*]] = llvm.mlir.constant(16384 : i32)
// CHECK-DAG: %[[DEPTH:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[NONE:.*]] = llvm.mlir.constant(-1 : i32)
// CHECK-NOT: llvm.alloca
// A page is one run; three lanes copy a third of it each. It is read once, so the cache need not keep it.
// CHECK: %[[STAGE:.*]] = llvm.call @dfk_fill_begin(%[[FULL0]], %[[EMPTY0]], %[[BASE0]], %[[DEPTH]], %[[BYTES0]], %[[COUNTERS]], %[[BYTES0]])
// CHECK: llvm.intr.smin
// CHECK: %[[ME:.*]] = llvm.call @dfk_lane()
// CHECK: %[[LANE:.*]] = llvm.select %{{.*}}, %[[ME]], %[[NONE]]
// CHECK: llvm.call @dfk_fill_run(%[[FULL0]], %[[DEPTH]], %[[COUNTERS]], %{{.*}}, %{{.*}}, %{{.*}}, %[[LANE]])
// CHECK: llvm.call @dfk_fill_end(%[[COUNTERS]])
// Rows of which there may be fewer: as many bytes as there are; two runs of 256 bytes a lane. All tasks read them.
// CHECK: %[[VALID:.*]] = llvm.intr.umin
// CHECK: %[[TOTAL:.*]] = llvm.mul %[[VALID]], %{{.*}} : i64
// CHECK: %[[COUNTER1:.*]] = llvm.getelementptr %[[COUNTERS]][1]
// CHECK: %[[EXPECTED:.*]] = llvm.trunc %[[TOTAL]]
// CHECK: llvm.call @dfk_fill_begin(%[[FULL1]], %[[EMPTY1]], %[[BASE1]], %[[DEPTH]], %[[BYTES1]], %[[COUNTER1]], %[[EXPECTED]])
// CHECK: llvm.icmp "slt" %{{.*}}, %[[VALID]]
// CHECK: llvm.call @dfk_fill_run_keep(%[[FULL1]], %[[DEPTH]], %[[COUNTER1]]
// CHECK: llvm.call @dfk_fill_end(%[[COUNTER1]])

// The compute part reads the stages where they are. Each warp gives them back for itself; no thread waits for another one, since
// what they write lies in elements of their own.
// CHECK: llvm.func internal @piece$0$compute$body(
// CHECK: llvm.call @dfk_take(
// CHECK: llvm.call @dfk_take(
// CHECK-NOT: dfk_sync
// CHECK: llvm.call @dfk_give(
// CHECK-NOT: dfk_sync
// CHECK: llvm.call @dfk_give(
// CHECK-NOT: dfk_sync
// CHECK: llvm.func @dfk_fill_begin(i32, i32, i32, i32, i32, !llvm.ptr, i32) -> i32
