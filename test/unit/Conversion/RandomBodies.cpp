//===- RandomBodies.cpp - Bodies of tensor operations ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomBodies.h"

#include <random>
#include <vector>

using namespace conversiontest;

namespace {

struct Tensor {
  std::string name;
  int64_t rows, columns;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}
  RandomBody generate();

private:
  unsigned below(unsigned n) { return random() % n; }
  int64_t extent() {
    static const int64_t extents[] = {1, 2, 3, 5, 8, 17};
    return extents[below(6)];
  }
  std::string fresh() { return "%v" + std::to_string(counter++); }
  static std::string type(int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32>";
  }
  static std::string type(const Tensor &t) { return type(t.rows, t.columns); }
  const Tensor &any() { return pool[below(pool.size())]; }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string define(const std::string &op) {
    std::string name = fresh();
    line(name + " = " + op);
    return name;
  }
  std::string empty(int64_t rows, int64_t columns) {
    return define("tensor.empty() : " + type(rows, columns));
  }
  std::string zero(int64_t rows, int64_t columns) {
    std::string e = empty(rows, columns), t = type(rows, columns);
    return define("linalg.fill ins(%zero : f32) outs(" + e + " : " + t +
                  ") -> " + t);
  }
  std::string generic(const std::string &maps, const std::string &kinds,
                      const std::string &inputs, const std::string &inputTypes,
                      const std::string &init, const std::string &initType,
                      const std::string &code);
  /// Keeps numbers small, so that sums of products do not grow.
  void push(const std::string &name, int64_t rows, int64_t columns);

  void elementwise();
  void broadcast();
  void reduce();
  void product();
  void transpose();
  void loopOverRows();
  void loopCarried();
  void scalar();
  void branch();
  void step();

  std::mt19937 random;
  std::string body;
  std::vector<Tensor> pool;
  unsigned counter = 0;
};

} // namespace

static const char *kIdentity = "affine_map<(a, b) -> (a, b)>";

std::string
Generator::generic(const std::string &maps, const std::string &kinds,
                   const std::string &inputs, const std::string &inputTypes,
                   const std::string &init, const std::string &initType,
                   const std::string &code) {
  return define("linalg.generic {indexing_maps = [" + maps +
                "], iterator_types = [" + kinds + "]} ins(" + inputs + " : " +
                inputTypes + ") outs(" + init + " : " + initType + ") {\n" +
                code + "  } -> " + initType);
}

void Generator::push(const std::string &name, int64_t rows, int64_t columns) {
  std::string e = empty(rows, columns), t = type(rows, columns);
  std::string id = kIdentity;
  std::string small =
      generic(id + ", " + id, "\"parallel\", \"parallel\"", name, t, e, t,
              "  ^bb0(%x: f32, %o: f32):\n"
              "    %c = arith.minimumf %x, %limit : f32\n"
              "    %d = arith.maximumf %c, %minus : f32\n"
              "    linalg.yield %d : f32\n");
  pool.push_back({small, rows, columns});
}

void Generator::elementwise() {
  const Tensor a = any();
  std::vector<Tensor> same;
  for (const Tensor &t : pool)
    if (t.rows == a.rows && t.columns == a.columns)
      same.push_back(t);
  const Tensor b = same[below(same.size())];
  static const char *ops[] = {"addf", "subf", "mulf", "maximumf"};
  pool.push_back({define(std::string("arith.") + ops[below(4)] + " " + a.name +
                         ", " + b.name + " : " + type(a)),
                  a.rows, a.columns});
}

void Generator::broadcast() {
  // One row or column of a, added to b, with the place of the element.
  const Tensor b = any();
  bool byRow = below(2);
  std::string vector = "tensor<" + std::to_string(b.columns) + "xf32>";
  std::string row = define("tensor.extract_slice " + b.name + "[" +
                           std::to_string(below(b.rows)) + ", 0] [1, " +
                           std::to_string(b.columns) + "] [1, 1] : " + type(b) +
                           " to " + vector);
  std::string map = "affine_map<(a, b) -> (b)>";
  pool.push_back({generic(map + ", " + kIdentity, "\"parallel\", \"parallel\"",
                          row, vector, b.name, type(b),
                          std::string("  ^bb0(%x: f32, %o: f32):\n"
                                      "    %i = linalg.index ") +
                              (byRow ? "0" : "1") +
                              " : index\n"
                              "    %j = arith.index_cast %i : index to i32\n"
                              "    %k = arith.sitofp %j : i32 to f32\n"
                              "    %s = arith.mulf %k, %small : f32\n"
                              "    %y = arith.addf %x, %o : f32\n"
                              "    %z = arith.addf %y, %s : f32\n"
                              "    linalg.yield %z : f32\n"),
                  b.rows, b.columns});
}

void Generator::reduce() {
  const Tensor a = any();
  int64_t dim = below(2), left = dim ? a.rows : a.columns;
  std::string vector = "tensor<" + std::to_string(left) + "xf32>";
  std::string e = define("tensor.empty() : " + vector);
  bool sum = below(2);
  std::string init =
      define(std::string("linalg.fill ins(") + (sum ? "%zero" : "%minus") +
             " : f32) outs(" + e + " : " + vector + ") -> " + vector);
  std::string r = define(std::string("linalg.reduce { arith.") +
                         (sum ? "addf" : "maximumf") + " } ins(" + a.name +
                         " : " + type(a) + ") outs(" + init + " : " + vector +
                         ") dimensions = [" + std::to_string(dim) + "]");
  std::string wide =
      define("linalg.broadcast ins(" + r + " : " + vector + ") outs(" +
             empty(a.rows, a.columns) + " : " + type(a) + ") dimensions = [" +
             std::to_string(dim) + "]");
  push(wide, a.rows, a.columns);
}

void Generator::product() {
  const Tensor a = any();
  std::vector<Tensor> fits;
  for (const Tensor &t : pool)
    if (t.columns == a.columns)
      fits.push_back(t);
  const Tensor b = fits[below(fits.size())];
  // The number of the second operand's rows is the result's columns.
  std::string init = zero(a.rows, b.rows);
  std::string t = type(a.rows, b.rows);
  push(define("linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, "
              "k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> "
              "(m, n)>] ins(" +
              a.name + ", " + b.name + " : " + type(a) + ", " + type(b) +
              ") outs(" + init + " : " + t + ") -> " + t),
       a.rows, b.rows);
}

void Generator::transpose() {
  const Tensor a = any();
  std::string t = type(a.columns, a.rows);
  pool.push_back(
      {define("linalg.transpose ins(" + a.name + " : " + type(a) + ") outs(" +
              empty(a.columns, a.rows) + " : " + t + ") permutation = [1, 0]"),
       a.columns, a.rows});
}

void Generator::loopOverRows() {
  // Row r of the result is row r of a plus the sum so far.
  const Tensor a = any();
  std::string vector = "tensor<" + std::to_string(a.columns) + "xf32>";
  std::string t = type(a), result = fresh();
  std::string init = zero(a.rows, a.columns);
  std::string start = define("tensor.empty() : " + vector);
  start = define("linalg.fill ins(%zero : f32) outs(" + start + " : " + vector +
                 ") -> " + vector);
  line(result + ":2 = scf.for %r = %c0 to %c" + std::to_string(a.rows) +
       " step %c1 iter_args(%all = " + init + ", %sum = " + start + ") -> (" +
       t + ", " + vector + ") {");
  std::string slice = "[%r, 0] [1, " + std::to_string(a.columns) + "] [1, 1]";
  std::string row = define("tensor.extract_slice " + a.name + slice + " : " +
                           t + " to " + vector);
  std::string sum = define("arith.addf %sum, " + row + " : " + vector);
  std::string all = define("tensor.insert_slice " + sum + " into %all" + slice +
                           " : " + vector + " into " + t);
  line("scf.yield " + all + ", " + sum + " : " + t + ", " + vector);
  line("}");
  push(result + "#0", a.rows, a.columns);
}

void Generator::loopCarried() {
  // Each iteration mixes the carried tensor with its first row.
  const Tensor a = any();
  std::string t = type(a), result = fresh();
  std::string vector = "tensor<" + std::to_string(a.columns) + "xf32>";
  line(result + " = scf.for %r = %begin to %end step %c1 iter_args(%x = " +
       a.name + ") -> (" + t + ") {");
  std::string row =
      define("tensor.extract_slice %x[0, 0] [1, " + std::to_string(a.columns) +
             "] [1, 1] : " + t + " to " + vector);
  std::string mixed =
      generic(std::string("affine_map<(a, b) -> (b)>, ") + kIdentity,
              "\"parallel\", \"parallel\"", row, vector, "%x", t,
              "  ^bb0(%v: f32, %o: f32):\n"
              "    %y = arith.addf %v, %o : f32\n"
              "    %z = arith.mulf %y, %half : f32\n"
              "    linalg.yield %z : f32\n");
  line("scf.yield " + mixed + " : " + t);
  line("}");
  pool.push_back({result, a.rows, a.columns});
}

void Generator::scalar() {
  // Moves a scaled element to another place, then scales all by it.
  const Tensor a = any();
  auto place = [&] {
    return "[%c" + std::to_string(below(a.rows)) + ", %c" +
           std::to_string(below(a.columns)) + "]";
  };
  std::string x =
      define("tensor.extract " + a.name + place() + " : " + type(a));
  std::string y = define("arith.mulf " + x + ", %half : f32");
  std::string b = define("tensor.insert " + y + " into " + a.name + place() +
                         " : " + type(a));
  std::string z = define("tensor.extract " + b + place() + " : " + type(a));
  std::string e = empty(a.rows, a.columns), id = kIdentity;
  push(generic(id + ", " + id, "\"parallel\", \"parallel\"", b, type(a), e,
               type(a),
               "  ^bb0(%v: f32, %o: f32):\n"
               "    %w = arith.addf %v, " +
                   z +
                   " : f32\n"
                   "    linalg.yield %w : f32\n"),
       a.rows, a.columns);
}

void Generator::branch() {
  const Tensor a = any();
  std::string x =
      define("tensor.extract " + a.name + "[%c0, %c0] : " + type(a));
  std::string positive = define("arith.cmpf ogt, " + x + ", %zero : f32");
  std::string result = fresh();
  line(result + " = scf.if " + positive + " -> (" + type(a) + ") {");
  std::string twice =
      define("arith.addf " + a.name + ", " + a.name + " : " + type(a));
  line("scf.yield " + twice + " : " + type(a));
  line("} else {");
  line("scf.yield " + a.name + " : " + type(a));
  line("}");
  push(result, a.rows, a.columns);
}

void Generator::step() {
  switch (below(9)) {
  case 0:
    return elementwise();
  case 1:
    return broadcast();
  case 2:
    return reduce();
  case 3:
    return product();
  case 4:
    return transpose();
  case 5:
    return loopOverRows();
  case 6:
    return loopCarried();
  case 7:
    return scalar();
  default:
    return branch();
  }
}

RandomBody Generator::generate() {
  int64_t rows = extent(), columns = extent();
  std::string operand = "tensor<?x" + std::to_string(rows) + "x" +
                        std::to_string(columns) + "xf32>";
  for (int i = 0; i <= 17; ++i)
    line("%c" + std::to_string(i) + " = arith.constant " + std::to_string(i) +
         " : index");
  line("%zero = arith.constant 0.0 : f32");
  line("%half = arith.constant 0.5 : f32");
  line("%small = arith.constant 0.0625 : f32");
  line("%limit = arith.constant 4.0 : f32");
  line("%minus = arith.constant -4.0 : f32");
  for (int i = 0; i < 2; ++i)
    pool.push_back({define("tensor.extract_slice %data[%c" + std::to_string(i) +
                           ", 0, 0] [1, " + std::to_string(rows) + ", " +
                           std::to_string(columns) + "] [1, 1, 1] : " +
                           operand + " to " + type(rows, columns)),
                    rows, columns});
  for (unsigned i = 0, n = 4 + below(8); i < n; ++i)
    step();

  RandomBody result;
  std::string values, types;
  for (unsigned i = 0; i < 3; ++i) {
    // Also earlier values: what comes later may not overwrite them.
    const Tensor &t = i == 0 ? pool.back() : any();
    dfrt::Field field;
    field.name = "f" + std::to_string(i);
    field.element = dfrt::ElementType::f32;
    field.shape = {t.rows, t.columns};
    result.output.fields.push_back(field);
    values += (i ? ", " : "") + t.name;
    types += (i ? ", " : "") + type(t);
  }
  result.text = "func.func @f(%begin: index, %end: index, %data: " + operand +
                ") -> (" + types + ") {\n" + body + "  return " + values +
                " : " + types + "\n}\n";
  (void)dfrt::layoutRecord(result.output);
  return result;
}

RandomBody conversiontest::randomBody(unsigned seed) {
  return Generator(seed).generate();
}
