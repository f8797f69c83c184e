// RUN: df-opt %s --dataflow-compile="specializations=static streams=true fragments=false" | FileCheck %s
// RUN: df-opt %s --dataflow-compile="specializations=static streams=true fragments=false watchdog" | FileCheck %s --check-prefix=WATCHDOG
// RUN: df-opt %s --dataflow-compile="specializations=static streams=true" | FileCheck %s --check-prefix=FRAGMENTS
// Calls for one tile after the other: the threads meet between two of them if these share scratch, and never behind the last.
dataflow.program @marks(%x: tensor<?x?x8x128xf32>, %lengths: tensor<?xi32>, %y: tensor<?x?xf32>, %z: tensor<?x?x8x128xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @tiles of @rows length %lengths[row] tile 1 : tensor<?xi32>
  dataflow.finalize @first tasks @rows each @tiles operands(%x : tensor<?x?x8x128xf32>) outs(%y : tensor<?x?xf32>) : () -> ()
  dataflow.finalize @scaled tasks @rows each @tiles operands(%x : tensor<?x?x8x128xf32>) outs(%z : tensor<?x?x8x128xf32>) : () -> ()

  // Each warp gives back a stage by one arrival; with watchdog, each thread by its own.
  // CHECK-LABEL: gpu.module @marks_static
  // CHECK: llvm.func internal @dfk_stage_0_0(
  // CHECK: scf.for
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.call @first$0$compute(
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.return
  dataflow.handler @first(%row: index, %begin: index, %end: index, %x: tensor<?x?x8x128xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %tile = tensor.extract_slice %x[%row, %begin, 0, 0] [1, 1, 8, 128] [1, 1, 1, 1] : tensor<?x?x8x128xf32> to tensor<8x128xf32>
    %v = tensor.extract %tile[%c0, %c0] : tensor<8x128xf32>
    %r = tensor.insert %v into %y[%row, %begin] : tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }

  // CHECK: llvm.func internal @dfk_stage_1_0(
  // CHECK: scf.for %[[TILE:.*]] = %[[ZERO:.*]] to
  // CHECK: %[[FURTHER:.*]] = arith.cmpi ult, %[[ZERO]], %[[TILE]]
  // CHECK-NEXT: scf.if %[[FURTHER]] {
  // CHECK-NEXT: llvm.call @dfk_sync()
  // CHECK-NEXT: }
  // CHECK: llvm.call @scaled$0{{.*}}(
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.return
  // Tiles in registers share nothing.
  // FRAGMENTS: llvm.func internal @dfk_stage_1_0(
  // FRAGMENTS: scf.for
  // FRAGMENTS-NOT: dfk_sync
  // FRAGMENTS: llvm.call @scaled$0$compute(
  // FRAGMENTS-NOT: dfk_sync
  // FRAGMENTS: llvm.return
  dataflow.handler @scaled(%row: index, %begin: index, %end: index, %x: tensor<?x?x8x128xf32>, %z: tensor<?x?x8x128xf32>) -> tensor<?x?x8x128xf32> {
    %tile = tensor.extract_slice %x[%row, %begin, 0, 0] [1, 1, 8, 128] [1, 1, 1, 1] : tensor<?x?x8x128xf32> to tensor<8x128xf32>
    %e = tensor.empty() : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%tile : tensor<8x128xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %o = tensor.empty() : tensor<8x128xf32>
    %b = linalg.broadcast ins(%m : tensor<8xf32>) outs(%o : tensor<8x128xf32>) dimensions = [1]
    %r = tensor.insert_slice %b into %z[%row, %begin, 0, 0] [1, 1, 8, 128] [1, 1, 1, 1] : tensor<8x128xf32> into tensor<?x?x8x128xf32>
    dataflow.yield %r : tensor<?x?x8x128xf32>
  }

  // CHECK: llvm.func internal @dfk_begin_rings()
  // CHECK-DAG: %[[WARPS:.*]] = arith.constant 8 : i32
  // CHECK: llvm.call @dfk_init(%{{.*}}, %[[WARPS]])
  // WATCHDOG: llvm.func internal @dfk_begin_rings()
  // WATCHDOG-DAG: %[[THREADS:.*]] = arith.constant 256 : i32
  // WATCHDOG: llvm.call @dfk_init(%{{.*}}, %[[THREADS]])
}
