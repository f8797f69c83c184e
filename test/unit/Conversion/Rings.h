//===- Rings.h - Streams without end ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What parts of handlers call: rings that never come round. First all lanes of
// a load part fill them, then the threads of a compute part take what is there.
// A stage holds NaNs before it is filled, and for each thread after that thread
// gave it back.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_RINGS_H
#define DATAFLOW_TEST_UNIT_CONVERSION_RINGS_H

#include <cstdint>
#include <string>

namespace conversiontest {

/// Forgets all streams.
void resetRings();
/// The number of stages that were filled and that were given back.
unsigned filledStages();
unsigned givenStages();
/// What the calls did wrong, or nothing.
std::string ringFault();

} // namespace conversiontest

extern "C" {
int32_t dfk_lane();
char *dfk_take(int32_t full, int32_t empty, int32_t base, int32_t depth,
               int32_t stageBytes, int32_t *counter);
void dfk_give(int32_t empty, int32_t depth, int32_t *counter);
int32_t dfk_fill_begin(int32_t full, int32_t empty, int32_t base, int32_t depth,
                       int32_t stageBytes, int32_t *counter, int32_t bytes);
void dfk_fill_run(int32_t full, int32_t depth, int32_t *counter, int32_t to,
                  char *from, int32_t bytes, int32_t lane);
void dfk_fill_run_keep(int32_t full, int32_t depth, int32_t *counter,
                       int32_t to, char *from, int32_t bytes, int32_t lane);
void dfk_fill_end(int32_t *counter);
}

#endif // DATAFLOW_TEST_UNIT_CONVERSION_RINGS_H
