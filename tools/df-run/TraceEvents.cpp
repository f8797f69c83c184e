//===- TraceEvents.cpp - A launch for trace viewers -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `traceEvents` of Trace.h, an event a line. Times are microseconds;
// slices of a track nest, so an instruction contains its phases.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include <fmt/format.h>

#include <iterator>

using namespace dfrt;

namespace {
constexpr int kLaunch = 1, kSimulation = 2; ///< processes

class Writer {
public:
  Writer(const Problem &problem, const Schedule &schedule)
      : problem(problem), schedule(schedule) {}

  void simulation(const SimulationResult &result);
  void launch(const LaunchTrace &trace);
  std::string finish(const std::string &title);

private:
  /// Tracks of a CTA: compute, then load.
  static uint32_t track(uint32_t cta, bool loads) {
    return 1 + 2 * cta + (loads ? 1 : 0);
  }
  static std::string quoted(const std::string &text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  template <typename... T>
  void event(fmt::format_string<T...> format, T &&...values) {
    out += out.empty() ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  }
  void process(int pid, const std::string &name) {
    event(
        R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":{1}}}}})",
        pid, quoted(name));
    event(
        R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        pid);
  }
  void thread(int pid, uint32_t tid, const std::string &name) {
    event(
        R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
        pid, tid, quoted(name));
    event(
        R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
        pid, tid);
  }
  /// Nothing where it took no time.
  void slice(int pid, uint32_t tid, double begin, double end,
             const std::string &name, const char *category,
             const std::string &arguments = "{}") {
    if (end > begin)
      event(
          R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"{}","args":{}}})",
          pid, tid, begin / 1e3, (end - begin) / 1e3, quoted(name), category,
          arguments);
  }
  std::string nameOf(uint32_t instruction) const {
    return describeInstruction(problem, schedule.instructions[instruction]);
  }
  std::string argumentsOf(uint32_t number, double waited) const {
    const Instruction &instruction = schedule.instructions[number];
    return fmt::format(
        R"({{"instruction":{},"task":{},"operands":{},"rings_us":{:.3f}}})",
        number, instruction.task, instruction.operandCount, waited / 1e3);
  }
  void arrows(const std::vector<const TraceSpan *> &spanOf);

  const Problem &problem;
  const Schedule &schedule;
  std::string out;
};
} // namespace

void Writer::simulation(const SimulationResult &result) {
  process(kSimulation, fmt::format("simulated: {:.2f} us, launch included",
                                   result.totalNs / 1e3));
  for (uint32_t cta = 0; cta < problem.topology.ctas; ++cta)
    thread(kSimulation, track(cta, false), fmt::format("CTA {}", cta));
  for (const InstructionSpan &span : result.spans) {
    std::string name = nameOf(span.instruction);
    uint32_t tid = track(span.cta, false);
    slice(kSimulation, tid, span.wait, span.end, name, "instruction",
          argumentsOf(span.instruction, 0));
    slice(kSimulation, tid, span.wait, span.begin, "operands", "wait");
    slice(kSimulation, tid, span.begin, span.end, "work", "handler");
  }
}

void Writer::launch(const LaunchTrace &trace) {
  process(kLaunch, fmt::format("{}: {:.2f} us on the device", trace.kernel,
                               trace.totalNs / 1e3));
  uint32_t cluster = std::max(problem.topology.clusterSize, 1u);
  for (uint32_t cta = 0; cta < trace.ctas; ++cta) {
    std::string name = fmt::format("CTA {}", cta);
    if (cluster > 1)
      name += fmt::format(" (cluster {})", cta / cluster);
    name += fmt::format(" SM {}", trace.multiprocessors[cta]);
    thread(kLaunch, track(cta, false), name + " compute");
    thread(kLaunch, track(cta, true), name + " load");
    slice(kLaunch, track(cta, false), trace.begins[cta], trace.ends[cta], "CTA",
          "cta");
  }
  std::vector<const TraceSpan *> spanOf(schedule.instructions.size());
  for (const TraceSpan &span : trace.spans) {
    uint32_t tid = track(span.cta, span.loads);
    std::string name = nameOf(span.instruction);
    std::string arguments = argumentsOf(span.instruction, span.waited);
    if (span.loads) {
      slice(kLaunch, tid, span.begin, span.finished, name, "fill", arguments);
      continue;
    }
    spanOf[span.instruction] = &span;
    slice(kLaunch, tid, span.begin, span.finished, name, "instruction",
          arguments);
    slice(kLaunch, tid, span.begin, span.ready, "operands", "wait");
    slice(kLaunch, tid, span.ready, span.handled, "handler", "handler");
    slice(kLaunch, tid, span.handled, span.finished, "finish", "finish");
  }
  arrows(spanOf);
}

void Writer::arrows(const std::vector<const TraceSpan *> &spanOf) {
  std::vector<std::vector<uint32_t>> readers(schedule.slots.size());
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i)
    for (const Operand &operand : schedule.operandsOf(schedule.instructions[i]))
      if (operand.wait)
        readers[operand.slot].push_back(i);
  uint64_t number = 0;
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      for (uint32_t reader : readers[slot]) {
        const TraceSpan *from = spanOf[transfer.instruction];
        const TraceSpan *to = spanOf[reader];
        if (!from || !to || from->cta == to->cta)
          continue;
        // Both ends lie inside the slices that they belong to.
        event(
            R"({{"ph":"s","pid":{},"tid":{},"ts":{:.3f},"id":{},"name":"transfer","cat":"transfer"}})",
            kLaunch, track(from->cta, false),
            (from->handled + from->finished) / 2e3, ++number);
        event(
            R"({{"ph":"f","bp":"e","pid":{},"tid":{},"ts":{:.3f},"id":{},"name":"transfer","cat":"transfer"}})",
            kLaunch, track(to->cta, false), to->ready / 1e3, number);
      }
}

std::string Writer::finish(const std::string &title) {
  return fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"title":{}}},"traceEvents":[{}
]}}
)",
      quoted(title), out);
}

std::string dfrt::traceEvents(const Problem &problem, const Schedule &schedule,
                              const SimulationResult &simulation,
                              const LaunchTrace *trace,
                              const std::string &title) {
  Writer writer(problem, schedule);
  if (trace)
    writer.launch(*trace);
  writer.simulation(simulation);
  return writer.finish(title);
}
