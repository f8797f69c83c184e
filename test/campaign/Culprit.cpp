//===- Culprit.cpp - Does a message name what was broken? ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Culprit.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

using namespace dfrt;

namespace {

/// ("slot", 12); a task is ("task of NAME", 3).
using Object = std::pair<std::string, uint64_t>;
using Objects = std::set<Object>;

const char *const kKinds[] = {"instruction", "slot",    "transfer", "release",
                              "barrier",     "queue",   "operand",  "output",
                              "flag",        "schedule"};

/// Every "KIND NUMBER" and every "stage "NAME", task NUMBER" of a text.
Objects objectsIn(const std::string &text) {
  Objects result;
  auto numberAt = [&](size_t at, uint64_t &number) {
    if (at >= text.size() ||
        !std::isdigit(static_cast<unsigned char>(text[at])))
      return false;
    number = std::strtoull(text.c_str() + at, nullptr, 10);
    return true;
  };
  uint64_t number = 0;
  for (const char *kind : kKinds)
    for (size_t at = text.find(kind); at != std::string::npos;
         at = text.find(kind, at + 1))
      if (numberAt(at + std::string(kind).size() + 1, number))
        result.insert({kind, number});
  for (size_t at = text.find("stage \""); at != std::string::npos;
       at = text.find("stage \"", at + 1)) {
    size_t end = text.find('"', at + 7);
    if (end != std::string::npos && text.compare(end, 8, "\", task ") == 0 &&
        numberAt(end + 8, number))
      result.insert({"task of " + text.substr(at + 7, end - at - 7), number});
  }
  // "channel "NAME": ... is not the record of task NUMBER".
  size_t channel = text.find("channel \""),
         record = text.find("record of task ");
  if (channel != std::string::npos && record != std::string::npos &&
      numberAt(record + 15, number)) {
    size_t end = text.find('"', channel + 9);
    result.insert(
        {"task of " + text.substr(channel + 9, end - channel - 9), number});
  }
  return result;
}

/// Objects of one schedule and their ties; indices may be anything.
class Ties {
public:
  Ties(const Problem &problem, const Schedule &schedule)
      : problem(problem), s(schedule) {}

  void of(const Object &object, Objects &out) const {
    const auto &[kind, index] = object;
    out.insert(object);
    for (uint32_t i = 0; i < s.instructions.size(); ++i)
      if (touches(i, kind, index))
        instruction(i, out);
    if (kind == "slot" && index < s.slots.size())
      slot(uint32_t(index), out);
    if (kind == "transfer" && index < s.transfers.size())
      transfer(s.transfers[index], out);
    if (kind == "release" && index < s.releases.size())
      release(s.releases[index], out);
    if (kind == "barrier")
      barrier(uint32_t(index), out);
    if (kind == "queue" && index < s.queues.size())
      for (uint32_t i : s.queues[index].instructions)
        instruction(i, out);
    if ((kind == "operand") && index < s.operands.size())
      slot(s.operands[index].slot, out);
    if (kind == "output" && index < s.outputs.size())
      slot(s.outputs[index], out);
  }

private:
  static bool within(uint64_t index, uint32_t first, uint32_t count) {
    return index >= first && index - first < count;
  }
  bool touches(uint32_t i, const std::string &kind, uint64_t index) const {
    const Instruction &x = s.instructions[i];
    return (kind == "instruction" && index == i) ||
           (kind == "operand" &&
            within(index, x.firstOperand, x.operandCount)) ||
           (kind == "output" && within(index, x.firstOutput, x.outputCount));
  }
  void task(uint32_t i, Objects &out) const {
    if (i >= s.instructions.size())
      return;
    const Instruction &x = s.instructions[i];
    out.insert({"instruction", i});
    if (x.stage < problem.program.stages.size())
      out.insert({"task of " + problem.program.stages[x.stage].name, x.task});
  }
  bool reads(const Instruction &x, uint32_t slot) const {
    for (uint64_t o = x.firstOperand;
         o < uint64_t(x.firstOperand) + x.operandCount && o < s.operands.size();
         ++o)
      if (s.operands[o].slot == slot)
        return true;
    return false;
  }
  void instruction(uint32_t i, Objects &out) const {
    task(i, out);
    if (i >= s.instructions.size())
      return;
    const Instruction &x = s.instructions[i];
    for (uint64_t o = x.firstOperand;
         o < uint64_t(x.firstOperand) + x.operandCount && o < s.operands.size();
         ++o)
      slot(s.operands[o].slot, out);
    for (uint64_t o = x.firstOutput;
         o < uint64_t(x.firstOutput) + x.outputCount && o < s.outputs.size();
         ++o)
      slot(s.outputs[o], out);
    for (const Transfer &t : s.transfers)
      if (t.instruction == i)
        transfer(t, out);
    for (uint32_t r = 0; r < s.releases.size(); ++r)
      if (s.releases[r].from == i || s.releases[r].to == i)
        out.insert({"release", r});
    for (uint32_t q = 0; q < s.queues.size(); ++q) {
      const std::vector<uint32_t> &list = s.queues[q].instructions;
      if (std::find(list.begin(), list.end(), i) != list.end())
        out.insert({"queue", q});
    }
  }
  void slot(uint32_t index, Objects &out) const {
    out.insert({"slot", index});
    if (index >= s.slots.size())
      return;
    const Slot &slot = s.slots[index];
    out.insert({"barrier", slot.barrier});
    out.insert({"flag", slot.flag});
    for (uint32_t t = 0; t < s.transfers.size(); ++t) {
      bool hit = s.transfers[t].source == index;
      const Transfer &x = s.transfers[t];
      for (uint64_t d = x.firstDestination;
           d < uint64_t(x.firstDestination) + x.destinationCount &&
           d < s.destinations.size();
           ++d)
        hit |= s.destinations[d] == index;
      if (hit) {
        out.insert({"transfer", t});
        task(x.instruction, out);
      }
    }
    for (uint32_t i = 0; i < s.instructions.size(); ++i) {
      const Instruction &x = s.instructions[i];
      bool hit = reads(x, index);
      for (uint64_t o = x.firstOutput;
           o < uint64_t(x.firstOutput) + x.outputCount && o < s.outputs.size();
           ++o)
        hit |= s.outputs[o] == index;
      if (hit)
        task(i, out);
    }
  }
  void transfer(const Transfer &x, Objects &out) const {
    task(x.instruction, out);
    slot(x.source, out);
    for (uint64_t d = x.firstDestination;
         d < uint64_t(x.firstDestination) + x.destinationCount &&
         d < s.destinations.size();
         ++d)
      slot(s.destinations[d], out);
  }
  void release(const Release &x, Objects &out) const {
    instruction(x.from, out);
    instruction(x.to, out);
    slot(x.slot, out);
    out.insert({"barrier", x.barrier});
  }
  void barrier(uint32_t index, Objects &out) const {
    for (uint32_t k = 0; k < s.slots.size(); ++k)
      if (s.slots[k].barrier == index)
        slot(k, out);
    for (uint32_t r = 0; r < s.releases.size(); ++r)
      if (s.releases[r].barrier == index)
        out.insert({"release", r});
  }

  const Problem &problem;
  const Schedule &s;
};

} // namespace

bool test::namesCulprit(const Problem &problem, const Schedule &legal,
                        const Schedule &mutant, const std::string &what,
                        const std::string &message) {
  Objects broken = objectsIn(what), named = objectsIn(message), tied;
  if (broken.empty() || broken.begin()->first == "schedule")
    return !message.empty(); // a property of the whole; the clause says it
  for (const Object &object : broken) {
    Ties(problem, legal).of(object, tied);
    Ties(problem, mutant).of(object, tied);
  }
  // A reduce that is left out stands for what it reads.
  const Program &program = problem.program;
  for (const Object &object : Objects(named))
    for (uint32_t k = 0; k < program.stages.size(); ++k)
      if (object.first == "task of " + program.stages[k].name)
        for (uint32_t s = k; program.stages[s].kind == StageKind::reduce ||
                             program.stages[s].kind == StageKind::reshard;) {
          s = program.stages[s].inputs[0].stage;
          named.insert({"task of " + program.stages[s].name, object.second});
        }
  for (const Object &object : named)
    if (tied.count(object))
      return true;
  return false;
}
