//===- ReportJson.cpp - A report for programs -----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `toJson` of Report.h. Names here are documented in docs/df-run.md
// and do not change meaning; new ones may be added.
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <cmath>

using namespace dfrt;

static Json problemJson(const ProblemSummary &problem) {
  Json domains = Json::array(), ranges = Json::array();
  for (const auto &domain : problem.domains)
    domains.push_back({{"name", domain.name}, {"tasks", domain.tasks}});
  for (const auto &range : problem.ranges)
    ranges.push_back({{"name", range.name},
                      {"tile", range.tile},
                      {"elements", range.elements},
                      {"tiles", range.tiles},
                      {"longest", range.longest},
                      {"empty", range.empty}});
  return {{"domains", domains}, {"ranges", ranges}, {"bytes", problem.bytes}};
}

static Json planJson(const PlanSummary &plan) {
  Json stages = Json::array();
  for (const auto &stage : plan.stages)
    stages.push_back(
        {{"name", stage.name}, {"instructions", stage.instructions}});
  return {{"solver", plan.solver},
          {"discipline", plan.ticket ? "ticket" : "static"},
          {"ctas", plan.topology.ctas},
          {"cluster_size", plan.topology.clusterSize},
          {"shared_limit", plan.topology.sharedBytes},
          {"reserved_bytes", plan.topology.reservedBytes},
          {"instructions", plan.instructions},
          {"busy_ctas", plan.busyCtas},
          {"stages", stages},
          {"transfers",
           {{"local", plan.transfers[1]},
            {"cluster_shared", plan.transfers[2]},
            {"global", plan.transfers[3]},
            {"multicast", plan.transfers[4]}}},
          {"slots_shared", plan.slotsShared},
          {"slots_global", plan.slotsGlobal},
          {"shared_bytes", plan.sharedBytes},
          {"global_bytes", plan.globalBytes},
          {"plan_bytes", plan.planBytes},
          {"releases", plan.releases},
          {"barriers", plan.barriers},
          {"flags", plan.flags},
          {"exit_barrier", plan.exitBarrier},
          {"cta_bytes_fewest", plan.fewestBytes},
          {"cta_bytes_most", plan.mostBytes}};
}

// JSON has no number for these; null says that there is none.
static Json numberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json dfrt::toJson(const Decisions &decisions) {
  Json list = Json::array();
  for (const Decision &decision : decisions) {
    list.push_back({{"topic", decision.topic},
                    {"choice", decision.choice},
                    {"reason", decision.reason},
                    {"by", deciderName(decision.by)}});
    if (decision.predictedNs < 0)
      continue;
    list.back()["predicted_us"] = decision.predictedNs / 1e3;
    Json rejected = Json::array();
    for (const Alternative &other : decision.rejected)
      rejected.push_back(
          other.predictedNs < 0
              ? Json({{"choice", other.choice}, {"refusal", other.refusal}})
              : Json({{"choice", other.choice},
                      {"predicted_us", other.predictedNs / 1e3}}));
    list.back()["rejected"] = rejected;
  }
  return list;
}

Json dfrt::toJson(const Report &report) {
  Json result = {
      {"artifact", report.artifact}, {"program", report.program},
      {"workload", report.workload}, {"point", report.point},
      {"passed", report.passed()},   {"problem", problemJson(report.problem)}};
  if (report.plan)
    result["plan"] = planJson(*report.plan);
  result["decisions"] = toJson(report.decisions);
  if (report.prediction) {
    const SimulationResult &p = *report.prediction;
    result["prediction"] = {
        {"total_us", p.totalNs / 1e3},
        {"read_floor_us", p.floorNs / 1e3},
        {"read_floor_share", numberOrNull(p.floorNs / p.totalNs)},
        {"lower_bound_us", report.bound.totalNs / 1e3},
        {"lower_bound_reason", report.bound.reason()},
        {"busy_share", p.busyShare}};
  }
  if (report.planTime)
    result["plan_time"] = {{"median_us", report.planTime->medianUs},
                           {"least_us", report.planTime->leastUs},
                           {"runs", report.planTime->runs}};
  if (report.run) {
    const RunSummary &run = *report.run;
    result["run"] = {{"device", run.device},
                     {"threads", run.threads},
                     {"runs", run.runs},
                     {"median_ms", run.medianMs},
                     {"seeds", run.seeds},
                     {"identical", run.identical},
                     {"difference", run.difference}};
  }
  result["checks"] = Json::array();
  for (const OutputCheck &check : report.checks)
    result["checks"].push_back({{"output", check.name},
                                {"elements", check.elements},
                                {"rel_l2", numberOrNull(check.relativeL2)},
                                {"tolerance", check.tolerance},
                                {"special", check.special},
                                {"mismatched", check.mismatched},
                                {"first_mismatch", check.firstMismatch},
                                {"passed", check.passed}});
  if (!report.choices.empty())
    result["choices"] = toJson(report.choices);
  if (report.trace)
    result["timeline"] = toJson(*report.trace);
  if (!report.explanations.empty()) {
    result["explanations"] = Json::array();
    for (const Explanation &explanation : report.explanations)
      result["explanations"].push_back(toJson(explanation));
  }
  if (!report.measurement)
    return result;
  const Measurement &m = *report.measurement;
  double worst = 0;
  for (const OutputCheck &check : report.checks)
    worst = std::max(worst, check.relativeL2);
  result["variant"] = m.variant;
  result["kernel"] = m.kernel;
  result["cooperative"] = m.cooperative;
  result["p50_us"] = m.coldUs;
  result["graph_us"] = m.graphUs ? Json(*m.graphUs) : Json(nullptr);
  result["span_us"] = m.spanUs ? Json(*m.spanUs) : Json(nullptr);
  result["bytes"] = m.bytes;
  result["read_floor_us"] = m.readFloorUs;
  result["read_floor_share"] = numberOrNull(m.readFloorUs / m.coldUs);
  result["rel_l2"] =
      report.checks.empty() ? Json(nullptr) : numberOrNull(worst);
  result["plan_us"] =
      report.planTime ? Json(report.planTime->medianUs) : Json(nullptr);
  result["upload_us"] = m.uploadUs;
  result["samples"] = m.samples;
  result["card"] = m.card;
  result["date"] = m.date;
  result["command"] = m.command;
  return result;
}
