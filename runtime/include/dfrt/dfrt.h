/*===- dfrt.h - C API of the dataflow runtime ---------------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* Load an artifact once; for each batch make a plan from lengths and routing,
|* and launch it:
|*
|*   dfrt_device *device;      dfrt_device_open("cpu", &device);
|*   dfrt_artifact *artifact;  dfrt_artifact_load_file("sum.dfart", &artifact);
|*   dfrt_plan *plan;          dfrt_plan_make(artifact, tensors, n, NULL,
&plan);
|*   dfrt_launch(device, artifact, plan, tensors, n, NULL);
|*   dfrt_plan_release(plan);  ...
|*
|* Errors. A function that can fail returns a dfrt_status; what went wrong is
|* then in dfrt_last_error() of the same thread, until that thread's next call.
|* Results are written only on success. No function throws, prints or aborts.
|* Passing a null handle is DFRT_INVALID_ARGUMENT; releasing one does nothing.
|*
|* Ownership. Whoever receives a handle releases it, once, in any order: a plan
|* or a running launch keeps what it needs of its artifact. Strings and arrays
|* that are returned belong to the handle they came from and live as long.
|*
|* Threads. Handles do not change after they were made: any number of threads
|* may use one at the same time, except to release it. Launches of one plan at
|* the same time need different outputs and workspaces.
|*
|* Stability. Option structs start with their size, so that fields can be added
|* at the end: use the _init functions. Numbers of enums never change meaning.
|*
|* Empty input. A batch without tasks gives a plan without instructions, whose
|* launch writes nothing. A task whose range is empty is reduced to the identity
|* of its reduce, and a stage that runs per tile is not called for it.
|*
\*===----------------------------------------------------------------------===*/

#ifndef DFRT_DFRT_H
#define DFRT_DFRT_H

#include "dfrt/ABI.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DFRT_API_VERSION 1u

/* DFRT_API_VERSION of the library that is linked. */
uint32_t dfrt_api_version(void);

/* ---- Errors ------------------------------------------------------------- */

enum dfrt_status_code {
  DFRT_OK = 0,
  DFRT_INVALID_ARGUMENT = 1,    /* the caller's input is wrong */
  DFRT_INVALID_FILE = 2,        /* corrupt, truncated or foreign bytes */
  DFRT_UNSUPPORTED = 3,         /* legal, but nothing here implements it */
  DFRT_RESOURCE_EXHAUSTED = 4,  /* a stated limit or the memory is exceeded */
  DFRT_VERIFICATION_FAILED = 5, /* a plan is illegal */
  DFRT_DEADLOCK = 6,            /* execution cannot make progress */
  DFRT_BUSY = 7,                /* try again later */
  DFRT_DEVICE_ERROR = 8,        /* the device or the system failed */
  DFRT_INTERNAL_ERROR = 9       /* a bug in this library */
};
typedef int32_t dfrt_status;

/* Name of a status, e.g. "invalid file". Static. */
const char *dfrt_status_name(dfrt_status status);
/* Message of the calling thread's last call: lower case, one line, names the
 * object, the limit and the value. Empty after a success. Valid until the
 * thread's next call. */
const char *dfrt_last_error(void);
/* Status of the calling thread's last call. */
dfrt_status dfrt_last_status(void);

/* ---- Devices ------------------------------------------------------------ */

typedef struct dfrt_device dfrt_device;

/* Opens a device by name: "cpu". "cuda" is DFRT_UNSUPPORTED in this version. */
dfrt_status dfrt_device_open(const char *name, dfrt_device **device);
void dfrt_device_release(dfrt_device *device);

/* ---- Artifacts ---------------------------------------------------------- */

typedef struct dfrt_artifact dfrt_artifact;

/* Element types; the numbers are those of the artifact format. */
enum dfrt_element {
  DFRT_F64 = 0,
  DFRT_F32 = 1,
  DFRT_F16 = 2,
  DFRT_BF16 = 3,
  DFRT_F8E4M3FN = 4,
  DFRT_F8E5M2 = 5,
  DFRT_I64 = 6,
  DFRT_I32 = 7,
  DFRT_I16 = 8,
  DFRT_I8 = 9,
  DFRT_I1 = 10 /* one byte each */
};

/* What making a plan reads of an argument. */
enum dfrt_plan_use {
  DFRT_PLAN_USE_NONE = 0,
  DFRT_PLAN_USE_SHAPE = 1,
  DFRT_PLAN_USE_VALUES = 2
};

typedef struct dfrt_argument_info {
  const char *name;
  const int64_t *shape; /* `rank` extents; -1 where known at launch only */
  uint32_t rank;
  uint32_t element;  /* dfrt_element */
  uint32_t output;   /* 1: written by the program */
  uint32_t plan_use; /* dfrt_plan_use */
} dfrt_argument_info;

typedef struct dfrt_stage_info {
  const char *name;
  uint32_t kind;         /* 0 map, 1 reduce, 2 reshard, 3 finalize */
  uint32_t slices;       /* of its record */
  uint64_t record_bytes; /* of its record, whole */
  uint32_t separable;    /* 1: works slice by slice */
  uint32_t variants;     /* number of handler variants */
} dfrt_stage_info;

/* Reads an artifact. The bytes are copied and need not outlive the call.
 * DFRT_INVALID_FILE names the field that is wrong. */
dfrt_status dfrt_artifact_load_file(const char *path, dfrt_artifact **artifact);
dfrt_status dfrt_artifact_load_memory(const void *bytes, uint64_t size,
                                      dfrt_artifact **artifact);
void dfrt_artifact_release(dfrt_artifact *artifact);

const char *dfrt_artifact_program_name(const dfrt_artifact *artifact);
uint32_t dfrt_artifact_argument_count(const dfrt_artifact *artifact);
uint32_t dfrt_artifact_stage_count(const dfrt_artifact *artifact);
dfrt_status dfrt_artifact_argument(const dfrt_artifact *artifact,
                                   uint32_t index, dfrt_argument_info *info);
dfrt_status dfrt_artifact_stage(const dfrt_artifact *artifact, uint32_t index,
                                dfrt_stage_info *info);
/* The whole program (arguments, domains, ranges, stages, code) as JSON. */
dfrt_status dfrt_artifact_describe(const dfrt_artifact *artifact,
                                   const char **json);

/* ---- Tensors ------------------------------------------------------------ */

/* A dense, row-major tensor in the caller's memory. */
typedef struct dfrt_tensor {
  void *data;           /* may be null where there is no element, or where only
                           the shape is read */
  const int64_t *shape; /* `rank` extents */
  uint32_t rank;
  uint32_t element; /* dfrt_element */
} dfrt_tensor;

/* ---- Plans -------------------------------------------------------------- */

typedef struct dfrt_plan dfrt_plan;

/* Room for entries in each section of a plan, by dfrt_section. It alone fixes
 * the size of a plan, so a buffer allocated once takes every plan within it. */
typedef struct dfrt_capacity {
  uint32_t entries[DFRT_SECTION_COUNT];
} dfrt_capacity;

/* Bytes of a plan with this capacity. */
uint64_t dfrt_capacity_bytes(const dfrt_capacity *capacity);

enum dfrt_combine {
  DFRT_COMBINE_AUTOMATIC = 0,
  DFRT_COMBINE_SCATTER = 1,
  DFRT_COMBINE_FOLD = 2,
  DFRT_COMBINE_TREE = 3
};

typedef struct dfrt_plan_options {
  uint32_t struct_bytes;   /* set by dfrt_plan_options_init */
  uint32_t ctas;           /* launch shape; default 132 */
  uint32_t cluster_size;   /* 1, 2, 4, 8 or 16; divides ctas; default 1 */
  uint32_t combine;        /* dfrt_combine, of split tasks */
  uint64_t shared_bytes;   /* shared memory of a CTA; default 232448 */
  uint64_t reserved_bytes; /* of which slots may not use; default 131072 */
  const char *solver;      /* null: the default solver */
  uint32_t transport;      /* dfrt_transport of edges between CTAs; 0: choose */
  uint32_t verify;         /* 1 (default): prove the plan legal, or fail */
  uint32_t predict;        /* 1: simulate, for the summary; default 0 */
  uint32_t reserved;       /* 0 */
  const dfrt_capacity *capacity; /* null (default): exactly what is needed */
} dfrt_plan_options;
void dfrt_plan_options_init(dfrt_plan_options *options);

/* Makes a plan from the shapes and the plan-time values (see `plan_use`) of
 * `count` arguments, in program order. Arguments with use NONE may have a null
 * shape and data. `options` null: the defaults. Nothing is compiled and no
 * device is touched. Fails with DFRT_INVALID_ARGUMENT (names the argument),
 * DFRT_RESOURCE_EXHAUSTED (names the section of `capacity`) or
 * DFRT_VERIFICATION_FAILED (names the instruction or slot). */
dfrt_status dfrt_plan_make(const dfrt_artifact *artifact,
                           const dfrt_tensor *arguments, uint32_t count,
                           const dfrt_plan_options *options, dfrt_plan **plan);
/* Reads plan bytes, which are copied, and tests that they are a plan of this
 * artifact. */
dfrt_status dfrt_plan_load(const dfrt_artifact *artifact, const void *bytes,
                           uint64_t size, dfrt_plan **plan);
void dfrt_plan_release(dfrt_plan *plan);

/* The bytes of the plan, as they can be saved and loaded. */
dfrt_status dfrt_plan_bytes(const dfrt_plan *plan, const void **bytes,
                            uint64_t *size);
/* What the plan needs at least: the maximum of this over the batches that one
 * expects is the capacity to ask for. */
dfrt_status dfrt_plan_needs(const dfrt_plan *plan, dfrt_capacity *capacity);
/* Counts, sizes and, where asked for, predicted time, as JSON. */
dfrt_status dfrt_plan_summary(const dfrt_plan *plan, const char **json);
/* Why the planner decided as it did: a JSON array of {topic, choice, reason}.
 * Empty for a plan that was loaded. */
dfrt_status dfrt_plan_decisions(const dfrt_plan *plan, const char **json);
/* Bytes of memory that a launch on `device` needs for slots. */
dfrt_status dfrt_plan_workspace_bytes(const dfrt_device *device,
                                      const dfrt_plan *plan, uint64_t *bytes);

/* ---- Launches ----------------------------------------------------------- */

typedef struct dfrt_launch_options {
  uint32_t struct_bytes; /* set by dfrt_launch_options_init */
  uint32_t threads;      /* 0 (default): one a processor */
  uint32_t adversarial;  /* 1: one thread, hostile order chosen by `seed` */
  uint32_t poison;       /* 1 (default): unwritten and dead slots hold NaNs */
  uint64_t seed;
  void *workspace; /* aligned to 128 bytes; null: allocated by the call */
  uint64_t workspace_bytes;
} dfrt_launch_options;
void dfrt_launch_options_init(dfrt_launch_options *options);

/* Executes `plan` on `count` arguments, in program order, and returns when the
 * outputs are written. Tests before anything runs: number, ranks, extents and
 * element types of the arguments, that outputs overlap nothing, and that tasks
 * and ranges of the plan are those of these arguments. Results depend on plan
 * and arguments alone, not on threads or seed. Fails with
 * DFRT_INVALID_ARGUMENT, DFRT_RESOURCE_EXHAUSTED, DFRT_DEADLOCK (who waits for
 * what) or DFRT_VERIFICATION_FAILED (a misused barrier); after the last two the
 * outputs are unspecified. */
dfrt_status dfrt_launch(const dfrt_device *device,
                        const dfrt_artifact *artifact, const dfrt_plan *plan,
                        const dfrt_tensor *arguments, uint32_t count,
                        const dfrt_launch_options *options);

/* Evaluates the program's reference code without a plan, in f64 throughout:
 * every floating-point output must be a tensor of DFRT_F64. `threads` 0: one a
 * processor. DFRT_UNSUPPORTED when the artifact has no reference code. */
dfrt_status dfrt_reference(const dfrt_artifact *artifact,
                           const dfrt_tensor *arguments, uint32_t count,
                           uint32_t threads);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DFRT_DFRT_H */
