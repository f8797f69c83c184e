//===- BodyTest.cpp - Bodies compiled, loaded and called ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Loaded.h"
#include "gtest/gtest.h"

using namespace cputest;
using dfrt::ElementType;
using mlir::df::CPUFunction;

namespace {

mlir::FailureOr<dfrt::CodeBlob> compile(Source &source,
                                        std::vector<CPUFunction> functions,
                                        Kind kind = Kind::cpu) {
  return mlir::df::compileForCPU(functions, kind,
                                 mlir::UnknownLoc::get(&source.context));
}

TEST(Bodies, SumsARaggedRow) {
  Source source(R"(
    func.func @sum(%row: index, %begin: index, %end: index,
                   %x: tensor<?x?xf32>) -> f32 {
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %i = %begin to %end step %c1 iter_args(%s = %zero) -> f32 {
        %v = tensor.extract %x[%row, %i] : tensor<?x?xf32>
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      return %sum : f32
    })");
  CPUFunction function = source.function("sum");
  function.indices = 3;
  function.operands = 1;
  function.output = record({field("sum", ElementType::f32)});
  auto blob = compile(source, {function});
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  EXPECT_EQ(blob->functions.size(), 1u);
  Library library(*blob);
  std::vector<float> x(3 * 10);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  Descriptor descriptor(x.data(), {3, 10});
  int64_t row = 1, begin = 2, end = 6;
  float sum = -1;
  library.call("sum",
               {&row, &begin, &end, descriptor.words.data(), &sum, nullptr});
  EXPECT_EQ(sum, 12 + 13 + 14 + 15);

  auto reference = compile(source, {function}, Kind::cpuReference);
  ASSERT_TRUE(mlir::succeeded(reference)) << source.errors;
  Library exact(*reference);
  double wide = -1;
  exact.call("sum",
             {&row, &begin, &end, descriptor.words.data(), &wide, nullptr});
  EXPECT_EQ(wide, 54.0);
}

} // namespace
