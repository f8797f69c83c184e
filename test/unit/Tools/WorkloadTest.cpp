//===- WorkloadTest.cpp - Workload files, good and bad ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workload.h"
#include "Convert.h"
#include "Random.h"
#include "Tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>

using namespace dfrt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// x: f16 [?, 8], table: i32 [?, ?], lengths: i32 [?], out: f32 [?].
Program program() {
  Program p;
  p.name = "rows";
  p.arguments = {{"x", ElementType::f16, {-1, 8}, false},
                 {"table", ElementType::i32, {-1, -1}, false},
                 {"lengths", ElementType::i32, {-1}, false},
                 {"out", ElementType::f32, {-1}, true}};
  Domain domain;
  domain.name = "rows";
  domain.axes.resize(1);
  domain.axes[0].name = "row";
  domain.axes[0].extent.kind = PlanValue::Kind::dimension;
  domain.axes[0].extent.argument = 2;
  p.domains.push_back(domain);
  Range range;
  range.name = "columns";
  range.length.kind = PlanValue::Kind::element;
  range.length.argument = 2;
  range.length.axes = {0};
  p.ranges.push_back(range);
  return p;
}

const char *const kGood = R"({
  "description": "good",
  "program": "rows",
  "points": [{"name": "small", "lengths": [5, 0, 9]},
             {"name": "one", "lengths": [4], "pad": 2},
             {"lengths": []}],
  "dimensions": {"rows": {"count": "lengths"},
                 "pages": {"sum_ceildiv": ["lengths", "page"]},
                 "page": 4,
                 "pad": 0},
  "arguments": {
    "x": {"shape": [{"add": ["pages", "pad"]}, 8], "fill": "normal"},
    "table": {"shape": ["rows", {"max_ceildiv": ["lengths", "page"]}],
              "fill": {"page_table": {"lengths": "lengths", "tile": "page"}}},
    "lengths": {"shape": ["rows"], "fill": {"values": "lengths"}},
    "out": {"shape": ["rows"]}
  }
})";

std::string write(const std::string &text, const std::string &name) {
  std::string path = testing::TempDir() + name;
  std::FILE *file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  return path;
}

Expected<Workload> parse(const std::string &text,
                         std::map<std::string, int64_t> overrides = {}) {
  const testing::TestInfo *info =
      testing::UnitTest::GetInstance()->current_test_info();
  return Workload::read(write(text, std::string(info->name()) + ".json"),
                        overrides);
}

// The message of reading `text` and binding its first point.
std::string complaint(const std::string &text) {
  Expected<Workload> workload = parse(text);
  if (!workload)
    return workload.status().message();
  Expected<std::vector<BoundArgument>> bound = workload->bind(0, program());
  return bound ? "none" : bound.status().message();
}

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kGood;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::vector<int64_t> integers(const BoundArgument &argument,
                              uint64_t seed = 0) {
  std::vector<uint8_t> bytes(argument.bytes());
  runFill(argument.fill, argument.element, argument.shape, seed, 1,
          bytes.data());
  std::vector<int64_t> values;
  for (uint64_t i = 0; i < argument.elements(); ++i)
    values.push_back(loadInteger(argument.element, bytes.data(), i));
  return values;
}

TEST(Workload, BindsShapesAndFills) {
  Expected<Workload> workload = parse(kGood);
  ASSERT_TRUE(workload) << workload.status().message();
  EXPECT_EQ(workload->points().size(), 3u);
  Expected<std::vector<BoundArgument>> bound = workload->bind(0, program());
  ASSERT_TRUE(bound) << bound.status().message();
  EXPECT_THAT((*bound)[0].shape, ElementsAre(5, 8));
  EXPECT_THAT((*bound)[1].shape, ElementsAre(3, 3));
  EXPECT_THAT((*bound)[2].shape, ElementsAre(3));
  EXPECT_TRUE((*bound)[3].output);
  EXPECT_THAT(integers((*bound)[2]), ElementsAre(5, 0, 9));

  std::vector<int64_t> table = integers((*bound)[1]);
  std::vector<int64_t> used = {table[0], table[1], table[6], table[7],
                               table[8]};
  std::sort(used.begin(), used.end());
  EXPECT_THAT(used, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(std::vector<int64_t>(table.begin() + 2, table.begin() + 6),
              ElementsAre(-1, -1, -1, -1));
}

TEST(Workload, PointsOverrideDimensionsAndTheCommandLineBoth) {
  Expected<Workload> workload = parse(kGood);
  ASSERT_TRUE(workload);
  EXPECT_THAT((*workload->bind(1, program()))[0].shape, ElementsAre(3, 8));
  workload = parse(kGood, {{"pad", 5}, {"page", 2}});
  EXPECT_THAT((*workload->bind(1, program()))[0].shape, ElementsAre(7, 8));
}

TEST(WorkloadErrors, OverrideOfNothing) {
  EXPECT_THAT(parse(kGood, {{"pagge", 2}}).status().message(),
              HasSubstr("--set pagge: there is no such dimension; there are: "
                        "pad, page, pages, rows"));
}

// Facts of the tiles of all lengths, and keys for their elements.
TEST(Workload, TilesOfLengths) {
  auto filled = [](const std::string &shape, const std::string &fill) {
    Expected<Workload> workload =
        parse(replaced(R"(["rows", {"max_ceildiv": ["lengths", "page"]}],
              "fill": {"page_table": {"lengths": "lengths", "tile": "page"}})",
                       shape + ", \"fill\": " + fill));
    EXPECT_TRUE(workload) << workload.status().message();
    Program p = program();
    p.arguments[1].shape.assign(shape == "[\"pages\"]" ? 1 : 2, -1);
    Expected<std::vector<BoundArgument>> bound = workload->bind(0, p);
    EXPECT_TRUE(bound) << bound.status().message();
    return integers((*bound)[1]);
  };
  auto give = [&](const std::string &fact) {
    return filled("[\"pages\"]", R"({"tiles": {"lengths": "lengths", "tile": 4,
                                               "give": ")" +
                                     fact + "\"}}");
  };
  EXPECT_THAT(give("owner"), ElementsAre(0, 0, 2, 2, 2));
  EXPECT_THAT(give("begin"), ElementsAre(0, 4, 5, 9, 13));
  EXPECT_THAT(give("length"), ElementsAre(4, 1, 4, 4, 1));

  // 14 elements share 7 keys: each key twice, none twice in one list unless it
  // is longer.
  std::vector<int64_t> keys = filled("[\"pages\", 4]", R"({"tile_keys": {
      "lengths": "lengths", "tile": 4, "keys": 7, "seed": 3, "unused": -5}})");
  std::vector<int64_t> first(keys.begin(), keys.begin() + 5);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
  EXPECT_THAT(std::vector<int64_t>(keys.begin() + 5, keys.begin() + 8),
              ElementsAre(-5, -5, -5));
  for (int64_t key = 0; key < 7; ++key)
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 2) << key;
  // Where they are, behind that nothing.
  std::vector<int64_t> places = filled("[7, 3]", R"({"key_places": {
      "lengths": "lengths", "tile": 4, "keys": 7, "seed": 3, "unused": -2}})");
  for (int64_t key = 0; key < 7; ++key) {
    EXPECT_LT(places[key * 3], places[key * 3 + 1]) << key;
    EXPECT_EQ(keys[places[key * 3]], key);
    EXPECT_EQ(keys[places[key * 3 + 1]], key);
    EXPECT_EQ(places[key * 3 + 2], -2) << key;
  }
}

TEST(Workload, EmptyBatch) {
  Expected<Workload> workload = parse(kGood);
  ASSERT_TRUE(workload);
  Expected<std::vector<BoundArgument>> bound = workload->bind(2, program());
  ASSERT_TRUE(bound) << bound.status().message();
  EXPECT_EQ((*bound)[0].elements(), 0u);
  EXPECT_EQ((*bound)[3].elements(), 0u);
}

TEST(Workload, SelectsPoints) {
  Expected<Workload> workload = parse(kGood);
  ASSERT_TRUE(workload);
  EXPECT_THAT(*workload->select("one"), ElementsAre(1));
  EXPECT_THAT(*workload->select("0"), ElementsAre(0));
  EXPECT_THAT(*workload->select("2"), ElementsAre(2)); // called "2"
  EXPECT_THAT(*workload->select("all"), ElementsAre(0, 1, 2));
  EXPECT_THAT(workload->select("3").status().message(),
              HasSubstr("no point is called '3'; there are 3: small, one, 2"));
}

TEST(Workload, OnlyPlannedArgumentsAreFilledForPlanning) {
  Expected<Workload> workload = parse(kGood);
  ASSERT_TRUE(workload);
  Expected<Tensors> tensors =
      planTensors(*workload->bind(0, program()), program(), 0);
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->views[0].data, nullptr);
  EXPECT_EQ(tensors->views[1].data, nullptr);
  ASSERT_NE(tensors->views[2].data, nullptr);
  EXPECT_THAT(integerValues(tensors->arguments[2], tensors->views[2].data),
              ElementsAre(5, 0, 9));
  ASSERT_TRUE(fillTensors(*tensors, 0, 1));
  poisonOutputs(*tensors);
  EXPECT_TRUE(
      std::isnan(loadElement(ElementType::f32, tensors->views[3].data, 2)));
}

TEST(Workload, PointsOfAnotherFile) {
  write(R"({"traces": [{"id": 7, "source": "x", "lengths": [1, 2], "n": 3}]})",
        "other.json");
  std::string text = replaced(
      R"([{"name": "small", "lengths": [5, 0, 9]},
             {"name": "one", "lengths": [4], "pad": 2},
             {"lengths": []}])",
      R"({"file": "other.json", "list": "traces", "name": "id"})");
  Expected<Workload> workload = parse(text);
  ASSERT_TRUE(workload) << workload.status().message();
  EXPECT_EQ(workload->points()[0].name, "7");
  EXPECT_THAT(workload->points()[0].lists.at("lengths"), ElementsAre(1, 2));
  EXPECT_EQ(workload->points()[0].integers.at("n"), 3);
}

TEST(Workload, ExamplesAreValidJson) {
  for (const char *name :
       {"fused-moe/workload.json", "fused-moe/workload_core.json",
        "hello/workload.json", "mla-decode/workload.json",
        "mla-decode/workload_dense.json"}) {
    Expected<Workload> workload = Workload::read(
        std::string(DATAFLOW_SOURCE_DIR "/examples/") + name, {});
    EXPECT_TRUE(workload) << workload.status().message();
  }
}

TEST(WorkloadErrors, NameThePlace) {
  EXPECT_THAT(complaint("{\n \"points\": [,]}"), HasSubstr(":2:13: not valid"));
  EXPECT_THAT(complaint("[]"), HasSubstr("expected an object, got a list"));
  EXPECT_THAT(complaint(replaced("\"description\"", "\"descrption\"")),
              HasSubstr("unknown key \"descrption\"; known are: description, "
                        "program, points"));
  EXPECT_THAT(complaint(replaced("\"rows\",\n", "\"cols\",\n")),
              HasSubstr("program: the workload is for program 'cols', the "
                        "artifact holds 'rows'"));
  EXPECT_THAT(
      complaint(replaced("\"out\": {", "\"oout\": {")),
      HasSubstr("arguments: program 'rows' has no argument \"oout\"; it "
                "has: x, table, lengths, out"));
  EXPECT_THAT(
      complaint(replaced(",\n    \"out\": {\"shape\": [\"rows\"]}", "")),
      HasSubstr("argument \"out\" of program 'rows' is missing"));
  EXPECT_THAT(
      complaint(replaced(", 8], \"fill\"", ", 9], \"fill\"")),
      HasSubstr("arguments.x.shape[1]: is 9, the program's argument has "
                "8"));
  EXPECT_THAT(complaint(replaced(", 8], \"fill\"", "], \"fill\"")),
              HasSubstr("arguments.x.shape: has 1 dimensions, the program's "
                        "argument has 2"));
  EXPECT_THAT(complaint(replaced("\"pad\"]}", "\"padd\"]}")),
              HasSubstr("arguments.x.shape[0].add[1]: no dimension is called "
                        "\"padd\""));
  EXPECT_THAT(complaint(replaced("\"pad\": 0", "\"pad\": \"pad\"")),
              HasSubstr("dimensions.pad: this dimension refers to itself"));
  EXPECT_THAT(complaint(replaced("\"pad\": 0", "\"pad\": -9")),
              HasSubstr("arguments.x.shape[0]: is -4, must not be negative"));
  EXPECT_THAT(complaint(replaced("\"pad\": 0", "\"pad\": 1.5")),
              HasSubstr("dimensions.pad: expected an integer, got a fraction"));
  EXPECT_THAT(complaint(replaced("\"count\"", "\"cuont\"")),
              HasSubstr("dimensions.rows: unknown form \"cuont\"; known are: "
                        "count, sum"));
  EXPECT_THAT(complaint(replaced("{\"values\": \"lengths\"}",
                                 "{\"values\": \"length\"}")),
              HasSubstr("arguments.lengths.fill.values: point 'small' has no "
                        "list \"length\"; it has: lengths"));
  EXPECT_THAT(
      complaint(replaced("{\"values\": \"lengths\"}", "{\"values\": [1, 2]}")),
      HasSubstr("2 values given for 3 elements"));
  EXPECT_THAT(complaint(replaced("{\"values\": \"lengths\"}",
                                 "{\"values\": [1, 2, 2.5]}")),
              HasSubstr("fractions given for elements of type i32"));
  EXPECT_THAT(
      complaint(replaced("{\"values\": \"lengths\"}", "\"normal\"")),
      HasSubstr("arguments.lengths.fill: this fill makes fractions, the "
                "elements have type i32; use random_integers"));
  EXPECT_THAT(complaint(replaced("\"normal\"", "\"gauss\"")),
              HasSubstr("arguments.x.fill: unknown fill \"gauss\""));
  EXPECT_THAT(complaint(replaced("\"normal\"", "{\"normal\": {\"sed\": 1}}")),
              HasSubstr("arguments.x.fill.normal: unknown key \"sed\"; known "
                        "are: seed, mean, scale"));
  EXPECT_THAT(complaint(replaced("\"tile\": \"page\"", "\"tile\": 1")),
              HasSubstr("length 5 needs 5 pages, the table has 3 columns"));
  const char *const table =
      R"({"page_table": {"lengths": "lengths", "tile": "page"}})";
  EXPECT_THAT(
      complaint(replaced(table, R"({"tiles": {"lengths": "lengths"}})")),
      HasSubstr("arguments.table.fill.tiles: \"give\" must be"));
  EXPECT_THAT(complaint(replaced(table, R"({"tiles": {"lengths": "lengths",
                  "tile": 4, "give": "owner"}})")),
              HasSubstr("the lengths have 5 tiles: the shape must be [5]"));
  EXPECT_THAT(complaint(replaced(table, R"({"tile_keys": {"lengths": "lengths",
                  "tile": 4, "keys": 9}})")),
              HasSubstr("the lengths have 5 tiles: the shape must be [5, 4]"));
  EXPECT_THAT(complaint(replaced(table, R"({"tile_keys": {"lengths": "lengths",
                  "keys": 0}})")),
              HasSubstr("14 elements with 0 keys, expected 1 to"));
  EXPECT_THAT(complaint(replaced(table, R"({"key_places": {"lengths": "lengths",
                  "tile": 4, "keys": 3}})")),
              HasSubstr("14 elements with 3 keys need 5 columns, the shape has "
                        "3"));
  EXPECT_THAT(complaint(replaced(table, R"({"key_places": {"lengths": "lengths",
                  "tile": 4, "keys": 9}})")),
              HasSubstr("places of 9 keys need the shape [9, columns]"));
  EXPECT_THAT(complaint(replaced("{\"shape\": [\"rows\"]}",
                                 "{\"shape\": [\"rows\"], \"fill\": \"nan\"}")),
              HasSubstr("arguments.out: an output takes no \"fill\""));
  EXPECT_THAT(complaint(replaced("\"normal\"}",
                                 "\"normal\", \"padding\": {\"lengths\": "
                                 "\"lengths\"}}")),
              HasSubstr("padding behind 3 lengths needs the shape [3, extent"));
  EXPECT_THAT(complaint(replaced("\"lengths\": [4]", "\"lengths\": [4.5]")),
              HasSubstr("points[1].lengths: expected an integer or a list of "
                        "integers"));
  EXPECT_THAT(complaint(replaced("\"name\": \"one\"", "\"name\": \"small\"")),
              HasSubstr("points: two points are called 'small'"));
  EXPECT_THAT(Workload::read("/nonexistent/w.json", {}).status().message(),
              HasSubstr("cannot open '/nonexistent/w.json': No such file"));
}

// Only a rekeying reshard reads its index; nobody tests it in other stages.
TEST(Workload, PlansWithTheIndexOfReshardsOnly) {
  Program p = program();
  p.stages.resize(2);
  p.stages[0].rekey.argument = 99;
  p.stages[1].kind = StageKind::reshard;
  p.stages[1].reshard = ReshardKind::rekey;
  p.stages[1].rekey.argument = 1;
  EXPECT_THAT(plannedArguments(p), ElementsAre(false, true, true, false));
}

TEST(Json, ReplacesWhatIsNotText) {
  EXPECT_EQ(jsonText(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Tensors, FilesStayInTheirFolder) {
  Tensors tensors;
  tensors.arguments.emplace_back();
  tensors.arguments[0].name = "../escaped";
  EXPECT_THAT(saveTensors(tensors, testing::TempDir() + "saved").message(),
              HasSubstr("argument '../escaped' cannot be saved"));
}

TEST(WorkloadErrors, NestingIsBounded) {
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "{\"add\": [";
  EXPECT_THAT(complaint("{\"points\": " + deep),
              HasSubstr("values are nested more than 256 deep"));
}

// Each definition is evaluated once, however often it is named.
TEST(Workload, SharedDimensionsAreEvaluatedOnce) {
  std::string chain = "\"d0\": 0";
  for (int i = 1; i <= 100; ++i) {
    std::string below = "\"d" + std::to_string(i - 1) + "\"";
    chain += ", \"d" + std::to_string(i) + "\": {\"add\": [" + below + ", " +
             below + ", 1]}";
  }
  EXPECT_THAT(complaint(replaced("\"pad\": 0", "\"pad\": \"d62\", " + chain)),
              HasSubstr("the tensor has more than 2^48 elements"));
  EXPECT_THAT(complaint(replaced("\"pad\": 0", "\"pad\": \"d70\", " + chain)),
              HasSubstr("the result does not fit 64 bits"));
}

TEST(WorkloadErrors, IntegersFitTheirElements) {
  auto lengths = [](const char *fill) {
    return complaint(replaced("{\"values\": \"lengths\"}", fill));
  };
  EXPECT_THAT(lengths("{\"values\": [1, 2, 2147483648]}"),
              HasSubstr("fill: 2147483648 is not a value of type i32"));
  EXPECT_EQ(lengths("{\"values\": [1, -2147483648, 2147483647]}"), "none");
  EXPECT_THAT(lengths("{\"constant\": 1e300}"),
              HasSubstr("1e+300 is not a value of type i32"));
  EXPECT_THAT(lengths("{\"constant\": 0.5}"),
              HasSubstr("0.5 is not a value of type i32"));
  EXPECT_THAT(lengths("{\"constant\": \"nan\"}"),
              HasSubstr("nan is not a value of type i32"));
  EXPECT_THAT(lengths("{\"iota\": {\"step\": 0.5}}"),
              HasSubstr("step 0.5 makes fractions"));
  EXPECT_THAT(lengths("{\"iota\": {\"start\": 2147483646}}"),
              HasSubstr("2147483648 is not a value of type i32"));
  EXPECT_THAT(lengths("{\"prefix_sum\": [2147483647, 1, 5]}"),
              HasSubstr("2147483648 is not a value of type i32"));
  EXPECT_EQ(lengths("{\"prefix_sum\": [2147483646, 1, 5]}"), "none");
  EXPECT_THAT(lengths("{\"random_integers\": {\"high\": 4294967296}}"),
              HasSubstr("4294967296 is not a value of type i32"));
  EXPECT_THAT(lengths("{\"random_integers\": {\"low\": -9223372036854775808, "
                      "\"high\": 1}}"),
              HasSubstr("is wider than 2^63"));
  EXPECT_THAT(complaint(replaced("\"tile\": \"page\"}",
                                 "\"tile\": \"page\", \"unused\": "
                                 "-4294967297}")),
              HasSubstr("-4294967297 is not a value of type i32"));
}

TEST(WorkloadErrors, PagesAreBounded) {
  EXPECT_THAT(complaint(replaced("\"tile\": \"page\"}",
                                 "\"tile\": \"page\", \"pages\": "
                                 "1099511627776}")),
              HasSubstr("there are 1099511627776 pages, expected at most "
                        "268435456"));
  EXPECT_THAT(complaint(replaced("{\"page_table\": {\"lengths\": \"lengths\"",
                                 "{\"page_table\": {\"lengths\": "
                                 "[9223372036854775807, 9223372036854775807, "
                                 "9223372036854775807, 9223372036854775807, "
                                 "9223372036854775807]")),
              HasSubstr("the number of pages does not fit 64 bits"));
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

TEST(Fill, SameBytesForAnyNumberOfThreads) {
  Fill fill;
  fill.kind = Fill::Kind::normal;
  std::vector<int64_t> shape = {3, 1 << 20};
  std::vector<uint16_t> one(3 << 20), three(3 << 20), other(3 << 20);
  runFill(fill, ElementType::f16, shape, 7, 1, one.data());
  runFill(fill, ElementType::f16, shape, 7, 3, three.data());
  runFill(fill, ElementType::f16, shape, 8, 3, other.data());
  EXPECT_EQ(one, three);
  EXPECT_NE(one, other);
}

TEST(Fill, NormalHasMomentsAndUniformHasBounds) {
  const int64_t count = 200000;
  Fill fill;
  fill.kind = Fill::Kind::normal;
  fill.number = 2;
  fill.scale = 3;
  std::vector<double> values(count);
  runFill(fill, ElementType::f64, {count}, 0, 1, values.data());
  double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double variance = 0;
  for (double v : values)
    variance += (v - mean) * (v - mean) / count;
  EXPECT_NEAR(mean, 2, 0.05);
  EXPECT_NEAR(variance, 9, 0.1);

  fill.kind = Fill::Kind::uniform;
  fill.low = -1;
  fill.high = 3;
  runFill(fill, ElementType::f64, {count}, 0, 1, values.data());
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / count, 1,
              0.05);
}

BoundArgument table(Fill fill, std::vector<int64_t> shape) {
  BoundArgument argument;
  argument.element = ElementType::i64;
  argument.shape = std::move(shape);
  argument.fill = std::move(fill);
  return argument;
}

TEST(Fill, PermutationsAndDistinctIntegers) {
  Fill fill;
  fill.kind = Fill::Kind::permutation;
  std::vector<int64_t> values = integers(table(fill, {2, 50}));
  EXPECT_FALSE(
      std::equal(values.begin(), values.begin() + 50, values.begin() + 50));
  EXPECT_EQ(std::set<int64_t>(values.begin(), values.begin() + 50).size(), 50u);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 49);

  fill.kind = Fill::Kind::randomIntegers;
  fill.integersLow = -2;
  fill.integersHigh = 1;
  fill.distinct = true;
  values = integers(table(fill, {20, 3}));
  for (int row = 0; row < 20; ++row)
    EXPECT_EQ(std::set<int64_t>(values.begin() + 3 * row,
                                values.begin() + 3 * row + 3)
                  .size(),
              3u);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -2);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1);
}

TEST(Fill, PrefixSumsAndIota) {
  Fill fill;
  fill.kind = Fill::Kind::prefixSum;
  fill.integers = {3, 0, 4};
  EXPECT_THAT(integers(table(fill, {4})), ElementsAre(0, 3, 3, 7));
  EXPECT_THAT(integers(table(fill, {3})), ElementsAre(0, 3, 3));
  fill.kind = Fill::Kind::iota;
  fill.number = 5;
  fill.scale = -2;
  EXPECT_THAT(integers(table(fill, {3})), ElementsAre(5, 3, 1));
}

TEST(Fill, PaddingOverwritesWhatLiesBehindTheLengths) {
  Fill fill;
  fill.kind = Fill::Kind::iota;
  fill.padded = true;
  fill.valid = {1, 2, 0};
  fill.padding = -9;
  EXPECT_THAT(integers(table(fill, {3, 2, 2})),
              ElementsAre(0, 1, -9, -9, 4, 5, 6, 7, -9, -9, -9, -9));
}

TEST(Fill, PoisonIsNaN) {
  for (ElementType type : {ElementType::f32, ElementType::f16,
                           ElementType::bf16, ElementType::f8E4M3FN}) {
    double storage[3];
    poison(type, 3, storage);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(std::isnan(loadElement(type, storage, i)));
  }
}

} // namespace
