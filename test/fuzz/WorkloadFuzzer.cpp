//===- WorkloadFuzzer.cpp - Workloads out of any text --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every point of a workload is bound to one program, and small arguments are
// filled.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Workload.h"

#include <algorithm>

using namespace dfrt;

namespace {

/// x: f16 [?, 8], table: i32 [?, ?], lengths: i32 [?], weights: f8E4M3FN [?],
/// out: f32 [?].
Program makeProgram() {
  Program p;
  p.name = "rows";
  p.arguments = {{"x", ElementType::f16, {-1, 8}, false},
                 {"table", ElementType::i32, {-1, -1}, false},
                 {"lengths", ElementType::i64, {-1}, false},
                 {"weights", ElementType::f8E4M3FN, {-1}, false},
                 {"out", ElementType::f32, {-1}, true}};
  return p;
}

constexpr uint64_t kMost = 1 << 14;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Program program = makeProgram();
  Expected<Json> document = parseJson(
      std::string(reinterpret_cast<const char *>(data), size), "workload");
  if (!document)
    return 0;
  // Points in other files: those of this folder only, of which there are none.
  if (document->is_object() && document->contains("points") &&
      (*document)["points"].is_object())
    (*document)["points"]["file"] = "no-such-file.json";
  Expected<Workload> workload =
      Workload::make(std::move(*document), "workload", {});
  if (!workload)
    return 0;
  (void)workload->select("0");
  size_t points = std::min<size_t>(workload->points().size(), 8);
  for (size_t point = 0; point < points; ++point) {
    Expected<std::vector<BoundArgument>> bound = workload->bind(point, program);
    if (!bound)
      continue;
    for (const BoundArgument &argument : *bound) {
      if (argument.elements() > kMost || argument.output)
        continue;
      std::vector<uint8_t> bytes(argument.bytes());
      runFill(argument.fill, argument.element, argument.shape, 1, 1,
              bytes.data());
      integerValues(argument, bytes.data());
    }
  }
  return 0;
}
