//===- PlanReport.cpp - All about a plan, for programs --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names here do not change meaning; a new member does not change the version
// in `schema`, a lost one does.
//
//===----------------------------------------------------------------------===//

#include "PlanReport.h"

#include "Profile.h"
#include "Trace.h"

#include <fmt/format.h>

using namespace dfrt;

static constexpr const char *kSchema = "dataflow-report-1";

/// An index, or null for none.
static Json indexOf(uint32_t index) {
  return index == kNone ? Json(nullptr) : Json(index);
}

static const char *spaceName(Space space) {
  return space == Space::shared   ? "shared"
         : space == Space::global ? "global"
                                  : "unplaced";
}

//===----------------------------------------------------------------------===//
// Target and provenance
//===----------------------------------------------------------------------===//

static Json targetJson(const Options &options, const Plan &plan) {
  const Topology &topology = plan.problem.topology;
  const CostModel &costs = plan.problem.costs;
  return {{"topology",
           {{"ctas", topology.ctas},
            {"cluster_size", topology.clusterSize},
            {"shared_bytes", topology.sharedBytes},
            {"reserved_bytes", topology.reservedBytes}}},
          {"costs",
           {{"clock_ghz", costs.clockGHz},
            {"bandwidth", costs.bandwidth},
            {"cta_bandwidth", costs.ctaBandwidth},
            {"flops", costs.flops},
            {"launch_ns", costs.launchNs},
            {"start_ns", costs.startNs},
            {"exit_ns", costs.exitNs},
            {"record_weight", costs.recordWeight},
            {"cluster_hop_cycles", costs.clusterHopCycles},
            {"cluster_bytes_per_cycle", costs.clusterBytesPerCycle},
            {"global_hop_cycles", costs.globalHopCycles},
            {"global_bytes_per_cycle", costs.globalBytesPerCycle},
            {"instruction_ns", costs.instructionNs},
            {"draw_ns", costs.drawNs}}},
          {"device", options.device},
          {"card", options.profile ? options.profile->data.card
                                   : "built-in constants of an H200"},
          {"profile", options.profileFile}};
}

/// Who chose something, by name.
static Json chosen(const std::string &value, bool forced, const char *by) {
  return {{"value", value}, {"from", forced ? by : "default"}};
}

/// What planning was told: options of the command line, requests of the
/// program.
static Json inputsJson(const Options &options, const Plan &plan) {
  const ScheduleOptions &schedule = options.schedule;
  const char *topology = options.device != "cpu" ? "device"
                         : options.profile       ? "profile"
                         : options.ctasGiven     ? "option"
                                                 : "default";
  Json requests = Json::array();
  for (const Stage &stage : plan.problem.program.stages) {
    const StageRequests &asked = stage.requests, none;
    if (asked.transport == none.transport && asked.memory == none.memory &&
        asked.minTiles == none.minTiles && asked.maxTiles == none.maxTiles &&
        !asked.resident)
      continue;
    static const char *const memories[] = {"automatic", "shared", "global"};
    requests.push_back({{"stage", stage.name},
                        {"transport", transportName(asked.transport)},
                        {"memory", memories[size_t(asked.memory)]},
                        {"min_tiles", asked.minTiles},
                        {"max_tiles", asked.maxTiles},
                        {"resident", asked.resident}});
  }
  return {{"plan", options.planFile.empty() ? "made" : "loaded"},
          {"solver",
           chosen(plan.schedule.solver, !schedule.solver.empty(), "option")},
          {"combine",
           chosen(combineName(schedule.combine),
                  schedule.combine != ScheduleOptions::Combine::automatic,
                  "option")},
          {"transport",
           chosen(transportName(schedule.transport),
                  schedule.transport != Transport::automatic, "option")},
          {"topology", {{"from", topology}}},
          {"requests", requests},
          {"command", options.commandLine}};
}

//===----------------------------------------------------------------------===//
// The plan, record by record
//===----------------------------------------------------------------------===//

static Json instructionsJson(const Plan &plan, const Report &report) {
  const Schedule &schedule = plan.schedule;
  std::vector<const InstructionSpan *> spans(schedule.instructions.size());
  for (const InstructionSpan &span : report.prediction->spans)
    spans[span.instruction] = &span;
  Json list = Json::array();
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    Json operands = Json::array(), outputs = Json::array();
    for (const Operand &operand : schedule.operandsOf(instruction))
      operands.push_back({{"slot", operand.slot},
                          {"row", indexOf(operand.row)},
                          {"wait", operand.wait}});
    for (uint32_t slot : schedule.outputsOf(instruction))
      outputs.push_back(slot);
    list.push_back(
        {{"name", describeInstruction(plan.problem, instruction)},
         {"stage", plan.problem.program.stages[instruction.stage].name},
         {"variant", instruction.variant},
         {"task", instruction.task},
         {"tiles", {instruction.tileBegin, instruction.tileEnd}},
         {"slices", {instruction.sliceBegin, instruction.sliceEnd}},
         {"operands", operands},
         {"outputs", outputs},
         {"draw", instruction.draw},
         {"cta", spans[i] ? Json(spans[i]->cta) : Json(nullptr)},
         {"wait_us", spans[i] ? Json(spans[i]->wait / 1e3) : Json(nullptr)},
         {"begin_us", spans[i] ? Json(spans[i]->begin / 1e3) : Json(nullptr)},
         {"end_us", spans[i] ? Json(spans[i]->end / 1e3) : Json(nullptr)}});
  }
  return list;
}

static Json slotsJson(const Plan &plan) {
  Json list = Json::array();
  for (const Slot &slot : plan.schedule.slots)
    list.push_back({{"stage", plan.problem.program.stages[slot.stage].name},
                    {"slices", {slot.sliceBegin, slot.sliceEnd}},
                    {"space", spaceName(slot.space)},
                    {"cta", indexOf(slot.cta)},
                    {"offset", slot.offset},
                    {"bytes", slotBytes(plan.problem, slot)},
                    {"barrier", indexOf(slot.barrier)},
                    {"phase", slot.phase},
                    {"flag", indexOf(slot.flag)}});
  return list;
}

static Json planJson(const Plan &plan, const Report &report) {
  const Schedule &schedule = plan.schedule;
  Json queues = Json::array(), transfers = Json::array(),
       releases = Json::array(), barriers = Json::array();
  for (const Queue &queue : schedule.queues)
    queues.push_back(
        {{"cta", indexOf(queue.cta)}, {"instructions", queue.instructions}});
  for (const Transfer &transfer : schedule.transfers) {
    Json destinations = Json::array();
    for (uint32_t slot : schedule.destinationsOf(transfer))
      destinations.push_back(slot);
    transfers.push_back({{"transport", transportName(transfer.transport)},
                         {"instruction", transfer.instruction},
                         {"source", transfer.source},
                         {"destinations", destinations}});
  }
  for (const Release &release : schedule.releases)
    releases.push_back({{"slot", release.slot},
                        {"from", release.from},
                        {"to", release.to},
                        {"barrier", indexOf(release.barrier)},
                        {"phase", release.phase}});
  for (const Barrier &barrier : schedule.barriers)
    barriers.push_back({{"cta", barrier.cta}, {"arrivals", barrier.arrivals}});
  return {{"discipline",
           schedule.discipline == Discipline::ticket ? "ticket" : "static"},
          {"bytes", plan.bytes.size()},
          {"queues", queues},
          {"instructions", instructionsJson(plan, report)},
          {"slots", slotsJson(plan)},
          {"transfers", transfers},
          {"releases", releases},
          {"barriers", barriers},
          {"flags", schedule.flags},
          {"shared_bytes", schedule.sharedBytes},
          {"global_bytes", schedule.globalBytes},
          {"exit_barrier", schedule.exitBarrier}};
}

Json dfrt::planReport(const Options &options, const Plan &plan,
                      const Report &report) {
  return {{"schema", kSchema},
          {"artifact", report.artifact},
          {"program", report.program},
          {"fingerprint",
           fmt::format("{:016x}", plan.problem.program.fingerprint())},
          {"workload", report.workload},
          {"point", report.point},
          {"target", targetJson(options, plan)},
          {"inputs", inputsJson(options, plan)},
          {"decisions", toJson(report.decisions)},
          {"memory", toJson(*report.memory)},
          {"plan", planJson(plan, report)}};
}
