//===- Following.cpp - Finalizes that can follow in registers -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Following.h"

using namespace dfrt;

/// The only stage that reads the records of `stage`, with the same tasks.
static uint32_t findOnlyReader(const Program &program, uint32_t stage,
                               std::string &reason) {
  std::vector<uint32_t> readers = program.consumers(stage);
  const std::string &name = program.stages[stage].name;
  if (readers.size() != 1) {
    reason = "the records of '" + name + "' have " +
             std::to_string(readers.size()) + " readers";
    return kNone;
  }
  const Stage &reader = program.stages[readers.front()];
  if (reader.domain != program.stages[stage].domain) {
    reason = "'" + reader.name + "' has other tasks than '" + name + "'";
    return kNone;
  }
  return readers.front();
}

uint32_t dfrt::findFollowing(const Program &program, uint32_t stage,
                             std::string *reason) {
  std::string why;
  auto none = [&](std::string text) {
    if (reason)
      *reason = std::move(text);
    return kNone;
  };
  const Stage &first = program.stages[stage];
  if (first.kind != StageKind::map && first.kind != StageKind::reduce)
    return none("'" + first.name + "' is neither a map nor a reduce");
  if (first.arity != Arity::one && first.arity != Arity::pieces)
    return none("'" + first.name + "' makes several records an instruction");
  bool reduced = first.kind == StageKind::reduce;
  for (uint32_t at = stage;;) {
    at = findOnlyReader(program, at, why);
    if (at == kNone)
      return none(std::move(why));
    const Stage &reader = program.stages[at];
    switch (reader.kind) {
    case StageKind::reshard:
      if (reader.reshard != ReshardKind::move)
        return none("'" + reader.name +
                    "' gives the records other tasks, or "
                    "collects them");
      continue;
    case StageKind::reduce:
      if (reduced)
        return none("'" + reader.name + "' reduces what is reduced already");
      reduced = true;
      continue;
    case StageKind::map:
      return none("the records are read by '" + reader.name +
                  "', which is no finalize");
    case StageKind::finalize:
      if (reader.inputs.size() != 1)
        return none("'" + reader.name + "' reads other records, too");
      if (reader.range != kNone)
        return none("'" + reader.name + "' has a range");
      return at;
    }
  }
}
