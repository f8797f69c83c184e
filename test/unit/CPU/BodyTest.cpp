//===- BodyTest.cpp - Bodies compiled, loaded and called ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Loaded.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <set>

using namespace cputest;
using dfrt::ElementType;
using mlir::df::HandlerFunction;

namespace {

mlir::FailureOr<dfrt::CodeBlob> compile(Source &source,
                                        std::vector<HandlerFunction> functions,
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
  HandlerFunction function = source.function("sum");
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

/// Compiles the function `f` of `text`, which must fail; the errors.
std::string refusal(const std::string &text,
                    const std::function<void(HandlerFunction &)> &fill,
                    Kind kind = Kind::cpu) {
  Source source(text);
  HandlerFunction function = source.function("f");
  fill(function);
  EXPECT_TRUE(mlir::failed(compile(source, {function}, kind)));
  return source.errors;
}

/// Symbols that the loader would have to find elsewhere.
std::set<std::string> undefinedSymbols(const dfrt::CodeBlob &blob) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(blob.bytes.data()),
                        blob.bytes.size());
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(bytes, "code"));
  std::set<std::string> result;
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return result;
  }
  auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(**file);
  for (auto symbol : elf.getDynamicSymbolIterators())
    if (*symbol.getFlags() & llvm::object::SymbolRef::SF_Undefined)
      result.insert(symbol.getName()->str());
  result.erase("");
  return result;
}

TEST(Bodies, LoadsAndStoresEveryElementType) {
  // Each type is read as an operand, kept in a record, and written.
  struct Case {
    ElementType element;
    const char *name;
    bool isFloat;
  };
  for (Case c : {Case{ElementType::f64, "f64", true},
                 {ElementType::f32, "f32", true},
                 {ElementType::f16, "f16", true},
                 {ElementType::bf16, "bf16", true},
                 {ElementType::f8E4M3FN, "f8E4M3FN", true},
                 {ElementType::f8E5M2, "f8E5M2", true},
                 {ElementType::i64, "i64", false},
                 {ElementType::i32, "i32", false},
                 {ElementType::i16, "i16", false},
                 {ElementType::i8, "i8", false},
                 {ElementType::i1, "i1", false}}) {
    std::string t = c.name;
    std::string add = c.isFloat ? "arith.addf" : "arith.addi";
    Source source("func.func @f(%x: tensor<?x" + t + ">, %a: tensor<4x" + t +
                  ">, %s: " + t + ") -> (tensor<4x" + t + ">, " + t +
                  ") {\n  %y = tensor.extract_slice %x[0] [4] [1] : tensor<?x" +
                  t + "> to tensor<4x" + t + ">\n  %z = " + add +
                  " %y, %a : tensor<4x" + t + ">\n  return %z, %s : tensor<4x" +
                  t + ">, " + t + "\n}\n");
    HandlerFunction function = source.function("f");
    function.operands = 1;
    function.inputs.push_back(
        {record({field("a", c.element, {4}), field("s", c.element)}), false});
    function.output = function.inputs.front().record;
    auto blob = compile(source, {function});
    ASSERT_TRUE(mlir::succeeded(blob)) << t << ": " << source.errors;
    EXPECT_THAT(undefinedSymbols(*blob), testing::IsEmpty()) << t;
    Library library(*blob);
    // Zero and the bit pattern of a number that the sum keeps.
    uint32_t bytes = dfrt::elementBytes(c.element);
    std::vector<uint8_t> x(4 * bytes), in(function.output->bytes()),
        out(function.output->bytes(), 0xee);
    for (uint32_t i = 0; i < 4; ++i)
      x[i * bytes + bytes - 1] =
          c.element == ElementType::i1 ? i % 2 : 0x40 + i;
    uint64_t scalar = function.output->fields[1].offset;
    in[scalar] = 1;
    Descriptor descriptor(x.data(), {4});
    library.call("f", {descriptor.words.data(), in.data(), nullptr, out.data(),
                       nullptr});
    EXPECT_EQ(std::vector<uint8_t>(out.begin(), out.begin() + 4 * bytes), x)
        << t;
    EXPECT_EQ(out[scalar], 1) << t;
  }
}

TEST(Bodies, DoNotCallTheCLibrary) {
  // Fills and copies tempt the optimiser to call memset and memcpy.
  Source source(R"(
    func.func @f(%x: tensor<64x512xf32>, %out: tensor<64x512xf32>,
                 %copy: tensor<64x512xf32>)
        -> (tensor<64x512xf32>, tensor<64x512xf32>) {
      %zero = arith.constant dense<0.0> : tensor<64x512xf32>
      %o = tensor.insert_slice %zero into %out[0, 0] [64, 512] [1, 1]
          : tensor<64x512xf32> into tensor<64x512xf32>
      %c = tensor.insert_slice %x into %copy[0, 0] [64, 512] [1, 1]
          : tensor<64x512xf32> into tensor<64x512xf32>
      return %o, %c : tensor<64x512xf32>, tensor<64x512xf32>
    })");
  HandlerFunction function = source.function("f");
  function.operands = 1;
  function.outputs = 2;
  for (Kind kind : {Kind::cpu, Kind::cpuReference}) {
    auto blob = compile(source, {function}, kind);
    ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
    EXPECT_THAT(undefinedSymbols(*blob), testing::IsEmpty());
  }
}

TEST(Bodies, CallLibmAndNothingElse) {
  std::string text = "func.func @f(%x: tensor<8xf32>, %o: tensor<8xf32>) -> "
                     "tensor<8xf32> {\n";
  std::string last = "%x";
  int count = 0;
  for (const char *op :
       {"exp", "exp2", "log", "log2", "log1p", "expm1", "tanh", "erf", "sin",
        "cos", "sqrt", "rsqrt", "floor", "ceil", "roundeven", "absf", "atan"}) {
    std::string next = "%v" + std::to_string(count++);
    text += "  " + next + " = math." + op + " " + last + " : tensor<8xf32>\n";
    last = next;
  }
  text += "  %p = math.powf " + last + ", %x : tensor<8xf32>\n";
  text += "  return %p : tensor<8xf32>\n}\n";
  Source source(text);
  HandlerFunction function = source.function("f");
  function.operands = 1;
  function.outputs = 1;
  const std::set<std::string> libm = {
      "exp",  "exp2",   "log",    "log2",  "log1p", "expm1", "tanh", "erf",
      "sin",  "cos",    "atan",   "pow",   "expf",  "exp2f", "logf", "log2f",
      "powf", "log1pf", "expm1f", "tanhf", "erff",  "sinf",  "cosf", "atanf"};
  for (Kind kind : {Kind::cpu, Kind::cpuReference}) {
    auto blob = compile(source, {function}, kind);
    ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
    EXPECT_THAT(undefinedSymbols(*blob), testing::IsSubsetOf(libm));
  }
}

TEST(Bodies, LoopsSwapTheTensorsTheyCarry) {
  Source source(R"(
    func.func @f(%n: index, %a: tensor<4xf32>, %b: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
          -> (tensor<4xf32>, tensor<4xf32>) {
        %s = arith.addf %x, %y : tensor<4xf32>
        scf.yield %y, %s : tensor<4xf32>, tensor<4xf32>
      }
      return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
    })");
  HandlerFunction function = source.function("f");
  function.indices = 1;
  dfrt::Record layout = record(
      {field("a", ElementType::f32, {4}), field("b", ElementType::f32, {4})});
  function.inputs.push_back({layout, false});
  function.output = layout;
  auto blob = compile(source, {function});
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  Library library(*blob);
  std::vector<float> in = {0, 0, 1, 2, 1, 1, 1, 1}, out(8, -1);
  const std::vector<float> untouched = in;
  int64_t n = 10;
  library.call("f", {&n, in.data(), nullptr, out.data(), nullptr});
  // Fibonacci numbers F(10) = 55, F(11) = 89, F(9) = 34.
  EXPECT_EQ(out, (std::vector<float>{55, 55, 89, 123, 89, 89, 144, 199}));
  EXPECT_EQ(in, untouched);
  n = 0;
  library.call("f", {&n, in.data(), nullptr, out.data(), nullptr});
  EXPECT_EQ(out, in);
}

TEST(Bodies, NestedLoopsUpdateAnOutputInPlace) {
  Source source(R"(
    func.func @f(%row: index, %cols: index, %x: tensor<?x?xf32>,
                 %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %row step %c1 iter_args(%o = %out)
          -> tensor<?x?xf32> {
        %q = scf.for %j = %c0 to %cols step %c1 iter_args(%p = %o)
            -> tensor<?x?xf32> {
          %even = arith.remui %j, %cols : index
          %first = arith.cmpi eq, %even, %c0 : index
          %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
          %s = scf.if %first -> tensor<?x?xf32> {
            scf.yield %p : tensor<?x?xf32>
          } else {
            %t = tensor.insert %v into %p[%i, %j] : tensor<?x?xf32>
            scf.yield %t : tensor<?x?xf32>
          }
          scf.yield %s : tensor<?x?xf32>
        }
        scf.yield %q : tensor<?x?xf32>
      }
      return %r : tensor<?x?xf32>
    })");
  HandlerFunction function = source.function("f");
  function.indices = 2;
  function.operands = 1;
  function.outputs = 1;
  auto blob = compile(source, {function});
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  EXPECT_EQ(blob->functions.front().scratchBytes, 0u);
  Library library(*blob);
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, out(9, -1);
  Descriptor a(x.data(), {3, 3}), b(out.data(), {3, 3});
  int64_t rows = 2, cols = 3;
  library.call("f", {&rows, &cols, a.words.data(), b.words.data()});
  EXPECT_EQ(out, (std::vector<float>{-1, 2, 3, -1, 5, 6, -1, -1, -1}));
}

TEST(Bodies, PadAPartialTile) {
  Source source(R"(
    func.func @f(%begin: index, %end: index, %x: tensor<?x4xf16>)
        -> tensor<4xf32> {
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %zero16 = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      %n = arith.subi %end, %begin : index
      %rest = arith.subi %c8, %n : index
      %rows = tensor.extract_slice %x[%begin, 0] [%n, 4] [1, 1]
          : tensor<?x4xf16> to tensor<?x4xf16>
      %tile = tensor.pad %rows low[0, 0] high[%rest, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero16 : f16
      } : tensor<?x4xf16> to tensor<8x4xf16>
      %wide = arith.extf %tile : tensor<8x4xf16> to tensor<8x4xf32>
      %empty = tensor.empty() : tensor<4xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>)
          -> tensor<4xf32>
      %sum = linalg.reduce { arith.addf } ins(%wide : tensor<8x4xf32>)
          outs(%init : tensor<4xf32>) dimensions = [0]
      return %sum : tensor<4xf32>
    })");
  HandlerFunction function = source.function("f");
  function.indices = 2;
  function.operands = 1;
  function.output = record({field("sum", ElementType::f32, {4})});
  std::vector<uint16_t> x(10 * 4, 0x3c00); // 1.0
  Descriptor a(x.data(), {10, 4});
  int64_t begin = 2, end = 5;
  auto blob = compile(source, {function});
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  Library library(*blob);
  std::vector<float> sum(4, -1);
  library.call("f", {&begin, &end, a.words.data(), sum.data(), nullptr});
  EXPECT_EQ(sum, std::vector<float>(4, 3));
  auto reference = compile(source, {function}, Kind::cpuReference);
  ASSERT_TRUE(mlir::succeeded(reference)) << source.errors;
  Library exact(*reference);
  std::vector<double> wide(4, -1);
  exact.call("f", {&begin, &end, a.words.data(), wide.data(), nullptr});
  EXPECT_EQ(wide, std::vector<double>(4, 3));
}

TEST(Bodies, ReadCollectedRecords) {
  Source source(R"(
    func.func @f(%task: index, %w: tensor<?xf32>, %s: tensor<?x2xf32>,
                 %out: tensor<?x2xf32>) -> tensor<?x2xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = tensor.dim %w, %c0 : tensor<?xf32>
      %zero = arith.constant dense<0.0> : tensor<2xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero)
          -> tensor<2xf32> {
        %f = tensor.extract %w[%i] : tensor<?xf32>
        %row = tensor.extract_slice %s[%i, 0] [1, 2] [1, 1]
            : tensor<?x2xf32> to tensor<2xf32>
        %splat = tensor.splat %f : tensor<2xf32>
        %m = arith.mulf %row, %splat : tensor<2xf32>
        %t = arith.addf %acc, %m : tensor<2xf32>
        scf.yield %t : tensor<2xf32>
      }
      %o = tensor.insert_slice %r into %out[%task, 0] [1, 2] [1, 1]
          : tensor<2xf32> into tensor<?x2xf32>
      return %o : tensor<?x2xf32>
    })");
  HandlerFunction function = source.function("f");
  function.indices = 1;
  function.inputs.push_back({record({field("w", ElementType::f32),
                                     field("s", ElementType::f32, {2})}),
                             true});
  function.outputs = 1;
  auto blob = compile(source, {function});
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  Library library(*blob);
  int64_t task = 1, count = 3;
  std::vector<float> w = {1, 2, 3}, s = {1, 2, 3, 4, 5, 6}, out(4, -1);
  Descriptor o(out.data(), {2, 2});
  library.call("f", {&task, &count, w.data(), s.data(), o.words.data()});
  EXPECT_EQ(out, (std::vector<float>{-1, -1, 1 + 6 + 15, 2 + 8 + 18}));
}

TEST(Bodies, ReferenceKeepsWhatRoundingLoses) {
  // 1 + 2^-20 does not survive f16; the reference has no rounding.
  Source source(R"(
    func.func @f(%x: tensor<1xf32>, %out: tensor<1xf16>) -> tensor<1xf16> {
      %y = arith.truncf %x : tensor<1xf32> to tensor<1xf16>
      return %y : tensor<1xf16>
    })");
  HandlerFunction function = source.function("f");
  function.operands = 1;
  function.outputs = 1;
  float x = 1.0f + std::ldexp(1.0f, -20);
  double result = 0;
  auto blob = compile(source, {function}, Kind::cpuReference);
  ASSERT_TRUE(mlir::succeeded(blob)) << source.errors;
  Library library(*blob);
  Descriptor a(&x, {1}), b(&result, {1});
  library.call("f", {a.words.data(), b.words.data()});
  EXPECT_EQ(result, double(x));
}

TEST(Bodies, RefuseABufferOfDynamicSize) {
  std::string errors = refusal(R"(
    func.func @f(%n: index, %out: tensor<?xf32>) -> tensor<?xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %a = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>)
          -> tensor<?xf32>
      %b = math.exp2 %a : tensor<?xf32>
      %c = arith.addf %a, %b : tensor<?xf32>
      %o = tensor.insert_slice %c into %out[0] [%n] [1]
          : tensor<?xf32> into tensor<?xf32>
      return %o : tensor<?xf32>
    })",
                               [](HandlerFunction &f) {
                                 f.indices = 1;
                                 f.outputs = 1;
                               });
  EXPECT_THAT(errors, testing::HasSubstr("dynamic size needs a buffer"));
}

TEST(Bodies, RefuseOperationsWithoutAForm) {
  auto oneOutput = [](HandlerFunction &f) {
    f.indices = 1;
    f.outputs = 1;
  };
  EXPECT_THAT(refusal(R"(
    func.func @f(%n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
      %z = arith.constant 0 : index
      %c = arith.cmpi eq, %n, %z : index
      cf.assert %c, "no"
      return %out : tensor<4xf32>
    })",
                      oneOutput),
              testing::HasSubstr("cf.assert"));
  EXPECT_THAT(refusal(R"(
    func.func @f(%n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
      %i = tensor.empty() : tensor<2x1xindex>
      %g = tensor.gather %out[%i] gather_dims([0])
          : (tensor<4xf32>, tensor<2x1xindex>) -> tensor<2x1xf32>
      %v = tensor.extract %g[%n, %n] : tensor<2x1xf32>
      %o = tensor.insert %v into %out[%n] : tensor<4xf32>
      return %o : tensor<4xf32>
    })",
                      oneOutput),
              testing::HasSubstr("tensor.gather"));
}

TEST(Bodies, RefuseCallsOfSupportLibraries) {
  auto oneOutput = [](HandlerFunction &f) {
    f.indices = 1;
    f.outputs = 1;
  };
  EXPECT_THAT(refusal(R"(
    func.func @f(%n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
      %i = arith.index_cast %n : index to i32
      %two = arith.constant 2.0 : f32
      %v = math.fpowi %two, %i : f32, i32
      %o = tensor.insert %v into %out[%n] : tensor<4xf32>
      return %o : tensor<4xf32>
    })",
                      oneOutput),
              testing::HasSubstr("math.fpowi"));
  // The 128-bit quotient is a function of the compiler's support library.
  EXPECT_THAT(refusal(R"(
    func.func @f(%n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
      %i = arith.index_cast %n : index to i128
      %j = arith.muli %i, %i : i128
      %three = arith.constant 3 : i128
      %d = arith.addi %i, %three : i128
      %k = arith.divsi %j, %d : i128
      %v = arith.sitofp %k : i128 to f32
      %o = tensor.insert %v into %out[%n] : tensor<4xf32>
      return %o : tensor<4xf32>
    })",
                      oneOutput),
              testing::HasSubstr("not a function of libm"));
}

TEST(Bodies, RefuseBitsOfFloatsInTheReference) {
  std::string errors = refusal(
      R"(
    func.func @f(%n: index, %out: tensor<4xf32>) -> tensor<4xf32> {
      %v = tensor.extract %out[%n] : tensor<4xf32>
      %b = arith.bitcast %v : f32 to i32
      %w = arith.sitofp %b : i32 to f32
      %o = tensor.insert %w into %out[%n] : tensor<4xf32>
      return %o : tensor<4xf32>
    })",
      [](HandlerFunction &f) {
        f.indices = 1;
        f.outputs = 1;
      },
      Kind::cpuReference);
  EXPECT_THAT(errors, testing::HasSubstr("arith.bitcast"));
}

TEST(Bodies, RefuseAWrongSignature) {
  std::string errors = refusal(R"(
    func.func @f(%n: index) -> f32 {
      %v = arith.constant 1.0 : f32
      return %v : f32
    })",
                               [](HandlerFunction &f) {
                                 f.indices = 1;
                                 f.output =
                                     record({field("v", ElementType::f64)});
                               });
  EXPECT_THAT(errors, testing::HasSubstr("field 'v'"));
}

} // namespace
