//===- SmokeKernels.h - Kernels of the CUDA smoke test ----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX text, compiled by the driver. Every loop that waits is bounded.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_SMOKEKERNELS_H
#define DATAFLOW_TEST_SM90_SMOKEKERNELS_H

namespace smoke {

/// fill(address, words, value): 32-bit words.
/// copy(target, source, vectors): vectors of 16 bytes.
/// read(source, vectors, sink): exclusive or of all words goes to `sink`.
/// observe(state, ranks): CTA 0 writes the grid it sees to bytes 16 to 23 of
///   `state`; every CTA writes (rank in the cluster) << 16 | (cluster size).
/// check(plan, words, results, capacity, counter): "and" and "or" of the plan's
///   words go to results[counter], and the counter goes up. One CTA.
/// tile(map, target, x, y): a box of 64 x 16 16-bit elements by the copy
/// engine. stuck(records, cta): waits a while for nothing, leaves a watchdog's
/// record
///   and stores to address 0.
inline constexpr char kKernels[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64

.visible .entry fill(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  ld.param.u32 %r0, [p2];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d2, %r1, %r2;
  cvt.u64.u32 %d3, %r3;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r2, %r4;
LOOP:
  setp.ge.u64 %p, %d2, %d1;
  @%p bra DONE;
  shl.b64 %d5, %d2, 2;
  add.u64 %d5, %d0, %d5;
  st.global.u32 [%d5], %r0;
  add.u64 %d2, %d2, %d4;
  bra LOOP;
DONE:
  ret;
}

.visible .entry copy(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b32 %v<4>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d6, [p1];
  ld.param.u64 %d1, [p2];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d6, %d6;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d2, %r1, %r2;
  cvt.u64.u32 %d3, %r3;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r2, %r4;
LOOP:
  setp.ge.u64 %p, %d2, %d1;
  @%p bra DONE;
  shl.b64 %d5, %d2, 4;
  add.u64 %d7, %d6, %d5;
  add.u64 %d5, %d0, %d5;
  ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%d7];
  st.global.v4.u32 [%d5], {%v0, %v1, %v2, %v3};
  add.u64 %d2, %d2, %d4;
  bra LOOP;
DONE:
  ret;
}

.visible .entry read(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b32 %v<32>;
  .reg .b64 %d<16>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  ld.param.u64 %d2, [p2];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d3, %r1, %r2;
  cvt.u64.u32 %d4, %r3;
  add.u64 %d3, %d3, %d4;
  mul.wide.u32 %d4, %r2, %r4;
  shl.b64 %d5, %d4, 4;
  mov.u32 %r0, 0;
MANY:
  mad.lo.u64 %d6, %d4, 7, %d3;
  setp.ge.u64 %p, %d6, %d1;
  @%p bra FEW;
  shl.b64 %d7, %d3, 4;
  add.u64 %d7, %d0, %d7;
  add.u64 %d8, %d7, %d5;
  add.u64 %d9, %d8, %d5;
  add.u64 %d10, %d9, %d5;
  add.u64 %d11, %d10, %d5;
  add.u64 %d12, %d11, %d5;
  add.u64 %d13, %d12, %d5;
  add.u64 %d14, %d13, %d5;
  ld.global.nc.L1::no_allocate.v4.u32 {%v0, %v1, %v2, %v3}, [%d7];
  ld.global.nc.L1::no_allocate.v4.u32 {%v4, %v5, %v6, %v7}, [%d8];
  ld.global.nc.L1::no_allocate.v4.u32 {%v8, %v9, %v10, %v11}, [%d9];
  ld.global.nc.L1::no_allocate.v4.u32 {%v12, %v13, %v14, %v15}, [%d10];
  ld.global.nc.L1::no_allocate.v4.u32 {%v16, %v17, %v18, %v19}, [%d11];
  ld.global.nc.L1::no_allocate.v4.u32 {%v20, %v21, %v22, %v23}, [%d12];
  ld.global.nc.L1::no_allocate.v4.u32 {%v24, %v25, %v26, %v27}, [%d13];
  ld.global.nc.L1::no_allocate.v4.u32 {%v28, %v29, %v30, %v31}, [%d14];
  lop3.b32 %v0, %v0, %v1, %v2, 0x96;
  lop3.b32 %v3, %v3, %v4, %v5, 0x96;
  lop3.b32 %v6, %v6, %v7, %v8, 0x96;
  lop3.b32 %v9, %v9, %v10, %v11, 0x96;
  lop3.b32 %v12, %v12, %v13, %v14, 0x96;
  lop3.b32 %v15, %v15, %v16, %v17, 0x96;
  lop3.b32 %v18, %v18, %v19, %v20, 0x96;
  lop3.b32 %v21, %v21, %v22, %v23, 0x96;
  lop3.b32 %v24, %v24, %v25, %v26, 0x96;
  lop3.b32 %v27, %v27, %v28, %v29, 0x96;
  lop3.b32 %v30, %v30, %v31, %r0, 0x96;
  lop3.b32 %v0, %v0, %v3, %v6, 0x96;
  lop3.b32 %v9, %v9, %v12, %v15, 0x96;
  lop3.b32 %v18, %v18, %v21, %v24, 0x96;
  lop3.b32 %v27, %v27, %v30, %v0, 0x96;
  lop3.b32 %r0, %v9, %v18, %v27, 0x96;
  add.u64 %d3, %d6, %d4;
  bra MANY;
FEW:
  setp.ge.u64 %p, %d3, %d1;
  @%p bra DONE;
  shl.b64 %d7, %d3, 4;
  add.u64 %d7, %d0, %d7;
  ld.global.nc.L1::no_allocate.v4.u32 {%v0, %v1, %v2, %v3}, [%d7];
  lop3.b32 %v0, %v0, %v1, %v2, 0x96;
  lop3.b32 %r0, %r0, %v0, %v3, 0x96;
  add.u64 %d3, %d3, %d4;
  bra FEW;
DONE:
  shfl.sync.down.b32 %r5, %r0, 16, 31, 0xffffffff;
  xor.b32 %r0, %r0, %r5;
  shfl.sync.down.b32 %r5, %r0, 8, 31, 0xffffffff;
  xor.b32 %r0, %r0, %r5;
  shfl.sync.down.b32 %r5, %r0, 4, 31, 0xffffffff;
  xor.b32 %r0, %r0, %r5;
  shfl.sync.down.b32 %r5, %r0, 2, 31, 0xffffffff;
  xor.b32 %r0, %r0, %r5;
  shfl.sync.down.b32 %r5, %r0, 1, 31, 0xffffffff;
  xor.b32 %r0, %r0, %r5;
  and.b32 %r6, %r3, 31;
  setp.ne.u32 %p, %r6, 0;
  @%p ret;
  red.global.xor.b32 [%d2], %r0;
  ret;
}

.visible .entry observe(.param .u64 p0, .param .u64 p1)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %cluster_ctarank;
  mov.u32 %r4, %cluster_nctarank;
  setp.ne.u32 %p, %r0, 0;
  @%p bra MEET;
  shl.b32 %r5, %r3, 16;
  or.b32 %r5, %r5, %r4;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d2, %d1, %d2;
  st.global.u32 [%d2], %r5;
  setp.ne.u32 %p, %r1, 0;
  @%p bra MEET;
  st.global.u32 [%d0 + 16], %r2;
  st.global.u32 [%d0 + 20], %r4;
MEET:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  ret;
}

.visible .entry check(.param .u64 p0, .param .u32 p1, .param .u64 p2, .param .u32 p3, .param .u64 p4)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  .shared .align 4 .u32 sand;
  .shared .align 4 .u32 sor;
  ld.param.u64 %d0, [p0];
  ld.param.u32 %r0, [p1];
  ld.param.u64 %d1, [p2];
  ld.param.u32 %r1, [p3];
  ld.param.u64 %d2, [p4];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  setp.ne.u32 %p, %r2, 0;
  @%p bra READY;
  mov.u32 %r4, 0xffffffff;
  st.shared.u32 [sand], %r4;
  mov.u32 %r4, 0;
  st.shared.u32 [sor], %r4;
READY:
  bar.sync 0;
  mov.u32 %r5, 0xffffffff;
  mov.u32 %r6, 0;
  mov.u32 %r7, %r2;
LOOP:
  setp.ge.u32 %p, %r7, %r0;
  @%p bra DONE;
  mul.wide.u32 %d3, %r7, 4;
  add.u64 %d3, %d0, %d3;
  ld.global.u32 %r8, [%d3];
  and.b32 %r5, %r5, %r8;
  or.b32 %r6, %r6, %r8;
  add.u32 %r7, %r7, %r3;
  bra LOOP;
DONE:
  atom.shared.and.b32 %r9, [sand], %r5;
  atom.shared.or.b32 %r9, [sor], %r6;
  bar.sync 0;
  setp.ne.u32 %p, %r2, 0;
  @%p ret;
  ld.shared.u32 %r5, [sand];
  ld.shared.u32 %r6, [sor];
  ld.global.u32 %r10, [%d2];
  add.u32 %r11, %r10, 1;
  st.global.u32 [%d2], %r11;
  setp.ge.u32 %p, %r10, %r1;
  @%p ret;
  mul.wide.u32 %d3, %r10, 8;
  add.u64 %d3, %d1, %d3;
  st.global.v2.u32 [%d3], {%r5, %r6};
  ret;
}

.visible .entry tile(.param .align 64 .b8 p0[128], .param .u64 p1, .param .u32 p2, .param .u32 p3)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  .shared .align 128 .b8 box[2048];
  .shared .align 8 .b64 full;
  mov.b64 %d0, p0;
  cvta.param.u64 %d0, %d0;
  ld.param.u64 %d1, [p1];
  ld.param.u32 %r0, [p2];
  ld.param.u32 %r1, [p3];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, full;
  mov.u32 %r4, box;
  setp.ne.u32 %p, %r2, 0;
  @%p bra ISSUED;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 2048;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%d0, {%r0, %r1}], [%r3];
ISSUED:
  bar.sync 0;
  mov.u32 %r5, 0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%r3], 0;
  @%p bra ARRIVED;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p, %r5, 1000000;
  @%p bra WAIT;
  ret;
ARRIVED:
  shl.b32 %r6, %r2, 4;
  add.u32 %r7, %r4, %r6;
  ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r7];
  cvt.u64.u32 %d2, %r6;
  add.u64 %d2, %d1, %d2;
  st.global.v4.u32 [%d2], {%r8, %r9, %r10, %r11};
  ret;
}

.visible .entry stuck(.param .u64 p0, .param .u32 p1)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [p0];
  ld.param.u32 %r0, [p1];
  cvta.to.global.u64 %d0, %d0;
  mov.u32 %r1, 0;
WAIT:
  ld.volatile.global.u32 %r2, [%d0];
  setp.ne.u32 %p, %r2, 0;
  @%p bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 1000;
  @%p bra WAIT;
  mov.u32 %r3, 1;
  mov.u32 %r4, 17;
  mov.u32 %r5, 2;
  mov.u32 %r6, 0;
  st.volatile.global.u32 [%d0 + 4], %r0;
  st.volatile.global.u32 [%d0 + 8], %r3;
  st.volatile.global.u32 [%d0 + 12], %r3;
  st.volatile.global.u32 [%d0 + 16], %r4;
  st.volatile.global.u32 [%d0 + 20], %r5;
  st.volatile.global.u32 [%d0 + 24], %r3;
  st.volatile.global.u32 [%d0 + 28], %r6;
  membar.sys;
  mov.u32 %r7, 0x57444f47;
  st.volatile.global.u32 [%d0], %r7;
  membar.sys;
  mov.u64 %d1, 0;
  st.volatile.global.u32 [%d1], %r3;
DONE:
  ret;
}
)ptx";

/// For a device that this one is not.
inline constexpr char kForeignKernel[] = R"ptx(
.version 8.6
.target sm_100a
.address_size 64
.visible .entry nothing()
{
  ret;
}
)ptx";

/// Not a kernel.
inline constexpr char kBrokenKernel[] = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing()
{
  this is no instruction;
}
)ptx";

} // namespace smoke

#endif // DATAFLOW_TEST_SM90_SMOKEKERNELS_H
