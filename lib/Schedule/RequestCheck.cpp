//===- RequestCheck.cpp - Do the requests of a program agree? -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record has one place and a reader gets it by one route, but a stage and all
// reshards behind it may each have a request for them. Requests that contradict
// each other are refused, since the planner could only obey one of them.
//
//===----------------------------------------------------------------------===//

#include "Requests.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;

namespace {

using Memory = StageRequests::Memory;

const char *memoryName(Memory memory) {
  return memory == Memory::shared ? "shared" : "global";
}

class Checker {
public:
  explicit Checker(const Program &program) : program(program) {}

  Status run() {
    for (const Stage &stage : program.stages)
      DFRT_TRY(pieces(stage));
    DFRT_TRY(memory());
    for (uint32_t s = 0; s < program.stages.size(); ++s)
      if (program.stages[s].kind != StageKind::reshard)
        DFRT_TRY(transport(s));
    return Status::success();
  }

private:
  const Program &program;

  Status pieces(const Stage &stage) {
    const StageRequests &r = stage.requests;
    if (r.minTiles < 1)
      return invalidArgument("stage '", stage.name,
                             "' requests pieces of at least ", r.minTiles,
                             " tiles, expected 1 or more");
    if (r.maxTiles < 0 || (r.maxTiles && r.maxTiles < r.minTiles))
      return invalidArgument("stage '", stage.name,
                             "' requests pieces of at most ", r.maxTiles,
                             " tiles and at least ", r.minTiles);
    return Status::success();
  }

  /// The memory of each stage's records is requested once, or alike.
  Status memory() {
    std::vector<uint32_t> asked(program.stages.size(), kNone);
    for (uint32_t s = 0; s < program.stages.size(); ++s) {
      Memory wanted = detail::ownMemory(program.stages[s].requests);
      if (wanted == Memory::automatic)
        continue;
      uint32_t &first = asked[detail::recordSource(program, s)];
      if (first == kNone) {
        first = s;
        continue;
      }
      Memory other = detail::ownMemory(program.stages[first].requests);
      if (other != wanted)
        return invalidArgument(
            "stage '", program.stages[s].name, "' requests its records in ",
            memoryName(wanted), " memory, but stage '",
            program.stages[first].name, "' requests them in ",
            memoryName(other), " memory");
    }
    return Status::success();
  }

  /// All requests between a reader and one source name the same transport.
  Status transport(uint32_t reader) {
    std::vector<std::pair<uint32_t, uint32_t>> asked; // source, stage
    for (const StageInput &in : program.stages[reader].inputs) {
      uint32_t source = detail::recordSource(program, in.stage);
      for (uint32_t s = in.stage;; s = program.stages[s].inputs[0].stage) {
        Transport wanted = program.stages[s].requests.transport;
        if (wanted != Transport::automatic) {
          for (auto [otherSource, other] : asked)
            if (otherSource == source &&
                program.stages[other].requests.transport != wanted)
              return invalidArgument(
                  "stage '", program.stages[reader].name,
                  "' reads records of '", program.stages[source].name,
                  "' for which '", program.stages[other].name, "' and '",
                  program.stages[s].name, "' request different transports");
          asked.emplace_back(source, s);
        }
        if (s == source)
          break;
      }
    }
    return Status::success();
  }
};

} // namespace

uint32_t detail::recordSource(const Program &program, uint32_t stage) {
  while (program.stages[stage].kind == StageKind::reshard)
    stage = program.stages[stage].inputs[0].stage;
  return stage;
}

Memory detail::ownMemory(const StageRequests &requests) {
  if (requests.memory == Memory::automatic && requests.resident)
    return Memory::shared;
  return requests.memory;
}

Status detail::checkRequests(const Program &program) {
  return Checker(program).run();
}

Transport detail::requestedTransport(const Program &program, uint32_t reader,
                                     uint32_t source) {
  for (const StageInput &in : program.stages[reader].inputs) {
    uint32_t s = in.stage;
    Transport found = program.stages[s].requests.transport;
    // Behind a reshard, or a reduce of one part that needed no instruction.
    while (s != source && (program.stages[s].kind == StageKind::reshard ||
                           program.stages[s].kind == StageKind::reduce)) {
      s = program.stages[s].inputs[0].stage;
      if (found == Transport::automatic)
        found = program.stages[s].requests.transport;
    }
    if (s == source && found != Transport::automatic)
      return found;
  }
  return Transport::automatic;
}

StageRequests::Memory detail::requestedMemory(const Program &program,
                                              uint32_t source) {
  for (uint32_t s = source; s < program.stages.size(); ++s) {
    StageRequests::Memory memory = ownMemory(program.stages[s].requests);
    if (memory != StageRequests::Memory::automatic &&
        recordSource(program, s) == source)
      return memory;
  }
  return StageRequests::Memory::automatic;
}
