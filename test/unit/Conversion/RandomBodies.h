//===- RandomBodies.h - Bodies of tensor operations -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_CONVERSION_RANDOMBODIES_H
#define DATAFLOW_TEST_UNIT_CONVERSION_RANDOMBODIES_H

#include "dataflow/Schedule/Program.h"

#include <string>

namespace conversiontest {

/// A function `@f` of (index, index, tensor<?xAxBxf32>) whose operations depend
/// on each other in all ways: elementwise, broadcasts, reductions, products,
/// transposes, rows inserted in loops, scalars read and written, branches.
struct RandomBody {
  std::string text;
  dfrt::Record output;
};
RandomBody randomBody(unsigned seed);

} // namespace conversiontest

#endif // DATAFLOW_TEST_UNIT_CONVERSION_RANDOMBODIES_H
