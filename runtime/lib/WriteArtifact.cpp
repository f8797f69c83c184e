//===- WriteArtifact.cpp - A compiled program as bytes --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables are written in the order of the C++ structs and nothing is shared or
// hashed, so equal artifacts give equal bytes.
//
//===----------------------------------------------------------------------===//

#include "dfrt/Artifact.h"

#include "CRC32.h"
#include "dataflow/Schedule/Message.h"

#include "Artifact_generated.h"

using namespace dfrt;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {
/// The most that one FlatBuffer can hold.
constexpr uint64_t kMaximumBytes = FLATBUFFERS_MAX_BUFFER_SIZE;

class Writer {
  /// A vector of tables, from any vector whose elements `write` takes.
  template <typename T>
  auto all(const std::vector<T> &values) {
    std::vector<decltype(write(values[0]))> offsets;
    for (const T &value : values)
      offsets.push_back(write(value));
    return builder.CreateVector(offsets);
  }
  template <typename T>
  auto numbers(const std::vector<T> &values) {
    return builder.CreateVector(values);
  }
  Offset<flatbuffers::String> text(const std::string &value) {
    return builder.CreateString(value);
  }

  Offset<fbs::PlanValue> write(const PlanValue &v) {
    return fbs::CreatePlanValue(builder, uint8_t(v.kind), v.constant,
                                v.argument, v.dimension, numbers(v.axes));
  }
  Offset<fbs::Argument> write(const Argument &a) {
    auto name = text(a.name);
    return fbs::CreateArgument(builder, name, uint8_t(a.element),
                               numbers(a.shape), a.output);
  }
  Offset<fbs::Axis> write(const Axis &a) {
    auto name = text(a.name);
    return fbs::CreateAxis(builder, name, write(a.extent));
  }
  Offset<fbs::Domain> write(const Domain &d) {
    auto name = text(d.name);
    return fbs::CreateDomain(builder, name, all(d.axes), d.coordinates,
                             d.weights);
  }
  Offset<fbs::Range> write(const Range &r) {
    auto name = text(r.name);
    auto length = write(r.length);
    return fbs::CreateRange(builder, name, r.domain, length, write(r.offset),
                            r.tile);
  }
  Offset<fbs::Field> write(const Field &f) {
    auto name = text(f.name);
    return fbs::CreateField(builder, name, uint8_t(f.element), numbers(f.shape),
                            f.separable, f.offset);
  }
  Offset<fbs::Record> write(const Record &r) {
    return fbs::CreateRecord(builder, all(r.fields), r.slices, r.headBytes,
                             r.sliceBytes);
  }
  Offset<fbs::StageInput> write(const StageInput &i) {
    return fbs::CreateStageInput(builder, i.stage, numbers(i.axes));
  }
  Offset<fbs::Rekey> write(const Rekey &r) {
    return fbs::CreateRekey(builder, r.argument, numbers(r.axes), r.axis,
                            r.rows);
  }
  Offset<fbs::Cost> write(const Cost &c) {
    return fbs::CreateCost(builder, c.fixedBytes, c.tileBytes, c.fixedFlops,
                           c.tileFlops);
  }
  Offset<fbs::Variant> write(const Variant &v) {
    auto symbol = text(v.symbol);
    Offset<fbs::Cost> cost;
    if (v.kind == Variant::Kind::bounded)
      cost = write(v.cost);
    return fbs::CreateVariant(builder, uint8_t(v.kind), v.value, symbol, cost);
  }
  Offset<fbs::Stage> write(const Stage &s) {
    auto name = text(s.name);
    auto inputs = all(s.inputs);
    auto record = write(s.record);
    auto operands = numbers(s.operands);
    auto outputs = numbers(s.outputs);
    auto rekey = write(s.rekey);
    auto requests = fbs::CreateStageRequests(
        builder, uint8_t(s.requests.transport), uint8_t(s.requests.memory),
        s.requests.minTiles, s.requests.maxTiles, s.requests.resident);
    auto cost = write(s.cost);
    auto variants = all(s.variants);
    auto identity = text(s.identitySymbol);
    return fbs::CreateStage(builder, name, uint8_t(s.kind), uint8_t(s.reshard),
                            s.domain, s.range, s.each, inputs, uint8_t(s.arity),
                            record, operands, outputs, s.separable, rekey,
                            requests, cost, variants, identity, s.bound);
  }
  Offset<fbs::Program> write(const Program &p) {
    auto name = text(p.name);
    auto arguments = all(p.arguments);
    auto domains = all(p.domains);
    auto ranges = all(p.ranges);
    return fbs::CreateProgram(builder, name, arguments, domains, ranges,
                              all(p.stages));
  }
  Offset<fbs::Function> write(const CodeBlob::Function &f) {
    return fbs::CreateFunction(builder, text(f.symbol), f.scratchBytes);
  }
  Offset<fbs::CodeBlob> write(const CodeBlob &b) {
    auto target = text(b.target);
    builder.ForceVectorAlignment(b.bytes.size(), 1, 64);
    auto bytes = builder.CreateVector(b.bytes);
    return fbs::CreateCodeBlob(builder, uint8_t(b.kind), target, bytes,
                               all(b.functions));
  }

  Offset<fbs::TensorMapDimension> write(const TensorMapSpec::Dimension &d) {
    return fbs::CreateTensorMapDimension(builder, d.first, d.last, d.box,
                                         d.unit, d.limit);
  }
  Offset<fbs::TensorMapSpec> write(const TensorMapSpec &m) {
    return fbs::CreateTensorMapSpec(builder, m.argument, uint8_t(m.element),
                                    all(m.dimensions), uint8_t(m.swizzle),
                                    uint8_t(m.promotion), uint8_t(m.fill));
  }
  Offset<fbs::Kernel> write(const Kernel &k) {
    auto symbol = text(k.symbol);
    auto target = text(k.target);
    auto alignment = numbers(k.argumentAlignment);
    auto maps = all(k.maps);
    auto remarks = builder.CreateVectorOfStrings(k.remarks);
    return fbs::CreateKernel(
        builder, symbol, k.blob, k.ptxBlob, target, k.disciplines, k.transports,
        k.threads, k.reservedBytes, k.maxBarriers, k.scratchBytes, k.maxCluster,
        k.watchdog, k.parameterBytes, alignment, maps, remarks, k.timeline,
        k.reserved.rings, k.reserved.barriers, k.reserved.exchange,
        k.reserved.scratch);
  }

public:
  Offset<fbs::Artifact> write(const Artifact &artifact) {
    auto producer = builder.CreateString(artifact.producer);
    auto program = write(artifact.program);
    auto code = all(artifact.code);
    auto kernels = all(artifact.kernels);
    fbs::ArtifactBuilder table(builder);
    // Written even where they equal the default: they are patched, or tested
    // before anything else.
    builder.ForceDefaults(true);
    table.add_version(kArtifactVersion);
    table.add_total_bytes(0);
    table.add_checksum(0);
    builder.ForceDefaults(false);
    table.add_producer(producer);
    table.add_program(program);
    table.add_code(code);
    table.add_kernels(kernels);
    return table.Finish();
  }

  FlatBufferBuilder builder{1 << 16};
};
} // namespace

Expected<std::vector<uint8_t>> dfrt::writeArtifact(const Artifact &artifact) {
  uint64_t total = 1 << 20; // room for the tables
  for (const CodeBlob &blob : artifact.code)
    total += blob.bytes.size() + 64;
  if (total > kMaximumBytes)
    return failure(StatusCode::resourceExhausted, "artifact '",
                   artifact.program.name, "': code of ", total,
                   " bytes exceeds ", kMaximumBytes);
  Writer writer;
  fbs::FinishArtifactBuffer(writer.builder, writer.write(artifact));
  std::vector<uint8_t> bytes(writer.builder.GetBufferPointer(),
                             writer.builder.GetBufferPointer() +
                                 writer.builder.GetSize());
  fbs::Artifact *root = fbs::GetMutableArtifact(bytes.data());
  root->mutate_total_bytes(bytes.size());
  const uint8_t *field = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data())
                             ->GetAddressOf(fbs::Artifact::VT_CHECKSUM);
  root->mutate_checksum(crc32WithHole(bytes.data(), bytes.size(),
                                      uint64_t(field - bytes.data())));
  return bytes;
}
