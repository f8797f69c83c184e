// RUN: not df-translate --dataflow-to-ptx --split-input-file %s 2>&1 | FileCheck %s
// RUN: not df-translate --dataflow-to-ptx --chip=sm_80 %s 2>&1 | FileCheck %s --check-prefix=CHIP
// What cannot become PTX is an error at the kernel or operation, and never the end of the process: the cases after it are still looked at.

// CHIP: chip is 'sm_80', expected sm_90a or sm_100a

// The code generator aborts on this in sm_90a.
// CHECK: error: the code generator gave up on 'redux' for sm_90a with +ptx86: Cannot select: {{.*}}redux.sync.fmax
// CHECK: note: probably 'nvvm.redux.sync', which the chip or the PTX version lacks
gpu.module @aborts {
  llvm.func @redux(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %mask = llvm.mlir.constant(1 : i32) : i32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %max = nvvm.redux.sync fmax %one, %mask : f32 -> f32
    llvm.store %max, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// An operation that knows what chip it needs says so itself.
// CHECK: error: 'nvvm.tcgen05.relinquish_alloc_permit' op is not supported on sm_90a
gpu.module @traits {
  llvm.func @tcgen05() attributes {nvvm.kernel} {
    nvvm.tcgen05.relinquish_alloc_permit
    llvm.return
  }
}

// -----

// CHECK: error: 'gpu.thread_id' cannot be compiled to PTX
gpu.module @foreign {
  llvm.func @thread(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = gpu.thread_id x
    %word = arith.index_cast %tid : index to i64
    llvm.store %word, %out : i64, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK: error: holds no kernel: expected an llvm.func with nvvm.kernel
gpu.module @empty {
}

// -----

// CHECK: error: [L2] llvm.data_layout is "e-p3:32:32", but the target's is "e-p6:32:32-
gpu.module @layout attributes {llvm.data_layout = "e-p3:32:32"} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// LLVM's message does not say where; its crash handler does.
// CHECK: error: the code generator gave up on 'library' for sm_90a with +ptx86: no libcall available for flog
gpu.module @crash {
  llvm.func @library(%x: f32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %y = math.log %x : f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
