/*===- ABI.h - Every record the device reads ----------------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The plan: one flat, little-endian buffer that the host packs and the device
|* (or the CPU device's threads) reads. Compiler and runtime meet here and only
|* here. Changing anything in this file means raising DFRT_PLAN_VERSION, a new
|* fixture under test/unit/fixtures, and a line under "ABI" in CHANGELOG.md.
|*
|* Rules: fixed widths; no pointers; every section starts at a multiple of
|* DFRT_SECTION_ALIGNMENT; a section has a fixed capacity, entries beyond what a
|* plan uses are zero, which is inert by construction (opcode 0 is EXIT); flags
|* that are not known are refused. The code is plain C so that it compiles for
|* any device.
|*
|* Few loads in a row. What an instruction lists (operands, outputs,
|* destinations, releases) carries what a device needs of the slot, so that
|* nobody has to look at SLOTS on the way to a record; fields marked "of the
|* slot" are copies. QUEUES is the first section, so that queue q lies at a
|* constant distance from the plan, and the first instruction of a queue has a
|* fixed place.
|*
\*===----------------------------------------------------------------------===*/

#ifndef DFRT_ABI_H
#define DFRT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define DFRT_PLAN_MAGIC 0x4e4c5044u /* "DPLN" */
#define DFRT_PLAN_VERSION 2u
#define DFRT_SECTION_ALIGNMENT 128u
#define DFRT_MAX_AXES 4u
#define DFRT_NONE 0xffffffffu

/* Sections of a plan, in file order. */
enum dfrt_section {
  DFRT_SECTION_QUEUES = 0,       /* dfrt_queue[] */
  DFRT_SECTION_INSTRUCTIONS = 1, /* dfrt_instruction[] */
  DFRT_SECTION_OPERANDS = 2,     /* dfrt_operand[] */
  DFRT_SECTION_OUTPUTS = 3,      /* dfrt_output[] */
  DFRT_SECTION_SLOTS = 4,        /* dfrt_slot[] */
  DFRT_SECTION_TRANSFERS = 5,    /* dfrt_transfer[] */
  DFRT_SECTION_DESTINATIONS = 6, /* dfrt_destination[] */
  DFRT_SECTION_RELEASES = 7,     /* dfrt_release[] */
  DFRT_SECTION_BARRIERS = 8,     /* dfrt_barrier[] */
  DFRT_SECTION_STAGES = 9,       /* dfrt_stage[] */
  DFRT_SECTION_NAMES = 10,       /* bytes: zero-terminated UTF-8 */
  DFRT_SECTION_DRAWS = 11,       /* dfrt_draw[] */
  DFRT_SECTION_COUNT = 12
};

/* Where a section lies and how much of it is used. */
typedef struct dfrt_section_entry {
  uint64_t offset;   /* bytes from the start of the plan */
  uint32_t count;    /* entries used */
  uint32_t capacity; /* entries there is room for */
} dfrt_section_entry;

enum dfrt_plan_flags {
  DFRT_PLAN_TICKET = 1u,       /* one list, drawn; else one queue a CTA */
  DFRT_PLAN_EXIT_BARRIER = 2u, /* end with a cluster barrier */
  DFRT_PLAN_ALL_FLAGS = 3u
};

typedef struct dfrt_plan_header {
  uint32_t magic;
  uint32_t version;
  uint64_t total_bytes; /* of the whole buffer, capacity included */
  uint64_t fingerprint; /* of the program it was made for */
  uint32_t flags;       /* dfrt_plan_flags */
  uint32_t ctas;        /* launch shape */
  uint32_t cluster_size;
  uint32_t global_flags;   /* flags used in the workspace */
  uint64_t shared_bytes;   /* slot arena of a CTA */
  uint64_t global_bytes;   /* global slot arena */
  uint64_t reserved_bytes; /* shared memory the plan left to handlers */
  uint64_t shared_limit;   /* shared memory of a CTA it was planned for */
  uint32_t program_name;   /* offset in NAMES */
  uint32_t solver_name;    /* offset in NAMES */
  uint32_t checksum;  /* CRC-32 (IEEE 802.3) of the buffer with this field 0 */
  uint32_t reserved0; /* 0 */
  dfrt_section_entry sections[DFRT_SECTION_COUNT];
  uint8_t reserved1[104]; /* 0 */
} dfrt_plan_header;

/* The instructions of one CTA, or the ticket list.
 *
 * A static plan has exactly one queue for each CTA of the launch: queue q is
 * that of CTA q, with count 0 where the CTA has nothing to do. Its first
 * instruction is instructions[q] (EXIT where the count is 0), the others follow
 * at `rest`, closed by an EXIT.
 *
 * A ticket plan has one queue. All its instructions follow each other at
 * `rest`, closed by an EXIT; instructions[0] is EXIT. DRAWS says where each
 * draw begins. */
typedef struct dfrt_queue {
  uint32_t cta;           /* DFRT_NONE: ticket list */
  uint32_t count;         /* instructions without the closing EXIT */
  uint32_t rest;          /* static: index of the second instruction; ticket: of
                             the first */
  uint32_t first_barrier; /* barriers of the CTA, in BARRIERS */
  uint32_t barrier_count;
  uint32_t reserved[3]; /* 0 */
} dfrt_queue;

/* What one ticket stands for: instructions[first] to
 * instructions[first + count - 1]. Only in ticket plans, in list order; the
 * draws follow each other without gaps. */
typedef struct dfrt_draw {
  uint32_t first;
  uint32_t count; /* at least 1 */
} dfrt_draw;

enum dfrt_opcode { DFRT_EXIT = 0, DFRT_CALL = 1 };

enum dfrt_instruction_flags {
  DFRT_INSTRUCTION_DRAW = 1u, /* first of a draw */
  DFRT_INSTRUCTION_ALL_FLAGS = 1u
};

typedef struct dfrt_instruction {
  uint16_t opcode; /* dfrt_opcode */
  uint16_t flags;  /* dfrt_instruction_flags */
  uint16_t stage;
  uint16_t variant;
  uint32_t task_low, task_high; /* task index in the stage's domain, 64 bits */
  int64_t range_begin, range_end; /* elements, the task's offset included */
  int64_t tile_begin, tile_end;
  int32_t coordinates[DFRT_MAX_AXES]; /* of the task */
  uint16_t slice_begin, slice_end;
  uint32_t first_operand, operand_count;
  uint32_t first_output, output_count;
  uint32_t first_transfer, transfer_count; /* issued after the call */
  uint32_t first_acquire, acquire_count;   /* releases waited for; see below */
  uint32_t first_release, release_count;   /* releases sent after the call */
  uint32_t identity;    /* index of this instruction in the schedule */
  uint32_t reserved[3]; /* 0 */
} dfrt_instruction;

enum dfrt_operand_flags { DFRT_OPERAND_WAIT = 1u, DFRT_OPERAND_ALL_FLAGS = 1u };

enum dfrt_space { DFRT_SPACE_SHARED = 1, DFRT_SPACE_GLOBAL = 2 };

typedef struct dfrt_operand {
  uint32_t slot;
  uint32_t row;         /* DFRT_NONE: whole */
  uint16_t flags;       /* dfrt_operand_flags */
  uint16_t space;       /* of the slot */
  uint16_t slice_begin; /* of the slot */
  uint16_t reserved;    /* 0 */
  uint64_t offset;      /* of the slot */
  uint32_t signal; /* what WAIT waits for: the barrier of a shared slot, the
                      flag of a global one; DFRT_NONE if it has none */
  uint32_t phase;  /* of the slot */
} dfrt_operand;

typedef struct dfrt_output {
  uint32_t slot;
  uint16_t space;       /* of the slot */
  uint16_t slice_begin; /* of the slot */
  uint64_t offset;      /* of the slot */
} dfrt_output;

typedef struct dfrt_slot {
  uint64_t offset; /* bytes in the slot arena */
  uint64_t bytes;
  uint16_t stage;
  uint16_t space; /* dfrt_space */
  uint16_t slice_begin, slice_end;
  uint32_t cta;            /* DFRT_NONE: the CTA that draws */
  uint32_t barrier, phase; /* number within the owner CTA, or DFRT_NONE */
  uint32_t flag;           /* global flag, or DFRT_NONE */
  uint32_t reserved;       /* 0 */
} dfrt_slot;

enum dfrt_transport {
  DFRT_TRANSPORT_LOCAL = 1,
  DFRT_TRANSPORT_CLUSTER_SHARED = 2,
  DFRT_TRANSPORT_GLOBAL = 3,
  DFRT_TRANSPORT_MULTICAST = 4
};

/* Sorted by issuing instruction. */
typedef struct dfrt_transfer {
  uint32_t source;
  uint16_t transport;    /* dfrt_transport */
  uint16_t source_space; /* of the source slot */
  uint32_t first_destination, destination_count;
  uint32_t instruction;        /* identity of the issuer */
  uint32_t identity;           /* index of this transfer in the schedule */
  uint64_t bytes;              /* arriving at each destination */
  uint64_t source_offset;      /* of the source slot */
  uint16_t source_slice_begin; /* of the source slot */
  uint16_t cluster_mask;       /* bit r: a destination is shared memory of the
                                  CTA of rank r in its cluster */
  uint32_t reserved;           /* 0 */
} dfrt_transfer;

typedef struct dfrt_destination {
  uint32_t slot;
  uint32_t cta;         /* of the slot */
  uint64_t offset;      /* of the slot */
  uint32_t signal;      /* barrier of a shared slot, flag of a global one */
  uint16_t space;       /* of the slot */
  uint16_t slice_begin; /* of the slot */
  uint32_t reserved[2]; /* 0 */
} dfrt_destination;

/* Every release appears twice: sorted by `from` in the first half of the
 * section (what to send) and sorted by `to` in the second half (what to
 * acquire). */
typedef struct dfrt_release {
  uint32_t slot;
  uint32_t from, to; /* identities of instructions */
  uint32_t to_cta;
  uint32_t barrier, phase; /* number within to_cta, or DFRT_NONE */
  uint32_t identity;       /* index of this release in the schedule */
  uint32_t reserved;       /* 0 */
} dfrt_release;

/* Sorted by CTA: queue q says which are those of its CTA. Barrier b of a CTA is
 * barriers[first_barrier + b]. Ticket plans have none. */
typedef struct dfrt_barrier {
  uint32_t arrivals; /* per phase */
  uint32_t identity; /* index of this barrier in the schedule */
} dfrt_barrier;

/* So that a plan can be read without its artifact. */
typedef struct dfrt_stage {
  uint32_t name; /* offset in NAMES */
  uint32_t kind; /* dfrt::StageKind */
  uint64_t head_bytes, slice_bytes;
  uint32_t slices;
  uint32_t reserved; /* 0 */
} dfrt_stage;

#ifdef __cplusplus
#define DFRT_ASSERT(condition) static_assert(condition, #condition)
#else
#define DFRT_ASSERT(condition) _Static_assert(condition, #condition)
#endif
DFRT_ASSERT(sizeof(dfrt_section_entry) == 16);
DFRT_ASSERT(sizeof(dfrt_plan_header) == 384);
DFRT_ASSERT(offsetof(dfrt_plan_header, total_bytes) == 8);
DFRT_ASSERT(offsetof(dfrt_plan_header, fingerprint) == 16);
DFRT_ASSERT(offsetof(dfrt_plan_header, flags) == 24);
DFRT_ASSERT(offsetof(dfrt_plan_header, shared_bytes) == 40);
DFRT_ASSERT(offsetof(dfrt_plan_header, program_name) == 72);
DFRT_ASSERT(offsetof(dfrt_plan_header, checksum) == 80);
DFRT_ASSERT(offsetof(dfrt_plan_header, sections) == 88);
DFRT_ASSERT(sizeof(dfrt_queue) == 32);
DFRT_ASSERT(sizeof(dfrt_draw) == 8);
DFRT_ASSERT(sizeof(dfrt_instruction) == 128);
DFRT_ASSERT(offsetof(dfrt_instruction, range_begin) == 16);
DFRT_ASSERT(offsetof(dfrt_instruction, coordinates) == 48);
DFRT_ASSERT(offsetof(dfrt_instruction, first_operand) == 68);
DFRT_ASSERT(offsetof(dfrt_instruction, identity) == 108);
DFRT_ASSERT(sizeof(dfrt_operand) == 32);
DFRT_ASSERT(offsetof(dfrt_operand, offset) == 16);
DFRT_ASSERT(sizeof(dfrt_output) == 16);
DFRT_ASSERT(offsetof(dfrt_output, offset) == 8);
DFRT_ASSERT(sizeof(dfrt_slot) == 48);
DFRT_ASSERT(offsetof(dfrt_slot, cta) == 24);
DFRT_ASSERT(sizeof(dfrt_transfer) == 48);
DFRT_ASSERT(offsetof(dfrt_transfer, bytes) == 24);
DFRT_ASSERT(offsetof(dfrt_transfer, cluster_mask) == 42);
DFRT_ASSERT(sizeof(dfrt_destination) == 32);
DFRT_ASSERT(offsetof(dfrt_destination, signal) == 16);
DFRT_ASSERT(sizeof(dfrt_release) == 32);
DFRT_ASSERT(sizeof(dfrt_barrier) == 8);
DFRT_ASSERT(sizeof(dfrt_stage) == 32);
#undef DFRT_ASSERT

#endif /* DFRT_ABI_H */
