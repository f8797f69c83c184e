//===- TraceEvents.cpp - A launch for trace viewers -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `traceEvents` of Trace.h. Slices of a track nest, so an
// instruction contains its phases.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dfrt;

namespace {
constexpr uint32_t kLaunch = 1, kSimulation = 2; ///< processes

/// When an instruction ran, whoever says so.
struct Ran {
  bool known = false;
  uint32_t cta = 0;
  double sends = 0, ready = 0; ///< its arrows leave and arrive
};

class Writer {
public:
  Writer(const Problem &problem, const Schedule &schedule, TraceSink &sink)
      : problem(problem), schedule(schedule), sink(sink),
        readers(schedule.slots.size()) {
    for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
      for (const Operand &operand :
           schedule.operandsOf(schedule.instructions[i]))
        if (operand.wait)
          readers[operand.slot].push_back(i);
  }

  void simulation(const SimulationResult &result);
  void launch(const LaunchTrace &trace);

private:
  /// Tracks of a CTA: compute, then load.
  static uint32_t track(uint32_t cta, bool loads) {
    return 1 + 2 * cta + (loads ? 1 : 0);
  }
  /// Nothing where it took no time.
  void slice(uint32_t process, uint32_t track, double begin, double end,
             const std::string &name, const char *category,
             const std::vector<TraceArgument> &arguments = {},
             const std::vector<TraceFlow> &flows = {}) {
    if (end > begin)
      sink.slice(process, track, begin, end, name, category, arguments, flows);
  }
  std::string nameOf(uint32_t instruction) const {
    return describeInstruction(problem, schedule.instructions[instruction]);
  }
  std::vector<TraceArgument> argumentsOf(uint32_t number, double waited) const {
    const Instruction &instruction = schedule.instructions[number];
    return {{"instruction", double(number)},
            {"task", double(instruction.task)},
            {"operands", double(instruction.operandCount)},
            {"rings_us", waited / 1e3}};
  }
  std::vector<std::vector<TraceFlow>> arrows(const std::vector<Ran> &ran);

  const Problem &problem;
  const Schedule &schedule;
  TraceSink &sink;
  std::vector<std::vector<uint32_t>>
      readers;          ///< of each slot, who waits for it
  uint64_t numbers = 0; ///< of arrows so far
};
} // namespace

std::vector<std::vector<TraceFlow>>
Writer::arrows(const std::vector<Ran> &ran) {
  std::vector<std::vector<TraceFlow>> flows(ran.size());
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      for (uint32_t reader : readers[slot]) {
        const Ran &from = ran[transfer.instruction], &to = ran[reader];
        if (!from.known || !to.known || from.cta == to.cta)
          continue;
        flows[transfer.instruction].push_back({++numbers, true, from.sends});
        flows[reader].push_back({numbers, false, to.ready});
      }
  return flows;
}

void Writer::simulation(const SimulationResult &result) {
  sink.process(kSimulation, fmt::format("simulated: {:.2f} us, launch included",
                                        result.totalNs / 1e3));
  for (uint32_t cta = 0; cta < problem.topology.ctas; ++cta)
    sink.track(kSimulation, track(cta, false), fmt::format("CTA {}", cta));
  std::vector<Ran> ran(schedule.instructions.size());
  for (const InstructionSpan &span : result.spans)
    ran[span.instruction] = {true, span.cta, span.end, span.begin};
  std::vector<std::vector<TraceFlow>> flows = arrows(ran);
  for (const InstructionSpan &span : result.spans) {
    uint32_t row = track(span.cta, false);
    slice(kSimulation, row, span.wait, span.end, nameOf(span.instruction),
          "instruction", argumentsOf(span.instruction, 0),
          flows[span.instruction]);
    slice(kSimulation, row, span.wait, span.begin, "operands", "wait");
    slice(kSimulation, row, span.begin, span.end, "work", "handler");
  }
}

void Writer::launch(const LaunchTrace &trace) {
  sink.process(kLaunch, fmt::format("{}: {:.2f} us on the device", trace.kernel,
                                    trace.totalNs / 1e3));
  uint32_t cluster = std::max(problem.topology.clusterSize, 1u);
  for (uint32_t cta = 0; cta < trace.ctas; ++cta) {
    std::string name = fmt::format("CTA {}", cta);
    if (cluster > 1)
      name += fmt::format(" (cluster {})", cta / cluster);
    name += fmt::format(" SM {}", trace.multiprocessors[cta]);
    sink.track(kLaunch, track(cta, false), name + " compute");
    sink.track(kLaunch, track(cta, true), name + " load");
    slice(kLaunch, track(cta, false), trace.begins[cta], trace.ends[cta], "CTA",
          "cta");
  }
  std::vector<Ran> ran(schedule.instructions.size());
  for (const TraceSpan &span : trace.spans)
    if (!span.loads)
      // Both ends lie inside the slices that they belong to.
      ran[span.instruction] = {true, span.cta,
                               (span.handled + span.finished) / 2, span.ready};
  std::vector<std::vector<TraceFlow>> flows = arrows(ran);
  for (const TraceSpan &span : trace.spans) {
    uint32_t row = track(span.cta, span.loads);
    std::string name = nameOf(span.instruction);
    std::vector<TraceArgument> arguments =
        argumentsOf(span.instruction, span.waited);
    if (span.loads) {
      slice(kLaunch, row, span.begin, span.finished, name, "fill", arguments);
      continue;
    }
    slice(kLaunch, row, span.begin, span.finished, name, "instruction",
          arguments, flows[span.instruction]);
    slice(kLaunch, row, span.begin, span.ready, "operands", "wait");
    slice(kLaunch, row, span.ready, span.handled, "handler", "handler");
    slice(kLaunch, row, span.handled, span.finished, "finish", "finish");
  }
}

std::string dfrt::traceEvents(const Problem &problem, const Schedule &schedule,
                              const SimulationResult &simulation,
                              const LaunchTrace *trace,
                              const std::string &title, TraceSink &sink) {
  Writer writer(problem, schedule, sink);
  if (trace)
    writer.launch(*trace);
  writer.simulation(simulation);
  return sink.finish(title);
}
