//===- DistributionTest.cpp - Bodies on several threads -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the device target makes of a body gives the same bits on any number of
// threads in any order, and the cpu's numbers.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "RandomBodies.h"
#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Transforms/Passes.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace conversiontest;
using namespace mlir;
using df::HandlerFunction;

namespace {

struct Source {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  Source() {
    DialectRegistry registry;
    registry.insert<df::DataflowDialect>();
    df::registerHandlerToLLVMDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  void parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
  }
  HandlerFunction function(const std::string &name) {
    HandlerFunction result;
    result.symbol = name;
    if (auto op = module->lookupSymbol<func::FuncOp>(name))
      result.body = &op.getBody();
    return result;
  }
};

dfrt::Record makeRecord(std::vector<dfrt::Field> fields, uint32_t slices = 1) {
  dfrt::Record result;
  result.fields = std::move(fields);
  result.slices = slices;
  EXPECT_TRUE(dfrt::layoutRecord(result).ok());
  return result;
}

dfrt::Field makeField(std::vector<int64_t> shape, int32_t separable = -1,
                      dfrt::ElementType element = dfrt::ElementType::f32) {
  dfrt::Field result;
  result.name = "f";
  result.shape = std::move(shape);
  result.separable = separable;
  result.element = element;
  return result;
}

/// All functions of the program in `path`. Dynamic dimensions have `dynamic`
/// elements, coordinates of tasks are 1, and pieces are [begin, end).
void testProgram(const std::string &path, const std::string &parameters,
                 int64_t dynamic, int64_t begin, int64_t end,
                 double tolerance) {
  SCOPED_TRACE(path);
  Source source;
  source.module =
      parseSourceFile<ModuleOp>(path, ParserConfig(&source.context));
  ASSERT_TRUE(source.module);
  PassManager passes(&source.context);
  df::SpecializeProgramOptions options;
  options.params = parameters;
  passes.nest<df::ProgramOp>().addPass(df::createSpecializeProgram(options));
  ASSERT_TRUE(succeeded(passes.run(*source.module)));
  auto program = *source.module->getOps<df::ProgramOp>().begin();
  auto planned = df::importProgram(program);
  ASSERT_TRUE(succeeded(planned));
  df::ProgramFunctions list(program, *planned);
  auto functions = list.collect(/*genericOnly=*/false);
  ASSERT_TRUE(succeeded(functions));
  std::vector<Sizes> sizes;
  for (const HandlerFunction &function : *functions) {
    sizes.emplace_back();
    sizes.back().dynamic = dynamic;
    for (const dfrt::Stage &stage : planned->stages) {
      if (StringRef(function.symbol).split('$').first != stage.name ||
          stage.kind == dfrt::StageKind::reduce)
        continue;
      std::vector<int64_t> &indices = sizes.back().indices;
      indices.assign(planned->domains[stage.domain].axes.size(), 1);
      if (stage.range != dfrt::kNone)
        indices.insert(indices.end(), {begin, end});
    }
  }
  expectEqual(*functions, sizes, tolerance, source.context);
}

const std::string kExamples = DATAFLOW_SOURCE_DIR "/examples/";

/// A body that returns one tensor<4x8xf32>, made of %x, tensor<?x4x8xf32>.
void testBody(const std::string &code) {
  Source source;
  source.parse("func.func @f(%i: index, %x: tensor<?x4x8xf32>) -> "
               "tensor<4x8xf32> {\n" +
               code + "}\n");
  ASSERT_TRUE(source.module);
  HandlerFunction function = source.function("f");
  function.indices = 1;
  function.operands = 1;
  function.output = makeRecord({makeField({4, 8})});
  expectEqual({function}, {Sizes()}, 1e-5, source.context);
}

const char *kSlice =
    "%a = tensor.extract_slice %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : "
    "tensor<?x4x8xf32> to tensor<4x8xf32>\n";

} // namespace

TEST(Distribution, RandomBodies) {
  for (unsigned seed = 0; seed < 48; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBody random = randomBody(seed);
    Source source;
    source.parse(random.text);
    ASSERT_TRUE(source.module);
    HandlerFunction function = source.function("f");
    function.indices = 2;
    function.operands = 1;
    function.output = random.output;
    Sizes sizes;
    sizes.indices = {0, 3};
    expectEqual({function}, {sizes}, 1e-3, source.context);
    ASSERT_FALSE(HasFailure()) << random.text;
  }
}

TEST(Distribution, RaggedSum) {
  testProgram(kExamples + "hello/ragged_sum.mlir", "", 64, 3, 40, 1e-5);
}

TEST(Distribution, PagedDecode) {
  for (const char *parameters : {"heads=5,element=f16", "heads=3,element=bf16",
                                 "heads=2,element=f8E4M3FN"})
    testProgram(kExamples + "mla-decode/mla_decode.mlir", parameters, 8, 0, 130,
                2e-2);
}

TEST(Distribution, DenseDecode) {
  testProgram(kExamples + "mla-decode/mla_decode_dense.mlir",
              "heads=2,element=f32", 150, 0, 130, 1e-4);
}

// Programs in the files that the environment names, one path a line.
TEST(Distribution, ProgramsOfTheEnvironment) {
  const char *files = std::getenv("DATAFLOW_TEST_PROGRAMS");
  if (!files)
    GTEST_SKIP() << "DATAFLOW_TEST_PROGRAMS is not set";
  SmallVector<StringRef> paths;
  StringRef(files).split(paths, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef path : paths)
    testProgram(path.str(), "", 40, 3, 20, 5e-2);
}

TEST(Distribution, SlicesAndStacks) {
  Source source;
  source.parse(R"(
    func.func @f(%p: tensor<4x6xf32>, %q: tensor<?x4x6xf32>, %n: tensor<?xi32>)
        -> (tensor<4x6xf16>, i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %count = tensor.dim %q, %c0 : tensor<?x4x6xf32>
      %r:2 = scf.for %i = %c0 to %count step %c1 iter_args(%s = %p, %m = %zero)
          -> (tensor<4x6xf32>, i32) {
        %t = tensor.extract_slice %q[%i, 0, 0] [1, 4, 6] [1, 1, 1]
            : tensor<?x4x6xf32> to tensor<4x6xf32>
        %u = arith.addf %s, %t : tensor<4x6xf32>
        %k = tensor.extract %n[%i] : tensor<?xi32>
        %l = arith.addi %m, %k : i32
        scf.yield %u, %l : tensor<4x6xf32>, i32
      }
      %h = arith.truncf %r#0 : tensor<4x6xf32> to tensor<4x6xf16>
      return %h, %r#1 : tensor<4x6xf16>, i32
    })");
  HandlerFunction function = source.function("f");
  function.inputs.push_back({makeRecord({makeField({4, 6}, 1)}, 3), false});
  function.inputs.push_back(
      {makeRecord(
           {makeField({4, 6}), makeField({}, -1, dfrt::ElementType::i32)}),
       true});
  function.output = makeRecord({makeField({4, 6}, 1, dfrt::ElementType::f16),
                                makeField({}, -1, dfrt::ElementType::i32)},
                               3);
  expectEqual({function}, {Sizes()}, 0, source.context);
}

TEST(Distribution, OutputsAreUpdated) {
  Source source;
  source.parse(R"(
    func.func @f(%i: index, %v: tensor<8xf32>, %o: tensor<?x8xf32>, %k: tensor<?xi32>)
        -> (tensor<?x8xf32>, tensor<?xi32>) {
      %c1 = arith.constant 1 : i32
      %old = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
      %new = arith.addf %old, %v : tensor<8xf32>
      %p = tensor.insert_slice %new into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
      %n = tensor.extract %k[%i] : tensor<?xi32>
      %m = arith.addi %n, %c1 : i32
      %q = tensor.insert %m into %k[%i] : tensor<?xi32>
      return %p, %q : tensor<?x8xf32>, tensor<?xi32>
    })");
  HandlerFunction function = source.function("f");
  function.indices = 1;
  function.inputs.push_back({makeRecord({makeField({8})}), false});
  function.outputs = 2;
  Sizes sizes;
  sizes.indices = {3};
  expectEqual({function}, {sizes}, 0, source.context);
}

TEST(Distribution, ElementsWrittenTwice) {
  // Not injective: all columns of a row change one element.
  testBody(std::string(kSlice) + R"(
    %e = tensor.empty() : tensor<4x8xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, 0)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.subf %v, %o : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  )");
}

TEST(Distribution, DependsOnThePreviousIterationOnly) {
  // The barrier in front of the scalar separates the loop from what is before
  // it; the load needs one because of the previous iteration's store.
  testBody(std::string(kSlice) + R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %b = arith.addf %a, %a : tensor<4x8xf32>
    %s = tensor.extract %b[%c0, %c0] : tensor<4x8xf32>
    %r:2 = scf.for %n = %c0 to %c3 step %c1 iter_args(%y = %b, %q = %s) -> (tensor<4x8xf32>, f32) {
      %v = tensor.extract %y[%n, %c0] : tensor<4x8xf32>
      %w = arith.addf %v, %s : f32
      %m = arith.addi %n, %c1 : index
      %z = tensor.insert %w into %y[%m, %c0] : tensor<4x8xf32>
      %p = arith.addf %q, %v : f32
      scf.yield %z, %p : tensor<4x8xf32>, f32
    }
    %t = tensor.splat %r#1 : tensor<4x8xf32>
    %u = arith.addf %r#0, %t : tensor<4x8xf32>
    return %u : tensor<4x8xf32>
  )");
}

TEST(Distribution, WindowsThatMove) {
  // Each iteration updates rows that the previous one gave to other threads.
  testBody(std::string(kSlice) + R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %half = arith.constant 0.5 : f32
    %b = arith.addf %a, %a : tensor<4x8xf32>
    %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%y = %b) -> (tensor<4x8xf32>) {
      %v = tensor.extract_slice %y[%n, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
      %w = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>],
                           iterator_types = ["parallel", "parallel"]}
          outs(%v : tensor<2x8xf32>) {
      ^bb0(%o: f32):
        %p = arith.mulf %o, %half : f32
        %i0 = arith.index_cast %n : index to i32
        %i1 = arith.sitofp %i0 : i32 to f32
        %q = arith.addf %p, %i1 : f32
        linalg.yield %q : f32
      } -> tensor<2x8xf32>
      %z = tensor.insert_slice %w into %y[%n, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
      scf.yield %z : tensor<4x8xf32>
    }
    return %r : tensor<4x8xf32>
  )");
}

TEST(Distribution, PadsAndWindows) {
  testBody(std::string(kSlice) + R"(
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %a low[0, 1] high[0, 1] {
    ^bb0(%i0: index, %i1: index):
      tensor.yield %zero : f32
    } : tensor<4x8xf32> to tensor<4x10xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %w = tensor.empty() : tensor<3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b, k) -> (a, b + k)>, affine_map<(a, b, k) -> (k)>,
                                          affine_map<(a, b, k) -> (a, b)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p, %w : tensor<4x10xf32>, tensor<3xf32>) outs(%f : tensor<4x8xf32>) {
    ^bb0(%v: f32, %u: f32, %o: f32):
      %k = linalg.index 2 : index
      %l = arith.index_cast %k : index to i32
      %m = arith.sitofp %l : i32 to f32
      %n = arith.mulf %v, %m : f32
      %y = arith.addf %n, %o : f32
      linalg.yield %y : f32
    } -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  )");
}
