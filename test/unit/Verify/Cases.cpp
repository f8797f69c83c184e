//===- Cases.cpp - Legal schedules written by hand ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <gtest/gtest.h>

using namespace dfrt;
using namespace dfrt::test;

static Problem take(const Programmer &programmer, uint32_t ctas,
                    uint32_t clusterSize) {
  Expected<Problem> problem = programmer.problem(ctas, clusterSize);
  EXPECT_TRUE(problem) << problem.status().message();
  return problem ? *problem : Problem();
}

/// part over a range -> merge (two slices) -> out.
static Programmer splitProgram() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 2}});
  uint32_t range = p.range(tasks, 4, {18, 0});
  uint32_t part = p.map("part", tasks, Programmer::record(2), range);
  uint32_t merge = p.reduce("merge", part, true);
  p.finalize("out", tasks, {merge}, true);
  return p;
}

Case test::scatterGlobal() {
  Case c{"scatterGlobal", take(splitProgram(), 2, 1), {}};
  Hand h;
  const uint32_t part = 0, merge = 1, out = 2;
  uint32_t s0 = h.slot(part, Space::shared, 0, 0, 0, 2);
  uint32_t s1 = h.slot(part, Space::shared, 1, 0, 0, 2);
  uint32_t g0 = h.slot(part, Space::global, 0, 0, 1, 2);  // for CTA 1
  uint32_t g1 = h.slot(part, Space::global, 1, 48, 0, 1); // for CTA 0
  uint32_t empty = h.slot(part, Space::shared, 0, 80, 0, 2);
  uint32_t m0 = h.slot(merge, Space::shared, 0, 160, 0, 1);
  uint32_t m1 = h.slot(merge, Space::shared, 1, 80, 1, 2);
  h.flag(g0);
  h.flag(g1);
  uint32_t i0 = h.call(0, part, 0, {}, {s0}, {0, 3}, {0, 2});
  h.call(0, part, 1, {}, {empty}, {0, 0}, {0, 2});
  h.call(0, merge, 0, {{s0}, {g1, true}}, {m0}, {0, 1}, {0, 1}, 1);
  h.call(0, out, 0, {{m0}}, {}, {0, 1}, {0, 1}, 1);
  h.call(0, out, 1, {{empty}}, {}, {0, 1}, {0, 2});
  uint32_t i5 = h.call(1, part, 0, {}, {s1}, {3, 5}, {0, 2});
  h.call(1, merge, 0, {{g0, true}, {s1}}, {m1}, {0, 1}, {1, 2}, 1);
  h.call(1, out, 0, {{m1}}, {}, {0, 1}, {1, 2}, 1);
  h.send(Transport::global, i0, s0, {g0});
  h.send(Transport::global, i5, s1, {g1});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::scatterCluster() {
  Case c{"scatterCluster", take(splitProgram(), 2, 2), {}};
  Hand h;
  const uint32_t part = 0, merge = 1, out = 2;
  uint32_t s0 = h.slot(part, Space::shared, 0, 0, 0, 2);
  uint32_t s1 = h.slot(part, Space::shared, 1, 0, 0, 2);
  uint32_t d1 = h.slot(part, Space::shared, 1, 80, 1, 2); // from CTA 0
  uint32_t d0 = h.slot(part, Space::shared, 0, 80, 0, 1); // from CTA 1
  uint32_t empty = h.slot(part, Space::shared, 0, 208, 0, 2);
  uint32_t m0 = h.slot(merge, Space::shared, 0, 160, 0, 1);
  uint32_t m1 = h.slot(merge, Space::shared, 1, 160, 1, 2);
  h.arrive(d0, h.barrier(0));
  h.arrive(d1, h.barrier(1));
  uint32_t i0 = h.call(0, part, 0, {}, {s0}, {0, 3}, {0, 2});
  h.call(0, part, 1, {}, {empty}, {0, 0}, {0, 2});
  h.call(0, merge, 0, {{s0}, {d0, true}}, {m0}, {0, 1}, {0, 1}, 1);
  h.call(0, out, 0, {{m0}}, {}, {0, 1}, {0, 1}, 1);
  h.call(0, out, 1, {{empty}}, {}, {0, 1}, {0, 2});
  uint32_t i5 = h.call(1, part, 0, {}, {s1}, {3, 5}, {0, 2});
  h.call(1, merge, 0, {{d1, true}, {s1}}, {m1}, {0, 1}, {1, 2}, 1);
  h.call(1, out, 0, {{m1}}, {}, {0, 1}, {1, 2}, 1);
  h.send(Transport::clusterShared, i0, s0, {d1});
  h.send(Transport::clusterShared, i5, s1, {d0});
  h.schedule.exitBarrier = true;
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::tree() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 1}});
  uint32_t range = p.range(tasks, 1, {6});
  uint32_t part = p.map("part", tasks, Programmer::record(), range);
  p.program.stages[part].variants.push_back(
      {Variant::Kind::tiles, 2, "part_2"});
  uint32_t merge = p.reduce("merge", part);
  uint32_t out = p.finalize("out", tasks, {merge});
  Case c{"tree", take(p, 3, 1), {}};
  Hand h;
  uint32_t g0 = h.slot(part, Space::global, 0, 0);
  uint32_t s1 = h.slot(part, Space::shared, 1, 0);
  uint32_t g2 = h.slot(part, Space::global, 2, 48);
  uint32_t half = h.slot(merge, Space::global, 1, 96);
  uint32_t whole = h.slot(merge, Space::shared, 2, 0);
  for (uint32_t s : {g0, g2, half})
    h.flag(s);
  uint32_t i0 = h.call(0, part, 0, {}, {g0}, {0, 2}, {0, 1}, 1);
  h.call(1, part, 0, {}, {s1}, {2, 4}, {0, 1}, 1);
  uint32_t i2 = h.call(1, merge, 0, {{g0, true}, {s1}}, {half});
  uint32_t i3 = h.call(2, part, 0, {}, {g2}, {4, 6}, {0, 1}, 1);
  h.call(2, merge, 0, {{half, true}, {g2}}, {whole});
  h.call(2, out, 0, {{whole}}, {});
  h.send(Transport::global, i0, g0, {g0});
  h.send(Transport::global, i2, half, {half});
  h.send(Transport::global, i3, g2, {g2});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::collect() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 2}});
  uint32_t range = p.range(tasks, 4, {12, 0});
  uint32_t tile = p.map("tile", tasks, Programmer::record(), range, true);
  p.program.stages[tile].variants.push_back(
      {Variant::Kind::exact, 4, "tile_4"});
  uint32_t all =
      p.stage("all", StageKind::reshard, tasks, {tile}, Programmer::record());
  p.program.stages[all].reshard = ReshardKind::collect;
  p.program.stages[all].arity = Arity::collected;
  uint32_t out = p.finalize("out", tasks, {all});
  uint32_t walk = p.finalize("walk", tasks, {tile});
  p.program.stages[walk].range = range;
  p.program.stages[walk].each = true;
  Case c{"collect", take(p, 2, 1), {}};
  Hand h;
  uint32_t t0 = h.slot(tile, Space::shared, 0, 0);
  uint32_t t1 = h.slot(tile, Space::shared, 0, 48);
  uint32_t t2 = h.slot(tile, Space::global, 1, 0);
  h.flag(t2);
  h.call(0, tile, 0, {}, {t0, t1}, {0, 2}, {0, 1}, 1);
  h.call(0, out, 0, {{t0}, {t1}, {t2, true}}, {});
  h.call(0, walk, 0, {{t0}, {t1}}, {}, {0, 2});
  h.call(0, out, 1, {}, {});
  uint32_t i4 = h.call(1, tile, 0, {}, {t2}, {2, 3});
  h.call(1, walk, 0, {{t2}}, {}, {2, 3});
  h.send(Transport::global, i4, t2, {t2});
  c.schedule = h.finish(c.problem);
  return c;
}

/// Adds a rekeying reshard of `from` to domain `to`.
static uint32_t rekey(Programmer &p, uint32_t from, uint32_t to, uint32_t index,
                      bool rows) {
  Record record = p.program.stages[from].record;
  if (rows) {
    for (Field &field : record.fields)
      field.shape.erase(field.shape.begin());
    EXPECT_TRUE(layoutRecord(record).ok());
  }
  uint32_t s = p.stage("send", StageKind::reshard, to, {from}, record);
  Stage &stage = p.program.stages[s];
  stage.reshard = ReshardKind::rekey;
  stage.arity = Arity::keyed;
  stage.inputs[0].axes.clear();
  stage.rekey.argument = index;
  stage.rekey.axes = {0};
  stage.rekey.axis = 0;
  stage.rekey.rows = rows;
  return s;
}

Case test::rekeyRows() {
  Programmer p;
  uint32_t sources = p.domain("sources", {{"e", 2}});
  uint32_t targets = p.domain("targets", {{"t", 3}});
  uint32_t index = p.integers("index", {2, 2}, {1, 0, 1, -1});
  Record record;
  Field field;
  field.name = "rows";
  field.shape = {2, 8};
  record.fields = {field};
  EXPECT_TRUE(layoutRecord(record).ok());
  uint32_t make = p.map("make", sources, record);
  uint32_t send = rekey(p, make, targets, index, true);
  uint32_t sum = p.reduce("sum", send);
  uint32_t out = p.finalize("out", targets, {sum});
  Case c{"rekeyRows", take(p, 2, 1), {}};
  Hand h;
  uint32_t r0 = h.slot(make, Space::global, 0, 0);
  uint32_t r1 = h.slot(make, Space::global, 1, 64);
  uint32_t s1 = h.slot(sum, Space::shared, 1, 0);
  uint32_t s2 = h.slot(sum, Space::shared, 0, 0);
  h.flag(r0);
  h.flag(r1);
  uint32_t i0 = h.call(0, make, 0, {}, {r0});
  h.call(0, out, 0, {{r0, false, 1}}, {}); // its one row, not reduced
  h.call(0, sum, 2, {}, {s2});             // the identity
  h.call(0, out, 2, {{s2}}, {});
  uint32_t i4 = h.call(1, make, 1, {}, {r1});
  h.call(1, sum, 1, {{r0, true, 0}, {r1, false, 0}}, {s1});
  h.call(1, out, 1, {{s1}}, {});
  h.send(Transport::global, i0, r0, {r0});
  h.send(Transport::global, i4, r1, {r1});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::rekeyTiles() {
  Programmer p;
  uint32_t sources = p.domain("sources", {{"e", 3}});
  uint32_t targets = p.domain("targets", {{"t", 1}});
  uint32_t range = p.range(sources, 2, {3, 0, 2});
  uint32_t index = p.integers("index", {3}, {0, 0, 0});
  uint32_t make = p.map("make", sources, Programmer::record(), range, true);
  uint32_t send = rekey(p, make, targets, index, false);
  uint32_t sum = p.reduce("sum", send);
  uint32_t out = p.finalize("out", targets, {sum});
  Case c{"rekeyTiles", take(p, 1, 1), {}};
  Hand h;
  uint32_t a = h.slot(make, Space::shared, 0, 0);
  uint32_t b = h.slot(make, Space::shared, 0, 48);
  uint32_t d = h.slot(make, Space::shared, 0, 96);
  uint32_t half = h.slot(sum, Space::shared, 0, 144);
  // Takes over the memory of b and d, which are dead by then.
  uint32_t whole = h.slot(sum, Space::shared, 0, 64);
  h.call(0, make, 0, {}, {a, b}, {0, 2});
  h.call(0, make, 2, {}, {d});
  h.call(0, sum, 0, {{b}, {d}}, {half});
  h.call(0, sum, 0, {{a}, {half}}, {whole});
  h.call(0, out, 0, {{whole}}, {});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::rekeyAll() {
  Programmer p;
  uint32_t cells = p.domain("cells", {{"e", 2}, {"t", 2}});
  uint32_t targets = p.domain("targets", {{"t", 2}});
  uint32_t make = p.map("make", cells);
  uint32_t send = p.stage("send", StageKind::reshard, targets, {make},
                          Programmer::record());
  p.program.stages[send].reshard = ReshardKind::rekey;
  p.program.stages[send].arity = Arity::keyed;
  p.program.stages[send].inputs[0].axes.clear();
  uint32_t all =
      p.stage("all", StageKind::reshard, targets, {send}, Programmer::record());
  p.program.stages[all].reshard = ReshardKind::collect;
  p.program.stages[all].arity = Arity::collected;
  uint32_t out = p.finalize("out", targets, {all});
  Case c{"rekeyAll", take(p, 2, 1), {}};
  Hand h;
  uint32_t a = h.slot(make, Space::shared, 0, 0);
  uint32_t b = h.slot(make, Space::global, 0, 0);
  uint32_t d = h.slot(make, Space::global, 1, 48);
  uint32_t e = h.slot(make, Space::shared, 1, 0);
  h.flag(b);
  h.flag(d);
  uint32_t i0 = h.call(0, make, 1, {}, {b});
  h.call(0, make, 0, {}, {a});
  h.call(0, out, 0, {{a}, {d, true}}, {});
  uint32_t i3 = h.call(1, make, 2, {}, {d});
  h.call(1, make, 3, {}, {e});
  h.call(1, out, 1, {{b, true}, {e}}, {});
  h.send(Transport::global, i0, b, {b});
  h.send(Transport::global, i3, d, {d});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::multicast() {
  Programmer p;
  uint32_t one = p.domain("one", {});
  uint32_t rows = p.domain("rows", {{"b", 2}});
  uint32_t make = p.map("make", one);
  uint32_t use = p.finalize("use", rows, {make});
  Case c{"multicast", take(p, 4, 2), {}};
  Hand h;
  uint32_t source = h.slot(make, Space::global, 3, 0);
  uint32_t d2 = h.slot(make, Space::shared, 2, 16);
  uint32_t d3 = h.slot(make, Space::shared, 3, 16);
  h.arrive(d2, h.barrier(2));
  h.arrive(d3, h.barrier(3));
  h.call(2, use, 0, {{d2, true}}, {});
  uint32_t i1 = h.call(3, make, 0, {}, {source});
  h.call(3, use, 1, {{d3, true}}, {});
  h.send(Transport::multicast, i1, source, {d2, d3});
  h.schedule.exitBarrier = true;
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::tickets() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 2}});
  uint32_t range = p.range(tasks, 4, {16, 3});
  uint32_t part = p.map("part", tasks, Programmer::record(), range);
  uint32_t merge = p.reduce("merge", part);
  uint32_t out = p.finalize("out", tasks, {merge});
  Case c{"tickets", take(p, 2, 1), {}};
  Hand h(Discipline::ticket);
  uint32_t g0 = h.slot(part, Space::global, kNone, 0);
  uint32_t g1 = h.slot(part, Space::global, kNone, 48);
  uint32_t m0 = h.slot(merge, Space::shared, kNone, 0);
  uint32_t s1 = h.slot(part, Space::shared, kNone, 0);
  h.flag(g0);
  h.flag(g1);
  uint32_t i0 = h.draw(part, 0, {}, {g0}, {0, 2});
  uint32_t i1 = h.draw(part, 0, {}, {g1}, {2, 4});
  h.draw(part, 1, {}, {s1});
  h.call(kNone, out, 1, {{s1}}, {});
  h.draw(merge, 0, {{g0, true}, {g1, true}}, {m0});
  h.call(kNone, out, 0, {{m0}}, {});
  h.send(Transport::global, i0, g0, {g0});
  h.send(Transport::global, i1, g1, {g1});
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::reuse() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 3}});
  uint32_t make = p.map("make", tasks);
  uint32_t use = p.finalize("use", tasks, {make});
  Case c{"reuse", take(p, 2, 2), {}};
  Hand h;
  uint32_t data = h.barrier(1), free = h.barrier(0);
  std::vector<uint32_t> makes, uses, sources, arrived;
  for (uint32_t t = 0; t < 3; ++t) {
    sources.push_back(h.slot(make, Space::shared, 0, 0));
    arrived.push_back(h.slot(make, Space::shared, 1, 0));
    h.arrive(arrived[t], data, t);
    makes.push_back(h.call(0, make, t, {}, {sources[t]}));
    uses.push_back(h.call(1, use, t, {{arrived[t], true}}, {}));
    h.send(Transport::clusterShared, makes[t], sources[t], {arrived[t]});
  }
  // One release frees the source as well: whoever has the record has read it.
  h.release(arrived[0], uses[0], makes[1], free, 0);
  h.release(sources[1], uses[1], makes[2], free, 1);
  h.schedule.exitBarrier = true;
  c.schedule = h.finish(c.problem);
  return c;
}

Case test::twoReaders() {
  Programmer p;
  uint32_t tasks = p.domain("rows", {{"b", 1}});
  uint32_t make = p.map("make", tasks);
  uint32_t first = p.finalize("first", tasks, {make});
  uint32_t second = p.finalize("second", tasks, {make});
  Case c{"twoReaders", take(p, 2, 1), {}};
  Hand h;
  uint32_t record = h.slot(make, Space::global, 0, 0);
  h.flag(record);
  uint32_t i = h.call(0, make, 0, {}, {record});
  h.call(1, first, 0, {{record, true}}, {});
  h.call(1, second, 0, {{record}}, {});
  h.send(Transport::global, i, record, {record});
  c.schedule = h.finish(c.problem);
  return c;
}

std::vector<Case> test::allCases() {
  return {scatterGlobal(), scatterCluster(), tree(),      collect(),
          rekeyRows(),     rekeyTiles(),     rekeyAll(),  multicast(),
          tickets(),       reuse(),          twoReaders()};
}
