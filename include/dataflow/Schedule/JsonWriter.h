//===- JsonWriter.h - JSON text, written in order ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A writer for the sources of planner and runtime, which have no JSON
// dependency. Everything is on one line but what `line` breaks.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_JSONWRITER_H
#define DATAFLOW_SCHEDULE_JSONWRITER_H

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace dfrt {

class JsonWriter {
public:
  /// Begin and end of an object or array, as a member `key` or (null) as an
  /// element or the whole text.
  void beginObject(const char *key = nullptr) { open(key, '{'); }
  void endObject() { close('}'); }
  void beginArray(const char *key = nullptr) { open(key, '['); }
  void endArray() { close(']'); }

  void member(const char *key, const std::string &value) {
    item(key);
    quote(value);
  }
  void member(const char *key, const char *value) {
    member(key, std::string(value));
  }
  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<T>> member(const char *key, T value) {
    item(key);
    if constexpr (std::is_same_v<T, bool>)
      text += value ? "true" : "false";
    else if constexpr (std::is_floating_point_v<T>)
      appendReal(value);
    else
      text += std::to_string(value);
  }
  template <typename T>
  void element(const T &value) {
    member(nullptr, value);
  }
  /// An array of numbers.
  template <typename Values>
  void numbers(const char *key, const Values &values) {
    beginArray(key);
    for (const auto &value : values)
      element(value);
    endArray();
  }

  /// The next item begins on a new line, indented by so many spaces.
  void line(int spaces) { indent = spaces; }

  std::string take() { return std::move(text); }

private:
  void item(const char *key) {
    if (!first)
      text += ',';
    first = false;
    if (indent >= 0) {
      text += '\n';
      text.append(size_t(indent), ' ');
      indent = -1;
    }
    if (key) {
      quote(key);
      text += ':';
    }
  }
  void open(const char *key, char bracket) {
    item(key);
    text += bracket;
    first = true;
  }
  void close(char bracket) {
    text += bracket;
    first = false;
  }
  /// The shortest text that reads back as `value`, whatever the locale.
  void appendReal(double value) {
    if (!std::isfinite(value)) {
      text += "null";
      return;
    }
    char buffer[32];
    text.append(buffer,
                std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
  }
  void quote(const std::string &value) {
    static constexpr char kHex[] = "0123456789abcdef";
    text += '"';
    for (char c : value) {
      if (c == '"' || c == '\\') {
        text += '\\';
        text += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        text += "\\u00";
        text += kHex[c >> 4];
        text += kHex[c & 15];
      } else {
        text += c;
      }
    }
    text += '"';
  }

  std::string text;
  bool first = true;
  int indent = -1;
};

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_JSONWRITER_H
