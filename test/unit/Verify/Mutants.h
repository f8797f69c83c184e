//===- Mutants.h - Ways to break a legal schedule ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A class of mutants finds every place of a schedule where one kind of mistake
// can be made and says how to make it. It knows the contract of `Schedule` but
// nothing about the verifier. Every mutant is illegal by construction: places
// where the change would do no harm (a wait that another one covers) are left
// out.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_VERIFY_MUTANTS_H
#define DATAFLOW_TEST_UNIT_VERIFY_MUTANTS_H

#include "dataflow/Schedule/Schedule.h"

#include <functional>
#include <string>
#include <vector>

namespace dfrt::test {

struct Mutation {
  std::string what; ///< e.g. "operand 3"
  std::function<void(Schedule &)> apply;
};

struct MutantClass {
  const char *name;
  void (*find)(const Problem &, const Schedule &, std::vector<Mutation> &);
};

/// All classes, by name.
const std::vector<MutantClass> &mutantClasses();

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_VERIFY_MUTANTS_H
