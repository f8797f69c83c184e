// RUN: df-opt %s --dataflow-specialize-program --dataflow-handlers-to-llvm --split-input-file | FileCheck %s
// Structured operations are spread over the threads, with a barrier between two that depend on each other and none between others.

!rec = !dataflow.record<v: tensor<4x8xf32>>
dataflow.program @dependences(%x: tensor<?x4x8xf32>, %out: tensor<?x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  dataflow.tasks @t(i = %n)
  %a = dataflow.map @dependent tasks @t operands(%x : tensor<?x4x8xf32>) : () -> !dataflow.channel<!rec>
  dataflow.finalize @store(%a) tasks @t outs(%out : tensor<?x4x8xf32>) : (!dataflow.channel<!rec>) -> ()

  // A fill, a reduction over its elements, and a broadcast of the result.
  // CHECK-LABEL: llvm.func internal @dependent$0(%{{.*}}: !llvm.ptr) attributes {always_inline, convergent}
  // CHECK-LABEL: llvm.func internal @dependent$0$body(
  // CHECK-SAME: %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: i64, %[[HEAD:.*]]: !llvm.ptr, %{{[^{]*}}: !llvm.ptr, %[[SCRATCH:[^{]*]]: !llvm.ptr {llvm.align = 64 : i64})
  // CHECK-SAME: attributes {always_inline, convergent
  // CHECK-DAG: %[[THREAD:.*]] = llvm.call @dfk_thread()
  // CHECK-DAG: %[[THREADS:.*]] = llvm.call @dfk_threads()
  // CHECK: llvm.br ^[[LOOP:.*]](%[[THREAD]] : i32)
  // CHECK: ^[[LOOP]](%[[I:.*]]: i32):
  // CHECK: llvm.store
  // CHECK: llvm.add %[[I]], %[[THREADS]] : i32
  // The thread that filled an element is the one that reduces into it.
  // CHECK-NOT: dfk_sync
  // The accumulator stays in a register.
  // CHECK: llvm.br ^{{.*}}(%{{.*}}, %[[INIT:.*]] : i64, f32)
  // CHECK: ^{{.*}}(%{{.*}}: i64, %[[ACC:.*]]: f32):
  // CHECK-NOT: llvm.store
  // CHECK: llvm.intr.maximum(%[[ACC]], %{{.*}})
  // CHECK: llvm.store %[[ACC]]
  // CHECK: llvm.call @dfk_sync()
  // CHECK-NOT: dfk_sync
  // Neighbouring threads write neighbouring elements.
  // CHECK: llvm.urem
  // CHECK: llvm.udiv
  // CHECK: llvm.store
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.return
  dataflow.handler @dependent(%i: index, %x: tensor<?x4x8xf32>) -> (tensor<4x8xf32>) {
    %a = tensor.extract_slice %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<4x8xf32>
    %e = tensor.empty() : tensor<4xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %m = linalg.reduce { arith.maximumf } ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    %o = tensor.empty() : tensor<4x8xf32>
    %r = linalg.broadcast ins(%m : tensor<4xf32>) outs(%o : tensor<4x8xf32>) dimensions = [1]
    dataflow.yield %r : tensor<4x8xf32>
  }

  // CHECK-LABEL: llvm.func internal @store$0$body(
  // CHECK-NOT: dfk_sync
  // CHECK-LABEL: llvm.func @dependent$0$entry
  dataflow.handler @store(%i: index, %a: tensor<4x8xf32>, %out: tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>) {
    %r = tensor.insert_slice %a into %out[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<?x4x8xf32>
    dataflow.yield %r : tensor<?x4x8xf32>
  }
}

// -----

// Two fields that do not depend on each other, and a scalar: one thread stores it.

!rec = !dataflow.record<v: tensor<8xf32>, w: tensor<8xf32>, n: i32>
dataflow.program @independent(%x: tensor<?x8xf32>, %k: tensor<?xi32>, %out: tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  dataflow.tasks @t(i = %n)
  %a = dataflow.map @both tasks @t operands(%x, %k : tensor<?x8xf32>, tensor<?xi32>) : () -> !dataflow.channel<!rec>
  dataflow.finalize @last(%a) tasks @t outs(%out : tensor<?x8xf32>) : (!dataflow.channel<!rec>) -> ()

  // CHECK-LABEL: llvm.func internal @both$0$body(
  // CHECK-NOT: dfk_sync
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NOT: dfk_sync
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %[[ZERO]] : i32
  // CHECK-NEXT: llvm.cond_br %[[FIRST]]
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.store %{{.*}} : i32
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.return
  dataflow.handler @both(%i: index, %x: tensor<?x8xf32>, %k: tensor<?xi32>) -> (tensor<8xf32>, tensor<8xf32>, i32) {
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %v = arith.addf %a, %a : tensor<8xf32>
    %w = arith.mulf %a, %a : tensor<8xf32>
    %m = tensor.extract %k[%i] : tensor<?xi32>
    %n = arith.addi %m, %m : i32
    dataflow.yield %v, %w, %n : tensor<8xf32>, tensor<8xf32>, i32
  }

  // A loop-carried dependence: the load waits for the store of the previous
  // iteration, the store for the other threads' loads.
  // CHECK-LABEL: llvm.func internal @last$0$body(
  // CHECK: llvm.call @dfk_sync()
  // CHECK-NOT: dfk_sync
  // CHECK: ^[[HEAD:.*]](%{{.*}}: i64{{.*}}):
  // CHECK: llvm.cond_br
  // CHECK: llvm.call @dfk_sync()
  // CHECK: llvm.load
  // CHECK: llvm.call @dfk_sync()
  // CHECK: llvm.store
  // CHECK: llvm.br ^[[HEAD]]
  dataflow.handler @last(%i: index, %v: tensor<8xf32>, %w: tensor<8xf32>, %n: i32, %out: tensor<?x8xf32>) -> (tensor<?x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %b = arith.addf %v, %w : tensor<8xf32>
    %s = tensor.extract %b[%c0] : tensor<8xf32>
    %r = scf.for %j = %c0 to %c7 step %c1 iter_args(%y = %b) -> (tensor<8xf32>) {
      %e = tensor.extract %y[%j] : tensor<8xf32>
      %f = arith.mulf %e, %s : f32
      %m = arith.addi %j, %c1 : index
      %z = tensor.insert %f into %y[%m] : tensor<8xf32>
      scf.yield %z : tensor<8xf32>
    }
    %o = tensor.insert_slice %r into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    dataflow.yield %o : tensor<?x8xf32>
  }
}

// -----

// What two iterations could write runs on one thread, and is told.

// CHECK-LABEL: gpu.module @shared_handlers
// CHECK-SAME: dataflow.remarks = ["twice$0: 'linalg.generic' runs on one thread: parallel loop 1 does not index output 0"]
!rec = !dataflow.record<v: tensor<4x8xf32>>
dataflow.program @shared(%x: tensor<?x4x8xf32>, %out: tensor<?x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @twice tasks @t operands(%x : tensor<?x4x8xf32>) outs(%out : tensor<?x4x8xf32>) : () -> ()
  dataflow.handler @twice(%i: index, %x: tensor<?x4x8xf32>, %out: tensor<?x4x8xf32>) -> (tensor<?x4x8xf32>) {
    %a = tensor.extract_slice %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<4x8xf32>
    %o = tensor.extract_slice %out[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, 0)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%v: f32, %w: f32):
      %sum = arith.addf %v, %w : f32
      linalg.yield %sum : f32
    } -> tensor<4x8xf32>
    %s = tensor.insert_slice %r into %out[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<?x4x8xf32>
    dataflow.yield %s : tensor<?x4x8xf32>
  }
}
