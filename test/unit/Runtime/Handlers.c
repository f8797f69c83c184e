/*===- Handlers.c - Handlers of the test programs -----------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* What the compiler would generate for the programs in TestPrograms.cpp, by
|* hand. Arithmetic is exact but for `sums`, and reductions are associative but
|* not commutative, so that a part that is lost, doubled or out of order shows.
|* REAL is float for kind cpu and double for kind cpuReference.
|*
\*===----------------------------------------------------------------------===*/

#ifndef REAL
#define REAL float
#endif

typedef long long i64;
typedef unsigned long long u64;

#define INDEX(k) (*(i64 *)arguments[k])
#define DATA(type, k) ((type *)((i64 *)arguments[k])[1])
#define RECORD(type, k) ((type *)arguments[k])

enum { MULTIPLIER = 1000003, WIDTH = 8, PART = 2 };

/* ---- ragged: a rolling hash of every row's values ------------------------ */
/* Record: head {weight: u64}, four slices of {hash: u64[2]}. */

void ragged_part(void **arguments) {
  i64 begin = INDEX(1), end = INDEX(2);
  const i64 *values = DATA(i64, 3);
  u64 *weight = RECORD(u64, 4), *hash = RECORD(u64, 5);
  u64 *scratch = RECORD(u64, 6);
  scratch[0] = 1; /* weight, kept in scratch to see that it is ours */
  for (int j = 0; j < WIDTH; ++j)
    scratch[1 + j] = 0;
  for (i64 i = begin; i < end; ++i) {
    scratch[0] *= MULTIPLIER;
    for (int j = 0; j < WIDTH; ++j)
      scratch[1 + j] = scratch[1 + j] * MULTIPLIER + (u64)values[i] * (j + 1);
  }
  weight[0] = scratch[0];
  for (int j = 0; j < WIDTH; ++j)
    hash[j] = scratch[1 + j];
}

static void merge(const u64 *weightA, const u64 *a, const u64 *weightB,
                  const u64 *b, u64 *weight, u64 *hash, int count) {
  for (int j = 0; j < count; ++j)
    hash[j] = a[j] * weightB[0] + b[j];
  weight[0] = weightA[0] * weightB[0];
}

void ragged_merge(void **arguments) {
  merge(RECORD(u64, 0), RECORD(u64, 1), RECORD(u64, 2), RECORD(u64, 3),
        RECORD(u64, 4), RECORD(u64, 5), WIDTH);
}

void ragged_merge_sliced(void **arguments) {
  merge(RECORD(u64, 1), RECORD(u64, 2), RECORD(u64, 3), RECORD(u64, 4),
        RECORD(u64, 5), RECORD(u64, 6), PART);
}

void ragged_identity(void **arguments) {
  RECORD(u64, 0)[0] = 1;
  for (int j = 0; j < WIDTH; ++j)
    RECORD(u64, 1)[j] = 0;
}

void ragged_store(void **arguments) {
  i64 row = INDEX(0);
  for (int j = 0; j < WIDTH; ++j)
    DATA(u64, 3)[row * WIDTH + j] = RECORD(u64, 2)[j];
  DATA(u64, 4)[row] = RECORD(u64, 1)[0];
}

void ragged_store_sliced(void **arguments) {
  i64 row = INDEX(0), slice = INDEX(1);
  for (int j = 0; j < PART; ++j)
    DATA(u64, 4)[row * WIDTH + slice * PART + j] = RECORD(u64, 3)[j];
  if (slice == 0)
    DATA(u64, 5)[row] = RECORD(u64, 2)[0];
}

/* ---- spread: per tile, collected, and back to every tile ----------------- */
/* tile: {total: REAL[2] over {sum, maximum}, count: i64}
 * whole: {total: REAL[2], tiles: i64} */

void spread_tile(void **arguments) {
  i64 begin = INDEX(1), end = INDEX(2);
  const float *values = DATA(float, 3);
  REAL *total = RECORD(REAL, 4);
  i64 *count = (i64 *)(RECORD(char, 4) + 16);
  total[0] = 0;
  total[1] = values[begin];
  for (i64 i = begin; i < end; ++i) {
    total[0] += values[i];
    total[1] = values[i] > total[1] ? values[i] : total[1];
  }
  count[0] = end - begin;
}

void spread_whole(void **arguments) {
  i64 tiles = INDEX(1);
  const REAL *totals = RECORD(REAL, 2);
  const i64 *counts = RECORD(i64, 3);
  REAL *total = RECORD(REAL, 4);
  i64 *result = (i64 *)(RECORD(char, 4) + 16);
  total[0] = total[1] = 0;
  result[0] = 0;
  for (i64 t = 0; t < tiles; ++t) {
    total[0] += totals[2 * t] * (REAL)(t + 1);
    total[1] += totals[2 * t + 1];
    result[0] = (i64)((u64)result[0] * 31 + (u64)counts[t]);
  }
}

void spread_emit(void **arguments) {
  i64 begin = INDEX(1), end = INDEX(2);
  const float *values = DATA(float, 3);
  const REAL *tile = RECORD(REAL, 4), *whole = RECORD(REAL, 6);
  const i64 *code = (const i64 *)(RECORD(char, 6) + 16);
  for (i64 i = begin; i < end; ++i)
    DATA(REAL, 8)
  [i] = values[i] + 2 * tile[0] + tile[1] + whole[0] - whole[1] +
        (REAL)(code[0] % 64);
}

/* ---- route: rows of every source go to the targets named by an index ----- */
/* source: {hash: u64[4, 2], weight: u64[4]}; row: {hash: u64[2], weight: u64}
 */

void route_pick(void **arguments) {
  i64 source = INDEX(0);
  const i64 *values = DATA(i64, 1);
  u64 *hash = RECORD(u64, 2), *weight = (u64 *)(RECORD(char, 2) + 64);
  for (int row = 0; row < 4; ++row) {
    u64 value = (u64)values[source * 4 + row];
    hash[2 * row] = value;
    hash[2 * row + 1] = 3 * value + 1;
    weight[row] = MULTIPLIER;
  }
}

void route_merge(void **arguments) {
  const u64 *a = RECORD(u64, 0), *b = RECORD(u64, 2);
  u64 *result = RECORD(u64, 4);
  result[0] = a[0] * b[2] + b[0];
  result[1] = a[1] * b[2] + b[1];
  result[2] = a[2] * b[2];
}

void route_identity(void **arguments) {
  RECORD(u64, 0)[0] = RECORD(u64, 0)[1] = 0;
  RECORD(u64, 0)[2] = 1;
}

void route_put(void **arguments) {
  i64 target = INDEX(0);
  DATA(u64, 3)[2 * target] = RECORD(u64, 1)[0];
  DATA(u64, 3)[2 * target + 1] = RECORD(u64, 1)[1];
}

/* ---- sums: rounded, so that the order of additions shows ----------------- */
/* Record: no head, four slices of {total: REAL[4]}. */

enum { SUMS = 16, SUMS_PART = 4 };

void sums_part(void **arguments) {
  i64 begin = INDEX(1), end = INDEX(2);
  const float *values = DATA(float, 3);
  REAL *total = RECORD(REAL, 5);
  for (int j = 0; j < SUMS; ++j)
    total[j] = 0;
  for (i64 i = begin; i < end; ++i)
    for (int j = 0; j < SUMS; ++j)
      total[j] += values[i] * (REAL)(j + 1);
}

static void add(const REAL *a, const REAL *b, REAL *total, int count) {
  for (int j = 0; j < count; ++j)
    total[j] = a[j] + b[j];
}

void sums_add(void **arguments) {
  add(RECORD(REAL, 1), RECORD(REAL, 3), RECORD(REAL, 5), SUMS);
}

void sums_add_sliced(void **arguments) {
  add(RECORD(REAL, 2), RECORD(REAL, 4), RECORD(REAL, 6), SUMS_PART);
}

void sums_identity(void **arguments) {
  for (int j = 0; j < SUMS; ++j)
    RECORD(REAL, 1)[j] = 0;
}

void sums_store(void **arguments) {
  i64 row = INDEX(0);
  for (int j = 0; j < SUMS; ++j)
    DATA(REAL, 3)[row * SUMS + j] = RECORD(REAL, 2)[j];
}

void sums_store_sliced(void **arguments) {
  i64 row = INDEX(0), slice = INDEX(1);
  for (int j = 0; j < SUMS_PART; ++j)
    DATA(REAL, 4)[row * SUMS + slice * SUMS_PART + j] = RECORD(REAL, 3)[j];
}
