//===- Workload.cpp - Inputs of a program, read from a JSON file ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Workload.h.
//
//===----------------------------------------------------------------------===//

#include "Workload.h"

#include "Convert.h"
#include "Dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace dfrt;

uint64_t BoundArgument::elements() const { return elementsOf(shape); }

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

// `foreign`: the point stands in a file that was not written for us, so what
// is neither an integer nor a list of integers is skipped.
Status Workload::addPoint(const Node &node, const std::string &nameKey,
                          bool foreign) {
  if (!node->is_object())
    return node.error(
        fmt::format("expected an object, got {}", kindName(*node)));
  Point point;
  point.name = std::to_string(pointList.size());
  for (const auto &item : node->items()) {
    const Json &value = item.value();
    Node member = node.member(item.key());
    if (item.key() == nameKey) {
      if (!value.is_string() && !value.is_number_integer())
        return member.error(fmt::format(
            "expected a string or an integer, got {}", kindName(value)));
      point.name = value.is_string() ? value.get<std::string>() : value.dump();
      continue;
    }
    auto isInteger = [](const Json &v) { return v.is_number_integer(); };
    if (value.is_number_integer()) {
      Expected<int64_t> number = member.integer();
      if (!number)
        return number.status();
      point.integers[item.key()] = *number;
    } else if (value.is_array() &&
               std::all_of(value.begin(), value.end(), isInteger)) {
      std::vector<int64_t> &list = point.lists[item.key()];
      for (size_t i = 0; i < value.size(); ++i) {
        Expected<int64_t> number = member.element(i).integer();
        if (!number)
          return number.status();
        list.push_back(*number);
      }
    } else if (!foreign) {
      return member.error(
          fmt::format("expected an integer or a list of integers, got {}",
                      kindName(value)));
    }
  }
  pointList.push_back(std::move(point));
  return Status::success();
}

Status Workload::readPoints(const Node &node) {
  if (node->is_array()) {
    for (size_t i = 0; i < node->size(); ++i)
      if (Status s = addPoint(node.element(i), "name", false); !s)
        return s;
  } else {
    if (Status s = node.expectKeys({"file", "list", "name"}); !s)
      return s;
    std::string words[3] = {"", "", "name"};
    const char *keys[3] = {"file", "list", "name"};
    for (int i = 0; i < 3; ++i) {
      if (!node.has(keys[i])) {
        if (i == 2)
          continue;
        return node.error(fmt::format("key \"{}\" is missing", keys[i]));
      }
      Expected<std::string> word = node.member(keys[i]).string();
      if (!word)
        return word.status();
      words[i] = *word;
    }
    size_t slash = path.rfind('/');
    std::string file = words[0][0] == '/' || slash == std::string::npos
                           ? words[0]
                           : path.substr(0, slash + 1) + words[0];
    Expected<Json> other = readJson(file);
    if (!other)
      return node.member("file").error(other.status().message());
    Node top{&*other, file + ": "};
    if (!top.has(words[1]))
      return top.error(fmt::format("key \"{}\" is missing", words[1]));
    Node list = top.member(words[1]);
    if (!list->is_array())
      return list.error(
          fmt::format("expected a list, got {}", kindName(*list)));
    for (size_t i = 0; i < list->size(); ++i)
      if (Status s = addPoint(list.element(i), words[2], true); !s)
        return s;
  }
  if (pointList.empty())
    return node.error("there are no points");
  for (size_t i = 0; i < pointList.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (pointList[i].name == pointList[j].name)
        return node.error(
            fmt::format("two points are called '{}'", pointList[i].name));
  return Status::success();
}

// A misspelt name would otherwise change nothing and nobody would notice.
Status Workload::checkOverrides() const {
  Node top = root();
  std::set<std::string> known;
  if (top.has("dimensions"))
    for (const auto &item : top.member("dimensions")->items())
      known.insert(item.key());
  for (const Point &point : pointList)
    for (const auto &entry : point.integers)
      known.insert(entry.first);
  for (const auto &entry : overrides)
    if (!known.count(entry.first))
      return top.error(fmt::format("--set {}: there is no such dimension; "
                                   "there are: {}",
                                   entry.first, fmt::join(known, ", ")));
  return Status::success();
}

Expected<Workload> Workload::read(const std::string &path,
                                  std::map<std::string, int64_t> overrides) {
  Expected<Json> document = readJson(path);
  if (!document)
    return document.status();
  return make(std::move(*document), path, std::move(overrides));
}

Expected<Workload> Workload::make(Json document, std::string path,
                                  std::map<std::string, int64_t> overrides) {
  Workload workload;
  workload.path = std::move(path);
  workload.document = std::move(document);
  workload.overrides = std::move(overrides);
  Node root = workload.root();
  if (Status s = root.expectKeys(
          {"description", "program", "points", "dimensions", "arguments"});
      !s)
    return s;
  for (const char *key : {"points", "arguments"})
    if (!root.has(key))
      return root.error(fmt::format("key \"{}\" is missing", key));
  for (const char *key : {"description", "program"})
    if (root.has(key))
      if (Expected<std::string> text = root.member(key).string(); !text)
        return text.status();
  for (const char *key : {"dimensions", "arguments"})
    if (root.has(key) && !root.member(key)->is_object())
      return root.member(key).error(fmt::format("expected an object, got {}",
                                                kindName(*root.member(key))));
  if (Status s = workload.readPoints(root.member("points")); !s)
    return s;
  if (Status s = workload.checkOverrides(); !s)
    return s;
  return workload;
}

Expected<std::vector<size_t>> Workload::select(const std::string &word) const {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < pointList.size(); ++i)
    if (word == "all" || pointList[i].name == word)
      chosen.push_back(i);
  if (!chosen.empty())
    return chosen;
  bool digits = !word.empty() && word.size() < 10 &&
                std::all_of(
                    word.begin(), word.end(),
                    [](char c) { return c >= '0' && c <= '9'; });
  if (digits && std::stoul(word) < pointList.size()) {
    chosen.push_back(std::stoul(word));
    return chosen;
  }
  std::vector<std::string> names;
  for (const Point &point : pointList)
    if (names.size() < 20)
      names.push_back(point.name);
  return Status(StatusCode::invalidArgument,
                fmt::format("{}: no point is called '{}'; there are {}: {}{}",
                            path, word, pointList.size(),
                            fmt::join(names, ", "),
                            names.size() < pointList.size() ? ", ..." : ""));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Status bindShape(const Node &node, const Argument &argument,
                        Dimensions &dimensions, std::vector<int64_t> &shape) {
  if (!node->is_array())
    return node.error(fmt::format("expected a list, got {}", kindName(*node)));
  if (node->size() != argument.shape.size())
    return node.error(
        fmt::format("has {} dimensions, the program's argument has {}",
                    node->size(), argument.shape.size()));
  uint64_t elements = 1;
  for (size_t i = 0; i < node->size(); ++i) {
    Node place = node.element(i);
    Expected<int64_t> extent = dimensions.evaluate(place);
    if (!extent)
      return extent.status();
    if (*extent < 0)
      return place.error(fmt::format("is {}, must not be negative", *extent));
    if (argument.shape[i] >= 0 && argument.shape[i] != *extent)
      return place.error(fmt::format("is {}, the program's argument has {}",
                                     *extent, argument.shape[i]));
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(*extent),
                               &elements) ||
        elements > uint64_t(1) << 48)
      return node.error("the tensor has more than 2^48 elements");
    shape.push_back(*extent);
  }
  return Status::success();
}

Expected<std::vector<BoundArgument>>
Workload::bind(size_t pointIndex, const Program &program) const {
  Node top = root();
  if (top.has("program") &&
      top.member("program")->get<std::string>() != program.name)
    return top.member("program").error(
        fmt::format("the workload is for program '{}', the artifact holds '{}'",
                    top.member("program")->get<std::string>(), program.name));
  Node given = top.member("arguments");
  std::vector<std::string> names;
  for (const Argument &argument : program.arguments)
    names.push_back(argument.name);
  for (const auto &item : given->items())
    if (std::find(names.begin(), names.end(), item.key()) == names.end())
      return given.error(
          fmt::format("program '{}' has no argument \"{}\"; it has: {}",
                      program.name, item.key(), fmt::join(names, ", ")));

  const Point &point = pointList[pointIndex];
  Node definitions;
  if (top.has("dimensions"))
    definitions = top.member("dimensions");
  Dimensions dimensions(point, definitions, overrides);
  FillNames fillNames;
  fillNames.list = [&](const Node &node) { return dimensions.list(node); };
  fillNames.dimension = [&](const Node &node) {
    return dimensions.evaluate(node);
  };

  std::vector<BoundArgument> bound;
  for (const Argument &argument : program.arguments) {
    if (!given.has(argument.name))
      return given.error(fmt::format("argument \"{}\" of program '{}' is "
                                     "missing",
                                     argument.name, program.name));
    Node node = given.member(argument.name);
    if (Status s = node.expectKeys({"shape", "fill", "padding"}); !s)
      return s;
    if (!node.has("shape"))
      return node.error("key \"shape\" is missing");
    BoundArgument result;
    result.name = argument.name;
    result.element = argument.element;
    result.output = argument.output;
    if (Status s =
            bindShape(node.member("shape"), argument, dimensions, result.shape);
        !s)
      return s;
    for (const char *key : {"fill", "padding"})
      if (argument.output && node.has(key))
        return node.error(fmt::format(
            "an output takes no \"{}\": outputs start as NaN", key));
    if (!argument.output) {
      if (!node.has("fill"))
        return node.error("key \"fill\" is missing");
      Node fillNode = node.member("fill");
      Expected<Fill> fill = readFill(fillNode, fillNames);
      if (!fill)
        return fill.status();
      if (node.has("padding"))
        if (Status s = readPadding(node.member("padding"), fillNames, *fill);
            !s)
          return s;
      if (Status s = checkFill(*fill, result.element, result.shape, fillNode);
          !s)
        return s;
      result.fill = std::move(*fill);
    }
    bound.push_back(std::move(result));
  }
  return bound;
}

std::vector<bool> dfrt::plannedArguments(const Program &program) {
  std::vector<bool> planned(program.arguments.size(), false);
  auto mark = [&](uint32_t argument) {
    if (argument != kNone)
      planned[argument] = true;
  };
  auto markElement = [&](const PlanValue &value) {
    if (value.kind == PlanValue::Kind::element)
      mark(value.argument);
  };
  for (const Domain &domain : program.domains) {
    mark(domain.coordinates);
    mark(domain.weights);
  }
  for (const Range &range : program.ranges) {
    markElement(range.length);
    markElement(range.offset);
  }
  for (const Stage &stage : program.stages)
    if (stage.kind == StageKind::reshard && stage.reshard == ReshardKind::rekey)
      mark(stage.rekey.argument); // elsewhere it says nothing
  return planned;
}

std::vector<int64_t> dfrt::integerValues(const BoundArgument &argument,
                                         const void *data) {
  std::vector<int64_t> values;
  if (!isInteger(argument.element))
    return values;
  values.reserve(argument.elements());
  for (uint64_t e = 0; e < argument.elements(); ++e)
    values.push_back(loadInteger(argument.element, data, e));
  return values;
}
