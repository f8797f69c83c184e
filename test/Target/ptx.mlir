// RUN: df-translate --dataflow-to-ptx %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: df-translate --dataflow-to-ptx --chip=sm_100a %s | FileCheck %s --check-prefixes=CHECK,SM100
// RUN: df-translate --dataflow-to-ptx --ptx-short-pointers %s | FileCheck %s --check-prefix=SHORT
// Small kernels become the instructions they are meant to be.

gpu.module @kernels {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<8192 x i8>
  llvm.mlir.global external @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : i64

  // CHECK: .version 8.6
  // SM90: .target sm_90a
  // SM100: .target sm_100a
  // CHECK: .address_size 64

  // An i64 is stored whole: without a data layout it would be split.
  // CHECK-LABEL: .entry fill(
  // CHECK: .reqntid 128
  // CHECK: st.global.b64
  // CHECK-NOT: st.global.b32
  llvm.func @fill(%out: !llvm.ptr<1>, %value: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    llvm.store %value, %p : i64, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: .entry copy(
  // CHECK: mbarrier.init.shared.b64
  // CHECK: fence.mbarrier_init.release.cluster
  // CHECK: mbarrier.arrive.expect_tx.shared.b64
  // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
  // CHECK: mbarrier.try_wait.parity.shared.b64
  // CHECK: fence.proxy.async.shared::cta
  // CHECK: cp.async.bulk.global.shared::cta.bulk_group
  // CHECK: cp.async.bulk.commit_group
  // CHECK: cp.async.bulk.wait_group 0
  // SHORT-LABEL: .entry copy(
  // SHORT: mov.b32 %r{{[0-9]+}}, tile
  llvm.func @copy(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 8192 : i32
    %true = arith.constant true
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tile7 = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr<7>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %tile7, %in, %barrier, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
      scf.while : () -> () {
        %done = nvvm.mbarrier.try_wait %barrier, %c0 : !llvm.ptr<3>, i32 -> i1
        %again = arith.xori %done, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.cp.async.bulk.global.shared.cta %out, %tile, %bytes : !llvm.ptr<1>, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    llvm.return
  }

  // CHECK-LABEL: .entry push(
  // CHECK: .reqnctapercluster 2
  // CHECK: %cluster_ctarank
  // CHECK: barrier.cluster.arrive.aligned
  // CHECK: barrier.cluster.wait.aligned
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared.b64
  // CHECK: mapa.shared::cluster.u64
  // CHECK: mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64
  // CHECK: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
  // SHORT-LABEL: .entry push(
  // SHORT: mapa.shared::cluster.u32
  llvm.func @push(%out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 8192 : i32
    %true = arith.constant true
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %sends = arith.cmpi eq, %rank, %c0 : i32
    scf.if %sends {
      %peerBarrier = nvvm.mapa %barrier, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
      %peerTile = nvvm.mapa %tile, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.mbarrier.arrive.expect_tx %peerBarrier, %bytes {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
      %address = llvm.ptrtoint %peerBarrier : !llvm.ptr<7> to i64
      %typed = llvm.inttoptr %address : i64 to !llvm.ptr<3>
      nvvm.cp.async.bulk.shared.cluster.shared.cta %peerTile, %tile, %typed, %bytes : !llvm.ptr<7>, !llvm.ptr<3>
    } else {
      scf.while : () -> () {
        %done = nvvm.mbarrier.try_wait %barrier, %c0 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
        %again = arith.xori %done, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      %value = llvm.load %tile : !llvm.ptr<3> -> i32
      llvm.store %value, %out : i32, !llvm.ptr<1>
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }

  // CHECK-LABEL: .entry flags(
  // CHECK: ld.acquire.gpu.global.b32
  // CHECK: st.release.gpu.global.b32
  // CHECK: red.release.gpu.global.add.u32
  llvm.func @flags(%flag: !llvm.ptr<1>, %other: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %value = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    llvm.store %value, %other atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.inline_ptx "red.release.gpu.global.add.u32 [{$r0}], {$r1};" ro (%flag, %value : !llvm.ptr<1>, i32)
    llvm.return
  }

  // CHECK-LABEL: .entry who(
  // CHECK-DAG: %clusterid.x
  // CHECK-DAG: %cluster_nctarank
  // CHECK-DAG: %cluster_ctaid.x
  // CHECK-DAG: %smid
  llvm.func @who(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %a = nvvm.read.ptx.sreg.clusterid.x : i32
    %b = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %c = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    %d = nvvm.read.ptx.sreg.smid : i32
    %ab = arith.addi %a, %b : i32
    %cd = arith.addi %c, %d : i32
    %sum = arith.addi %ab, %cd : i32
    llvm.store %sum, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // How a bounded spin ends: the store stays, and there is no trap.
  // CHECK-LABEL: .entry give_up(
  // CHECK-NOT: trap
  // CHECK: st.volatile.b32
  // CHECK-NOT: trap
  llvm.func @give_up(%late: i1, %what: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %null = llvm.inttoptr %zero : i64 to !llvm.ptr
    scf.if %late {
      llvm.store volatile %what, %null : i32, !llvm.ptr
    }
    llvm.return
  }
}
