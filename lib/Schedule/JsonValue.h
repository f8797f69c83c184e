//===- JsonValue.h - JSON text, read strictly -------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The small reader behind device profiles; the planner has no JSON dependency.
// Values know where they stand ("reads[3].ctas"), so that a complaint can say
// so. Text beyond ASCII is taken as it is; of the escapes, those of a single
// character and \u below 128.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_SCHEDULE_JSONVALUE_H
#define DFRT_LIB_SCHEDULE_JSONVALUE_H

#include "dataflow/Schedule/Status.h"

#include <string>
#include <vector>

namespace dfrt::detail {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> items;  ///< of an array; of an object: the values
  std::vector<std::string> keys; ///< of an object
  std::string place;             ///< e.g. "reads[3].ctas"; "" is the whole

  /// The member of an object, or null.
  const JsonValue *find(const std::string &key) const;
  /// "an object", "a string", ... for messages.
  const char *kindName() const;
};

/// Fails with `invalidFile`, naming `name`, line and column.
Expected<JsonValue> parseJson(const std::string &text, const std::string &name);

} // namespace dfrt::detail

#endif // DFRT_LIB_SCHEDULE_JSONVALUE_H
