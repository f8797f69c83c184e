//===- HandlerCall.cpp - Argument list of a handler call ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandlerCall.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;
using namespace dfrt::cpu;

Status cpu::stackRecords(const Record &record, ArrayView<StoredRecord> sources,
                         CallMemory &memory, Stack &stack) {
  stack.count = int64_t(sources.size());
  stack.fields.clear();
  for (const Field &field : record.fields) {
    uint64_t bytes = fieldBytes(field);
    uint8_t *target = memory.take(bytes * sources.size());
    if (!target)
      return failure(StatusCode::resourceExhausted, "cpu: no memory for ",
                     sources.size(), " stacked fields '", field.name, "' of ",
                     bytes, " bytes");
    for (size_t i = 0; i < sources.size(); ++i)
      copyField(sources[i], field, target + i * bytes);
    stack.fields.push_back(target);
  }
  return Status::success();
}
