// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// Streams with a layout are filled through tensor maps, by one lane. A take of one is its address in shared memory.

dataflow.program @maps(%pages: tensor<?x64x192xf16>, %rows: tensor<?x192xf16>, %wide: tensor<?x200xf16>, %heads: tensor<?x16x4x64xf16>,
                       %table: tensor<?xi32>, %y: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %table, %c0 : tensor<?xi32>
  dataflow.tasks @tasks(task = %n)
  %counts = dataflow.map @read tasks @tasks
      operands(%pages, %rows, %wide, %heads, %table
               : tensor<?x64x192xf16>, tensor<?x192xf16>, tensor<?x200xf16>, tensor<?x16x4x64xf16>, tensor<?xi32>)
      : () -> !dataflow.channel<!dataflow.record<n: i32>>
  dataflow.finalize @store(%counts) tasks @tasks outs(%y : tensor<?xi32>) : (!dataflow.channel<!dataflow.record<n: i32>>) -> ()
  dataflow.handler @read(%task: index, %pages: tensor<?x64x192xf16>, %rows: tensor<?x192xf16>, %wide: tensor<?x200xf16>,
                         %heads: tensor<?x16x4x64xf16>, %table: tensor<?xi32>) -> i32 {
    %number = tensor.extract %table[%task] : tensor<?xi32>
    dataflow.yield %number : i32
  }
  dataflow.handler @store(%task: index, %n: i32, %y: tensor<?xi32>) -> tensor<?xi32> {
    %r = tensor.insert %n into %y[%task] : tensor<?xi32>
    dataflow.yield %r : tensor<?xi32>
  }
  dataflow.kernel @kernel {
    dataflow.stream @pages depth 2 of tensor<64x192xf16> layout <swizzle = 128, row_group = 3072, chunk = 1024> evict_first
    dataflow.stream @rows depth 2 of tensor<32x192xf16> layout <swizzle = 128, row_group = 1024, chunk = 4096>
    dataflow.stream @wide depth 2 of tensor<16x128xf16> layout <swizzle = 128, row_group = 1024, chunk = 2048>
    dataflow.stream @heads depth 2 of tensor<16x64xf16> layout <swizzle = 64, row_group = 512, chunk = 1024>
    dataflow.part @read_load of @read load(%task: index, %pages: tensor<?x64x192xf16>, %rows: tensor<?x192xf16>, %wide: tensor<?x200xf16>,
                                           %heads: tensor<?x16x4x64xf16>, %table: tensor<?xi32>) {
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %number = tensor.extract %table[%task] : tensor<?xi32>
      %page = arith.index_cast %number : i32 to index
      dataflow.fill @pages, %pages[%page, 0, 0] [1, 64, 192] [1, 1, 1] : tensor<?x64x192xf16> to tensor<64x192xf16>
      %valid = arith.minui %page, %c32 : index
      dataflow.fill @rows, %rows[%task, 0] [%valid, 192] [1, 1] : tensor<?x192xf16> to tensor<32x192xf16>
      dataflow.fill @wide, %wide[%task, 8] [16, 128] [1, 1] : tensor<?x200xf16> to tensor<16x128xf16>
      dataflow.fill @heads, %heads[%page, 0, %c3, 0] [1, 16, 1, 64] [1, 1, 1, 1] : tensor<?x16x4x64xf16> to tensor<16x64xf16>
      // The same map as before, at another place.
      dataflow.fill @pages, %pages[%task, 0, 0] [1, 64, 192] [1, 1, 1] : tensor<?x64x192xf16> to tensor<64x192xf16>
      // A number of rows that is known.
      %c16 = arith.constant 16 : index
      dataflow.fill @pages, %pages[%page, 0, 0] [1, %c16, 192] [1, 1, 1] : tensor<?x64x192xf16> to tensor<64x192xf16>
      dataflow.yield
    }
    dataflow.part @read_compute of @read compute(%task: index, %pages: tensor<?x64x192xf16>, %rows: tensor<?x192xf16>,
                                                 %wide: tensor<?x200xf16>, %heads: tensor<?x16x4x64xf16>, %table: tensor<?xi32>) -> i32
        attributes {fragments} {
      %0 = dataflow.take @pages : tensor<64x192xf16, #dataflow.shared<swizzle = 128, row_group = 3072, chunk = 1024>>
      dataflow.give @pages
      %1 = dataflow.take @rows : tensor<32x192xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 4096>>
      dataflow.give @rows
      %2 = dataflow.take @wide : tensor<16x128xf16, #dataflow.shared<swizzle = 128, row_group = 1024, chunk = 2048>>
      dataflow.give @wide
      %3 = dataflow.take @heads : tensor<16x64xf16, #dataflow.shared<swizzle = 64, row_group = 512, chunk = 1024>>
      dataflow.give @heads
      %4 = dataflow.take @pages : tensor<64x192xf16, #dataflow.shared<swizzle = 128, row_group = 3072, chunk = 1024>>
      dataflow.give @pages
      %5 = dataflow.take @pages : tensor<64x192xf16, #dataflow.shared<swizzle = 128, row_group = 3072, chunk = 1024>>
      dataflow.give @pages
      %number = tensor.extract %table[%task] : tensor<?xi32>
      dataflow.yield %number : i32
    }
  }
}
// [first, last, box, unit, limit] of each dimension. Groups of 8 rows of a page, chunk by chunk: pages and their rows are one run.
// CHECK-LABEL: gpu.module @maps_kernel
// CHECK-SAME: dataflow.maps = [
// CHECK-SAME: argument = 0 : i64, dimensions = [array<i64: 2, 2, 64, 1, 64>, array<i64: 0, 1, 8, 1, 8>, array<i64: 2, 2, 3, 64, 0>, array<i64: 0, 1, 8, 8, 0>], element = 2 : i64
// CHECK-SAME: promotion = 2 : i64, swizzle = 3 : i64
// Rows of which nobody knows that they come in eights.
// CHECK-SAME: argument = 1 : i64, dimensions = [array<i64: 1, 1, 64, 1, 64>, array<i64: 0, 0, 32, 1, 0>, array<i64: 1, 1, 3, 64, 0>]
// A row of 200 columns has no whole chunks: each is a copy.
// CHECK-SAME: argument = 2 : i64, dimensions = [array<i64: 1, 1, 64, 1, 0>, array<i64: 0, 0, 16, 1, 0>]
// Chunks of 64 bytes, and a dimension between rows and columns.
// CHECK-SAME: argument = 3 : i64, dimensions = [array<i64: 3, 3, 32, 1, 32>, array<i64: 0, 1, 16, 1, 0>, array<i64: 3, 3, 2, 32, 0>, array<i64: 2, 2, 1, 1, 0>]
// CHECK-SAME: swizzle = 2 : i64
// The first two groups of a page.
// CHECK-SAME: argument = 0 : i64, dimensions = [array<i64: 2, 2, 64, 1, 64>, array<i64: 0, 1, 8, 1, 8>, array<i64: 2, 2, 3, 64, 0>, array<i64: 0, 1, 2, 8, 0>]
// CHECK-NOT: argument = 

// CHECK: llvm.func internal @read$0$load$body(
// CHECK-SAME: %[[PARAMETER:[a-z0-9]+]]: !llvm.ptr)
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(24576 : i32)
// CHECK-DAG: %[[FEWER:.*]] = llvm.mlir.constant(6144 : i32)
// CHECK: %[[MAP:.*]] = llvm.getelementptr %[[PARAMETER]][{{[0-9]+}}]
// CHECK: %[[POLICY:.*]] = llvm.call @dfk_policy_evict_first()
// CHECK: %[[STAGE:.*]] = llvm.call @dfk_fill_begin({{.*}}, %[[BYTES]])
// CHECK: llvm.call @dfk_fill_tensor_4({{.*}}, %[[MAP]], %[[POLICY]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %{{[0-9]+}})
// CHECK: llvm.call @dfk_fill_end
// A partial tile is copied as a whole, unless it has no rows.
// CHECK: %[[VALID:.*]] = llvm.intr.umin
// CHECK: llvm.call @dfk_policy_keep()
// CHECK: %[[ANY:.*]] = llvm.icmp "sgt" %[[VALID]],
// CHECK: %[[SOME:.*]] = llvm.select %[[ANY]], %{{.*}}, %[[ZERO]]
// CHECK: llvm.call @dfk_fill_begin({{.*}}, %[[SOME]])
// CHECK: llvm.cond_br %[[ANY]]
// CHECK: llvm.call @dfk_fill_tensor_3
// CHECK: llvm.call @dfk_fill_end
// CHECK: llvm.call @dfk_fill_tensor_2
// CHECK: llvm.call @dfk_fill_tensor_2
// CHECK: llvm.call @dfk_fill_end
// CHECK: llvm.call @dfk_fill_tensor_4
// CHECK: llvm.call @dfk_fill_end
// CHECK: llvm.call @dfk_fill_tensor_4({{.*}}, %[[MAP]],
// CHECK: llvm.call @dfk_fill_end
// CHECK: llvm.call @dfk_fill_begin({{.*}}, %[[FEWER]])
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.call @dfk_fill_tensor_4(

// CHECK: llvm.func internal @read$0$compute$body(
// CHECK: llvm.call @dfk_take_at(
// CHECK-SAME: -> i32
// CHECK: llvm.call @dfk_give(
