//===- JsonValue.cpp - JSON text, read strictly ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonValue.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace dfrt;
using namespace dfrt::detail;

const JsonValue *JsonValue::find(const std::string &key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

const char *JsonValue::kindName() const {
  static constexpr const char *kNames[] = {
      "null", "true or false", "a number", "a string", "an array", "an object"};
  return kNames[size_t(kind)];
}

namespace {
class Parser {
public:
  Parser(const std::string &text, const std::string &name)
      : text(text), name(name) {}

  Expected<JsonValue> run() {
    JsonValue value;
    DFRT_TRY(parse(value, 0));
    skip();
    if (at < text.size())
      return wrong("nothing is expected behind the value");
    return value;
  }

private:
  const std::string &text;
  const std::string &name;
  size_t at = 0;

  Status wrong(const std::string &what) const {
    size_t line = 1 + std::count(text.begin(), text.begin() + at, '\n');
    size_t start = text.rfind('\n', at ? at - 1 : 0);
    size_t column =
        at - (start == std::string::npos || start >= at ? size_t(-1) : start);
    return failure(StatusCode::invalidFile, name, ":", line, ":", column,
                   ": not valid JSON: ", what);
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' ||
                                text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool word(const char *letters) {
    size_t length = std::char_traits<char>::length(letters);
    if (text.compare(at, length, letters) != 0)
      return false;
    at += length;
    return true;
  }

  Status parse(JsonValue &value, int depth) {
    if (depth > 16)
      return wrong("more than 16 levels");
    skip();
    if (at >= text.size())
      return wrong("the text ends too early");
    switch (text[at]) {
    case '{':
      return object(value, depth);
    case '[':
      return array(value, depth);
    case '"':
      value.kind = JsonValue::Kind::string;
      return string(value.string);
    default:
      break;
    }
    if (word("null"))
      return Status::success();
    value.kind = JsonValue::Kind::boolean;
    value.boolean = word("true");
    if (value.boolean || word("false"))
      return Status::success();
    value.kind = JsonValue::Kind::number;
    // from_chars takes "inf" and "nan", JSON does not.
    const char *first = text.data() + at, *end = text.data() + text.size();
    if (*first != '-' && !(*first >= '0' && *first <= '9'))
      return wrong("a value is expected");
    auto [last, error] = std::from_chars(first, end, value.number);
    if (error != std::errc() || !std::isfinite(value.number))
      return wrong("a number is expected");
    at += size_t(last - first);
    return Status::success();
  }

  Status object(JsonValue &value, int depth) {
    value.kind = JsonValue::Kind::object;
    ++at;
    if (take('}'))
      return Status::success();
    do {
      std::string key;
      skip();
      if (at >= text.size() || text[at] != '"')
        return wrong("a member's name is expected");
      DFRT_TRY(string(key));
      if (value.find(key))
        return wrong(textOf("member '", key, "' is given twice"));
      if (!take(':'))
        return wrong("':' is expected");
      JsonValue item;
      item.place = value.place.empty() ? key : textOf(value.place, ".", key);
      DFRT_TRY(parse(item, depth + 1));
      value.keys.push_back(std::move(key));
      value.items.push_back(std::move(item));
    } while (take(','));
    return take('}') ? Status::success() : wrong("',' or '}' is expected");
  }

  Status array(JsonValue &value, int depth) {
    value.kind = JsonValue::Kind::array;
    ++at;
    if (take(']'))
      return Status::success();
    do {
      JsonValue item;
      item.place = textOf(value.place, "[", value.items.size(), "]");
      DFRT_TRY(parse(item, depth + 1));
      value.items.push_back(std::move(item));
    } while (take(','));
    return take(']') ? Status::success() : wrong("',' or ']' is expected");
  }

  Status string(std::string &value) {
    ++at;
    while (at < text.size() && text[at] != '"') {
      char c = text[at++];
      if (static_cast<unsigned char>(c) < 0x20)
        return wrong("a string has a control character");
      if (c != '\\') {
        value += c;
        continue;
      }
      static constexpr char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
      char escaped = at < text.size() ? text[at++] : '\0';
      const char *known = std::char_traits<char>::find(kFrom, 8, escaped);
      unsigned code = 0;
      if (known) {
        value += kTo[known - kFrom];
      } else if (escaped == 'u' && at + 4 <= text.size() &&
                 std::from_chars(&text[at], &text[at] + 4, code, 16).ptr ==
                     &text[at] + 4 &&
                 code < 128) {
        value += char(code);
        at += 4;
      } else {
        return wrong("this escape is not known");
      }
    }
    if (at >= text.size())
      return wrong("a string does not end");
    ++at;
    return Status::success();
  }
};
} // namespace

Expected<JsonValue> dfrt::detail::parseJson(const std::string &text,
                                            const std::string &name) {
  return Parser(text, name).run();
}
