//===- RandomPrograms.h - Random programs with their inputs -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `randomCase(seed)` makes a legal program over every feature of Program.h,
// inputs for one batch and a launch shape; the same seed gives the same case on
// every machine. `size` bounds stages, tasks and lengths: a property that fails
// is narrowed by calling it with smaller sizes.
//
// A generated program reads every record, ends in finalizes, and requests
// nothing unless asked to, so every solver has to plan it.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_SCHEDULE_RANDOMPROGRAMS_H
#define DATAFLOW_TEST_UNIT_SCHEDULE_RANDOMPROGRAMS_H

#include "dataflow/Schedule/Problem.h"

#include <string>
#include <vector>

namespace dfrt {
namespace test {

/// SplitMix64: small, portable, and good enough to pick shapes.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [low, high].
  int64_t in(int64_t low, int64_t high) {
    return low +
           static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  /// True `percent` times out of 100.
  bool chance(int percent) { return in(1, 100) <= percent; }
  template <typename T>
  const T &pick(const std::vector<T> &list) {
    return list[static_cast<size_t>(in(0, int64_t(list.size()) - 1))];
  }

private:
  uint64_t state;
};

struct RandomCase {
  Program program;
  std::vector<PlanInput> inputs;
  Topology topology;
};

struct RandomLimits {
  int size = 4;          ///< 1 (tiny) to 10 or so
  bool requests = false; ///< also request attributes, which may be refused
};

/// True for a program with two maps, a channel with two readers, a rekeying
/// reshard, or two reshards.
inline bool isInvolved(const Program &program) {
  int maps = 0, reshards = 0;
  bool fanOut = false, rekey = false;
  for (uint32_t s = 0; s < program.stages.size(); ++s) {
    const Stage &stage = program.stages[s];
    maps += stage.kind == StageKind::map;
    reshards += stage.kind == StageKind::reshard;
    rekey |=
        stage.kind == StageKind::reshard && stage.reshard == ReshardKind::rekey;
    fanOut |= program.consumers(s).size() > 1;
  }
  return maps > 1 || reshards > 1 || fanOut || rekey;
}

/// Builds one case; see `randomCase`.
class RandomProgramBuilder {
public:
  RandomProgramBuilder(uint64_t seed, const RandomLimits &limits)
      : random(seed), limits(limits) {}

  RandomCase build() {
    result.program.name = "random";
    addDomains();
    addRanges();
    int64_t steps = random.in(1, 1 + limits.size);
    for (int64_t i = 0; i < steps; ++i)
      step();
    finish();
    topology();
    return std::move(result);
  }

private:
  Random random;
  RandomLimits limits;
  RandomCase result;
  std::vector<std::vector<int64_t>> extents;   ///< [domains][axes]
  std::vector<std::vector<uint32_t>> rangesOf; ///< [domains]
  std::vector<bool> listed;                    ///< [domains]

  /// A channel that further stages may read.
  struct Channel {
    uint32_t stage;
    bool read = false;
    bool closed = false; ///< readers are complete
  };
  std::vector<Channel> channels;

  Program &program() { return result.program; }
  Stage &stage(uint32_t index) { return program().stages[index]; }

  //===--- Arguments, domains, ranges ------------------------------------===//

  uint32_t addArgument(const std::string &stem, ElementType element,
                       std::vector<int64_t> shape, bool output = false) {
    Argument argument;
    argument.name = stem + std::to_string(program().arguments.size());
    argument.element = element;
    argument.shape = std::move(shape);
    argument.output = output;
    program().arguments.push_back(argument);
    return static_cast<uint32_t>(program().arguments.size() - 1);
  }

  /// An integer argument with values, its extents partly unknown until launch.
  uint32_t addValues(const std::string &stem, std::vector<int64_t> shape,
                     std::vector<int64_t> values) {
    std::vector<int64_t> declared = shape;
    for (int64_t &extent : declared)
      if (random.chance(70))
        extent = -1;
    uint32_t index = addArgument(
        stem, random.chance(50) ? ElementType::i32 : ElementType::i64,
        declared);
    result.inputs.push_back(
        {program().arguments[index].name, std::move(shape), std::move(values)});
    return index;
  }

  PlanValue constant(int64_t value) {
    PlanValue v;
    v.constant = value;
    return v;
  }

  int64_t extent() {
    switch (random.in(0, 9)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return 1;
    default:
      return random.in(2, 2 + 2 * limits.size);
    }
  }

  Axis addAxis(const std::string &name, int64_t value) {
    Axis axis;
    axis.name = name;
    axis.extent = constant(value);
    if (random.chance(50)) {
      // The extent of a tensor whose shape is known when a plan is made.
      uint32_t argument =
          addArgument("shape_of_" + name, ElementType::f16, {8, -1});
      result.inputs.push_back(
          {program().arguments[argument].name, {8, value}, {}});
      axis.extent.kind = PlanValue::Kind::dimension;
      axis.extent.argument = argument;
      axis.extent.dimension = 1;
    }
    return axis;
  }

  void addDomain(const std::string &name, std::vector<Axis> axes,
                 std::vector<int64_t> extent, bool mayBeListed) {
    Domain domain;
    domain.name = name;
    domain.axes = std::move(axes);
    int64_t tasks = 1;
    for (int64_t e : extent)
      tasks *= e;
    bool list = mayBeListed && tasks > 0 && random.chance(40);
    if (list) {
      // Some of the points, in any order.
      std::vector<int64_t> points;
      for (int64_t t = 0; t < tasks; ++t)
        if (random.chance(70))
          points.push_back(t);
      for (size_t i = points.size(); i > 1; --i)
        std::swap(points[i - 1],
                  points[static_cast<size_t>(random.in(0, int64_t(i) - 1))]);
      std::vector<int64_t> coordinates;
      for (int64_t point : points) {
        std::vector<int64_t> at(extent.size());
        for (size_t a = extent.size(); a-- > 0;) {
          at[a] = point % extent[a];
          point /= extent[a];
        }
        coordinates.insert(coordinates.end(), at.begin(), at.end());
      }
      tasks = static_cast<int64_t>(points.size());
      domain.coordinates = addValues(
          "points", {tasks, static_cast<int64_t>(extent.size())}, coordinates);
    }
    if (random.chance(25)) {
      std::vector<int64_t> weights(static_cast<size_t>(tasks));
      for (int64_t &weight : weights)
        weight = random.in(0, 5);
      domain.weights = addValues("weights", {tasks}, weights);
    }
    program().domains.push_back(domain);
    extents.push_back(std::move(extent));
    listed.push_back(list);
    rangesOf.emplace_back();
  }

  void addDomains() {
    int64_t b = extent(), h = random.in(1, 4), e = extent();
    Axis batch = addAxis("b", b), heads = addAxis("h", h),
         bins = addAxis("e", e);
    addDomain("rows", {batch}, {b}, false);
    addDomain("cells", {batch, heads}, {b, h}, true);
    addDomain("bins", {bins}, {e}, false);
    addDomain("grid", {bins, heads}, {e, h}, false);
  }

  int64_t length() {
    switch (random.in(0, 9)) {
    case 0:
    case 1:
      return 0;
    case 2:
      return 1;
    case 3:
      return random.in(1, 400 * limits.size);
    default:
      return random.in(1, 20 * limits.size);
    }
  }

  void addRanges() {
    for (uint32_t d = 0; d < program().domains.size(); ++d) {
      int64_t count = random.in(1, 2);
      for (int64_t k = 0; k < count; ++k) {
        Range range;
        range.name = "range" + std::to_string(program().ranges.size());
        range.domain = d;
        range.tile = random.pick<int64_t>({1, 3, 8, 64});
        range.length = perTask(d, "lengths", [&] { return length(); });
        if (random.chance(30))
          range.offset = perTask(d, "offsets", [&] { return random.in(0, 9); });
        rangesOf[d].push_back(static_cast<uint32_t>(program().ranges.size()));
        program().ranges.push_back(range);
      }
    }
  }

  /// A value for each point of a domain, or for each value of its first axis.
  template <typename F>
  PlanValue perTask(uint32_t domain, const std::string &stem, F &&value) {
    if (random.chance(15))
      return constant(value());
    PlanValue v;
    v.kind = PlanValue::Kind::element;
    std::vector<int64_t> shape = {extents[domain][0]};
    v.axes = {0};
    if (extents[domain].size() > 1 && random.chance(50)) {
      shape.push_back(extents[domain][1]);
      v.axes.push_back(1);
      if (random.chance(50)) {
        std::swap(shape[0], shape[1]);
        std::swap(v.axes[0], v.axes[1]);
      }
    }
    int64_t count = 1;
    for (int64_t s : shape)
      count *= s;
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t &x : values)
      x = value();
    v.argument = addValues(stem, shape, values);
    return v;
  }

  //===--- Records --------------------------------------------------------===//

  Field field(const std::string &name, std::vector<int64_t> shape,
              int32_t separable = -1) {
    Field f;
    f.name = name;
    f.element = random.pick<ElementType>({ElementType::f32, ElementType::f32,
                                          ElementType::f16, ElementType::bf16,
                                          ElementType::f64});
    f.shape = std::move(shape);
    f.separable = separable;
    return f;
  }

  Record record() {
    Record r;
    switch (random.in(0, 4)) {
    case 0:
      r.fields = {field("value", {})};
      break;
    case 1:
      r.fields = {field("values", {random.in(1, 40)})};
      break;
    case 2: // rows that a reshard may split
      r.fields = {field("rows", {random.in(1, 4), random.in(1, 20)}),
                  field("scale", {0})};
      r.fields[1].shape[0] = r.fields[0].shape[0];
      break;
    default: {
      int64_t width = random.in(1, 8);
      r.slices = static_cast<uint32_t>(random.in(2, 8));
      r.fields = {field("weight", {4}), field("sum", {4, width * r.slices}, 1)};
      if (random.chance(30))
        r.fields.push_back(field("total", {width * r.slices}, 0));
      break;
    }
    }
    Status laidOut = layoutRecord(r);
    (void)laidOut;
    return r;
  }

  static bool splitsIntoRows(const Record &r) {
    for (const Field &f : r.fields)
      if (f.shape.empty() || f.shape[0] != r.fields[0].shape[0] ||
          f.separable == 0)
        return false;
    return true;
  }

  //===--- Stages ---------------------------------------------------------===//

  Stage newStage(const std::string &stem, StageKind kind, uint32_t domain) {
    Stage s;
    s.name = stem + std::to_string(program().stages.size());
    s.kind = kind;
    s.domain = domain;
    if (kind != StageKind::reshard) {
      s.variants.resize(1);
      s.variants[0].symbol = s.name;
      if (random.chance(70)) {
        s.cost.fixedBytes = static_cast<uint64_t>(random.in(0, 40000));
        s.cost.tileBytes = static_cast<uint64_t>(random.in(0, 80000));
        s.cost.tileFlops = static_cast<uint64_t>(random.in(0, 9000000));
      }
    }
    if (kind == StageKind::reduce)
      s.identitySymbol = s.name + "_identity";
    if (limits.requests)
      addRequests(s);
    return s;
  }

  void addRequests(Stage &s) {
    StageRequests &r = s.requests;
    if (random.chance(15))
      r.minTiles = random.in(1, 5);
    if (random.chance(15))
      r.maxTiles = r.minTiles + random.in(0, 6);
    if (random.chance(8))
      r.resident = true;
    if (random.chance(8))
      r.memory = static_cast<StageRequests::Memory>(random.in(1, 2));
    if (random.chance(8))
      r.transport = static_cast<Transport>(random.in(1, 4));
  }

  uint32_t add(Stage s) {
    program().stages.push_back(std::move(s));
    return static_cast<uint32_t>(program().stages.size() - 1);
  }

  /// Adds a stage whose records others may read.
  uint32_t addChannel(Stage s) {
    uint32_t index = add(std::move(s));
    channels.push_back({index});
    return index;
  }

  /// Maps the axes of a producer's domain to those of a consumer's, or fails.
  bool mapAxes(uint32_t from, uint32_t to, std::vector<uint32_t> &axes) {
    axes.clear();
    for (const Axis &axis : program().domains[from].axes) {
      uint32_t a = 0;
      while (a < program().domains[to].axes.size() &&
             program().domains[to].axes[a].name != axis.name)
        ++a;
      if (a == program().domains[to].axes.size())
        return false;
      axes.push_back(a);
    }
    // A listed domain may lack the point that a task of another one reads.
    return from == to || !listed[from];
  }

  StageInput inputFrom(uint32_t producer, uint32_t domain) {
    StageInput in;
    in.stage = producer;
    mapAxes(stage(producer).domain, domain, in.axes);
    return in;
  }

  uint32_t originOf(uint32_t index) {
    while (stage(index).kind == StageKind::reshard)
      index = stage(index).inputs[0].stage;
    return index;
  }

  /// Whether a stage may not read both channels: their operands could not be
  /// told apart where records were sent to other tasks.
  bool lookAlike(uint32_t a, uint32_t b) {
    auto isSent = [&](uint32_t index) {
      while (stage(index).kind == StageKind::reshard) {
        if (stage(index).reshard == ReshardKind::rekey)
          return true;
        index = stage(index).inputs[0].stage;
      }
      return false;
    };
    return stage(a).arity == Arity::collected &&
           stage(b).arity == Arity::collected && (isSent(a) || isSent(b));
  }

  /// Up to `most` channels that a map or finalize of this kind can read;
  /// `whole`: only such as a call for one slice can read.
  void addInputs(Stage &s, int64_t most, bool whole = false) {
    std::vector<uint32_t> axes;
    for (int64_t n = random.in(0, most); n > 0 && !channels.empty(); --n) {
      Channel &c = channels[static_cast<size_t>(
          random.in(0, int64_t(channels.size()) - 1))];
      const Stage &producer = stage(c.stage);
      bool fits = !c.closed && mapAxes(producer.domain, s.domain, axes);
      if (producer.arity == Arity::tiles)
        fits &= s.each && stage(originOf(c.stage)).range == s.range;
      else
        fits &=
            producer.arity == Arity::one || producer.arity == Arity::collected;
      fits &= !whole || producer.record.slices == 1;
      for (const StageInput &in : s.inputs)
        fits &= in.stage != c.stage && !lookAlike(in.stage, c.stage);
      if (!fits)
        continue;
      s.inputs.push_back(inputFrom(c.stage, s.domain));
      c.read = true;
    }
  }

  uint32_t anyDomain() {
    return static_cast<uint32_t>(
        random.in(0, int64_t(program().domains.size()) - 1));
  }

  void step() {
    switch (random.in(0, 6)) {
    case 0:
      return addMap(false, false);
    case 1:
    case 2:
      return addMap(true, false);
    case 3:
      return addMap(true, true);
    case 4:
      return addReader();
    default:
      return addRekey();
    }
  }

  void addMap(bool ranged, bool each) {
    uint32_t domain = anyDomain();
    Stage s = newStage("map", StageKind::map, domain);
    if (ranged) {
      s.range = random.pick(rangesOf[domain]);
      s.each = each;
      s.arity = each ? Arity::tiles : Arity::pieces;
    }
    s.record = record();
    addInputs(s, 2);
    if (random.chance(25))
      addBounded(s);
    if (!ranged || each) {
      addChannel(std::move(s));
      return;
    }
    const RangeSetVariants variants = variantsFor(s);
    s.variants.insert(s.variants.end(), variants.begin(), variants.end());
    uint32_t index = add(std::move(s));
    index = maybeMove(index);
    addReduce(index);
    if (random.chance(20))
      addReduce(index);
  }

  /// Variants for tasks with few elements of another range of the domain.
  void addBounded(Stage &s) {
    const std::vector<uint32_t> &ranges = rangesOf[s.domain];
    if (ranges.empty())
      return;
    s.bound = random.pick(ranges);
    if (s.bound == s.range) {
      s.bound = kNone;
      return;
    }
    for (int64_t n = random.in(1, 2), size = 0; n > 0; --n) {
      size += random.in(1, 40);
      s.variants.push_back(
          {Variant::Kind::bounded, size, s.name + "_b" + std::to_string(size)});
      s.variants.back().cost.fixedBytes = uint64_t(random.in(0, 1000));
      s.variants.back().cost.tileBytes = uint64_t(random.in(0, 1000));
    }
  }

  using RangeSetVariants = std::vector<Variant>;
  RangeSetVariants variantsFor(const Stage &s) {
    RangeSetVariants list;
    if (random.chance(30))
      list.push_back({Variant::Kind::tiles, random.in(1, 4), s.name + "_n"});
    if (random.chance(30))
      list.push_back({Variant::Kind::exact, random.in(1, 64), s.name + "_x"});
    return list;
  }

  /// A reshard that moves the records, sometimes.
  uint32_t maybeMove(uint32_t index) {
    if (!random.chance(25))
      return index;
    Stage s = newStage("move", StageKind::reshard, stage(index).domain);
    s.reshard = ReshardKind::move;
    s.arity = stage(index).arity;
    s.record = stage(index).record;
    s.inputs = {inputFrom(index, s.domain)};
    return add(std::move(s));
  }

  uint32_t addReduce(uint32_t index) {
    Stage s = newStage("reduce", StageKind::reduce, stage(index).domain);
    s.record = stage(index).record;
    s.inputs = {inputFrom(index, s.domain)};
    bool separable = s.record.slices > 1 && random.chance(60);
    if (!separable)
      return addChannel(std::move(s));
    makeSeparable(s);
    uint32_t reduce = add(std::move(s));
    separableReaders(reduce);
    return reduce;
  }

  void makeSeparable(Stage &s) {
    s.separable = true;
    s.variants.push_back({Variant::Kind::sliced, 1, s.name + "_slice"});
  }

  /// One or two finalizes, perhaps behind a map, that work slice by slice.
  void separableReaders(uint32_t reduce) {
    uint32_t source = reduce;
    if (random.chance(30)) {
      Stage s = newStage("map", StageKind::map, stage(reduce).domain);
      s.record = stage(reduce).record;
      s.inputs = {inputFrom(reduce, s.domain)};
      makeSeparable(s);
      source = add(std::move(s));
    }
    for (int64_t n = random.in(1, 2); n > 0; --n) {
      uint32_t domain = stage(reduce).domain;
      // A reader with more axes reads the record whole.
      if (random.chance(15) && domain == 0)
        domain = 1;
      Stage s = newStage("finalize", StageKind::finalize, domain);
      s.arity = Arity::none;
      s.inputs = {inputFrom(source, domain)};
      addInputs(s, 1, true);
      makeSeparable(s);
      addOutput(s);
      add(std::move(s));
    }
  }

  void addOutput(Stage &s) {
    s.outputs.push_back(addArgument("out", ElementType::f32, {-1, -1}, true));
  }

  /// Something behind a channel of arity tiles.
  void addReader() {
    for (size_t c = 0; c < channels.size(); ++c) {
      uint32_t index = channels[c].stage;
      if (channels[c].closed || stage(index).arity != Arity::tiles)
        continue;
      channels[c].read = true;
      index = maybeMove(index);
      if (random.chance(50)) {
        addReduce(index);
      } else {
        addCollect(index);
      }
      return;
    }
    addMap(true, true);
  }

  void addCollect(uint32_t index) {
    Stage s = newStage("collect", StageKind::reshard, stage(index).domain);
    s.reshard = ReshardKind::collect;
    s.arity = Arity::collected;
    s.record = stage(index).record;
    s.inputs = {inputFrom(index, s.domain)};
    addChannel(std::move(s));
  }

  void addRekey() {
    std::vector<size_t> sources;
    for (size_t c = 0; c < channels.size(); ++c) {
      Arity arity = stage(channels[c].stage).arity;
      if (!channels[c].closed && (arity == Arity::one || arity == Arity::tiles))
        sources.push_back(c);
    }
    if (sources.empty())
      return addMap(false, false);
    Channel &c = channels[random.pick(sources)];
    uint32_t from = stage(c.stage).domain;
    // To bins or rows; to a grid only where the other axis has a value.
    uint32_t to = random.chance(50) ? 2 : 0;
    if (extents[from].size() > 1 && random.chance(50))
      to = 3;
    // Without an index, to all tasks with the first axis of the source.
    bool indexed = random.chance(70);
    if (!indexed)
      to = from < 2 ? 0 : 2;
    int64_t targets = extents[to][0];
    c.read = true;
    uint32_t source = maybeMove(c.stage);
    Stage s = newStage("rekey", StageKind::reshard, to);
    s.reshard = ReshardKind::rekey;
    s.arity = Arity::keyed;
    s.record = stage(source).record;
    s.inputs = {StageInput{source, {}}};
    if (!indexed)
      return addKeyedReader(add(std::move(s)));
    s.rekey.axis = 0;
    s.rekey.rows = splitsIntoRows(s.record) && random.chance(60);
    std::vector<int64_t> shape;
    for (uint32_t a = 0; a < extents[from].size(); ++a)
      if (a == 0 || random.chance(70)) {
        s.rekey.axes.push_back(a);
        shape.push_back(extents[from][a]);
      }
    if (s.rekey.rows) {
      shape.push_back(s.record.fields[0].shape[0]);
      for (Field &f : s.record.fields) {
        f.shape.erase(f.shape.begin());
        if (f.separable > 0)
          --f.separable;
      }
      Status laidOut = layoutRecord(s.record);
      (void)laidOut;
    }
    int64_t count = 1;
    for (int64_t e : shape)
      count *= e;
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t &value : values)
      value =
          targets == 0 || random.chance(15) ? -1 : random.in(0, targets - 1);
    s.rekey.argument = addValues("index", shape, values);
    if (s.rekey.rows)
      addReduce(maybeMove(add(std::move(s))));
    else
      addKeyedReader(add(std::move(s)));
  }

  /// Something behind whole records that were sent to other tasks.
  void addKeyedReader(uint32_t index) {
    index = maybeMove(index);
    if (random.chance(40))
      addCollect(index);
    else
      addReduce(index);
  }

  /// Finalizes every channel that nobody reads.
  void finish() {
    for (size_t c = 0; c < channels.size(); ++c) {
      if (channels[c].read && !random.chance(20))
        continue;
      uint32_t index = channels[c].stage;
      uint32_t domain = stage(index).domain;
      bool tiles = stage(index).arity == Arity::tiles;
      std::vector<uint32_t> axes;
      if (!tiles && random.chance(20) && mapAxes(domain, 1, axes))
        domain = 1;
      Stage s = newStage("finalize", StageKind::finalize, domain);
      s.arity = Arity::none;
      if (tiles || random.chance(10)) {
        s.each = true;
        s.range = tiles ? stage(originOf(index)).range
                        : random.pick(rangesOf[domain]);
      }
      s.inputs = {inputFrom(index, domain)};
      channels[c].read = true;
      addInputs(s, 1);
      addOutput(s);
      add(std::move(s));
    }
    if (program().stages.empty() || random.chance(5)) {
      Stage s = newStage("finalize", StageKind::finalize, anyDomain());
      s.arity = Arity::none;
      addOutput(s);
      add(std::move(s));
    }
  }

  void topology() {
    Topology &t = result.topology;
    t.clusterSize = random.pick<uint32_t>({1, 1, 2, 4, 8, 16});
    t.ctas = t.clusterSize * static_cast<uint32_t>(random.in(1, 6));
    if (t.clusterSize == 1 && random.chance(30))
      t.ctas = random.pick<uint32_t>({1, 78, 132});
    uint64_t room = random.pick<uint64_t>({101376, 101376, 8192, 1024, 256, 0});
    t.reservedBytes = t.sharedBytes - room;
  }
};

/// The case of a seed.
inline RandomCase randomCase(uint64_t seed,
                             const RandomLimits &limits = RandomLimits()) {
  return RandomProgramBuilder(seed, limits).build();
}

} // namespace test
} // namespace dfrt

#endif // DATAFLOW_TEST_UNIT_SCHEDULE_RANDOMPROGRAMS_H
