//===- Describe.cpp - Artifacts and plans as JSON -------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "dataflow/Schedule/JsonWriter.h"

#include <algorithm>

using namespace dfrt;

namespace {
const char *nameOf(StageKind kind) {
  static constexpr const char *kNames[] = {"map", "reduce", "reshard",
                                           "finalize"};
  return kNames[size_t(kind)];
}
const char *nameOf(Arity arity) {
  static constexpr const char *kNames[] = {"one",   "pieces",    "tiles",
                                           "keyed", "collected", "none"};
  return kNames[size_t(arity)];
}
const char *nameOf(ReshardKind kind) {
  static constexpr const char *kNames[] = {"move", "collect", "rekey"};
  return kNames[size_t(kind)];
}
const char *nameOf(Variant::Kind kind) {
  static constexpr const char *kNames[] = {"generic", "tiles", "exact",
                                           "sliced", "bounded"};
  return kNames[size_t(kind)];
}
const char *nameOf(Discipline discipline) {
  return discipline == Discipline::ticket ? "ticket" : "static";
}

std::string hex(uint64_t value) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4)
    text += kHex[(value >> shift) & 15];
  return text;
}

/// A plan value as text: "128", "lengths.dim(0)", "lengths[b, h]".
std::string textOfValue(const Program &program, const Domain *domain,
                        const PlanValue &value) {
  if (value.kind == PlanValue::Kind::constant)
    return std::to_string(value.constant);
  const std::string &name = program.arguments[value.argument].name;
  if (value.kind == PlanValue::Kind::dimension)
    return textOf(name, ".dim(", value.dimension, ")");
  std::string text = name + "[";
  for (size_t i = 0; i < value.axes.size(); ++i)
    text += textOf(i ? ", " : "", domain ? domain->axes[value.axes[i]].name
                                         : std::to_string(value.axes[i]));
  return text + "]";
}

void describeRecord(JsonWriter &json, const Record &record) {
  json.beginObject("record");
  json.member("bytes", record.bytes());
  json.member("head_bytes", record.headBytes);
  json.member("slice_bytes", record.sliceBytes);
  json.member("slices", record.slices);
  json.beginArray("fields");
  for (const Field &field : record.fields) {
    json.beginObject();
    json.member("name", field.name);
    json.member("element", elementName(field.element));
    json.numbers("shape", field.shape);
    json.member("separable", field.separable);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

void describeCost(JsonWriter &json, const Cost &cost) {
  json.beginObject("cost");
  json.member("fixed_bytes", cost.fixedBytes);
  json.member("tile_bytes", cost.tileBytes);
  json.member("fixed_flops", cost.fixedFlops);
  json.member("tile_flops", cost.tileFlops);
  json.endObject();
}

void describeStage(JsonWriter &json, const Program &program,
                   const Stage &stage) {
  json.beginObject();
  json.member("name", stage.name);
  json.member("kind", nameOf(stage.kind));
  if (stage.kind == StageKind::reshard)
    json.member("reshard", nameOf(stage.reshard));
  json.member("domain", program.domains[stage.domain].name);
  if (stage.range != kNone) {
    json.member("range", program.ranges[stage.range].name);
    json.member("each", stage.each);
  }
  if (stage.bound != kNone)
    json.member("bound", program.ranges[stage.bound].name);
  json.beginArray("inputs");
  for (const StageInput &input : stage.inputs)
    json.element(program.stages[input.stage].name);
  json.endArray();
  json.member("arity", nameOf(stage.arity));
  json.member("separable", stage.separable);
  if (stage.arity != Arity::none)
    describeRecord(json, stage.record);
  json.beginArray("operands");
  for (uint32_t operand : stage.operands)
    json.element(program.arguments[operand].name);
  json.endArray();
  json.beginArray("outputs");
  for (uint32_t output : stage.outputs)
    json.element(program.arguments[output].name);
  json.endArray();
  describeCost(json, stage.cost);
  json.beginArray("variants");
  for (const Variant &variant : stage.variants) {
    json.beginObject();
    json.member("kind", nameOf(variant.kind));
    json.member("value", variant.value);
    json.member("symbol", variant.symbol);
    if (variant.kind == Variant::Kind::bounded)
      describeCost(json, variant.cost);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

void describeMap(JsonWriter &json, const Program &program,
                 const TensorMapSpec &map) {
  static constexpr uint32_t kSwizzleBytes[] = {0, 32, 64, 128};
  static constexpr uint32_t kPromotionBytes[] = {0, 64, 128, 256};
  json.beginObject();
  json.member("argument", program.arguments[map.argument].name);
  json.member("element", elementName(map.element));
  json.beginArray("dimensions");
  for (const TensorMapSpec::Dimension &dimension : map.dimensions) {
    json.beginObject();
    json.member("first", dimension.first);
    json.member("last", dimension.last);
    json.member("box", dimension.box);
    json.member("unit", dimension.unit);
    json.member("limit", dimension.limit);
    json.endObject();
  }
  json.endArray();
  json.member("swizzle_bytes", kSwizzleBytes[size_t(map.swizzle)]);
  json.member("promotion_bytes", kPromotionBytes[size_t(map.promotion)]);
  json.member("fill", map.fill == TensorMapSpec::Fill::nan ? "nan" : "zero");
  json.endObject();
}

void describeKernel(JsonWriter &json, const Program &program,
                    const Kernel &kernel) {
  json.beginObject();
  json.member("symbol", kernel.symbol);
  json.member("target", kernel.target);
  json.member("blob", kernel.blob);
  if (kernel.ptxBlob != kNone)
    json.member("ptx_blob", kernel.ptxBlob);
  json.beginArray("disciplines");
  for (Discipline discipline : {Discipline::fixed, Discipline::ticket})
    if (kernel.disciplines >> uint32_t(discipline) & 1)
      json.element(nameOf(discipline));
  json.endArray();
  json.beginArray("transports");
  for (Transport transport : {Transport::local, Transport::clusterShared,
                              Transport::global, Transport::multicast})
    if (kernel.transports >> uint32_t(transport) & 1)
      json.element(transportName(transport));
  json.endArray();
  json.member("threads", kernel.threads);
  json.member("reserved_bytes", kernel.reservedBytes);
  json.member("ring_bytes", kernel.reserved.rings);
  json.member("barrier_bytes", kernel.reserved.barriers);
  json.member("exchange_bytes", kernel.reserved.exchange);
  json.member("handler_bytes", kernel.reserved.scratch);
  json.member("max_barriers", kernel.maxBarriers);
  json.member("scratch_bytes", kernel.scratchBytes);
  json.member("max_cluster", kernel.maxCluster);
  json.member("watchdog", kernel.watchdog);
  json.member("timeline", kernel.timeline);
  json.member("parameter_bytes", kernel.parameterBytes);
  json.numbers("argument_alignment", kernel.argumentAlignment);
  json.beginArray("maps");
  for (const TensorMapSpec &map : kernel.maps)
    describeMap(json, program, map);
  json.endArray();
  json.beginArray("remarks");
  for (const std::string &remark : kernel.remarks)
    json.element(remark);
  json.endArray();
  json.endObject();
}
} // namespace

std::string dfrt::describeArtifact(const Artifact &artifact) {
  const Program &program = artifact.program;
  JsonWriter json;
  json.beginObject();
  json.member("producer", artifact.producer);
  json.member("program", program.name);
  json.member("fingerprint", hex(program.fingerprint()));
  std::vector<uint32_t> uses = planUses(program);
  json.beginArray("arguments");
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    static constexpr const char *kUses[] = {"none", "shape", "values"};
    const Argument &argument = program.arguments[i];
    json.beginObject();
    json.member("name", argument.name);
    json.member("element", elementName(argument.element));
    json.numbers("shape", argument.shape);
    json.member("output", argument.output);
    json.member("plan_use", kUses[uses[i]]);
    json.endObject();
  }
  json.endArray();
  json.beginArray("domains");
  for (const Domain &domain : program.domains) {
    json.beginObject();
    json.member("name", domain.name);
    json.beginArray("axes");
    for (const Axis &axis : domain.axes) {
      json.beginObject();
      json.member("name", axis.name);
      json.member("extent", textOfValue(program, &domain, axis.extent));
      json.endObject();
    }
    json.endArray();
    if (domain.coordinates != kNone)
      json.member("coordinates", program.arguments[domain.coordinates].name);
    if (domain.weights != kNone)
      json.member("weights", program.arguments[domain.weights].name);
    json.endObject();
  }
  json.endArray();
  json.beginArray("ranges");
  for (const Range &range : program.ranges) {
    const Domain &domain = program.domains[range.domain];
    json.beginObject();
    json.member("name", range.name);
    json.member("domain", domain.name);
    json.member("length", textOfValue(program, &domain, range.length));
    json.member("offset", textOfValue(program, &domain, range.offset));
    json.member("tile", range.tile);
    json.endObject();
  }
  json.endArray();
  json.beginArray("stages");
  for (const Stage &stage : program.stages)
    describeStage(json, program, stage);
  json.endArray();
  json.beginArray("code");
  for (const CodeBlob &blob : artifact.code) {
    json.beginObject();
    json.member("kind", kindName(blob.kind));
    json.member("target", blob.target);
    json.member("bytes", blob.bytes.size());
    json.member("functions", blob.functions.size());
    json.endObject();
  }
  json.endArray();
  json.beginArray("kernels");
  for (const Kernel &kernel : artifact.kernels)
    describeKernel(json, program, kernel);
  json.endArray();
  json.endObject();
  return json.take();
}

std::string dfrt::describePlan(const PlanImage &image, const PlanState &state) {
  const Schedule &schedule = image.schedule;
  JsonWriter json;
  json.beginObject();
  json.member("program", image.program);
  json.member("fingerprint", hex(image.fingerprint));
  json.member("solver", schedule.solver);
  json.member("discipline", nameOf(schedule.discipline));
  json.member("ctas", image.topology.ctas);
  json.member("cluster_size", image.topology.clusterSize);
  json.member("plan_bytes", state.bytes.size());
  json.member("shared_bytes", schedule.sharedBytes);
  json.member("global_bytes", schedule.globalBytes);
  uint64_t busy = 0, longest = 0, draws = 0;
  for (const Queue &queue : schedule.queues) {
    busy += !queue.instructions.empty();
    longest = std::max<uint64_t>(longest, queue.instructions.size());
  }
  for (const Instruction &instruction : schedule.instructions)
    draws += instruction.draw;
  json.member("busy_queues", busy);
  json.member("longest_queue", longest);
  if (schedule.discipline == Discipline::ticket)
    json.member("draws", draws);
  json.member("instructions", schedule.instructions.size());
  json.member("operands", schedule.operands.size());
  json.member("slots", schedule.slots.size());
  json.beginObject("transfers");
  for (Transport transport : {Transport::local, Transport::clusterShared,
                              Transport::global, Transport::multicast})
    json.member(transportName(transport),
                std::count_if(schedule.transfers.begin(),
                              schedule.transfers.end(), [&](const Transfer &t) {
                                return t.transport == transport;
                              }));
  json.endObject();
  json.member("releases", schedule.releases.size());
  json.member("barriers", schedule.barriers.size());
  json.member("flags", schedule.flags);
  json.member("exit_barrier", schedule.exitBarrier);
  json.beginArray("stages");
  for (uint32_t s = 0; s < image.stages.size(); ++s) {
    json.beginObject();
    json.member("name", image.stages[s].name);
    json.member("kind", nameOf(image.stages[s].kind));
    json.member("instructions",
                std::count_if(
                    schedule.instructions.begin(), schedule.instructions.end(),
                    [&](const Instruction &i) { return i.stage == s; }));
    json.endObject();
  }
  json.endArray();
  if (state.makeUs >= 0)
    json.member("make_us", state.makeUs);
  if (state.predictedNs >= 0) {
    json.member("predicted_us", state.predictedNs / 1000);
    json.member("floor_us", state.floorNs / 1000);
    json.member("bound_us", state.boundNs / 1000);
  }
  json.endObject();
  return json.take();
}

std::string dfrt::describeDecisions(const Decisions &decisions) {
  JsonWriter json;
  json.beginArray();
  for (const Decision &decision : decisions) {
    json.beginObject();
    json.member("topic", decision.topic);
    json.member("choice", decision.choice);
    json.member("reason", decision.reason);
    json.member("by", deciderName(decision.by));
    if (decision.predictedNs >= 0) {
      json.member("predicted_us", decision.predictedNs / 1000);
      json.beginArray("rejected");
      for (const Alternative &other : decision.rejected) {
        json.beginObject();
        json.member("choice", other.choice);
        if (other.predictedNs >= 0) {
          json.member("predicted_us", other.predictedNs / 1000);
          json.member("gain_us",
                      (other.predictedNs - decision.predictedNs) / 1000);
        } else {
          json.member("refusal", other.refusal);
        }
        json.endObject();
      }
      json.endArray();
    }
    json.endObject();
  }
  json.endArray();
  return json.take();
}
