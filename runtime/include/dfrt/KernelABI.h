/*===- KernelABI.h - What a kernel is launched with ---------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The one parameter of every kernel that the compiler makes, the head of the
|* workspace in which its CTAs meet, and what a watchdog build leaves behind.
|* Like ABI.h this is plain C with fixed widths, read by the device.
|*
|* Parameter. A kernel has one parameter, passed by value (a grid constant):
|*
|*   dfrt_kernel_parameters
|*   at DFRT_KERNEL_ARGUMENTS, for each argument of the program in order, its
|*     descriptor: MLIR's ranked memref descriptor as 64-bit words: allocated
|*     address, aligned address, offset, sizes, strides (elements)
|*   at the next multiple of 64, the kernel's tensor maps, 128 bytes each
|*
|* Shared memory of a CTA, all of it dynamic. The kernel owns the first
|* `reserved` bytes (rings, handler scratch, barriers; the artifact says how
|* many), the plan's slot arena follows. So the address of a slot is the same in
|* every CTA of a cluster.
|*
|* Epochs. A launch that needs flags or tickets has a number, its epoch. Every
|* CTA reads `epoch` and then counts itself in `started`; its own launch is the
|* one after what it read. Whoever is the last to start writes `started` = 0 and
|* `epoch` = the number of this launch, and clears the counter of the next
|* launch. So nobody resets anything between launches and a captured graph can
|* be replayed. The number 0 is never used.
|*
|* Flags. Global flag f is written once a launch: 32 bits, the epoch, released
|* at device scope after the bytes it stands for.
|*
|* Tickets. Launch e draws from counter e % 2. The first ticket of CTA c is c,
|* without a draw; each later one is the grid's size plus what the counter gave.
|*
\*===----------------------------------------------------------------------===*/

#ifndef DFRT_KERNELABI_H
#define DFRT_KERNELABI_H

#include <stddef.h>
#include <stdint.h>

#define DFRT_KERNEL_SECTIONS 12u

/* Device addresses; 0 where a kernel or plan does not need the thing. */
typedef struct dfrt_kernel_parameters {
  uint64_t plan;      /* dfrt_plan_header */
  uint64_t workspace; /* dfrt_launch_state */
  uint64_t flags;     /* uint32_t[], of global slots */
  uint64_t counters;  /* DFRT_COUNTER_BYTES each, a uint32_t in front */
  uint64_t slots;     /* the global slot arena */
  uint64_t scratch;   /* of CTA c: plus c * scratch_stride */
  uint64_t scratch_stride;
  uint64_t watchdog; /* dfrt_watchdog_record[ctas][DFRT_WATCHDOG_ROLES] */
  /* The sections of the plan, by dfrt_section. They follow from the plan's
   * capacity, so a captured launch may get another plan of the same capacity;
   * from here the first instruction of a CTA is one memory latency away. */
  uint64_t sections[DFRT_KERNEL_SECTIONS];
  uint64_t stamps; /* dfrt_stamp[ctas], written when the launch ends */
  /* Of kernels with a timeline: dfrt_timeline_lane[ctas][DFRT_TIMELINE_ROLES],
   * all 0 before the launch, then dfrt_timeline_record[ctas]
   * [DFRT_TIMELINE_ROLES][timeline_capacity]. 0: nothing is recorded. */
  uint64_t timeline;
  uint64_t timeline_capacity;
  uint64_t reserved; /* 0 */
} dfrt_kernel_parameters;

/* When a CTA began and ended, in nanoseconds of the device's global timer. */
typedef struct dfrt_stamp {
  uint64_t begin, end;
} dfrt_stamp;

/* What one role of a CTA has recorded. Its index is that of the role: 0 load, 1
 * compute (dfrt_watchdog_role). */
#define DFRT_TIMELINE_ROLES 2u
typedef struct dfrt_timeline_lane {
  uint32_t
      instructions; /* executed; those beyond the capacity left no record */
  uint32_t multiprocessor;
} dfrt_timeline_lane;

/* One instruction of one role, in the order of execution. Times are nanoseconds
 * of the device's global timer, as one thread of the role sees them. The load
 * role: from before its first copy to behind its last one; the copies are then
 * issued, not there. */
typedef struct dfrt_timeline_record {
  uint32_t instruction; /* identity in the schedule */
  uint32_t waited;      /* nanoseconds of it spent waiting for rings: for full
                           stages (compute), for free ones (load) */
  uint64_t begin;       /* the instruction is there */
  uint64_t ready;       /* its operands are, too; load: as begin */
  uint64_t handled;     /* the handler has returned */
  uint64_t finished;    /* transfers and releases are sent; load: as handled */
} dfrt_timeline_record;

#define DFRT_KERNEL_ARGUMENTS 192u
#define DFRT_TENSOR_MAP_BYTES 128u
#define DFRT_COUNTER_BYTES 128u
/* Counters that tickets use: one for even launches, one for odd ones. */
#define DFRT_TICKET_COUNTERS 2u

/* First bytes of a workspace. */
typedef struct dfrt_launch_state {
  uint32_t magic;   /* DFRT_WORKSPACE_MAGIC */
  uint32_t version; /* DFRT_WORKSPACE_VERSION */
  uint32_t epoch;   /* of the last launch; 0: none yet */
  uint32_t started; /* CTAs of the present launch that have begun */
  /* What a kernel saw of its grid; 0: not written. */
  uint32_t observed_ctas, observed_cluster;
  uint32_t error;     /* not 0: a kernel found a fault, see the watchdog */
  uint32_t reserved0; /* 0 */
  /* Offsets in the workspace, and its size, in bytes. */
  uint64_t counters, flags, sentinels, scratch, bytes;
  uint32_t counter_count, flag_count;
  uint32_t reserved1[12]; /* 0 */
} dfrt_launch_state;

#define DFRT_WORKSPACE_MAGIC 0x53575044u /* "DPWS" */
#define DFRT_WORKSPACE_VERSION 1u

/* Who waits: the role of a warp in a CTA. */
enum dfrt_watchdog_role {
  DFRT_ROLE_LOAD = 0,
  DFRT_ROLE_COMPUTE = 1,
  DFRT_ROLE_STORE = 2
};
#define DFRT_WATCHDOG_ROLES 4u /* records a CTA */

/* What it waits for. */
enum dfrt_watchdog_wait {
  DFRT_WAIT_SLOT = 1,     /* object: barrier of the CTA; phases */
  DFRT_WAIT_RELEASE = 2,  /* object: barrier of the CTA; phases */
  DFRT_WAIT_FLAG = 3,     /* object: flag; epochs */
  DFRT_WAIT_SENTINEL = 4, /* object: slot whose data are their own flag */
  DFRT_WAIT_RING = 5,     /* object: stream * 256 + stage of the CTA; phases */
  DFRT_WAIT_CLUSTER = 6,  /* the cluster's barrier */
  DFRT_WAIT_GRID = 7      /* object: counter; arrivals */
};

/* As the kernel writes it; `state` last, after a system-wide fence. */
typedef struct dfrt_watchdog_record {
  uint32_t state; /* DFRT_WATCHDOG_COMPLETE when the rest can be read */
  uint32_t cta;
  uint32_t role;        /* dfrt_watchdog_role */
  uint32_t wait;        /* dfrt_watchdog_wait */
  uint32_t instruction; /* identity in the schedule, or DFRT_NONE */
  uint32_t object;
  uint32_t expected, seen;
} dfrt_watchdog_record;

#define DFRT_WATCHDOG_COMPLETE 0x57444f47u /* "GODW" */

#ifdef __cplusplus
#define DFRT_ASSERT(condition) static_assert(condition, #condition)
#else
#define DFRT_ASSERT(condition) _Static_assert(condition, #condition)
#endif
DFRT_ASSERT(sizeof(dfrt_kernel_parameters) == DFRT_KERNEL_ARGUMENTS);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, slots) == 32);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, watchdog) == 56);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, sections) == 64);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, stamps) == 160);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, timeline) == 168);
DFRT_ASSERT(offsetof(dfrt_kernel_parameters, timeline_capacity) == 176);
DFRT_ASSERT(sizeof(dfrt_timeline_lane) == 8);
DFRT_ASSERT(sizeof(dfrt_timeline_record) == 40);
DFRT_ASSERT(offsetof(dfrt_timeline_record, begin) == 8);
DFRT_ASSERT(sizeof(dfrt_launch_state) == 128);
DFRT_ASSERT(offsetof(dfrt_launch_state, epoch) == 8);
DFRT_ASSERT(offsetof(dfrt_launch_state, observed_ctas) == 16);
DFRT_ASSERT(offsetof(dfrt_launch_state, counters) == 32);
DFRT_ASSERT(offsetof(dfrt_launch_state, counter_count) == 72);
DFRT_ASSERT(sizeof(dfrt_watchdog_record) == 32);
DFRT_ASSERT(offsetof(dfrt_watchdog_record, instruction) == 16);
#undef DFRT_ASSERT

#endif /* DFRT_KERNELABI_H */
