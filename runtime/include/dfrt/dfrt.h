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
|* Stability. Option structs start with their size in the caller's header, so
|* that fields can be added at the end: use the _init functions. A library of
|* another version reads and writes no byte beyond that size; what the caller
|* does not know keeps its default, what the library does not know has to be 0.
|* Other structs and the numbers of enums do not change within a
|* DFRT_API_VERSION.
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

/* Declares `name`_init(&options), which sets the size and every default. It is
 * inline, so that the size is the caller's; callers in other languages call
 * `name`_init_sized with the size of the struct as they declare it. */
#define DFRT_OPTIONS(name)                                                     \
  void name##_init_sized(name *options, uint32_t struct_bytes);                \
  static inline void name##_init(name *options) {                              \
    name##_init_sized(options, (uint32_t)sizeof(*options));                    \
  }

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

/* Opens a device by name: "cpu", "cuda" or "cuda:1" (an ordinal). A CUDA device
 * works in the primary context, so pointers and streams of a framework in the
 * same process can be used. DFRT_UNSUPPORTED when there is no driver or no
 * device, with what to do. */
dfrt_status dfrt_device_open(const char *name, dfrt_device **device);
void dfrt_device_release(dfrt_device *device);
/* After a call reported that the context of a CUDA device is lost: makes the
 * device usable again, where nobody else in the process used its context and
 * the driver lets the process go on; else the error says so. Kernels and
 * launchers made before are dead and can only be released. No other call on the
 * device may be under way. Does nothing on a healthy device. */
dfrt_status dfrt_device_reopen(dfrt_device *device);
/* What the device is and does, as JSON: {"device", "report", "probe"}; of the
 * CPU {"device", "threads"}. */
dfrt_status dfrt_device_describe(const dfrt_device *device, const char **json);

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

/* A dense, row-major tensor in the caller's memory. For a launch on a CUDA
 * device `data` is a device address; for making a plan it is always host
 * memory. */
typedef struct dfrt_tensor {
  void *data;           /* may be null where there is no element, or where only
                           the shape is read */
  const int64_t *shape; /* `rank` extents */
  uint32_t rank;
  uint32_t element; /* dfrt_element */
} dfrt_tensor;

/* ---- Device profiles ---------------------------------------------------- */

typedef struct dfrt_profile dfrt_profile;

/* Reads what df-run --calibrate measured on a device. DFRT_INVALID_FILE names
 * the member that is missing, unknown or wrong, or another version. */
dfrt_status dfrt_profile_load_file(const char *path, dfrt_profile **profile);
dfrt_status dfrt_profile_load_memory(const char *text, uint64_t size,
                                     dfrt_profile **profile);
void dfrt_profile_release(dfrt_profile *profile);

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
  const char *solver;      /* null: the default solver; "line": what a device
                              planner would plan (below) */
  uint32_t transport;      /* dfrt_transport of edges between CTAs; 0: choose */
  uint32_t verify;         /* 1 (default): prove the plan legal, or fail */
  uint32_t predict;        /* 1: simulate, for the summary; default 0 */
  uint32_t batch_invariant; /* 1: the bits of a task's results depend on the
                               task alone, not on its batch; default 0 */
  const dfrt_capacity *capacity; /* null (default): exactly what is needed */
  const dfrt_profile *profile;   /* null (default): constants of an H200. Read
                                    by the call only. The topology has to be one
                                    that the device keeps resident. */
} dfrt_plan_options;
DFRT_OPTIONS(dfrt_plan_options)
/* Sets the topology to all CTAs that the device of a profile keeps resident in
 * clusters of `cluster_size`, and the profile. DFRT_INVALID_ARGUMENT, naming
 * the sizes that it takes, when it does not take this one. */
dfrt_status dfrt_profile_plan_options(const dfrt_profile *profile,
                                      uint32_t cluster_size,
                                      dfrt_plan_options *options);

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
/* Why the planner decided as it did: a JSON array of {topic, choice, reason,
 * by}. `by` is who decided: "request" of the program, "option" of the caller,
 * "solver", or "default" where there was nothing to choose. Where plans were
 * compared (solver "best"), also predicted_us and `rejected`, an array of
 * {choice, predicted_us, gain_us} or {choice, refusal}. Empty for a plan that
 * was loaded. */
dfrt_status dfrt_plan_decisions(const dfrt_plan *plan, const char **json);
/* Bytes of memory that a launch on `device` needs: on the CPU for slots, on a
 * CUDA device also for flags, scratch and the plan. */
dfrt_status dfrt_plan_workspace_bytes(const dfrt_device *device,
                                      const dfrt_plan *plan, uint64_t *bytes);

/* ---- Planners ----------------------------------------------------------- */

/* Plans batch after batch of one artifact: a serving engine's way to plans.
 * After the first batches of a size it allocates nothing, and it keeps the
 * plans used last. A batch whose ranges have the tiles of one that is kept, and
 * that is equal otherwise, takes its plan with other bounds of pieces (unless a
 * handler is for one exact length): most steps of a decode, in which every
 * length grows by one, plan nothing. For one thread at a time. */
typedef struct dfrt_planner dfrt_planner;

#define DFRT_MAX_PLANNER_PLANS 65536u

typedef struct dfrt_planner_options {
  uint32_t struct_bytes; /* set by dfrt_planner_options_init */
  uint32_t plans;        /* that are kept, 1 to the maximum; default 16 */
  /* Of all plans; null (default): the defaults. Read by the call only. `verify`
     proves each plan that is made, which takes far longer than making it.
     Solver "line" plans fastest, the programs that it takes; plans then have
     the size that they need, so `capacity` has to be null. */
  const dfrt_plan_options *plan_options;
} dfrt_planner_options;
DFRT_OPTIONS(dfrt_planner_options)

/* Where a planner's plan comes from. */
enum dfrt_plan_origin {
  DFRT_PLAN_MADE = 0,
  DFRT_PLAN_UPDATED = 1, /* kept from a batch of the same tiles */
  DFRT_PLAN_FOUND = 2    /* kept from an equal batch */
};

dfrt_status dfrt_planner_create(const dfrt_artifact *artifact,
                                const dfrt_planner_options *options,
                                dfrt_planner **planner);
void dfrt_planner_release(dfrt_planner *planner);
/* The plan of a batch; arguments and failures as of dfrt_plan_make. It belongs
 * to the planner (do not release it) and is valid until the next call with this
 * planner or its release: upload or launch it before. Work that is under way
 * keeps what it needs. `origin`, where not null, becomes a dfrt_plan_origin.
 * Its dfrt_plan_decisions are empty. */
dfrt_status dfrt_planner_plan(dfrt_planner *planner,
                              const dfrt_tensor *arguments, uint32_t count,
                              const dfrt_plan **plan, uint32_t *origin);

/* ---- Launches ----------------------------------------------------------- */

typedef struct dfrt_launch_options {
  uint32_t struct_bytes; /* set by dfrt_launch_options_init */
  uint32_t threads;      /* 0 (default): one a processor */
  uint32_t adversarial;  /* 1: one thread, hostile order chosen by `seed` */
  uint32_t poison;       /* 1 (default): unwritten and dead slots hold NaNs */
  uint64_t seed;
  void *workspace; /* aligned to 128 bytes (CUDA: device memory, aligned to
                      256); null: allocated by the call */
  uint64_t workspace_bytes;
  void *stream;      /* CUDA: a CUstream, in which the launch is put without
                        waiting; null: the device's own, and the call waits */
  uint32_t resident; /* with `adversarial`: so many CTAs at a time, any of them,
                        the next one starts when one has ended, as beside a
                        foreign kernel; 0 (default): all */
  uint32_t reserved; /* 0 */
} dfrt_launch_options;
DFRT_OPTIONS(dfrt_launch_options)

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

/* On a CUDA device dfrt_launch chooses a kernel of the artifact, loads it and
 * allocates on the first launch with a plan of this topology; it keeps what it
 * made for the next launches, until the device is released. What tasks and
 * ranges the arguments' values would give is not compared with the plan, as the
 * values are on the device. Options other than workspace and stream are for the
 * CPU. It cannot be captured; for graphs there are launchers (below). DFRT_BUSY
 * while all staging buffers of launches in the caller's stream are in use. A
 * launch that a watchdog build of the kernel gives up is DFRT_DEADLOCK.
 */

/* Evaluates the program's reference code without a plan, in f64 throughout:
 * every floating-point output must be a tensor of DFRT_F64. `threads` 0: one a
 * processor. DFRT_UNSUPPORTED when the artifact has no reference code. */
dfrt_status dfrt_reference(const dfrt_artifact *artifact,
                           const dfrt_tensor *arguments, uint32_t count,
                           uint32_t threads);

/* ---- Kernels and launchers (CUDA devices) --------------------------------
 *
 * For serving engines, which decide everything before the first batch: choose a
 * kernel, choose a launch shape, state maxima, make a launcher. After that a
 * batch costs a plan, an upload and a launch; nothing is compiled or allocated
 * and nothing waits for the device.
 *
 *   dfrt_kernel_load(device, artifact, NULL, &kernel);
 *   dfrt_kernel_shape(kernel, NULL, &shape, NULL);
 *   dfrt_shape_plan_options(&shape, &options);     // for dfrt_plan_make
 *   dfrt_launch_maxima_include(&maxima, plan);     // for each batch expected
 *   dfrt_launcher_create(kernel, &shape, &maxima, NULL, &launcher);
 *   dfrt_launcher_bind(launcher, tensors, n);
 *   loop: dfrt_launcher_upload(launcher, plan, stream);
 *         dfrt_launcher_launch(launcher, stream);
 *
 * `stream` is a CUstream, or null: the device's own stream. */

typedef struct dfrt_kernel dfrt_kernel;

typedef struct dfrt_kernel_options {
  uint32_t struct_bytes; /* set by dfrt_kernel_options_init */
  uint32_t watchdog;     /* 1: one whose waits are bounded; default 0 */
  const char *symbol;    /* null (default): any */
  const dfrt_plan *plan; /* null (default), or one that it can execute */
  uint32_t cluster_size; /* a size that it takes; default 1 */
  uint32_t ticket;       /* 1: one that takes ticket plans; default 0 */
  uint32_t timeline;     /* 1: one that records a timeline; default 0 */
  uint32_t reserved;     /* 0 */
} dfrt_kernel_options;
DFRT_OPTIONS(dfrt_kernel_options)

/* Chooses the first kernel of the artifact that the device can run and the
 * options ask for, and loads it; code that was loaded before is not loaded
 * again. DFRT_UNSUPPORTED names every kernel and all that speaks against it;
 * nothing was loaded then. */
dfrt_status dfrt_kernel_load(const dfrt_device *device,
                             const dfrt_artifact *artifact,
                             const dfrt_kernel_options *options,
                             dfrt_kernel **kernel);
void dfrt_kernel_release(dfrt_kernel *kernel);
/* What the kernel is: threads, shared memory, disciplines, transports, spills,
 * remarks of the compiler. JSON. */
dfrt_status dfrt_kernel_describe(const dfrt_kernel *kernel, const char **json);

/* What a launch asks for, and what a captured graph freezes with the kernel. */
typedef struct dfrt_launch_shape {
  uint32_t ctas;
  uint32_t threads; /* of a CTA */
  uint32_t cluster_size;
  uint32_t cooperative; /* 1: the driver makes sure that all CTAs run at once */
  uint64_t shared_bytes;   /* of a CTA, all of it */
  uint64_t reserved_bytes; /* of which the kernel's own */
  uint32_t resident_ctas;  /* that fit an idle device at once */
  uint32_t reserved;       /* 0 */
} dfrt_launch_shape;

typedef struct dfrt_shape_options {
  uint32_t struct_bytes;     /* set by dfrt_shape_options_init */
  uint32_t ctas;             /* 0 (default): one a multiprocessor */
  uint32_t cluster_size;     /* the largest that will do; default 1 */
  uint32_t smallest_cluster; /* default 1 */
  uint64_t shared_bytes;     /* of a CTA; 0 (default): all there is */
  uint32_t any_residency;    /* 1: for ticket plans, which make progress with
                                any resident CTAs; default 0 */
  uint32_t cooperation;      /* 0: never, 1 (default): where the driver takes
                                it, 2: always */
} dfrt_shape_options;
DFRT_OPTIONS(dfrt_shape_options)

/* Chooses a launch shape; a cluster size that the device refuses is halved.
 * `refused`, where not null, becomes the reasons, a line each, or "". */
dfrt_status dfrt_kernel_shape(const dfrt_kernel *kernel,
                              const dfrt_shape_options *options,
                              dfrt_launch_shape *shape, const char **refused);
/* Sets the topology of plans for this shape. */
void dfrt_shape_plan_options(const dfrt_launch_shape *shape,
                             dfrt_plan_options *options);

/* The most that any plan will need. Start with zeros (`struct_bytes` set by the
 * init function). */
typedef struct dfrt_launch_maxima {
  uint32_t struct_bytes;
  uint32_t flags;           /* of global slots */
  uint64_t slot_bytes;      /* global slot arena */
  uint64_t collected_bytes; /* largest stack of collected fields */
  uint64_t plan_bytes;
} dfrt_launch_maxima;
DFRT_OPTIONS(dfrt_launch_maxima)
/* Raises the maxima to what `plan` needs. */
dfrt_status dfrt_launch_maxima_include(dfrt_launch_maxima *maxima,
                                       const dfrt_plan *plan);
/* Device memory that a launcher needs: flags, counters, slots, scratch, plan.
 */
dfrt_status dfrt_launcher_bytes(const dfrt_kernel *kernel,
                                const dfrt_launch_shape *shape,
                                const dfrt_launch_maxima *maxima,
                                uint64_t *bytes);

typedef struct dfrt_launcher dfrt_launcher;

typedef struct dfrt_launcher_options {
  uint32_t struct_bytes; /* set by dfrt_launcher_options_init */
  uint32_t staging;      /* pinned buffers for plans in flight; default 3 */
  void *memory; /* device memory, aligned to 256 bytes, that outlives the
                   launcher; null (default): allocated */
  uint64_t memory_bytes;
  void *stream; /* in which the memory is initialised */
} dfrt_launcher_options;
DFRT_OPTIONS(dfrt_launcher_options)

/* A launcher is the state of one launch at a time, used by one thread at a
 * time: launches that may overlap take one launcher each. */
dfrt_status dfrt_launcher_create(const dfrt_kernel *kernel,
                                 const dfrt_launch_shape *shape,
                                 const dfrt_launch_maxima *maxima,
                                 const dfrt_launcher_options *options,
                                 dfrt_launcher **launcher);
/* Waits for nothing: release it when its launches have ended. */
void dfrt_launcher_release(dfrt_launcher *launcher);

/* Sets the arguments of the launches from now on: device addresses, shapes.
 * Other pointers are another call, and compile nothing. Fails, naming argument
 * and limit, when one is not aligned as the kernel needs it. */
dfrt_status dfrt_launcher_bind(dfrt_launcher *launcher,
                               const dfrt_tensor *arguments, uint32_t count);
/* Makes `plan` the plan of the launches from now on, by a copy in `stream`.
 * DFRT_BUSY while all staging buffers are in use. Everything that makes the
 * plan unfit for kernel, shape or maxima is named. */
dfrt_status dfrt_launcher_upload(dfrt_launcher *launcher, const dfrt_plan *plan,
                                 void *stream);
/* Launches. DFRT_BUSY while a launch in another stream uses the launcher. */
dfrt_status dfrt_launcher_launch(dfrt_launcher *launcher, void *stream);

/* Graphs. Upload and launch may be captured. A replay then copies the plan from
 * one staging buffer and launches with the arguments of the capture: other
 * arguments need another capture, another plan does not.
 *   between replays: dfrt_launcher_restage(launcher, plan)  DFRT_BUSY while a
 *                    replay may still read the plan before
 *   after each:      dfrt_launcher_replayed(launcher, stream)
 *   graph destroyed: dfrt_launcher_forget(launcher)
 * The plan has to have the capacity of the captured one (dfrt_capacity).
 * Nothing else is launched with the launcher while a replay runs, and a launch
 * outside of the graph needs an upload outside of it before. */
dfrt_status dfrt_launcher_restage(dfrt_launcher *launcher,
                                  const dfrt_plan *plan);
dfrt_status dfrt_launcher_replayed(dfrt_launcher *launcher, void *stream);
dfrt_status dfrt_launcher_forget(dfrt_launcher *launcher);

/* Waits for what is in `stream`. After a failure, which says what the watchdog
 * found, the workspace has to be initialised again before the next launch. */
dfrt_status dfrt_launcher_wait(dfrt_launcher *launcher, void *stream);
dfrt_status dfrt_launcher_initialise(dfrt_launcher *launcher, void *stream);
/* Who waited for what when a wait of a watchdog build ran out, a line each,
 * with the names of the last plan. Readable after the context was lost. */
dfrt_status dfrt_launcher_watchdog(dfrt_launcher *launcher, const char **text);

/* From the next launch on the kernel, which has to be one with a timeline,
 * records up to `capacity` instructions of each role of each CTA, in memory
 * that is allocated here; what it recorded before is forgotten, as has to be
 * done before each launch that is to be read. 0 ends it. */
dfrt_status dfrt_launcher_trace(dfrt_launcher *launcher, uint32_t capacity,
                                void *stream);
/* Waits for what is in `stream`. `timeline` becomes what the last launch left,
 * as KernelABI.h lays it out: dfrt_timeline_lanes, then dfrt_timeline_records.
 * Valid until the next call with the launcher. */
dfrt_status dfrt_launcher_timeline(dfrt_launcher *launcher, void *stream,
                                   const void **timeline, uint64_t *bytes);

/* ---- Planning on the device ----------------------------------------------
 *
 * For lengths and counts that the device makes, or that change inside a graph.
 * A small kernel reads them from the launcher's arguments and writes the plan
 * where the program's kernel reads it; captured with the launch, each replay
 * plans anew and the host does nothing:
 *
 *   dfrt_device_planner_create(device, artifact, bound, n, &options, &planner);
 *   dfrt_launch_maxima_include_planner(&maxima, planner);
 *   dfrt_launcher_create(kernel, &shape, &maxima, NULL, &launcher);
 *   dfrt_launcher_bind(launcher, tensors, n);
 *   capture: dfrt_launcher_plan(launcher, planner, stream);
 *            dfrt_launcher_launch(launcher, stream);
 *   now and then, not while capturing:
 *            dfrt_device_planner_report(planner, stream, NULL, NULL);
 *
 * A batch beyond the bound is refused there: the launch computes nothing and
 * the next report fails with the reason. */
typedef struct dfrt_device_planner dfrt_device_planner;

/* `bound`: host tensors as for dfrt_plan_make, of a batch that bounds all
 * others. The shapes are those of all of them; no task is longer than its
 * longest one; all tasks that are called tile by tile have together no more
 * tiles than it has. `device`: a CUDA device, or the CPU, where only
 * dfrt_device_planner_plan can be called. Of the options, topology and profile
 * are read; others must have their defaults or what such plans have (solver
 * "line", transport global). DFRT_UNSUPPORTED names the stage of a program that
 * cannot be planned on a device; DevicePlanner.h says which can. */
dfrt_status dfrt_device_planner_create(const dfrt_device *device,
                                       const dfrt_artifact *artifact,
                                       const dfrt_tensor *bound, uint32_t count,
                                       const dfrt_plan_options *options,
                                       dfrt_device_planner **planner);
void dfrt_device_planner_release(dfrt_device_planner *planner);
/* The plan of a batch in host memory, made on the host from the same source:
 * the bytes that the device writes, and the checksum. Release it as any plan.
 * Fails as the device would refuse the batch. */
dfrt_status dfrt_device_planner_plan(const dfrt_device_planner *planner,
                                     const dfrt_tensor *arguments,
                                     uint32_t count, dfrt_plan **plan);
/* Raises the maxima to what any plan of the planner needs. */
dfrt_status
dfrt_launch_maxima_include_planner(dfrt_launch_maxima *maxima,
                                   const dfrt_device_planner *planner);
/* Plans in `stream`, instead of an upload: the plan of the launches from now
 * on, from the values that the bound arguments have when the stream comes to
 * it; those that planning reads have the shapes of the planner's bound. The
 * planner may be released afterwards, and serves one stream at a time. */
dfrt_status dfrt_launcher_plan(dfrt_launcher *launcher,
                               const dfrt_device_planner *planner,
                               void *stream);
/* Waits for what is in `stream`. `plans` and `refusals`, where not null, become
 * the numbers so far. Fails with the first refusal that was not told yet. */
dfrt_status dfrt_device_planner_report(const dfrt_device_planner *planner,
                                       void *stream, uint64_t *plans,
                                       uint64_t *refusals);
/* Waits for what is in `stream`. `bytes` becomes the plan that the device has,
 * as dfrt_plan_load takes it; valid until the next call with the launcher. */
dfrt_status dfrt_launcher_read_plan(dfrt_launcher *launcher, void *stream,
                                    const void **bytes, uint64_t *size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DFRT_DFRT_H */
