//===- ReadCode.h - PTX of the kernel that only reads -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two CTAs of 1024 threads on each multiprocessor take turns at chunks of 64
// KiB; each thread has four loads of 16 bytes in flight, which is 128 KiB a
// multiprocessor. Text, as the driver has to compile it for whatever device
// there is.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CUDA_READCODE_H
#define DFRT_LIB_CUDA_READCODE_H

namespace dfrt::cuda {

inline constexpr char kReadCode[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry dataflow_read(.param .u64 from, .param .u64 vectors, "
    ".param .u64 sink)\n"
    ".maxntid 1024, 1, 1\n"
    ".minnctapersm 2\n"
    "{\n"
    "  .reg .pred %more, %inside, %odd;\n"
    "  .reg .b32 %t, %c, %n, %s, %a<4>, %b<4>, %d<4>, %e<4>, %r<4>;\n"
    "  .reg .b64 %from, %count, %sink, %i, %step, %stride, %p, %last, %wide;\n"
    "  ld.param.u64 %from, [from];\n"
    "  ld.param.u64 %count, [vectors];\n"
    "  ld.param.u64 %sink, [sink];\n"
    "  mov.u32 %t, %tid.x;\n"
    "  mov.u32 %c, %ctaid.x;\n"
    "  mov.u32 %n, %nctaid.x;\n"
    "  mul.wide.u32 %i, %c, 4096;\n"
    "  cvt.u64.u32 %wide, %t;\n"
    "  add.u64 %i, %i, %wide;\n"
    "  mul.wide.u32 %step, %n, 4096;\n"
    "  mov.b32 %r0, 0;\n"
    "  mov.b32 %r1, 0;\n"
    "  mov.b32 %r2, 0;\n"
    "  mov.b32 %r3, 0;\n"
    "full:\n"
    "  add.u64 %last, %i, 3072;\n"
    "  setp.lt.u64 %more, %last, %count;\n"
    "  @!%more bra rest;\n"
    "  shl.b64 %p, %i, 4;\n"
    "  add.u64 %p, %p, %from;\n"
    "  ld.global.nc.L1::no_allocate.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n"
    "  ld.global.nc.L1::no_allocate.v4.b32 {%b0, %b1, %b2, %b3}, [%p+16384];\n"
    "  ld.global.nc.L1::no_allocate.v4.b32 {%d0, %d1, %d2, %d3}, [%p+32768];\n"
    "  ld.global.nc.L1::no_allocate.v4.b32 {%e0, %e1, %e2, %e3}, [%p+49152];\n"
    "  xor.b32 %r0, %r0, %a0;\n"
    "  xor.b32 %r1, %r1, %a1;\n"
    "  xor.b32 %r2, %r2, %a2;\n"
    "  xor.b32 %r3, %r3, %a3;\n"
    "  xor.b32 %r0, %r0, %b0;\n"
    "  xor.b32 %r1, %r1, %b1;\n"
    "  xor.b32 %r2, %r2, %b2;\n"
    "  xor.b32 %r3, %r3, %b3;\n"
    "  xor.b32 %r0, %r0, %d0;\n"
    "  xor.b32 %r1, %r1, %d1;\n"
    "  xor.b32 %r2, %r2, %d2;\n"
    "  xor.b32 %r3, %r3, %d3;\n"
    "  xor.b32 %r0, %r0, %e0;\n"
    "  xor.b32 %r1, %r1, %e1;\n"
    "  xor.b32 %r2, %r2, %e2;\n"
    "  xor.b32 %r3, %r3, %e3;\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra full;\n"
    "rest:\n"
    "  mov.u32 %s, 0;\n"
    "each:\n"
    "  setp.lt.u64 %inside, %i, %count;\n"
    "  @!%inside bra done;\n"
    "  shl.b64 %p, %i, 4;\n"
    "  add.u64 %p, %p, %from;\n"
    "  ld.global.nc.L1::no_allocate.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n"
    "  xor.b32 %r0, %r0, %a0;\n"
    "  xor.b32 %r1, %r1, %a1;\n"
    "  xor.b32 %r2, %r2, %a2;\n"
    "  xor.b32 %r3, %r3, %a3;\n"
    "  add.u64 %i, %i, 1024;\n"
    "  add.u32 %s, %s, 1;\n"
    "  setp.lt.u32 %more, %s, 4;\n"
    "  @%more bra each;\n"
    "done:\n"
    "  xor.b32 %r0, %r0, %r1;\n"
    "  xor.b32 %r2, %r2, %r3;\n"
    "  xor.b32 %r0, %r0, %r2;\n"
    "  setp.eq.u64 %odd, %sink, 0;\n"
    "  @%odd bra end;\n"
    "  atom.global.xor.b32 %r1, [%sink], %r0;\n"
    "end:\n"
    "  ret;\n"
    "}\n";

inline constexpr unsigned kReadThreads = 1024;
inline constexpr unsigned kReadCtas = 2; ///< on a multiprocessor

} // namespace dfrt::cuda

#endif // DFRT_LIB_CUDA_READCODE_H
