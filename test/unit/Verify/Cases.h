//===- Cases.h - Legal schedules written by hand ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small problems, each with one legal schedule. Tests break a copy.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_VERIFY_CASES_H
#define DATAFLOW_TEST_UNIT_VERIFY_CASES_H

#include "Builder.h"

#include <ostream>

namespace dfrt::test {

struct Case {
  const char *name = "";
  Problem problem;
  Schedule schedule;
};

inline void PrintTo(const Case &value, std::ostream *os) { *os << value.name; }

/// A task of five tiles split over two CTAs and combined slice by slice through
/// global slots, and a task with an empty range whose reduce is left out.
///   CTA 0: i0 part [0,3)   i1 part of task 1   i2 merge slice 0   i3 out
///          slice 0   i4 out of task 1
///   CTA 1: i5 part [3,5)   i6 merge slice 1   i7 out slice 1
Case scatterGlobal();
/// The same through the shared memory of a cluster of two.
Case scatterCluster();
/// Three pieces on three CTAs, combined as a tree.
Case tree();
/// Tiles of two tasks (3 and 0), collected and read by a finalize; a second
/// finalize walks the tiles, with a sliver of a last tile for an exact variant.
Case collect();
/// Rows of two records sent to other tasks; one target gets two, one gets one.
Case rekeyRows();
/// Tiles sent to other tasks whole and combined in two steps.
Case rekeyTiles();
/// Of tasks (e, t), all with one t, collected.
Case rekeyAll();
/// One record to the finalizes of two CTAs of a cluster.
Case multicast();
/// Draws connected by global flags, with a shared slot inside a draw.
Case tickets();
/// Three tasks made on CTA 0 and used on CTA 1 through the same memory.
Case reuse();
/// One record that two calls of another CTA read; the first waits for both.
Case twoReaders();

std::vector<Case> allCases();

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_VERIFY_CASES_H
