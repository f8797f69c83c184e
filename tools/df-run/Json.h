//===- Json.h - Reads JSON files with errors that name the place -*- C++ -*-==//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nlohmann's parser without its exceptions, and `Node`: a value together with
// its path in the file, so that every complaint says where
// ("workload.json: arguments.q.shape[1]: ...").
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_JSON_H
#define DF_RUN_JSON_H

#include "dataflow/Schedule/Status.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace dfrt {

using Json = nlohmann::ordered_json;

/// Reads a whole file. Fails with the system's reason.
Expected<std::string> readFile(const std::string &path);

/// Parses the file at `path`; a syntax error names line and column.
Expected<Json> readJson(const std::string &path);

/// The same of text; messages call it `path`.
Expected<Json> parseJson(const std::string &text, const std::string &path);

/// The value as indented text. Bytes that are not UTF-8 are replaced: names of
/// files may hold any.
std::string jsonText(const Json &value);

/// A JSON value and the words that say where it stands.
struct Node {
  const Json *value = nullptr;
  std::string place; ///< file and path

  const Json &operator*() const { return *value; }
  const Json *operator->() const { return value; }

  Node member(const std::string &key) const;
  Node element(size_t index) const;
  bool has(const std::string &key) const {
    return value->is_object() && value->contains(key);
  }

  /// An error about this value.
  Status error(const std::string &message) const;
  /// An error if the value is not an object or has a key that is not listed.
  Status expectKeys(std::initializer_list<const char *> keys) const;

  Expected<std::string> string() const;
  Expected<int64_t> integer() const;
  Expected<double> number() const;
};

/// "an object", "a string", ... for messages.
const char *kindName(const Json &value);

} // namespace dfrt

#endif // DF_RUN_JSON_H
