//===- ReadArtifact.cpp - A compiled program from bytes -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The FlatBuffers verifier keeps reads inside the file; this file tests what
// the format cannot say of a field (enums, layouts), `check(Program)` the
// program as a whole, and CheckArtifact.cpp how code and program fit.
//
//===----------------------------------------------------------------------===//

#include "CRC32.h"
#include "CheckArtifact.h"
#include "dataflow/Schedule/Message.h"

#include "Artifact_generated.h"

using namespace dfrt;

namespace {
template <typename... Parts>
Status fail(const Parts &...parts) {
  return artifactFailure(parts...);
}

std::string textOrEmpty(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

template <typename T>
std::vector<T> numbers(const flatbuffers::Vector<T> *vector) {
  return vector ? std::vector<T>(vector->begin(), vector->end())
                : std::vector<T>();
}

/// Reads the tables into the structs of Program.h. `where` names what is being
/// read, for messages.
class Reader {
public:
  Status read(const fbs::Artifact *table, Artifact &artifact) {
    artifact.producer = textOrEmpty(table->producer());
    DFRT_TRY(read(table->program(), artifact.program));
    DFRT_TRY(all("code", table->code(), artifact.code));
    if (table->version() < 2)
      return checkVersion1(table, artifact);
    return all("kernels", table->kernels(), artifact.kernels);
  }

private:
  template <typename Table, typename T>
  Status all(const std::string &where,
             const flatbuffers::Vector<flatbuffers::Offset<Table>> *tables,
             std::vector<T> &values) {
    if (!tables)
      return Status::success();
    values.resize(tables->size());
    for (uint32_t i = 0; i < tables->size(); ++i)
      DFRT_TRY(read(textOf(where, "[", i, "]"), tables->Get(i), values[i]));
    return Status::success();
  }

  template <typename Enum>
  Status readEnum(const std::string &where, const char *field, uint8_t value,
                  Enum last, Enum &result) {
    if (value > uint8_t(last))
      return fail(where, ".", field, " is ", uint32_t(value),
                  ", but must be at most ", uint32_t(last));
    result = Enum(value);
    return Status::success();
  }

  Status read(const std::string &where, const fbs::PlanValue *t, PlanValue &v) {
    DFRT_TRY(
        readEnum(where, "kind", t->kind(), PlanValue::Kind::element, v.kind));
    v.constant = t->constant();
    v.argument = t->argument();
    v.dimension = t->dimension();
    v.axes = numbers(t->axes());
    return Status::success();
  }
  Status read(const std::string &where, const fbs::Argument *t, Argument &a) {
    a.name = t->name()->str();
    a.shape = numbers(t->shape());
    a.output = t->output();
    return readEnum(where, "element", t->element(), ElementType::i1, a.element);
  }
  Status read(const std::string &where, const fbs::Axis *t, Axis &a) {
    a.name = t->name()->str();
    return read(where + ".extent", t->extent(), a.extent);
  }
  Status read(const std::string &where, const fbs::Domain *t, Domain &d) {
    d.name = t->name()->str();
    d.coordinates = t->coordinates();
    d.weights = t->weights();
    return all(where + ".axes", t->axes(), d.axes);
  }
  Status read(const std::string &where, const fbs::Range *t, Range &r) {
    r.name = t->name()->str();
    r.domain = t->domain();
    r.tile = t->tile();
    DFRT_TRY(read(where + ".length", t->length(), r.length));
    return read(where + ".offset", t->offset(), r.offset);
  }
  Status read(const std::string &where, const fbs::Field *t, Field &f) {
    f.name = t->name()->str();
    f.shape = numbers(t->shape());
    f.separable = t->separable();
    f.offset = t->offset();
    return readEnum(where, "element", t->element(), ElementType::i1, f.element);
  }
  Status read(const std::string &where, const fbs::Record *t, Record &r) {
    DFRT_TRY(all(where + ".fields", t->fields(), r.fields));
    r.slices = t->slices();
    if (r.slices == 0)
      return fail(where, ".slices is 0");
    r.headBytes = t->head_bytes();
    r.sliceBytes = t->slice_bytes();
    return Status::success();
  }
  Status checkLayout(const std::string &where, const Record &r) const {
    Record laidOut = r;
    if (Status status = layoutRecord(laidOut); !status.ok())
      return fail(where, ": ", status.message());
    if (laidOut.headBytes != r.headBytes)
      return fail(where, ".head_bytes is ", r.headBytes, ", expected ",
                  laidOut.headBytes);
    if (laidOut.sliceBytes != r.sliceBytes)
      return fail(where, ".slice_bytes is ", r.sliceBytes, ", expected ",
                  laidOut.sliceBytes);
    for (size_t i = 0; i < r.fields.size(); ++i)
      if (laidOut.fields[i].offset != r.fields[i].offset)
        return fail(where, ".fields[", i, "].offset is ", r.fields[i].offset,
                    ", expected ", laidOut.fields[i].offset);
    return Status::success();
  }
  Status read(const std::string &where, const fbs::StageInput *t,
              StageInput &i) {
    i.stage = t->stage();
    i.axes = numbers(t->axes());
    return Status::success();
  }
  static Cost read(const fbs::Cost *t) {
    if (!t)
      return Cost();
    return {t->fixed_bytes(), t->tile_bytes(), t->fixed_flops(),
            t->tile_flops()};
  }
  Status read(const std::string &where, const fbs::Variant *t, Variant &v) {
    v.value = t->value();
    v.symbol = t->symbol()->str();
    v.cost = read(t->cost());
    return readEnum(where, "kind", t->kind(), Variant::Kind::bounded, v.kind);
  }
  Status read(const std::string &where, const fbs::StageRequests *t,
              StageRequests &r) {
    DFRT_TRY(readEnum(where, "transport", t->transport(), Transport::multicast,
                      r.transport));
    DFRT_TRY(readEnum(where, "memory", t->memory(),
                      StageRequests::Memory::global, r.memory));
    r.minTiles = t->min_tiles();
    r.maxTiles = t->max_tiles();
    r.resident = t->resident();
    return Status::success();
  }
  Status read(const std::string &where, const fbs::Stage *t, Stage &s) {
    s.name = t->name()->str();
    DFRT_TRY(readEnum(where, "kind", t->kind(), StageKind::finalize, s.kind));
    DFRT_TRY(readEnum(where, "reshard", t->reshard(), ReshardKind::rekey,
                      s.reshard));
    DFRT_TRY(readEnum(where, "arity", t->arity(), Arity::none, s.arity));
    s.domain = t->domain();
    s.range = t->range();
    s.each = t->each();
    s.operands = numbers(t->operands());
    s.outputs = numbers(t->outputs());
    s.separable = t->separable();
    s.identitySymbol = textOrEmpty(t->identity_symbol());
    if (const fbs::Rekey *rekey = t->rekey()) {
      s.rekey.argument = rekey->argument();
      s.rekey.axes = numbers(rekey->axes());
      s.rekey.axis = rekey->axis();
      s.rekey.rows = rekey->rows();
    }
    if (t->requests())
      DFRT_TRY(read(where + ".requests", t->requests(), s.requests));
    s.bound = t->bound();
    s.cost = read(t->cost());
    DFRT_TRY(all(where + ".inputs", t->inputs(), s.inputs));
    DFRT_TRY(all(where + ".variants", t->variants(), s.variants));
    DFRT_TRY(read(where + ".record", t->record(), s.record));
    // A collected channel is never stored as such: its record is informative.
    if (s.arity == Arity::collected)
      return Status::success();
    return checkLayout(where + ".record", s.record);
  }
  Status read(const fbs::Program *t, Program &p) {
    p.name = t->name()->str();
    DFRT_TRY(all("arguments", t->arguments(), p.arguments));
    DFRT_TRY(all("domains", t->domains(), p.domains));
    DFRT_TRY(all("ranges", t->ranges(), p.ranges));
    return all("stages", t->stages(), p.stages);
  }
  Status read(const std::string &where, const fbs::Function *t,
              CodeBlob::Function &f) {
    f.symbol = t->symbol()->str();
    f.scratchBytes = t->scratch_bytes();
    return Status::success();
  }
  Status read(const std::string &where, const fbs::CodeBlob *t, CodeBlob &b) {
    DFRT_TRY(readEnum(where, "kind", t->kind(), CodeBlob::Kind::llvm, b.kind));
    b.target = textOrEmpty(t->target());
    b.bytes = numbers(t->bytes());
    return all(where + ".functions", t->functions(), b.functions);
  }
  Status read(const std::string &where, const fbs::TensorMapDimension *t,
              TensorMapSpec::Dimension &d) {
    d = {t->first(), t->last(), t->box(), t->unit(), t->limit()};
    return Status::success();
  }
  Status read(const std::string &where, const fbs::TensorMapSpec *t,
              TensorMapSpec &m) {
    using Spec = TensorMapSpec;
    m.argument = t->argument();
    DFRT_TRY(
        readEnum(where, "element", t->element(), ElementType::i1, m.element));
    DFRT_TRY(readEnum(where, "swizzle", t->swizzle(), Spec::Swizzle::b128,
                      m.swizzle));
    DFRT_TRY(readEnum(where, "promotion", t->promotion(), Spec::Promotion::b256,
                      m.promotion));
    DFRT_TRY(readEnum(where, "fill", t->fill(), Spec::Fill::nan, m.fill));
    return all(where + ".dimensions", t->dimensions(), m.dimensions);
  }
  Status read(const std::string &where, const fbs::Kernel *t, Kernel &k) {
    k.symbol = t->symbol()->str();
    k.blob = t->blob();
    k.ptxBlob = t->ptx_blob();
    k.target = t->target()->str();
    k.disciplines = t->disciplines();
    k.transports = t->transports();
    k.threads = t->threads();
    k.reservedBytes = t->reserved_bytes();
    k.reserved = {t->ring_bytes(), t->barrier_bytes(), t->exchange_bytes(),
                  t->handler_bytes()};
    k.maxBarriers = t->max_barriers();
    k.scratchBytes = t->scratch_bytes();
    k.maxCluster = t->max_cluster();
    k.watchdog = t->watchdog();
    k.timeline = t->timeline();
    k.parameterBytes = t->parameter_bytes();
    k.argumentAlignment = numbers(t->argument_alignment());
    if (t->remarks())
      for (const flatbuffers::String *remark : *t->remarks())
        k.remarks.push_back(remark->str());
    return all(where + ".maps", t->maps(), k.maps);
  }
  Status checkVersion1(const fbs::Artifact *table, const Artifact &artifact) {
    if (table->kernels())
      return fail("version is 1, but there are kernels");
    for (size_t i = 0; i < artifact.code.size(); ++i)
      if (artifact.code[i].kind == CodeBlob::Kind::llvm)
        return fail("version is 1, but code[", i, "].kind is ",
                    uint32_t(artifact.code[i].kind));
    return Status::success();
  }
};

} // namespace

Expected<Artifact> dfrt::readArtifact(const uint8_t *bytes, uint64_t size) {
  if (size < 16 || size > FLATBUFFERS_MAX_BUFFER_SIZE)
    return fail("has ", size, " bytes, but must have 16 to ",
                uint64_t(FLATBUFFERS_MAX_BUFFER_SIZE));
  if (!fbs::ArtifactBufferHasIdentifier(bytes))
    return fail("file identifier is not '", fbs::ArtifactIdentifier(), "'");
  // Tables are read in place, which needs the alignment of a fresh allocation.
  std::vector<uint8_t> copy;
  if (reinterpret_cast<uintptr_t>(bytes) % 8) {
    copy.assign(bytes, bytes + size);
    bytes = copy.data();
  }
  flatbuffers::Verifier verifier(bytes, size);
  if (!fbs::VerifyArtifactBuffer(verifier))
    return fail("the tables are corrupt or cut off");
  const fbs::Artifact *root = fbs::GetArtifact(bytes);
  if (root->version() < kArtifactMinimumVersion ||
      root->version() > kArtifactVersion)
    return fail("version is ", root->version(), ", but this library reads ",
                kArtifactMinimumVersion, " to ", kArtifactVersion);
  if (root->total_bytes() != size)
    return fail("total_bytes is ", root->total_bytes(), ", but there are ",
                size);
  const uint8_t *field =
      flatbuffers::GetRoot<flatbuffers::Table>(bytes)->GetAddressOf(
          fbs::Artifact::VT_CHECKSUM);
  if (!field)
    return fail("checksum is missing");
  uint32_t checksum = crc32WithHole(bytes, size, uint64_t(field - bytes));
  if (root->checksum() != checksum)
    return fail("checksum is ", root->checksum(), ", but the bytes have ",
                checksum);
  Artifact artifact;
  DFRT_TRY(Reader().read(root, artifact));
  if (Status status = check(artifact.program); !status.ok())
    return fail("program: ", status.message());
  DFRT_TRY(checkCode(artifact));
  DFRT_TRY(checkKernels(artifact));
  return artifact;
}
