//===- Try.h - Leaving a test with a failure --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_TRY_H
#define DATAFLOW_TEST_SM90_TRY_H

#include "dataflow/Schedule/Status.h"

/// Leaves the function with the failure of `expression`, if it failed.
#define TRY(expression)                                                        \
  do {                                                                         \
    if (dfrt::Status status_ = (expression); !status_.ok())                    \
      return status_;                                                          \
  } while (false)
/// Declares `name` with the value of `expression`, or leaves with its failure.
#define TAKE(name, expression)                                                 \
  auto name##OrFailure = (expression);                                         \
  if (!name##OrFailure)                                                        \
    return name##OrFailure.status();                                           \
  auto &name = *name##OrFailure

#endif // DATAFLOW_TEST_SM90_TRY_H
