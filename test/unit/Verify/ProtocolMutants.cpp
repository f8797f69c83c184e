//===- ProtocolMutants.cpp - Broken protocols ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistakes that people made in kernels like ours (docs/known-failures-
// elsewhere.md names the reports) and that a single changed field does not
// make.
//
//===----------------------------------------------------------------------===//

#include "MutantPlaces.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::test;

namespace {

/// Clauses V3: the piece that an empty range still has is left out (A1, E26).
void dropEmptyPiece(const Problem &p, const Schedule &s, Mutations &out) {
  Places places(s);
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    const Instruction &x = s.instructions[i];
    const Stage &stage = p.program.stages[x.stage];
    if (stage.kind != StageKind::map || stage.range == kNone || stage.each ||
        x.tileBegin != 0 || x.tileEnd != 0)
      continue;
    add(out, "instruction", i, [i, q = places.queue[i]](Schedule &m) {
      auto &list = m.queues[q].instructions;
      list.erase(std::find(list.begin(), list.end(), i));
    });
  }
}

/// V3, V4: an empty range gets a call for tile 0, which would read outside
/// (E26, E31).
void callEmptyRange(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i)
    if (p.program.stages[s.instructions[i].stage].kind == StageKind::map &&
        s.instructions[i].tileBegin == 0 && s.instructions[i].tileEnd == 0)
      add(out, "instruction", i,
          [i](Schedule &m) { m.instructions[i].tileEnd = 1; });
}

/// V1: an output slot less or more than the stage has records.
void dropOutput(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    if (s.instructions[i].outputCount > 0)
      add(out, "instruction", i,
          [i](Schedule &m) { --m.instructions[i].outputCount; });
    if (s.instructions[i].firstOutput + s.instructions[i].outputCount <
        s.outputs.size())
      add(out, "instruction", i,
          [i](Schedule &m) { ++m.instructions[i].outputCount; });
  }
}

/// V16: a variant that exists but is made for another size (A9, A15).
void unfitVariant(const Problem &p, const Schedule &s, Mutations &out) {
  for (uint32_t i = 0; i < s.instructions.size(); ++i) {
    const Instruction &x = s.instructions[i];
    const std::vector<Variant> &variants = p.program.stages[x.stage].variants;
    for (uint32_t v = 0; v < variants.size(); ++v)
      if (variants[v].kind == Variant::Kind::tiles &&
          variants[v].value != x.tileEnd - x.tileBegin && v != x.variant)
        add(out, "instruction", i,
            [i, v](Schedule &m) { m.instructions[i].variant = v; });
    // A call for some slices must not run code for the whole record.
    bool sliced = variants[x.variant].kind == Variant::Kind::sliced;
    if (sliced &&
        p.program.stages[x.stage].record.slices > x.sliceEnd - x.sliceBegin)
      add(out, "instruction", i,
          [i](Schedule &m) { m.instructions[i].variant = 0; });
  }
}

/// V6, V14: nobody waits for a phase any more (F41: the peer's last access).
void unawaited(const Problem &, const Schedule &s, Mutations &out) {
  std::set<std::pair<uint32_t, uint32_t>> phases;
  for (const Transfer &t : s.transfers)
    for (uint32_t d : s.destinationsOf(t))
      if (async(t) &&
          phases.insert({s.slots[d].barrier, s.slots[d].phase}).second)
        add(out, "slot", d,
            [b = s.slots[d].barrier, k = s.slots[d].phase](Schedule &m) {
              for (Operand &operand : m.operands)
                if (m.slots[operand.slot].barrier == b &&
                    m.slots[operand.slot].phase == k)
                  operand.wait = false;
            });
}

/// V10: one receiver of a multicast has its slot elsewhere (F43).
void multicastOffset(const Problem &, const Schedule &s, Mutations &out) {
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    if (s.transfers[t].transport == Transport::multicast &&
        s.transfers[t].destinationCount > 1)
      for (uint32_t d : s.destinationsOf(s.transfers[t]))
        add(out, "transfer", t,
            [d](Schedule &m) { m.slots[d].offset += kRecordAlignment; });
}

/// V10, V17: what must stay in a cluster goes to the next one (F41, F49).
void otherCluster(const Problem &p, const Schedule &s, Mutations &out) {
  uint32_t size = p.topology.clusterSize, ctas = p.topology.ctas;
  if (ctas <= size)
    return;
  for (uint32_t t = 0; t < s.transfers.size(); ++t)
    for (uint32_t d : s.destinationsOf(s.transfers[t]))
      if (async(s.transfers[t]) && s.slots[d].barrier != kNone)
        add(out, "transfer", t, [d, size, ctas](Schedule &m) {
          Slot &slot = m.slots[d];
          slot.cta = (slot.cta + size) % ctas;
          m.barriers[slot.barrier].cta = slot.cta;
        });
}

/// V7: each of two CTAs waits first for what the other sends later.
void crossedQueues(const Problem &, const Schedule &s, Mutations &out) {
  if (s.discipline == Discipline::ticket)
    return;
  Places places(s);
  auto of = records(s);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> waiter; // (from, to)
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    uint32_t from = places.queue[of[s.operands[o].slot].first];
    uint32_t to = places.queue[i];
    if (s.operands[o].wait && from != to)
      waiter.insert({{from, to}, i});
  });
  for (const auto &[way, i] : waiter) {
    auto back = waiter.find({way.second, way.first});
    if (way.first > way.second || back == waiter.end())
      continue;
    std::string kind = "queue " + std::to_string(way.first) + " and queue";
    add(out, kind.c_str(), way.second, [a = i, b = back->second](Schedule &m) {
      for (Queue &queue : m.queues)
        for (uint32_t i : {a, b}) {
          auto &list = queue.instructions;
          auto at = std::find(list.begin(), list.end(), i);
          if (at != list.end())
            std::rotate(list.begin(), at, at + 1);
        }
    });
  }
}

/// V6: the wait moves to a later reader of the same CTA.
void lateWait(const Problem &, const Schedule &s, Mutations &out) {
  if (s.discipline == Discipline::ticket)
    return;
  Places places(s);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> readers;
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    const Slot &slot = s.slots[s.operands[o].slot];
    if (slot.barrier == kNone && slot.flag != kNone)
      readers[{places.queue[i], s.operands[o].slot}].push_back(o);
  });
  std::vector<uint32_t> owner(s.operands.size());
  eachOperand(s, [&](uint32_t i, uint32_t o) { owner[o] = i; });
  for (auto &[key, list] : readers) {
    std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return places.place[owner[a]] < places.place[owner[b]];
    });
    if (list.size() < 2 || owner[list[0]] == owner[list[1]] ||
        !s.operands[list[0]].wait)
      continue;
    add(out, "operand", list[0], [a = list[0], b = list[1]](Schedule &m) {
      m.operands[a].wait = false;
      m.operands[b].wait = true;
    });
  }
}

/// V2: the list of a ticket plan belongs to a CTA, or there is a second one.
void secondList(const Problem &, const Schedule &s, Mutations &out) {
  if (s.discipline != Discipline::ticket || s.queues.empty())
    return;
  add(out, "queue", 0, [](Schedule &m) { m.queues[0].cta = 0; });
  add(out, "schedule", 0, [](Schedule &m) { m.queues.push_back(m.queues[0]); });
}

/// V11: a barrier waits for more than comes, as if every thread of a warp
/// arrived (F45) or every CTA of a cluster sent (F46).
void manyArrivals(const Problem &p, const Schedule &s, Mutations &out) {
  std::set<uint32_t> used;
  for (const Slot &slot : s.slots)
    used.insert(slot.barrier);
  for (uint32_t b = 0; b < s.barriers.size(); ++b)
    for (uint32_t factor : {32u, std::max(2u, p.topology.clusterSize)})
      if (used.count(b))
        add(out, "barrier", b,
            [b, factor](Schedule &m) { m.barriers[b].arrivals *= factor; });
}

/// V7: in a ticket list, a draw waits for one behind it.
void laterDraw(const Problem &, const Schedule &s, Mutations &out) {
  if (s.discipline != Discipline::ticket)
    return;
  Places places(s);
  auto of = records(s);
  std::vector<uint32_t> drawOf(s.instructions.size()), first;
  for (uint32_t i : s.queues[0].instructions) {
    if (s.instructions[i].draw)
      first.push_back(i);
    drawOf[i] = uint32_t(first.size() - 1);
  }
  eachOperand(s, [&](uint32_t i, uint32_t o) {
    uint32_t producer = of[s.operands[o].slot].first;
    if (!s.operands[o].wait || drawOf[producer] == drawOf[i])
      return;
    // The whole draw of the consumer moves to the front.
    add(out, "instruction", i, [draw = first[drawOf[i]]](Schedule &m) {
      auto &list = m.queues[0].instructions;
      auto begin = std::find(list.begin(), list.end(), draw), end = begin + 1;
      while (end != list.end() && !m.instructions[*end].draw)
        ++end;
      std::rotate(list.begin(), begin, end);
    });
  });
}

} // namespace

const std::vector<MutantClass> &test::protocolMutantClasses() {
  static const std::vector<MutantClass> classes = {
      {"callEmptyRange", callEmptyRange},
      {"crossedQueues", crossedQueues},
      {"dropEmptyPiece", dropEmptyPiece},
      {"dropOutput", dropOutput},
      {"lateWait", lateWait},
      {"laterDraw", laterDraw},
      {"manyArrivals", manyArrivals},
      {"multicastOffset", multicastOffset},
      {"otherCluster", otherCluster},
      {"secondList", secondList},
      {"unawaited", unawaited},
      {"unfitVariant", unfitVariant},
  };
  return classes;
}
