//===- SliceTest.cpp - Sliced variants against whole ones -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Loaded.h"
#include "dataflow/IR/Dataflow.h"
#include "dataflow/Transforms/Separability.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace cputest;
using namespace mlir;
using dfrt::ElementType;

namespace {

/// A weighted sum of rows with its total weight. `merge` and `store` vary.
std::string program(const std::string &merge, const std::string &store) {
  return R"(
!record = !dataflow.record<weight: tensor<4xf32>, sum: tensor<4x24xf32>>
dataflow.program @p(%x: tensor<?x24xf32>, %n: tensor<?xi32>,
                    %out: tensor<?x4x24xf32>, %total: tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %tasks = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @t(task = %tasks)
  dataflow.range @r of @t length %n[task] tile 8 : tensor<?xi32>
  %parts = dataflow.map @part tasks @t over @r
      operands(%x : tensor<?x24xf32>) : () -> !dataflow.channel<!record, pieces>
  %whole = dataflow.reduce @merge(%parts)
      : (!dataflow.channel<!record, pieces>) -> !dataflow.channel<!record>
      identity {
    %w = arith.constant dense<0.0> : tensor<4xf32>
    %s = arith.constant dense<0.0> : tensor<4x24xf32>
    dataflow.yield %w, %s : tensor<4xf32>, tensor<4x24xf32>
  }
  dataflow.finalize @store(%whole) tasks @t
      outs(%out, %total : tensor<?x4x24xf32>, tensor<?x4xf32>)
      : (!dataflow.channel<!record>) -> ()
  dataflow.handler @part(%task: index, %begin: index, %end: index,
                         %x: tensor<?x24xf32>)
      -> (tensor<4xf32>, tensor<4x24xf32>) {
    %w = arith.constant dense<0.0> : tensor<4xf32>
    %s = arith.constant dense<0.0> : tensor<4x24xf32>
    dataflow.yield %w, %s : tensor<4xf32>, tensor<4x24xf32>
  }
  dataflow.handler @merge(%wa: tensor<4xf32>, %sa: tensor<4x24xf32>,
                          %wb: tensor<4xf32>, %sb: tensor<4x24xf32>)
      -> (tensor<4xf32>, tensor<4x24xf32>) {
    %w = arith.addf %wa, %wb : tensor<4xf32>
)" + merge +
         R"(
    dataflow.yield %w, %s : tensor<4xf32>, tensor<4x24xf32>
  }
  dataflow.handler @store(%task: index, %w: tensor<4xf32>,
                          %s: tensor<4x24xf32>, %out: tensor<?x4x24xf32>,
                          %total: tensor<?x4xf32>)
      -> (tensor<?x4x24xf32>, tensor<?x4xf32>) {
)" + store +
         R"(
    dataflow.yield %o, %t : tensor<?x4x24xf32>, tensor<?x4xf32>
  }
})";
}

const char *kAdd = "    %s = arith.addf %sa, %sb : tensor<4x24xf32>\n";

/// Weights the sum, shifts it by its column, and writes both outputs.
const char *kStore = R"(
    %e = tensor.empty() : tensor<4x24xf32>
    %v = linalg.generic {
        indexing_maps = [affine_map<(h, d) -> (h, d)>,
                         affine_map<(h, d) -> (h)>,
                         affine_map<(h, d) -> (h, d)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s, %w : tensor<4x24xf32>, tensor<4xf32>)
        outs(%e : tensor<4x24xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %i = linalg.index 1 : index
      %i32 = arith.index_cast %i : index to i32
      %f = arith.sitofp %i32 : i32 to f32
      %m = arith.mulf %a, %b : f32
      %r = arith.addf %m, %f : f32
      linalg.yield %r : f32
    } -> tensor<4x24xf32>
    %o = tensor.insert_slice %v into %out[%task, 0, 0] [1, 4, 24] [1, 1, 1]
        : tensor<4x24xf32> into tensor<?x4x24xf32>
    %t = tensor.insert_slice %w into %total[%task, 0] [1, 4] [1, 1]
        : tensor<4xf32> into tensor<?x4xf32>
)";

struct Program {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;

  explicit Program(const std::string &text) {
    DialectRegistry registry;
    registry.insert<df::DataflowDialect>();
    df::registerCPUTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(errors) << diagnostic << "\n";
    });
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << errors;
  }

  template <typename OpT>
  OpT find() {
    OpT found;
    module->walk([&](OpT op) { found = op; });
    return found;
  }
};

dfrt::Record makeRecord(uint32_t slices) {
  return record({field("weight", ElementType::f32, {4}),
                 field("sum", ElementType::f32, {4, 24}, 1)},
                slices);
}

/// Why the reduce is not separable.
std::string refusal(const std::string &merge, const std::string &store) {
  Program p(program(merge, store));
  if (!p.module)
    return "no module";
  std::string why;
  EXPECT_FALSE(df::analyzeSeparability(p.find<df::ReduceOp>(), &why));
  return why;
}

} // namespace

TEST(Slices, FindsTheDimension) {
  Program p(program(kAdd, kStore));
  ASSERT_TRUE(p.module);
  std::string why;
  auto found = df::analyzeSeparability(p.find<df::ReduceOp>(), &why);
  ASSERT_TRUE(found) << why;
  // 24 floats leave at most 6 slices of 16 bytes; rows give 1, being 4 long.
  EXPECT_EQ(found->slices, 6u);
  EXPECT_EQ(found->dims, (SmallVector<int32_t>{-1, 1}));
}

TEST(Slices, EqualTheWhole) {
  Program p(program(kAdd, kStore));
  ASSERT_TRUE(p.module);
  auto reduce = p.find<df::ReduceOp>();
  auto finalize = p.find<df::FinalizeOp>();
  auto found = df::analyzeSeparability(reduce);
  ASSERT_TRUE(found);
  std::vector<OwningOpRef<df::HandlerOp>> clones;
  dfrt::Record layout = makeRecord(found->slices);
  std::vector<df::HandlerFunction> functions;
  auto add = [&](df::StageOpInterface stage, const char *whole,
                 const char *sliced) {
    df::HandlerFunction function;
    function.symbol = whole;
    function.body = &stage.lookupHandler().getHandlerBody();
    bool isReduce = stage.getStageKind() == df::StageKind::reduce;
    function.indices = isReduce ? 0 : 1;
    function.inputs.push_back({layout, false});
    if (isReduce) {
      function.inputs.push_back({layout, false});
      function.output = layout;
    } else {
      function.outputs = 2;
    }
    functions.push_back(function);
    auto clone = df::cloneSliced(stage, *found);
    ASSERT_TRUE(succeeded(clone));
    clones.emplace_back(*clone);
    function.symbol = sliced;
    function.body = &clones.back()->getBody();
    function.indices += 1;
    function.sliced = true;
    functions.push_back(function);
  };
  add(reduce, "merge", "merge_sliced");
  add(finalize, "store", "store_sliced");
  auto blob =
      df::compileForCPU(functions, Kind::cpu, UnknownLoc::get(&p.context));
  ASSERT_TRUE(succeeded(blob)) << p.errors;
  Library library(*blob);

  std::vector<float> a(layout.bytes() / 4), b(a.size()), whole(a.size(), -1),
      sliced(a.size(), -1);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(i % 17);
    b[i] = float(i % 5) + 0.5f;
  }
  size_t head = layout.headBytes / 4, step = layout.sliceBytes / 4;
  library.call("merge", {a.data(), a.data() + head, b.data(), b.data() + head,
                         whole.data(), whole.data() + head});
  for (int64_t s = 0; s < layout.slices; ++s)
    library.call("merge_sliced",
                 {&s, a.data(), a.data() + head + s * step, b.data(),
                  b.data() + head + s * step, sliced.data(),
                  sliced.data() + head + s * step});
  EXPECT_EQ(whole, sliced);
  EXPECT_EQ(whole[head], a[head] + b[head]);

  std::vector<float> out(2 * 96, -7), total(2 * 4, -7);
  std::vector<float> outSliced = out, totalSliced = total;
  Descriptor o(out.data(), {2, 4, 24}), t(total.data(), {2, 4});
  Descriptor os(outSliced.data(), {2, 4, 24}), ts(totalSliced.data(), {2, 4});
  int64_t task = 1;
  library.call("store", {&task, whole.data(), whole.data() + head,
                         o.words.data(), t.words.data()});
  // The last slice first, so that slice 0 is the only one to write the total.
  for (int64_t s = layout.slices; s-- > 0;) {
    EXPECT_EQ(totalSliced, std::vector<float>(8, -7)) << s;
    library.call("store_sliced",
                 {&task, &s, whole.data(), whole.data() + head + s * step,
                  os.words.data(), ts.words.data()});
  }
  EXPECT_EQ(out, outSliced);
  EXPECT_EQ(total, totalSliced);
  // Element (h, d) of the record lies in slice d / 4.
  size_t h = 2, d = 9;
  float sum = whole[head + d / 4 * step + h * 4 + d % 4];
  EXPECT_EQ(out[96 + h * 24 + d], sum * whole[h] + float(d));
  EXPECT_EQ(out[0], -7);
}

/// Columns are not separable; rows are, which gives 4 slices.
void expectRows(const std::string &merge, const std::string &store) {
  Program p(program(merge, store));
  ASSERT_TRUE(p.module);
  std::string why;
  auto found = df::analyzeSeparability(p.find<df::ReduceOp>(), &why);
  ASSERT_TRUE(found) << why;
  EXPECT_EQ(found->slices, 4u);
  EXPECT_EQ(found->dims, (SmallVector<int32_t>{-1, 0}));
}

TEST(Slices, AReducedDimensionIsNotSeparable) {
  expectRows(kAdd, R"(
    %row = linalg.reduce { arith.addf } ins(%s : tensor<4x24xf32>)
        outs(%w : tensor<4xf32>) dimensions = [1]
    %o = tensor.insert_slice %s into %out[%task, 0, 0] [1, 4, 24] [1, 1, 1]
        : tensor<4x24xf32> into tensor<?x4x24xf32>
    %t = tensor.insert_slice %row into %total[%task, 0] [1, 4] [1, 1]
        : tensor<4xf32> into tensor<?x4xf32>
)");
}

TEST(Slices, AReversedDimensionIsNotSeparable) {
  expectRows(R"(
    %s = linalg.generic {
        indexing_maps = [affine_map<(h, d) -> (h, 23 - d)>,
                         affine_map<(h, d) -> (h, d)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%sb : tensor<4x24xf32>) outs(%sa : tensor<4x24xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x24xf32>
)",
             kStore);
}

TEST(Slices, RefusesAReductionOfAllDimensions) {
  std::string why = refusal(R"(
    %z = arith.constant dense<0.0> : tensor<f32>
    %all = linalg.reduce { arith.addf } ins(%sa : tensor<4x24xf32>)
        outs(%z : tensor<f32>) dimensions = [0, 1]
    %e = tensor.empty() : tensor<4x24xf32>
    %s = linalg.broadcast ins(%all : tensor<f32>) outs(%e : tensor<4x24xf32>)
        dimensions = [0, 1]
)",
                            kStore);
  EXPECT_THAT(why, testing::HasSubstr("reduces along the separable dimension"));
}

TEST(Slices, RefusesAReadAtAnyIndex) {
  std::string why = refusal(R"(
    %c0 = arith.constant 0 : index
    %first = tensor.extract %sa[%c0, %c0] : tensor<4x24xf32>
    %splat = tensor.splat %first : tensor<4x24xf32>
    %s = arith.addf %splat, %sb : tensor<4x24xf32>
)",
                            kStore);
  EXPECT_THAT(why, testing::HasSubstr("tensor.extract"));
}
