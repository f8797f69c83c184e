//===- Mutants.cpp - Ways to break a legal schedule -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MutantPlaces.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::test;

namespace {

//===----------------------------------------------------------------------===//
// Operands and waits
//===----------------------------------------------------------------------===//

void dropWait(const Problem &, const Schedule &s, Mutations &out) {
  Places places(s);
  // What a wait is for: a barrier phase, or a slot's flag.
  auto event = [&](uint32_t slot) {
    const Slot &x = s.slots[slot];
    return x.barrier != kNone ? std::make_pair(x.barrier, uint64_t(x.phase))
                              : std::make_pair(kNone, uint64_t(slot));
  };
  std::map<std::pair<uint32_t, std::pair<uint32_t, uint64_t>>,
           std::vector<std::pair<uint32_t, uint32_t>>>
      waits; // (queue, event) -> (place, operand)
  // In a ticket list a wait covers its own draw only.
  std::vector<uint32_t> unit = places.queue;
  if (s.discipline == Discipline::ticket) {
    uint32_t draw = 0;
    for (uint32_t i : s.queues[0].instructions)
      unit[i] = s.instructions[i].draw ? ++draw : draw;
  }
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    if (s.operands[o].wait)
      waits[{unit[i], event(s.operands[o].slot)}].push_back(
          {places.place[i], o});
  });
  for (auto &[key, all] : waits) {
    std::sort(all.begin(), all.end());
    if (all.size() > 1 && all[0].first == all[1].first)
      continue; // Another wait of the same call covers it.
    uint32_t o = all[0].second;
    // A later wait would cover a later read, but not this one.
    add(out, "operand", o, [o](Schedule &m) { m.operands[o].wait = false; });
  }
}

void waitForNothing(const Problem &, const Schedule &s, Mutations &out) {
  eachOperand(s, [&](uint32_t, uint32_t o) {
    const Slot &slot = s.slots[s.operands[o].slot];
    if (slot.barrier == kNone && slot.flag == kNone)
      add(out, "operand", o, [o](Schedule &m) { m.operands[o].wait = true; });
  });
}

void swapOperands(const Problem &, const Schedule &s, Mutations &out) {
  auto of = records(s);
  for (const Instruction &i : s.instructions)
    for (uint32_t k = 1; k < i.operandCount; ++k) {
      uint32_t b = i.firstOperand + k, a = b - 1;
      if (of[s.operands[a].slot] != of[s.operands[b].slot] ||
          s.operands[a].row != s.operands[b].row)
        add(out, "operand", b,
            [a, b](Schedule &m) { std::swap(m.operands[a], m.operands[b]); });
    }
}

void dropOperand(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i)
    if (s.instructions[i].operandCount > 0) {
      add(out, "last operand of instruction", i,
          [i](Schedule &m) { --m.instructions[i].operandCount; });
      add(out, "first operand of instruction", i, [i](Schedule &m) {
        ++m.instructions[i].firstOperand;
        --m.instructions[i].operandCount;
      });
    }
}

void repeatOperand(const Problem &, const Schedule &s, Mutations &out) {
  auto of = records(s);
  for (const Instruction &i : s.instructions)
    for (uint32_t k = 1; k < i.operandCount; ++k) {
      uint32_t b = i.firstOperand + k, a = b - 1;
      if (of[s.operands[a].slot] != of[s.operands[b].slot])
        add(out, "operand", b,
            [a, b](Schedule &m) { m.operands[b] = m.operands[a]; });
    }
}

void redirectOperand(const Problem &, const Schedule &s, Mutations &out) {
  auto of = records(s);
  eachOperand(s, [&](uint32_t, uint32_t o) {
    uint32_t slot = s.operands[o].slot;
    for (uint32_t step = 1; step < s.slots.size(); ++step) {
      uint32_t other = (slot + step) % uint32_t(s.slots.size());
      if (s.slots[other].stage != s.slots[slot].stage || of[other] == of[slot])
        continue;
      add(out, "operand", o,
          [o, other](Schedule &m) { m.operands[o].slot = other; });
      break;
    }
  });
}

void changeRow(const Problem &, const Schedule &s, Mutations &out) {
  eachOperand(s, [&](uint32_t, uint32_t o) {
    add(out, "operand", o, [o](Schedule &m) {
      uint32_t &row = m.operands[o].row;
      row = row == kNone ? 0 : row + 1;
    });
    if (s.operands[o].row != kNone)
      add(out, "operand", o, [o](Schedule &m) { m.operands[o].row = kNone; });
  });
}

//===----------------------------------------------------------------------===//
// Instructions and queues
//===----------------------------------------------------------------------===//

void dropFromQueue(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t q = 0; q < s.queues.size(); ++q)
    for (uint32_t p = 0; p < s.queues[q].instructions.size(); ++p)
      add(out, "instruction", s.queues[q].instructions[p], [q, p](Schedule &m) {
        auto &list = m.queues[q].instructions;
        list.erase(list.begin() + p);
      });
}

void queueTwice(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t q = 0; q < s.queues.size(); ++q)
    for (uint32_t i : s.queues[q].instructions)
      add(out, "instruction", i, [q, i](Schedule &m) {
        m.queues[(q + 1) % m.queues.size()].instructions.push_back(i);
      });
}

void dropFinalize(const Problem &p, const Schedule &s, Mutations &out) {
  uint32_t last = uint32_t(s.instructions.size()) - 1;
  if (s.instructions.empty() ||
      p.program.stages[s.instructions[last].stage].kind != StageKind::finalize)
    return;
  for (const Release &r : s.releases)
    if (r.from == last || r.to == last)
      return;
  add(out, "instruction", last, [last](Schedule &m) {
    m.instructions.pop_back();
    for (Queue &queue : m.queues) {
      auto &list = queue.instructions;
      list.erase(std::remove(list.begin(), list.end(), last), list.end());
    }
  });
}

void finalizeTwice(const Problem &p, const Schedule &s, Mutations &out) {
  Places places(s);
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    if (p.program.stages[s.instructions[i].stage].kind != StageKind::finalize)
      continue;
    uint32_t q = places.queue[i];
    add(out, "instruction", i, [i, q](Schedule &m) {
      Instruction copy = m.instructions[i];
      copy.draw = false;
      // Directly behind the first, where all it reads is still there.
      auto &list = m.queues[q].instructions;
      list.insert(std::find(list.begin(), list.end(), i) + 1,
                  uint32_t(m.instructions.size()));
      m.instructions.push_back(copy);
    });
  }
}

void shiftTiles(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    if (p.program.stages[s.instructions[i].stage].kind == StageKind::reduce)
      continue;
    add(out, "begin of instruction", i,
        [i](Schedule &m) { ++m.instructions[i].tileBegin; });
    add(out, "begin of instruction", i,
        [i](Schedule &m) { --m.instructions[i].tileBegin; });
    add(out, "end of instruction", i,
        [i](Schedule &m) { ++m.instructions[i].tileEnd; });
    add(out, "end of instruction", i,
        [i](Schedule &m) { --m.instructions[i].tileEnd; });
    add(out, "both of instruction", i, [i](Schedule &m) {
      ++m.instructions[i].tileBegin;
      ++m.instructions[i].tileEnd;
    });
  }
}

void moveCut(const Problem &, const Schedule &s, Mutations &out) {
  // A piece grows into its neighbour.
  for (uint32_t a = 0; a < s.instructions.size(); ++a)
    for (uint32_t b = 0; b < s.instructions.size(); ++b) {
      const Instruction &x = s.instructions[a], &y = s.instructions[b];
      if (a != b && x.stage == y.stage && x.task == y.task &&
          x.tileEnd == y.tileBegin && y.tileEnd > y.tileBegin)
        add(out, "instruction", a,
            [a](Schedule &m) { ++m.instructions[a].tileEnd; });
    }
}

void changeTask(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    uint64_t count = p.taskCount(s.instructions[i].stage);
    if (count > 1)
      add(out, "instruction", i, [i, count](Schedule &m) {
        m.instructions[i].task = (m.instructions[i].task + 1) % count;
      });
  }
}

void changeSlices(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    add(out, "end of instruction", i,
        [i](Schedule &m) { ++m.instructions[i].sliceEnd; });
    add(out, "begin of instruction", i,
        [i](Schedule &m) { ++m.instructions[i].sliceBegin; });
    if (s.instructions[i].sliceBegin > 0)
      add(out, "both of instruction", i, [i](Schedule &m) {
        --m.instructions[i].sliceBegin;
        --m.instructions[i].sliceEnd;
      });
  }
}

void changeVariant(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    uint32_t count =
        uint32_t(p.program.stages[s.instructions[i].stage].variants.size());
    add(out, "instruction", i,
        [i, count](Schedule &m) { m.instructions[i].variant = count; });
  }
}

void changeStage(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i)
    for (uint32_t k = 0; k < p.program.stages.size(); ++k)
      if (k != s.instructions[i].stage)
        add(out, "instruction", i,
            [i, k](Schedule &m) { m.instructions[i].stage = k; });
}

void otherQueue(const Problem &, const Schedule &s, Mutations &out) {
  Places places(s);
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    if (s.queues.size() < 2 || s.instructions[i].outputCount == 0)
      continue; // What writes no slot may be able to run anywhere.
    uint32_t q = places.queue[i];
    add(out, "instruction", i, [i, q](Schedule &m) {
      auto &from = m.queues[q].instructions;
      from.erase(std::find(from.begin(), from.end(), i));
      m.queues[(q + 1) % m.queues.size()].instructions.push_back(i);
    });
  }
}

void consumerFirst(const Problem &, const Schedule &s, Mutations &out) {
  // Reads of what the same queue writes later, or a cycle of waits.
  Places places(s);
  auto of = records(s);
  std::vector<std::pair<uint32_t, uint32_t>> seen;
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    uint32_t writer = of[s.operands[o].slot].first;
    uint32_t q = places.queue[i];
    if (places.queue[writer] != q)
      return;
    add(out, "instruction", i, [i, q](Schedule &m) {
      auto &list = m.queues[q].instructions;
      list.erase(std::find(list.begin(), list.end(), i));
      list.insert(list.begin(), i);
      for (uint32_t k = 0; k < list.size(); ++k)
        if (m.discipline == Discipline::ticket && k < 2)
          m.instructions[list[k]].draw = true;
    });
  });
}

void reverseQueue(const Problem &, const Schedule &s, Mutations &out) {
  Places places(s);
  auto of = records(s);
  std::set<uint32_t> queues;
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    uint32_t writer = of[s.operands[o].slot].first;
    if (writer != i && places.queue[writer] == places.queue[i])
      queues.insert(places.queue[i]);
  });
  for (uint32_t q : queues)
    add(out, "queue", q, [q](Schedule &m) {
      auto &list = m.queues[q].instructions;
      std::reverse(list.begin(), list.end());
      if (m.discipline == Discipline::ticket)
        m.instructions[list[0]].draw = true;
    });
}

void queueOwner(const Problem &p, const Schedule &s, Mutations &out) {
  uint32_t ctas = p.topology.ctas;
  for (uint32_t q = 0; q < s.queues.size(); ++q) {
    add(out, "queue", q, [q, ctas](Schedule &m) { m.queues[q].cta = ctas; });
    if (q > 0)
      add(out, "queue", q,
          [q](Schedule &m) { m.queues[q].cta = m.queues[q - 1].cta; });
  }
}

void splitDraw(const Problem &, const Schedule &s, Mutations &out) {
  if (s.discipline != Discipline::ticket)
    return;
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    if (!s.instructions[i].draw &&
        s.slots[s.operands[o].slot].space == Space::shared)
      add(out, "instruction", i,
          [i](Schedule &m) { m.instructions[i].draw = true; });
  });
}

void changeDiscipline(const Problem &, const Schedule &s, Mutations &out) {
  if (!s.instructions.empty())
    add(out, "schedule", 0, [](Schedule &m) {
      m.discipline = m.discipline == Discipline::ticket ? Discipline::fixed
                                                        : Discipline::ticket;
    });
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

void swapOutputs(const Problem &, const Schedule &s, Mutations &out) {
  // Only outputs that somebody reads: nobody minds where the others are.
  std::vector<bool> read(s.slots.size(), false);
  eachOperand(s,
              [&](uint32_t, uint32_t o) { read[s.operands[o].slot] = true; });
  for (const Transfer &t : s.transfers)
    for (uint32_t d : s.destinationsOf(t))
      if (read[d])
        read[t.source] = true;
  for (uint32_t a = 0; a + 1 < s.outputs.size(); ++a) {
    uint32_t b = a + 1;
    if (s.slots[s.outputs[a]].stage == s.slots[s.outputs[b]].stage &&
        read[s.outputs[a]] && read[s.outputs[b]])
      add(out, "output", a,
          [a, b](Schedule &m) { std::swap(m.outputs[a], m.outputs[b]); });
  }
}

void sameOutput(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t a = 0; a + 1 < s.outputs.size(); ++a)
    add(out, "output", a,
        [a](Schedule &m) { m.outputs[a] = m.outputs[a + 1]; });
}

void unplaceSlot(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    add(out, "slot", k,
        [k](Schedule &m) { m.slots[k].space = Space::unplaced; });
}

void misalignSlot(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].offset += 8; });
}

void leaveArena(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    add(out, "slot", k, [k](Schedule &m) {
      m.slots[k].offset =
          m.slots[k].space == Space::shared ? m.sharedBytes : m.globalBytes;
    });
}

void growArena(const Problem &p, const Schedule &, Mutations &out) {
  uint64_t bytes = p.topology.slotBytes() + 16;
  add(out, "schedule", 0, [bytes](Schedule &m) { m.sharedBytes = bytes; });
}

void shrinkArena(const Problem &p, const Schedule &s, Mutations &out) {
  uint64_t shared = 0;
  for (const Slot &slot : s.slots)
    if (slot.space == Space::shared)
      shared = std::max(shared, slot.offset + slotBytes(p, slot));
  if (shared > 0)
    add(out, "schedule", 0,
        [shared](Schedule &m) { m.sharedBytes = shared - 16; });
}

void moveOntoLive(const Problem &, const Schedule &s, Mutations &out) {
  // Everything that one call reads and writes is live at the same time.
  for (const Instruction &i : s.instructions) {
    std::vector<uint32_t> live;
    for (const Operand &operand : s.operandsOf(i))
      live.push_back(operand.slot);
    for (uint32_t slot : s.outputsOf(i))
      live.push_back(slot);
    for (size_t k = 1; k < live.size(); ++k) {
      uint32_t a = live[k - 1], b = live[k];
      bool same = s.slots[a].space == s.slots[b].space &&
                  (s.slots[a].space == Space::global ||
                   s.slots[a].cta == s.slots[b].cta);
      if (a != b && same) {
        add(out, "slot", b,
            [a, b](Schedule &m) { m.slots[b].offset = m.slots[a].offset; });
        add(out, "slot", a,
            [a, b](Schedule &m) { m.slots[a].offset = m.slots[b].offset; });
      }
    }
  }
}

void moveOntoSent(const Problem &, const Schedule &s, Mutations &out) {
  // The source of an asynchronous transfer is read until the record is used;
  // what the same call writes next to it is live as well.
  Places places(s);
  for (const Transfer &t : s.transfers) {
    if (!async(t))
      continue;
    const auto &queue = s.queues[places.queue[t.instruction]].instructions;
    uint32_t place = places.place[t.instruction];
    if (place + 1 >= queue.size())
      continue;
    const Instruction &next = s.instructions[queue[place + 1]];
    // Unless the next call waits for something, it cannot know.
    bool knows = false;
    for (const Operand &operand : s.operandsOf(next))
      knows |= operand.wait;
    for (const Release &r : s.releases)
      knows |= r.to == queue[place + 1];
    for (uint32_t slot : s.outputsOf(next))
      if (!knows && s.slots[slot].space == s.slots[t.source].space &&
          slot != t.source) {
        uint32_t source = t.source;
        add(out, "slot", slot, [slot, source](Schedule &m) {
          m.slots[slot].offset = m.slots[source].offset;
        });
      }
  }
}

void slotOwner(const Problem &p, const Schedule &s, Mutations &out) {
  uint32_t ctas = p.topology.ctas;
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    add(out, "slot", k, [k, ctas](Schedule &m) {
      uint32_t &cta = m.slots[k].cta;
      cta = cta == kNone || ctas == 1 ? ctas : (cta + 1) % ctas;
    });
}

void slotStage(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    add(out, "slot", k, [k, &p](Schedule &m) {
      m.slots[k].stage =
          (m.slots[k].stage + 1) % uint32_t(p.program.stages.size());
    });
}

void slotSlices(const Problem &, const Schedule &s, Mutations &out) {
  std::vector<bool> outputs = handlerOutputs(s);
  for (uint32_t k = 0; k < s.slots.size(); ++k) {
    if (!outputs[k])
      continue;
    add(out, "slot", k, [k](Schedule &m) { ++m.slots[k].sliceBegin; });
    add(out, "slot", k, [k](Schedule &m) { ++m.slots[k].sliceEnd; });
  }
}

void wrongSpace(const Problem &, const Schedule &s, Mutations &out) {
  for (const Transfer &t : s.transfers) {
    std::vector<uint32_t> slots(s.destinationsOf(t).begin(),
                                s.destinationsOf(t).end());
    if (async(t))
      slots.push_back(t.source);
    if (t.transport == Transport::local)
      continue;
    for (uint32_t k : slots)
      add(out, "slot", k, [k](Schedule &m) {
        Space &space = m.slots[k].space;
        space = space == Space::shared ? Space::global : Space::shared;
      });
  }
}

//===----------------------------------------------------------------------===//
// Transfers, flags, barriers and releases
//===----------------------------------------------------------------------===//

void wrongTransport(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    for (uint8_t transport = 0; transport < 6; ++transport)
      if (Transport(transport) != s.transfers[t].transport)
        add(out, "transfer", t, [t, transport](Schedule &m) {
          m.transfers[t].transport = Transport(transport);
        });
}

void dropTransfer(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    if (s.transfers[t].transport != Transport::local)
      add(out, "transfer", t,
          [t](Schedule &m) { m.transfers.erase(m.transfers.begin() + t); });
}

void transferTwice(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    if (s.transfers[t].transport != Transport::local)
      add(out, "transfer", t,
          [t](Schedule &m) { m.transfers.push_back(m.transfers[t]); });
}

void swapSends(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 1; t < s.transfers.size(); ++t) {
    const Transfer &a = s.transfers[t - 1], &b = s.transfers[t];
    if (a.source == b.source)
      continue; // The order in which one record is sent says nothing.
    uint32_t x = a.firstDestination, y = b.firstDestination;
    add(out, "transfer", t, [x, y](Schedule &m) {
      std::swap(m.destinations[x], m.destinations[y]);
    });
  }
}

void wrongSource(const Problem &, const Schedule &s, Mutations &out) {
  auto of = records(s);
  for (uint32_t t = 0; t < s.transfers.size(); ++t) {
    uint32_t source = s.transfers[t].source;
    for (uint32_t step = 1; step < s.slots.size(); ++step) {
      uint32_t other = (source + step) % uint32_t(s.slots.size());
      if (of[other] == of[source])
        continue;
      add(out, "transfer", t,
          [t, other](Schedule &m) { m.transfers[t].source = other; });
      break;
    }
  }
}

void wrongIssuer(const Problem &, const Schedule &s, Mutations &out) {
  uint32_t count = uint32_t(s.instructions.size());
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    if (count > 1)
      add(out, "transfer", t, [t, count](Schedule &m) {
        m.transfers[t].instruction = (m.transfers[t].instruction + 1) % count;
      });
}

void dropDestination(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    if (s.transfers[t].destinationCount > 0)
      add(out, "transfer", t,
          [t](Schedule &m) { --m.transfers[t].destinationCount; });
}

void flagTwice(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    if (s.slots[k].flag != kNone && s.flags > 1)
      add(out, "slot", k, [k](Schedule &m) {
        m.slots[k].flag = (m.slots[k].flag + 1) % m.flags;
      });
}

void dropFlag(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    if (s.slots[k].flag != kNone)
      add(out, "slot", k, [k](Schedule &m) { m.slots[k].flag = kNone; });
}

void countFlags(const Problem &, const Schedule &, Mutations &out) {
  add(out, "schedule", 0, [](Schedule &m) { ++m.flags; });
  add(out, "schedule", 0, [](Schedule &m) { m.flags = 0xffffffff; });
}

void flipPhase(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    if (s.slots[k].barrier != kNone)
      add(out, "slot", k, [k](Schedule &m) { m.slots[k].phase ^= 1; });
  for (uint32_t r = 0; r < s.releases.size(); ++r)
    add(out, "release", r, [r](Schedule &m) { m.releases[r].phase ^= 1; });
}

void swapPhases(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t a = 0; a < s.slots.size(); ++a)
    for (uint32_t b = a + 1; b < s.slots.size() && b < a + 40; ++b)
      if (s.slots[a].barrier != kNone &&
          s.slots[a].barrier == s.slots[b].barrier &&
          s.slots[a].phase != s.slots[b].phase) {
        add(out, "slot", a, [a, b](Schedule &m) {
          std::swap(m.slots[a].phase, m.slots[b].phase);
        });
        break;
      }
}

void dropBarrier(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t k = 0; k < s.slots.size(); ++k)
    if (s.slots[k].barrier != kNone)
      add(out, "slot", k, [k](Schedule &m) { m.slots[k].barrier = kNone; });
}

void changeArrivals(const Problem &, const Schedule &s, Mutations &out) {
  std::set<uint32_t> used;
  for (const Slot &slot : s.slots)
    used.insert(slot.barrier);
  for (const Release &release : s.releases)
    used.insert(release.barrier);
  for (uint32_t b = 0; b < s.barriers.size(); ++b)
    if (used.count(b)) {
      add(out, "barrier", b, [b](Schedule &m) { ++m.barriers[b].arrivals; });
      add(out, "barrier", b, [b](Schedule &m) { --m.barriers[b].arrivals; });
    }
}

void barrierOwner(const Problem &p, const Schedule &s, Mutations &out) {
  uint32_t ctas = p.topology.ctas;
  std::set<uint32_t> used;
  for (const Slot &slot : s.slots)
    used.insert(slot.barrier);
  for (const Release &release : s.releases)
    used.insert(release.barrier);
  for (uint32_t b = 0; b < s.barriers.size(); ++b)
    if (used.count(b))
      add(out, "barrier", b, [b, ctas](Schedule &m) {
        uint32_t &cta = m.barriers[b].cta;
        cta = ctas == 1 ? 1 : (cta + 1) % ctas;
      });
}

/// True when `from` happens before `to` without release `r` as well: a planner
/// may add a release that the waits for records make superfluous.
bool superfluous(const Schedule &s, uint32_t r) {
  std::vector<std::vector<uint32_t>> after(s.instructions.size());
  for (const Queue &queue : s.queues)
    for (size_t p = 1; p < queue.instructions.size(); ++p)
      after[queue.instructions[p - 1]].push_back(queue.instructions[p]);
  for (uint32_t k = 0; k < s.releases.size(); ++k)
    if (k != r)
      after[s.releases[k].from].push_back(s.releases[k].to);
  for (const Transfer &t : s.transfers)
    for (uint32_t d : s.destinationsOf(t))
      eachOperand(s, [&](uint32_t i, uint32_t o) {
        const Slot &awaited = s.slots[s.operands[o].slot], &slot = s.slots[d];
        bool same = s.operands[o].slot == d ||
                    (slot.barrier != kNone && slot.barrier == awaited.barrier &&
                     slot.phase == awaited.phase);
        if (s.operands[o].wait && same)
          after[t.instruction].push_back(i);
      });
  std::vector<uint32_t> open = {s.releases[r].from};
  std::vector<bool> seen(s.instructions.size(), false);
  while (!open.empty()) {
    uint32_t at = open.back();
    open.pop_back();
    if (at == s.releases[r].to)
      return true;
    for (uint32_t next : after[at])
      if (!seen[next]) {
        seen[next] = true;
        open.push_back(next);
      }
  }
  return false;
}

void dropRelease(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t r = 0; r < s.releases.size(); ++r) {
    if (superfluous(s, r))
      continue;
    add(out, "release", r,
        [r](Schedule &m) { m.releases.erase(m.releases.begin() + r); });
    // With the barrier's later phases renumbered, so that only the memory can
    // tell.
    if (s.barriers[s.releases[r].barrier].arrivals == 1)
      add(out, "release and phase of release", r, [r](Schedule &m) {
        Release gone = m.releases[r];
        m.releases.erase(m.releases.begin() + r);
        for (Release &other : m.releases)
          if (other.barrier == gone.barrier && other.phase > gone.phase)
            --other.phase;
        for (Slot &slot : m.slots)
          if (slot.barrier == gone.barrier && slot.phase > gone.phase)
            --slot.phase;
      });
  }
}

void redirectRelease(const Problem &, const Schedule &s, Mutations &out) {
  Places places(s);
  for (uint32_t r = 0; r < s.releases.size(); ++r) {
    if (superfluous(s, r))
      continue;
    const Release &release = s.releases[r];
    const auto &to = s.queues[places.queue[release.to]].instructions;
    uint32_t next = places.place[release.to] + 1;
    // A receiver that another release of the phase names waits all the same.
    bool alone = true;
    for (uint32_t k = 0; k < s.releases.size(); ++k)
      alone &= k == r || s.releases[k].barrier != release.barrier ||
               s.releases[k].phase != release.phase;
    if (alone && next < to.size())
      add(out, "receiver of release", r,
          [r, i = to[next]](Schedule &m) { m.releases[r].to = i; });
    const auto &from = s.queues[places.queue[release.from]].instructions;
    uint32_t place = places.place[release.from];
    if (place > 0)
      add(out, "sender of release", r,
          [r, i = from[place - 1]](Schedule &m) { m.releases[r].from = i; });
  }
}

void releaseOther(const Problem &, const Schedule &s, Mutations &out) {
  auto of = records(s);
  for (uint32_t r = 0; r < s.releases.size(); ++r) {
    std::set<std::pair<uint32_t, uint32_t>> read;
    for (const Operand &operand :
         s.operandsOf(s.instructions[s.releases[r].from]))
      read.insert(of[operand.slot]);
    for (uint32_t k = 0; k < s.slots.size(); ++k)
      if (!read.count(of[k])) {
        add(out, "slot of release", r,
            [r, k](Schedule &m) { m.releases[r].slot = k; });
        break;
      }
  }
}

void noExitBarrier(const Problem &, const Schedule &s, Mutations &out) {
  for (const Transfer &t : s.transfers)
    for (uint32_t d : s.destinationsOf(t))
      if (async(t) && s.slots[d].cta != s.slots[t.source].cta)
        return add(out, "schedule", 0,
                   [](Schedule &m) { m.exitBarrier = false; });
}

//===----------------------------------------------------------------------===//
// Garbage
//===----------------------------------------------------------------------===//

void wildIndex(const Problem &, const Schedule &s, Mutations &out) {
  constexpr uint32_t wild = 0xfffffff0u;
  for (uint32_t k = 0; k < s.slots.size(); ++k) {
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].stage = wild; });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].cta = wild; });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].barrier = wild; });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].flag = wild; });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].offset = ~uint64_t(0); });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].sliceEnd = wild; });
    add(out, "slot", k, [k](Schedule &m) { m.slots[k].space = Space(7); });
  }
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].stage = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].variant = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].task = ~uint64_t(0); });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].tileBegin = INT64_MIN; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].tileEnd = INT64_MAX; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].sliceEnd = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].firstOperand = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].operandCount = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].firstOutput = wild; });
    add(out, "instruction", i,
        [i](Schedule &m) { m.instructions[i].outputCount = wild; });
  }
  eachOperand(s, [&](uint32_t, uint32_t o) {
    add(out, "operand", o, [o](Schedule &m) { m.operands[o].slot = wild; });
    add(out, "operand", o, [o](Schedule &m) { m.operands[o].row = wild; });
  });
  for (const Instruction &i : s.instructions)
    for (uint32_t k = 0; k < i.outputCount; ++k)
      add(out, "output", i.firstOutput + k,
          [o = i.firstOutput + k](Schedule &m) { m.outputs[o] = wild; });
  for (uint32_t t = 0; t < s.transfers.size(); ++t) {
    add(out, "transfer", t,
        [t](Schedule &m) { m.transfers[t].instruction = wild; });
    add(out, "transfer", t, [t](Schedule &m) { m.transfers[t].source = wild; });
    add(out, "transfer", t,
        [t](Schedule &m) { m.transfers[t].firstDestination = wild; });
    add(out, "transfer", t,
        [t](Schedule &m) { m.transfers[t].destinationCount = wild; });
  }
  for (uint32_t r = 0; r < s.releases.size(); ++r) {
    add(out, "release", r, [r](Schedule &m) { m.releases[r].slot = wild; });
    add(out, "release", r, [r](Schedule &m) { m.releases[r].from = wild; });
    add(out, "release", r, [r](Schedule &m) { m.releases[r].to = kNone; });
    add(out, "release", r, [r](Schedule &m) { m.releases[r].barrier = kNone; });
    add(out, "release", r, [r](Schedule &m) { m.releases[r].phase = wild; });
  }
  for (uint32_t b = 0; b < s.barriers.size(); ++b)
    add(out, "barrier", b, [b](Schedule &m) { m.barriers[b].cta = wild; });
  for (uint32_t q = 0; q < s.queues.size(); ++q)
    if (!s.queues[q].instructions.empty())
      add(out, "queue", q,
          [q](Schedule &m) { m.queues[q].instructions[0] = wild; });
}

} // namespace

const std::vector<MutantClass> &test::mutantClasses() {
  static const std::vector<MutantClass> classes = [] {
    std::vector<MutantClass> all = {
        {"barrierOwner", barrierOwner},
        {"changeArrivals", changeArrivals},
        {"changeDiscipline", changeDiscipline},
        {"changeRow", changeRow},
        {"changeSlices", changeSlices},
        {"changeStage", changeStage},
        {"changeTask", changeTask},
        {"changeVariant", changeVariant},
        {"consumerFirst", consumerFirst},
        {"countFlags", countFlags},
        {"dropBarrier", dropBarrier},
        {"dropDestination", dropDestination},
        {"dropFinalize", dropFinalize},
        {"dropFlag", dropFlag},
        {"dropFromQueue", dropFromQueue},
        {"dropOperand", dropOperand},
        {"dropRelease", dropRelease},
        {"dropTransfer", dropTransfer},
        {"dropWait", dropWait},
        {"finalizeTwice", finalizeTwice},
        {"flagTwice", flagTwice},
        {"flipPhase", flipPhase},
        {"growArena", growArena},
        {"leaveArena", leaveArena},
        {"misalignSlot", misalignSlot},
        {"moveCut", moveCut},
        {"moveOntoLive", moveOntoLive},
        {"moveOntoSent", moveOntoSent},
        {"noExitBarrier", noExitBarrier},
        {"otherQueue", otherQueue},
        {"queueOwner", queueOwner},
        {"queueTwice", queueTwice},
        {"redirectOperand", redirectOperand},
        {"redirectRelease", redirectRelease},
        {"releaseOther", releaseOther},
        {"repeatOperand", repeatOperand},
        {"reverseQueue", reverseQueue},
        {"sameOutput", sameOutput},
        {"shiftTiles", shiftTiles},
        {"shrinkArena", shrinkArena},
        {"slotOwner", slotOwner},
        {"slotSlices", slotSlices},
        {"slotStage", slotStage},
        {"splitDraw", splitDraw},
        {"swapOperands", swapOperands},
        {"swapOutputs", swapOutputs},
        {"swapPhases", swapPhases},
        {"swapSends", swapSends},
        {"transferTwice", transferTwice},
        {"unplaceSlot", unplaceSlot},
        {"waitForNothing", waitForNothing},
        {"wildIndex", wildIndex},
        {"wrongIssuer", wrongIssuer},
        {"wrongSource", wrongSource},
        {"wrongSpace", wrongSpace},
        {"wrongTransport", wrongTransport},
    };
    const std::vector<MutantClass> &more = protocolMutantClasses();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return classes;
}
