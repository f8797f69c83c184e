//===- StreamsTest.cpp - Parts of handlers against whole ones -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dataflow-split-roles makes of a handler computes the same bits as the
// handler: the load part fills streams, the compute part takes from them.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Rings.h"
#include "dataflow/Conversion/ProgramFunctions.h"
#include "dataflow/Conversion/StreamLowering.h"
#include "dataflow/Transforms/Passes.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <random>

using namespace conversiontest;
using namespace mlir;
using df::HandlerFunction;

namespace {

class Streams : public ::testing::Test {
protected:
  Streams() {
    DialectRegistry registry;
    registry.insert<df::DataflowDialect>();
    df::registerHandlerToLLVMDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void prepare(OwningOpRef<ModuleOp> parsed, const std::string &parameters);
  void compare(const Sizes &sizes);

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  /// The whole handler that is split, and its parts.
  HandlerFunction whole, load, compute;
  std::optional<df::ProgramFunctions> list;
  std::optional<df::PartFunctions> parts;
  std::unique_ptr<Code> code;
  unsigned streams = 0;
};

/// Splits the one handler of the program that can be, and compiles all three.
void Streams::prepare(OwningOpRef<ModuleOp> parsed,
                      const std::string &parameters) {
  whole = load = compute = HandlerFunction();
  module = std::move(parsed);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  df::SpecializeProgramOptions options;
  options.params = parameters;
  OpPassManager &nested = passes.nest<df::ProgramOp>();
  nested.addPass(df::createSpecializeProgram(options));
  nested.addPass(df::createSplitRoles());
  nested.addPass(df::createVerifyKernel());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  auto program = *module->getOps<df::ProgramOp>().begin();
  auto kernel = *program.getOps<df::KernelOp>().begin();
  auto planned = df::importProgram(program);
  ASSERT_TRUE(succeeded(planned));
  list.emplace(program, *planned);
  auto functions = list->collect(/*genericOnly=*/true);
  ASSERT_TRUE(succeeded(functions));
  parts.emplace(kernel, df::layoutRings(kernel, 0, kernel.getRingBytes()),
                df::placeMaps(*planned));
  streams = llvm::range_size(kernel.getStreams());
  for (auto [op, stage] : llvm::zip(program.getStages(), planned->stages)) {
    if (stage.kind == dfrt::StageKind::reshard)
      continue;
    df::HandlerVariant variant = df::getVariants(op, stage.separable).front();
    StringAttr name = variant.handler.getHandlerName();
    if (!kernel.getPart(name, df::PartRole::load))
      continue;
    for (const HandlerFunction &function : *functions)
      if (function.symbol == variant.variant.symbol)
        whole = function;
    auto lower = [&](df::PartRole role) {
      auto lowered = parts->lower(kernel.getPart(name, role), whole);
      EXPECT_TRUE(succeeded(lowered));
      return succeeded(lowered) ? *lowered : HandlerFunction();
    };
    load = lower(df::PartRole::load);
    compute = lower(df::PartRole::compute);
  }
  ASSERT_TRUE(whole.body && load.body && compute.body) << "nothing is split";
  code =
      Code::compile({whole, load, compute}, df::HandlerTarget::device, context);
  ASSERT_TRUE(code);
}

void Streams::compare(const Sizes &sizes) {
  Call call(whole, sizes), loads(load, sizes), computes(compute, sizes);
  call.run(*code, 1, Order::ascending);
  for (unsigned threads : {1u, 3u, 32u})
    for (Order order : {Order::ascending, Order::descending}) {
      resetRings();
      loads.run(*code, 32, order, streams);
      computes.run(*code, threads, order, streams);
      EXPECT_EQ(ringFault(), "");
      EXPECT_EQ(givenStages(), filledStages());
      EXPECT_TRUE(computes.results() == call.results())
          << threads << " threads: " << computes.difference(call.results(), 0);
    }
}

//===----------------------------------------------------------------------===//
// Random handlers
//===----------------------------------------------------------------------===//

/// Writes a handler that adds up tiles of operands, in loops and branches.
class RandomHandler {
public:
  explicit RandomHandler(unsigned seed) : random(seed) {}
  std::string program();

private:
  unsigned pick(unsigned below) { return random() % below; }
  std::string fresh() { return "%v" + std::to_string(++names); }
  void line(const std::string &code) { text += code + "\n"; }
  std::string row();
  void tile();
  void loop(unsigned depth);
  void branch(unsigned depth);
  void block(unsigned depth);

  std::mt19937 random;
  std::string text, sum = "%y";
  std::vector<std::string> numbers; ///< small indices in scope
  unsigned names = 0;
};

/// An index from 0 to about 60.
std::string RandomHandler::row() {
  std::string name = fresh(), factor = fresh();
  line(factor + " = arith.constant " + std::to_string(pick(8)) + " : index");
  line(name + " = arith.muli " + numbers[pick(numbers.size())] + ", " + factor +
       " : index");
  if (pick(2))
    return name;
  std::string element = fresh(), number = fresh();
  line(element + " = tensor.extract %t[" + numbers[pick(numbers.size())] +
       "] : tensor<?xi32>");
  line(number + " = arith.index_cast " + element + " : i32 to index");
  std::string both = fresh();
  line(both + " = arith.addi " + name + ", " + number + " : index");
  return both;
}

void RandomHandler::tile() {
  std::string from = pick(2) ? "%x" : "%z", at = row(), slice = fresh();
  unsigned height = 8 << pick(3), width = 32 << pick(2);
  if (height * width < 256)
    height = 8;
  unsigned column = width == 64 ? 0 : 8 * pick(5);
  std::string type = std::to_string(width) + "xf32>", rows;
  bool partial = pick(3) == 0;
  if (partial) {
    std::string wanted = row(), most = fresh();
    rows = fresh();
    line(most + " = arith.constant " + std::to_string(height) + " : index");
    line(rows + " = arith.minui " + wanted + ", " + most + " : index");
  }
  std::string size = partial ? rows : std::to_string(height);
  type = "tensor<" + (partial ? "?" : size) + "x" + type;
  line(slice + " = tensor.extract_slice " + from + "[" + at + ", " +
       std::to_string(column) + "] [" + size + ", " + std::to_string(width) +
       "] [1, 1] : tensor<?x64xf32> to " + type);
  // Rows are added one by one, or a view of the first eight all together.
  if (partial || pick(2)) {
    std::string end = partial ? rows : "%c8", result = fresh(), i = fresh(),
                carried = fresh(), line1 = fresh(), added = fresh();
    line(result + " = scf.for " + i + " = %c0 to " + end +
         " step %c1 iter_args(" + carried + " = " + sum +
         ") -> (tensor<32xf32>) {");
    line(line1 + " = tensor.extract_slice " + slice + "[" + i +
         ", 0] [1, 32] [1, 1] : " + type + " to tensor<32xf32>");
    line(added + " = arith.addf " + carried + ", " + line1 +
         " : tensor<32xf32>");
    line("scf.yield " + added + " : tensor<32xf32>\n}");
    sum = result;
    return;
  }
  std::string view = fresh(), result = fresh();
  line(view + " = tensor.extract_slice " + slice +
       "[0, 0] [8, 32] [1, 1] : " + type + " to tensor<8x32xf32>");
  line(result + " = linalg.reduce { arith.addf } ins(" + view +
       " : tensor<8x32xf32>) outs(" + sum +
       " : tensor<32xf32>) dimensions = [0]");
  sum = result;
}

void RandomHandler::loop(unsigned depth) {
  std::string result = fresh(), i = fresh(), s = fresh(), n = fresh(),
              end = numbers[pick(numbers.size())];
  line(result + ":2 = scf.for " + i + " = %c0 to " + end +
       " step %c1 iter_args(" + s + " = " + sum + ", " + n +
       " = %c1) -> (tensor<32xf32>, index) {");
  sum = s;
  size_t scope = numbers.size();
  numbers.push_back(i);
  numbers.push_back(n);
  block(depth + 1);
  std::string next = fresh();
  line(next + " = arith.xori " + n + ", " + i + " : index");
  line("scf.yield " + sum + ", " + next + " : tensor<32xf32>, index\n}");
  numbers.resize(scope);
  sum = result + "#0";
}

void RandomHandler::branch(unsigned depth) {
  std::string condition = fresh(), result = fresh(), before = sum;
  line(condition + " = arith.cmpi ugt, " + numbers[pick(numbers.size())] +
       ", %c1 : index");
  line(result + " = scf.if " + condition + " -> (tensor<32xf32>) {");
  block(depth + 1);
  line("scf.yield " + sum + " : tensor<32xf32>\n} else {");
  sum = before;
  if (pick(2))
    block(depth + 1);
  line("scf.yield " + sum + " : tensor<32xf32>\n}");
  sum = result;
}

void RandomHandler::block(unsigned depth) {
  for (unsigned i = 0, count = 1 + pick(3); i < count; ++i) {
    unsigned kind = depth < 3 ? pick(4) : 0;
    if (kind == 2)
      loop(depth);
    else if (kind == 3)
      branch(depth);
    else
      tile();
  }
}

std::string RandomHandler::program() {
  numbers = {"%c0", "%c1", "%c3", "%i"};
  block(0);
  tile();
  return R"(
dataflow.program @p(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %t: tensor<?xi32>, %y: tensor<32xf32>) {
  %c5 = arith.constant 5 : index
  dataflow.tasks @five(i = %c5)
  dataflow.finalize @h tasks @five operands(%x, %z, %t : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?xi32>)
      outs(%y : tensor<32xf32>) : () -> ()
  dataflow.handler @h(%i: index, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %t: tensor<?xi32>, %y: tensor<32xf32>) -> tensor<32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
)" + text +
         "dataflow.yield " + sum + " : tensor<32xf32>\n}\n}\n";
}

} // namespace

TEST_F(Streams, PagedDecode) {
  prepare(parseSourceFile<ModuleOp>(DATAFLOW_SOURCE_DIR
                                    "/examples/mla-decode/mla_decode.mlir",
                                    ParserConfig(&context)),
          "heads=3,page=16");
  Sizes sizes;
  sizes.dynamic = 16;
  for (std::vector<int64_t> range :
       {std::vector<int64_t>{2, 0, 0}, {2, 0, 1}, {1, 16, 64}, {0, 32, 70}}) {
    sizes.indices = range;
    compare(sizes);
  }
}

TEST_F(Streams, DenseDecode) {
  prepare(parseSourceFile<ModuleOp>(
              DATAFLOW_SOURCE_DIR "/examples/mla-decode/mla_decode_dense.mlir",
              ParserConfig(&context)),
          "heads=3,tile=16");
  Sizes sizes;
  sizes.dynamic = 70;
  for (std::vector<int64_t> range :
       {std::vector<int64_t>{2, 0, 0}, {2, 0, 1}, {1, 16, 64}, {0, 32, 70}}) {
    sizes.indices = range;
    compare(sizes);
  }
}

TEST_F(Streams, RandomHandlers) {
  unsigned stages = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string text = RandomHandler(seed).program();
    prepare(parseSourceString<ModuleOp>(text, ParserConfig(&context)), "");
    ASSERT_FALSE(HasFailure()) << text;
    Sizes sizes;
    sizes.dynamic = 160;
    sizes.integers = 8;
    sizes.indices = {int64_t(seed % 5)};
    compare(sizes);
    ASSERT_FALSE(HasFailure()) << text;
    stages += filledStages();
  }
  EXPECT_GT(stages, 200u);
}
