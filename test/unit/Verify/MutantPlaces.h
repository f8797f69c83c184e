//===- MutantPlaces.h - Finding places to break --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files that define classes of mutants share.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_VERIFY_MUTANTPLACES_H
#define DATAFLOW_TEST_UNIT_VERIFY_MUTANTPLACES_H

#include "Mutants.h"

#include <map>
#include <set>
#include <utility>

namespace dfrt::test {

using Mutations = std::vector<Mutation>;

/// Queue and place of each instruction.
struct Places {
  std::vector<uint32_t> queue, place;

  explicit Places(const Schedule &s)
      : queue(s.instructions.size()), place(s.instructions.size()) {
    for (uint32_t q = 0; q < s.queues.size(); ++q)
      for (uint32_t p = 0; p < s.queues[q].instructions.size(); ++p) {
        queue[s.queues[q].instructions[p]] = q;
        place[s.queues[q].instructions[p]] = p;
      }
  }
};

/// (instruction, output) whose record each slot holds.
inline std::vector<std::pair<uint32_t, uint32_t>> records(const Schedule &s) {
  std::vector<std::pair<uint32_t, uint32_t>> result(s.slots.size(), {kNone, 0});
  for (uint32_t i = 0; i < s.instructions.size(); ++i)
    for (uint32_t o = 0; o < s.instructions[i].outputCount; ++o)
      result[s.outputsOf(s.instructions[i])[o]] = {i, o};
  for (const Transfer &t : s.transfers)
    for (uint32_t d : s.destinationsOf(t))
      result[d] = result[t.source];
  return result;
}

inline std::vector<bool> handlerOutputs(const Schedule &s) {
  std::vector<bool> result(s.slots.size(), false);
  for (const Instruction &i : s.instructions)
    for (uint32_t slot : s.outputsOf(i))
      result[slot] = true;
  return result;
}

inline bool async(const Transfer &t) {
  return t.transport == Transport::clusterShared ||
         t.transport == Transport::multicast;
}

/// Calls `body(instruction, operand index)` for every operand.
template <typename Body>
void eachOperand(const Schedule &s, Body body) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i)
    for (uint32_t o = 0; o < s.instructions[i].operandCount; ++o)
      body(i, s.instructions[i].firstOperand + o);
}

inline void add(Mutations &out, const char *kind, uint32_t index,
                std::function<void(Schedule &)> apply) {
  out.push_back(
      {std::string(kind) + " " + std::to_string(index), std::move(apply)});
}

/// Classes that each break a protocol in the way of a public report or of one
/// clause that the others rarely reach (ProtocolMutants.cpp).
const std::vector<MutantClass> &protocolMutantClasses();

} // namespace dfrt::test

#endif // DATAFLOW_TEST_UNIT_VERIFY_MUTANTPLACES_H
