//===- Dimensions.cpp - Sizes computed from the lists of a point ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Dimensions.h.
//
//===----------------------------------------------------------------------===//

#include "Dimensions.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dfrt;

// Deeper than any sensible chain of definitions: a cycle.
/// A step of a definition takes three levels.
static constexpr int kDepthLimit = 1000;

static const char *kForms =
    "count, sum, max, sum_ceildiv, max_ceildiv, product, add, ceildiv";

Expected<std::vector<int64_t>> Dimensions::list(const Node &node) const {
  if (node->is_string()) {
    auto found = point.lists.find(node->get<std::string>());
    if (found != point.lists.end())
      return found->second;
    std::vector<std::string> known;
    for (const auto &entry : point.lists)
      known.push_back(entry.first);
    return node.error(fmt::format(
        "point '{}' has no list \"{}\"; it has: {}", point.name,
        node->get<std::string>(),
        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  if (!node->is_array())
    return node.error(fmt::format("expected a list or the name of one, got {}",
                                  kindName(*node)));
  std::vector<int64_t> values;
  for (size_t i = 0; i < node->size(); ++i) {
    Expected<int64_t> value = node.element(i).integer();
    if (!value)
      return value.status();
    values.push_back(*value);
  }
  return values;
}

Expected<int64_t> Dimensions::lookUp(const Node &node, int depth) {
  std::string name = node->get<std::string>();
  auto forced = overrides.find(name);
  if (forced != overrides.end())
    return forced->second;
  auto found = point.integers.find(name);
  if (found != point.integers.end())
    return found->second;
  if (definitions.value && definitions.has(name)) {
    auto [known, isNew] = values.insert({name, std::nullopt});
    if (!isNew && !known->second)
      return definitions.member(name).error("this dimension refers to itself");
    if (isNew) {
      Expected<int64_t> value = evaluate(definitions.member(name), depth + 1);
      if (!value) {
        values.erase(known);
        return value;
      }
      known->second = *value;
    }
    return *known->second;
  }
  return node.error(fmt::format("no dimension is called \"{}\"; define it in "
                                "\"dimensions\", in the point or with --set",
                                name));
}

Expected<int64_t> Dimensions::reduceList(const Node &node,
                                         const std::string &word, int depth) {
  bool divided = word == "sum_ceildiv" || word == "max_ceildiv";
  if (divided && (!node->is_array() || node->size() != 2))
    return node.error("expected [list, tile]");
  Expected<std::vector<int64_t>> values =
      list(divided ? node.element(0) : node);
  if (!values)
    return values.status();
  if (word == "count")
    return static_cast<int64_t>(values->size());
  int64_t tile = 1;
  if (divided) {
    Expected<int64_t> given = evaluate(node.element(1), depth + 1);
    if (!given)
      return given;
    tile = *given;
    if (tile < 1)
      return node.error(fmt::format("the tile must be positive, got {}", tile));
  }
  int64_t result = 0;
  for (int64_t value : *values) {
    if (value < 0)
      return node.error(
          fmt::format("the list has the negative value {}", value));
    int64_t tiles = value / tile + (value % tile != 0);
    if (word[0] == 'm')
      result = std::max(result, tiles);
    else if (__builtin_add_overflow(result, tiles, &result))
      return node.error("the sum does not fit 64 bits");
  }
  return result;
}

Expected<int64_t> Dimensions::combine(const Node &node, const std::string &word,
                                      int depth) {
  if (!node->is_array())
    return node.error(fmt::format("expected a list, got {}", kindName(*node)));
  if (word == "ceildiv" && node->size() != 2)
    return node.error("expected [dividend, divisor]");
  std::vector<int64_t> values;
  for (size_t i = 0; i < node->size(); ++i) {
    Expected<int64_t> value = evaluate(node.element(i), depth + 1);
    if (!value)
      return value;
    values.push_back(*value);
  }
  if (word == "ceildiv") {
    if (values[0] < 0 || values[1] < 1)
      return node.error(
          fmt::format("cannot divide {} by {}", values[0], values[1]));
    return values[0] / values[1] + (values[0] % values[1] != 0);
  }
  int64_t result = word == "product" ? 1 : 0;
  for (int64_t value : values)
    if (word == "product" ? __builtin_mul_overflow(result, value, &result)
                          : __builtin_add_overflow(result, value, &result))
      return node.error("the result does not fit 64 bits");
  return result;
}

Expected<int64_t> Dimensions::evaluate(const Node &node, int depth) {
  if (depth > kDepthLimit)
    return node.error(fmt::format(
        "dimensions refer to each other more than {} deep", kDepthLimit));
  if (node->is_number())
    return node.integer();
  if (node->is_string())
    return lookUp(node, depth);
  if (!node->is_object() || node->size() != 1)
    return node.error(fmt::format(
        "expected an integer, a name, or an object with one of: {}", kForms));
  std::string word = node->begin().key();
  Node operand = node.member(word);
  if (word == "count" || word == "sum" || word == "max" ||
      word == "sum_ceildiv" || word == "max_ceildiv")
    return reduceList(operand, word, depth);
  if (word == "product" || word == "add" || word == "ceildiv")
    return combine(operand, word, depth);
  return node.error(
      fmt::format("unknown form \"{}\"; known are: {}", word, kForms));
}
