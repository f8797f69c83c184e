//===- Simulator.cpp - A schedule in virtual time -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Event simulation. All CTAs that load get the same rate at any moment, so one
// clock of bytes served per CTA tells when each load is complete: a load that
// begins at clock V and moves b bytes ends when the clock shows V + b. Each
// event costs O(log n).
//
// An instruction goes through three phases: waiting (for operands and
// releases), a fixed time (dispatch, refilling the pipeline for a further
// segment, reading operands from global slots), and loading, which also takes
// no less than its arithmetic does.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Simulator.h"

#include "Flow.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Simulation {
public:
  Simulation(const Problem &problem, const Schedule &schedule, const Flow &flow)
      : problem(problem), program(problem.program), schedule(schedule),
        flow(flow), costs(problem.costs),
        ticket(schedule.discipline == Discipline::ticket) {}

  Expected<SimulationResult> run();

private:
  const Problem &problem;
  const Program &program;
  const Schedule &schedule;
  const Flow &flow;
  const CostModel &costs;
  bool ticket;

  struct Cta {
    const std::vector<uint32_t> *queue = nullptr;
    size_t next = 0; ///< in queue; in a ticket queue of the current draw
    size_t end = 0;
    uint32_t current = kNone;
    InstructionSpan span;
    double arithmeticEnd = 0;
    uint32_t segmentStage = kNone; ///< last segment, kNone before the first
    uint64_t segmentTask = 0;
    double busy = 0;
  };
  enum class Kind { start, load, finish };
  struct Event {
    double time;
    uint64_t number; ///< order of equal times
    Kind kind;
    uint32_t cta;
    bool operator>(const Event &other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };
  struct Load {
    double clock;
    uint32_t cta;
    bool operator>(const Load &other) const {
      return std::tie(clock, cta) > std::tie(other.clock, other.cta);
    }
  };

  std::vector<Cta> ctas;
  std::vector<double> rates; ///< of each, by the number of CTAs that load
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  std::priority_queue<Load, std::vector<Load>, std::greater<Load>> loads;
  double now = 0, clock = 0;
  uint64_t numEvents = 0;
  size_t ticketNext = 0;

  std::vector<uint32_t> pending;        ///< [instructions] unmet conditions
  std::vector<double> ready;            ///< [instructions] latest arrival
  std::vector<uint32_t> waitingCta;     ///< [instructions] who waits to run it
  std::vector<uint32_t> firstSuccessor; ///< [instructions + 1]
  struct Successor {
    uint32_t instruction;
    double delay;
  };
  std::vector<Successor> successors;
  SimulationResult result;

  double hopNs(double cycles) const { return cycles / costs.clockGHz; }
  double rate() const { return rates[loads.size()]; }
  void push(double time, Kind kind, uint32_t cta) {
    events.push({time, numEvents++, kind, cta});
  }
  void link();
  double delayOf(uint32_t slot) const;
  double fixedTime(Cta &cta, const Instruction &i) const;
  uint64_t readBytes(const Instruction &i, const Operand &operand) const;
  void advance(uint32_t index);
  void begin(uint32_t index);
  void load(uint32_t index);
  void finish(uint32_t index);
  Status deadlock() const;
};

/// Time from the end of a slot's producer until its reader may go on.
double Simulation::delayOf(uint32_t slot) const {
  uint32_t arrival = flow.arrival[slot];
  if (arrival == kNone)
    return 0;
  Transport transport = schedule.transfers[arrival].transport;
  if (transport == Transport::global)
    return hopNs(costs.globalHopCycles);
  double bytes = static_cast<double>(slotBytes(problem, schedule.slots[slot]));
  return hopNs(costs.clusterHopCycles + bytes / costs.clusterBytesPerCycle);
}

/// Who waits for whose end: operands and releases.
void Simulation::link() {
  size_t count = schedule.instructions.size();
  pending.assign(count, 0);
  ready.assign(count, 0);
  waitingCta.assign(count, kNone);
  firstSuccessor.assign(count + 1, 0);
  auto visit = [&](auto &&action) {
    for (uint32_t i = 0; i < count; ++i)
      for (const Operand &o : schedule.operandsOf(schedule.instructions[i]))
        if (o.wait)
          action(flow.writer[o.slot], i, delayOf(o.slot));
    for (const Release &r : schedule.releases)
      if (r.from < count && r.to < count)
        action(r.from, r.to, hopNs(costs.clusterHopCycles));
  };
  visit([&](uint32_t from, uint32_t to, double) {
    ++firstSuccessor[from + 1];
    ++pending[to];
  });
  for (size_t i = 0; i < count; ++i)
    firstSuccessor[i + 1] += firstSuccessor[i];
  successors.resize(firstSuccessor[count]);
  std::vector<uint32_t> next(firstSuccessor.begin(), firstSuccessor.end() - 1);
  visit([&](uint32_t from, uint32_t to, double delay) {
    successors[next[from]++] = {to, delay};
  });
}

/// Bytes of a global slot that an instruction reads.
uint64_t Simulation::readBytes(const Instruction &i,
                               const Operand &operand) const {
  const Slot &slot = schedule.slots[operand.slot];
  const Record &record = program.stages[slot.stage].record;
  const Stage &reader = program.stages[i.stage];
  if (operand.row != kNone)
    return reader.record.bytes();
  if (reader.kind == StageKind::reduce && reader.record.slices == record.slices)
    return record.bytes(i.sliceBegin, i.sliceEnd);
  return slotBytes(problem, slot);
}

/// Time of an instruction that does not depend on the others' traffic.
double Simulation::fixedTime(Cta &cta, const Instruction &i) const {
  double time = costs.instructionNs;
  const Stage &stage = program.stages[i.stage];
  if (stage.range != kNone) {
    bool further = cta.segmentStage != kNone &&
                   (cta.segmentStage != i.stage || cta.segmentTask != i.task);
    if (further)
      time += costs.recordWeight * static_cast<double>(stage.record.bytes()) /
              costs.ctaBandwidth;
    cta.segmentStage = i.stage;
    cta.segmentTask = i.task;
  }
  double bytes = 0;
  for (const Operand &o : schedule.operandsOf(i))
    if (schedule.slots[o.slot].space == Space::global)
      bytes += static_cast<double>(readBytes(i, o));
  return time + hopNs(bytes / costs.globalBytesPerCycle);
}

/// CTA `index` takes its next instruction.
void Simulation::advance(uint32_t index) {
  Cta &cta = ctas[index];
  if (ticket && cta.next == cta.end) {
    const std::vector<uint32_t> &list = schedule.queues[0].instructions;
    cta.next = ticketNext;
    while (ticketNext < list.size() &&
           (ticketNext == cta.next ||
            !schedule.instructions[list[ticketNext]].draw))
      ++ticketNext;
    cta.end = ticketNext;
  }
  cta.current = kNone;
  if (cta.next == cta.end)
    return;
  cta.current = (*cta.queue)[cta.next++];
  cta.span = {cta.current, index, now, now, now};
  waitingCta[cta.current] = index;
  if (pending[cta.current] == 0)
    push(std::max(now, ready[cta.current]), Kind::start, index);
}

void Simulation::begin(uint32_t index) {
  Cta &cta = ctas[index];
  const Instruction &i = schedule.instructions[cta.current];
  cta.span.begin = now;
  // One CTA cannot use the arithmetic of the whole device. A device has about
  // twice the CTAs that saturate its memory.
  double parallel = 2 * costs.bandwidth / costs.ctaBandwidth;
  const Stage &stage = program.stages[i.stage];
  double tiles = static_cast<double>(i.tileEnd - i.tileBegin);
  const Cost &cost = problem.costOf(i.stage, i.task);
  double flops =
      static_cast<double>(cost.fixedFlops) * (stage.each ? tiles : 1);
  if (stage.range != kNone)
    flops += static_cast<double>(cost.tileFlops) * tiles;
  flops *= static_cast<double>(problem.tasks[stage.domain].weights[i.task]);
  cta.arithmeticEnd = now + flops / (costs.flops / parallel);
  push(now + fixedTime(cta, i), Kind::load, index);
}

void Simulation::load(uint32_t index) {
  const Instruction &i = schedule.instructions[ctas[index].current];
  const Stage &stage = program.stages[i.stage];
  double bytes = static_cast<double>(
      problem.callBytes(i.stage, i.task, i.tileEnd - i.tileBegin));
  if (stage.separable) {
    uint32_t slices = stage.record.slices;
    for (const StageInput &in : stage.inputs)
      if (stage.arity == Arity::none)
        slices = std::max(slices, program.stages[in.stage].record.slices);
    bytes *= static_cast<double>(i.sliceEnd - i.sliceBegin) / slices;
  }
  loads.push({clock + bytes, index});
}

void Simulation::finish(uint32_t index) {
  Cta &cta = ctas[index];
  uint32_t done = cta.current;
  cta.span.end = now;
  cta.busy += now - cta.span.begin;
  result.spans.push_back(cta.span);
  for (uint32_t s = firstSuccessor[done]; s < firstSuccessor[done + 1]; ++s) {
    const Successor &successor = successors[s];
    uint32_t to = successor.instruction;
    ready[to] = std::max(ready[to], now + successor.delay);
    if (--pending[to] == 0 && waitingCta[to] != kNone)
      push(std::max(now, ready[to]), Kind::start, waitingCta[to]);
  }
  advance(index);
}

Status Simulation::deadlock() const {
  for (uint32_t c = 0; c < ctas.size(); ++c) {
    uint32_t current = ctas[c].current;
    if (current == kNone)
      continue;
    std::string message =
        textOf("CTA ", c, " waits at ",
               describeInstruction(problem, schedule, current));
    for (const Operand &o : schedule.operandsOf(schedule.instructions[current]))
      if (o.wait && waitingCta[flow.writer[o.slot]] == kNone)
        return Status(
            StatusCode::deadlock,
            textOf(message, " for slot ", o.slot, " from ",
                   describeInstruction(problem, schedule, flow.writer[o.slot]),
                   ", which has not begun"));
    for (const Operand &o :
         schedule.operandsOf(schedule.instructions[current])) {
      uint32_t writer = flow.writer[o.slot];
      if (o.wait && ctas[waitingCta[writer]].current == writer)
        return Status(StatusCode::deadlock,
                      textOf(message, " for slot ", o.slot, " from ",
                             describeInstruction(problem, schedule, writer),
                             ", which waits on CTA ", waitingCta[writer]));
    }
    return Status(StatusCode::deadlock, textOf(message, " for a release"));
  }
  return Status(StatusCode::deadlock, "no CTA can proceed");
}

Expected<SimulationResult> Simulation::run() {
  link();
  ctas.resize(problem.topology.ctas);
  rates.resize(ctas.size() + 1);
  for (size_t i = 1; i < rates.size(); ++i)
    rates[i] = costs.readRate(static_cast<double>(i));
  now = costs.launchNs + costs.startNs;
  for (Cta &cta : ctas)
    if (ticket && !schedule.queues.empty())
      cta.queue = &schedule.queues[0].instructions;
  if (!ticket)
    for (const Queue &queue : schedule.queues) {
      ctas[queue.cta].queue = &queue.instructions;
      ctas[queue.cta].end = queue.instructions.size();
    }
  if (!ticket || !schedule.queues.empty())
    for (uint32_t c = 0; c < ctas.size(); ++c)
      advance(c);

  double start = now, last = now;
  while (!events.empty() || !loads.empty()) {
    double served =
        loads.empty() ? kInfinity
                      : now + std::max(0.0, loads.top().clock - clock) / rate();
    if (!events.empty() && events.top().time <= served) {
      Event event = events.top();
      events.pop();
      if (!loads.empty())
        clock += (event.time - now) * rate();
      now = event.time;
      if (event.kind == Kind::start)
        begin(event.cta);
      else if (event.kind == Kind::load)
        load(event.cta);
      else
        finish(event.cta);
    } else {
      Load done = loads.top();
      now = served;
      clock = done.clock;
      loads.pop();
      push(std::max(now, ctas[done.cta].arithmeticEnd), Kind::finish, done.cta);
    }
    last = now;
  }
  if (result.spans.size() != schedule.instructions.size())
    return deadlock();
  result.totalNs = last + costs.exitNs;
  result.floorNs = costs.launchNs +
                   static_cast<double>(problem.totalBytes()) / costs.bandwidth;
  double busy = 0;
  for (const Cta &cta : ctas)
    busy += cta.busy;
  if (last > start)
    result.busyShare =
        busy / (static_cast<double>(ctas.size()) * (last - start));
  std::sort(result.spans.begin(), result.spans.end(),
            [](const InstructionSpan &a, const InstructionSpan &b) {
              return std::tie(a.cta, a.begin, a.end, a.instruction) <
                     std::tie(b.cta, b.begin, b.end, b.instruction);
            });
  return std::move(result);
}

} // namespace

Expected<SimulationResult> dfrt::simulate(const Problem &problem,
                                          const Schedule &schedule) {
  // A cycle of waits shows when nothing can proceed, with better words.
  Flow flow;
  DFRT_TRY(analyseFlow(problem, schedule, flow));
  return Simulation(problem, schedule, flow).run();
}
