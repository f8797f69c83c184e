//===- Json.cpp - Reads JSON files with errors that name the place --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Json.h.
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace dfrt;

Expected<std::string> dfrt::readFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return Status(
        StatusCode::invalidFile,
        fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  size_t got;
  errno = 0;
  while ((got = std::fread(buffer, 1, sizeof(buffer), file)) > 0)
    text.append(buffer, got);
  bool failed = std::ferror(file);
  int reason = errno;
  std::fclose(file);
  if (failed)
    return Status(
        StatusCode::invalidFile,
        fmt::format("cannot read '{}': {}", path, std::strerror(reason)));
  return text;
}

namespace {
/// Deeper nesting than any workload has.
constexpr int kDepthLimit = 256;

/// Accepts everything that is not too deep; keeps the position of a syntax
/// error.
struct ErrorFinder : nlohmann::json_sax<Json> {
  size_t position = 0;
  int depth = 0;
  bool tooDeep = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return enter(); }
  bool key(string_t &) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(size_t place, const std::string &,
                   const nlohmann::detail::exception &) override {
    position = place;
    return false;
  }
  bool enter() {
    tooDeep = ++depth > kDepthLimit;
    return !tooDeep;
  }
  bool leave() {
    --depth;
    return true;
  }
};
} // namespace

Expected<Json> dfrt::readJson(const std::string &path) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.status();
  return parseJson(*text, path);
}

Expected<Json> dfrt::parseJson(const std::string &text,
                               const std::string &path) {
  // Json copies values of any depth recursively: look before it does.
  ErrorFinder finder;
  if (Json::sax_parse(text, &finder))
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (finder.tooDeep)
    return Status(StatusCode::invalidFile,
                  fmt::format("{}: values are nested more than {} deep", path,
                              kDepthLimit));
  size_t end =
      std::min(finder.position > 0 ? finder.position - 1 : 0, text.size());
  size_t line = 1 + std::count(text.begin(), text.begin() + end, '\n');
  size_t start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  size_t column = start == std::string::npos ? end + 1 : end - start;
  return Status(StatusCode::invalidFile,
                fmt::format("{}:{}:{}: not valid JSON", path, line, column));
}

std::string dfrt::jsonText(const Json &value) {
  return value.dump(1, ' ', /*ensure_ascii=*/false,
                    Json::error_handler_t::replace);
}

const char *dfrt::kindName(const Json &value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "a list";
  if (value.is_string())
    return "a string";
  if (value.is_boolean())
    return "a boolean";
  if (value.is_number_integer())
    return "an integer";
  return value.is_number() ? "a fraction" : "null";
}

Node Node::member(const std::string &key) const {
  bool top = place.size() >= 2 && place.compare(place.size() - 2, 2, ": ") == 0;
  return {&(*value)[key], place + (top ? "" : ".") + key};
}

Node Node::element(size_t index) const {
  return {&(*value)[index], fmt::format("{}[{}]", place, index)};
}

Status Node::error(const std::string &message) const {
  bool top = place.size() >= 2 && place.compare(place.size() - 2, 2, ": ") == 0;
  return Status(StatusCode::invalidArgument,
                place + (top ? "" : ": ") + message);
}

Status Node::expectKeys(std::initializer_list<const char *> keys) const {
  if (!value->is_object())
    return error(fmt::format("expected an object, got {}", kindName(*value)));
  for (const auto &item : value->items()) {
    auto same = [&](const char *key) { return item.key() == key; };
    if (std::none_of(keys.begin(), keys.end(), same))
      return error(fmt::format("unknown key \"{}\"; known are: {}", item.key(),
                               fmt::join(keys, ", ")));
  }
  return Status::success();
}

Expected<std::string> Node::string() const {
  if (!value->is_string())
    return error(fmt::format("expected a string, got {}", kindName(*value)));
  return value->get<std::string>();
}

Expected<int64_t> Node::integer() const {
  if (!value->is_number_integer())
    return error(fmt::format("expected an integer, got {}", kindName(*value)));
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return error(fmt::format("{} does not fit 64 bits", value->dump()));
  return value->get<int64_t>();
}

Expected<double> Node::number() const {
  if (!value->is_number())
    return error(fmt::format("expected a number, got {}", kindName(*value)));
  return value->get<double>();
}
