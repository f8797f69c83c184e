// RUN: not df-translate --dataflow-to-ptx --split-input-file %s 2>&1 | FileCheck %s
// The named checks of docs/ptx.md; L2 is in ptx-errors.mlir.

// CHECK: error: 'llvm.atomicrmw' op [L1] the ordering 'release' would be missing from the PTX
// CHECK: error: 'llvm.atomicrmw' op [L1] the scope of the whole system would be missing
gpu.module @l1 {
  llvm.func @l1(%p: !llvm.ptr<1>, %v: i32) attributes {nvvm.kernel} {
    %a = llvm.atomicrmw add %p, %v syncscope("device") release : !llvm.ptr<1>, i32
    %b = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr<1>, i32
    llvm.return
  }
}

// -----

// CHECK-NOT: error
// These are translated faithfully.
gpu.module @l1_good {
  llvm.mlir.global internal @word() {addr_space = 3 : i32, alignment = 4 : i64} : i32
  llvm.func @l1_good(%p: !llvm.ptr<1>, %v: i32) attributes {nvvm.kernel} {
    %word = llvm.mlir.addressof @word : !llvm.ptr<3>
    %a = llvm.atomicrmw add %p, %v syncscope("device") monotonic : !llvm.ptr<1>, i32
    %b = llvm.atomicrmw add %word, %v monotonic : !llvm.ptr<3>, i32
    llvm.return
  }
}

// -----

// Loads of memory that only a peer fills.
// CHECK: error: 'llvm.mlir.global' op [L3] internal shared memory that this module only reads
gpu.module @l3 {
  llvm.mlir.global internal @inbox() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x i32>
  llvm.func @l3(%out: !llvm.ptr<1>, %peer: i32) attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %inbox = llvm.mlir.addressof @inbox : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %mine = llvm.getelementptr %inbox[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %theirs = nvvm.mapa %mine, %peer : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.store %tid, %theirs : i32, !llvm.ptr<7>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %v = llvm.load %mine : !llvm.ptr<3> -> i32
    llvm.store %v, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-NOT: error
gpu.module @l3_good {
  llvm.mlir.global internal @written() {addr_space = 3 : i32, alignment = 4 : i64} : i32
  llvm.func @l3_good(%out: !llvm.ptr<1>, %v: i32) attributes {nvvm.kernel} {
    %p = llvm.mlir.addressof @written : !llvm.ptr<3>
    llvm.store %v, %p : i32, !llvm.ptr<3>
    %r = llvm.load %p : !llvm.ptr<3> -> i32
    llvm.store %r, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK: error: [L4] 'l4' contains a trap: {{.*}}; use a volatile store to address 0 instead
gpu.module @l4 {
  llvm.func @l4() attributes {nvvm.kernel} {
    "llvm.intr.trap"() : () -> ()
    llvm.return
  }
}

// -----

// CHECK: error: [L5] '__nv_expf' is called but not defined in this module; it belongs to libdevice
// CHECK: error: [L5] 'elsewhere' is called but not defined in this module{{$}}
gpu.module @l5 {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @elsewhere(f32)
  llvm.func @l5(%x: f32) attributes {nvvm.kernel} {
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.call @elsewhere(%y) : (f32) -> ()
    llvm.return
  }
}

// -----

// CHECK: warning: [L6] kernel 'l6' has neither nvvm.reqntid nor nvvm.maxnreg
gpu.module @l6 {
  llvm.func @l6() attributes {nvvm.kernel} {
    nvvm.setmaxregister increase 232
    llvm.return
  }
}

// -----

// CHECK: error: 'nvvm.mbarrier.arrive' op [L7] on a barrier of another CTA needs scope
gpu.module @l7 {
  llvm.func @l7(%barrier: !llvm.ptr<7>) attributes {nvvm.kernel} {
    nvvm.mbarrier.arrive %barrier : !llvm.ptr<7>
    llvm.return
  }
}
