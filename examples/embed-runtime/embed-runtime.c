/*===- embed-runtime.c - An engine that loads and launches --------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|*   embed-runtime ragged_sum.dfa [cpu|cuda]
|*
|* What a serving engine does with an artifact: load it once; then for each
|* batch plan, launch, use the outputs. No compiler, no MLIR, no framework. The
|* program is the one of examples/hello: sums[i] becomes the sum of the first
|* lengths[i] elements of row i of x.
|*
\*===----------------------------------------------------------------------===*/

#include "memory.h"

#include "dfrt/dfrt.h"

#include <stdint.h>
#include <stdio.h>

enum { kRows = 8, kColumns = 5000, kBatches = 3 };

/* Prints what failed. Every call of the runtime leaves its message behind. */
static int complain(const char *what) {
  fprintf(stderr, "embed-runtime: %s: %s\n", what, dfrt_last_error());
  return 1;
}

/* The arguments of the program, in its order. */
struct batch {
  int64_t xShape[2], rows[1];
  float *x, *sums;
  int32_t *lengths;
  dfrt_tensor tensors[3];
};

static int makeBatch(struct batch *batch, const char *device) {
  batch->xShape[0] = batch->rows[0] = kRows;
  batch->xShape[1] = kColumns;
  batch->x = allocate(device, sizeof(float) * kRows * kColumns);
  batch->lengths = allocate(device, sizeof(int32_t) * kRows);
  batch->sums = allocate(device, sizeof(float) * kRows);
  if (!batch->x || !batch->lengths || !batch->sums)
    return 1;
  for (int i = 0; i < kRows * kColumns; ++i)
    batch->x[i] = (float)(i % 17) - 8;
  dfrt_tensor x = {batch->x, batch->xShape, 2, DFRT_F32};
  dfrt_tensor lengths = {batch->lengths, batch->rows, 1, DFRT_I32};
  dfrt_tensor sums = {batch->sums, batch->rows, 1, DFRT_F32};
  batch->tensors[0] = x;
  batch->tensors[1] = lengths;
  batch->tensors[2] = sums;
  return 0;
}

/* The sums are small integers, so they are exact. */
static int checkSums(const struct batch *batch, int number) {
  for (int row = 0; row < kRows; ++row) {
    float expected = 0;
    for (int i = 0; i < batch->lengths[row]; ++i)
      expected += batch->x[row * kColumns + i];
    if (batch->sums[row] != expected) {
      fprintf(stderr,
              "embed-runtime: batch %d: row %d is %g, but should be %g\n",
              number, row, batch->sums[row], expected);
      return 1;
    }
  }
  return 0;
}

/* On a GPU the topology of a plan is that of a launch of one of the artifact's
 * kernels; the CPU takes any. */
static int chooseTopology(const char *name, const dfrt_device *device,
                          const dfrt_artifact *artifact,
                          dfrt_plan_options *options) {
  dfrt_plan_options_init(options);
  if (name[1] == 'p') { /* "cpu" */
    options->ctas = 16;
    return 0;
  }
  dfrt_kernel *kernel = NULL;
  dfrt_launch_shape shape;
  if (dfrt_kernel_load(device, artifact, NULL, &kernel) != DFRT_OK)
    return complain("no kernel");
  dfrt_status status = dfrt_kernel_shape(kernel, NULL, &shape, NULL);
  if (status != DFRT_OK)
    complain("no launch shape");
  else
    dfrt_shape_plan_options(&shape, options);
  dfrt_kernel_release(kernel);
  return status != DFRT_OK;
}

/* The lengths of the next batch: nothing is compiled for them. */
static void nextLengths(struct batch *batch, int number) {
  for (int row = 0; row < kRows; ++row)
    batch->lengths[row] = (row * 1237 + number * 911) % (kColumns + 1);
  batch->lengths[number] = 0; /* an empty row is no special case */
}

static int runBatches(const dfrt_device *device, const dfrt_artifact *artifact,
                      dfrt_planner *planner, struct batch *batch) {
  for (int number = 0; number < kBatches; ++number) {
    nextLengths(batch, number);
    const dfrt_plan *plan = NULL;
    uint32_t origin = 0;
    if (dfrt_planner_plan(planner, batch->tensors, 3, &plan, &origin) !=
        DFRT_OK)
      return complain("no plan");
    if (dfrt_launch(device, artifact, plan, batch->tensors, 3, NULL) != DFRT_OK)
      return complain("the launch failed");
    if (checkSums(batch, number))
      return 1;
    printf("batch %d: %d rows are right\n", number, (int)kRows);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: embed-runtime ragged_sum.dfa [cpu|cuda]\n");
    return 2;
  }
  const char *name = argc == 3 ? argv[2] : "cpu";

  /* Once. */
  dfrt_device *device = NULL;
  if (dfrt_device_open(name, &device) != DFRT_OK)
    return complain("no device");
  dfrt_artifact *artifact = NULL;
  if (dfrt_artifact_load_file(argv[1], &artifact) != DFRT_OK)
    return complain(argv[1]);
  dfrt_plan_options plans;
  if (chooseTopology(name, device, artifact, &plans))
    return 1;
  dfrt_planner_options options;
  dfrt_planner_options_init(&options);
  options.plan_options = &plans;
  dfrt_planner *planner = NULL;
  if (dfrt_planner_create(artifact, &options, &planner) != DFRT_OK)
    return complain("no planner");
  struct batch batch;
  if (makeBatch(&batch, name))
    return 1;

  /* For each batch. */
  int failed = runBatches(device, artifact, planner, &batch);

  dfrt_planner_release(planner);
  dfrt_artifact_release(artifact);
  dfrt_device_release(device);
  return failed;
}
