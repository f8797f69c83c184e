//===- CheckArtifact.cpp - Do code and program fit? -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckArtifact.h"

#include "dataflow/Schedule/Schedule.h"
#include "dfrt/KernelABI.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

using namespace dfrt;

const CodeBlob *Artifact::find(CodeBlob::Kind kind) const {
  for (const CodeBlob &blob : code)
    if (blob.kind == kind)
      return &blob;
  return nullptr;
}

const char *dfrt::kindName(CodeBlob::Kind kind) {
  static constexpr const char *kNames[] = {"cpu", "cpu_reference", "cubin",
                                           "ptx", "llvm"};
  return kNames[size_t(kind)];
}

ElementType dfrt::referenceElement(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::f32:
  case ElementType::f16:
  case ElementType::bf16:
  case ElementType::f8E4M3FN:
  case ElementType::f8E5M2:
    return ElementType::f64;
  default:
    return type;
  }
}

Expected<Record> dfrt::referenceRecord(const Record &record) {
  Record reference = record;
  reference.slices = 1;
  for (Field &field : reference.fields)
    field.element = referenceElement(field.element);
  DFRT_TRY(layoutRecord(reference));
  return reference;
}

uint64_t dfrt::kernelMapsOffset(const Program &program) {
  uint64_t words = 0;
  for (const Argument &argument : program.arguments)
    words += 3 + 2 * argument.shape.size();
  uint64_t bytes = DFRT_KERNEL_ARGUMENTS + 8 * words;
  return (bytes + 63) & ~uint64_t(63);
}

uint64_t dfrt::kernelParameterBytes(const Program &program, size_t maps) {
  return kernelMapsOffset(program) + DFRT_TENSOR_MAP_BYTES * maps;
}

Status dfrt::checkCode(const Artifact &artifact) {
  std::set<CodeBlob::Kind> seen;
  for (size_t i = 0; i < artifact.code.size(); ++i) {
    const CodeBlob &blob = artifact.code[i];
    bool reference = blob.kind == CodeBlob::Kind::cpuReference;
    if (blob.kind != CodeBlob::Kind::cpu && !reference)
      continue;
    if (!seen.insert(blob.kind).second)
      return artifactFailure("code[", i, "].kind is ", uint32_t(blob.kind),
                             ", which an earlier blob has");
    std::set<std::string> symbols;
    for (const CodeBlob::Function &function : blob.functions)
      symbols.insert(function.symbol);
    auto require = [&](const Stage &stage, const std::string &symbol) {
      if (symbols.count(symbol))
        return Status::success();
      return artifactFailure("code[", i, "].functions lacks '", symbol,
                             "' of stage '", stage.name, "'");
    };
    for (const Stage &stage : artifact.program.stages) {
      for (const Variant &variant : stage.variants)
        if (!reference || variant.kind == Variant::Kind::generic)
          DFRT_TRY(require(stage, variant.symbol));
      if (stage.kind == StageKind::reduce)
        DFRT_TRY(require(stage, stage.identitySymbol));
    }
  }
  return Status::success();
}

namespace {
constexpr uint32_t kAllDisciplines =
    1u << uint32_t(Discipline::fixed) | 1u << uint32_t(Discipline::ticket);
constexpr uint32_t kAllTransports = 1u << uint32_t(Transport::local) |
                                    1u << uint32_t(Transport::clusterShared) |
                                    1u << uint32_t(Transport::global) |
                                    1u << uint32_t(Transport::multicast);
constexpr uint32_t kMaximumThreads = 1024;
constexpr uint32_t kMaximumCluster = 16;
constexpr uint32_t kMaximumBarriers = 1 << 16;
constexpr uint32_t kMaximumAlignment = 1 << 20;
constexpr uint64_t kMaximumReserved = 1 << 24;
constexpr uint64_t kMaximumScratch = uint64_t(1) << 40;
/// Elements of a tensor's dimension that a map divides.
constexpr uint64_t kMaximumSteps = uint64_t(1) << 31;

bool isPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/// What the copy engine knows as floating point.
bool isWideFloat(ElementType type) {
  return type == ElementType::f64 || type == ElementType::f32 ||
         type == ElementType::f16 || type == ElementType::bf16;
}

class KernelChecker {
public:
  KernelChecker(const Artifact &artifact, size_t index)
      : artifact(artifact), kernel(artifact.kernels[index]),
        where(textOf("kernels[", index, "]")) {}

  Status run() const {
    if (kernel.symbol.empty())
      return fail("symbol is empty");
    DFRT_TRY(checkBlob("blob", kernel.blob, CodeBlob::Kind::cubin));
    if (kernel.ptxBlob != kNone)
      DFRT_TRY(checkBlob("ptx_blob", kernel.ptxBlob, CodeBlob::Kind::ptx));
    const std::string &target = artifact.code[kernel.blob].target;
    if (kernel.target != target)
      return fail("target is '", kernel.target, "', but its cubin is for '",
                  target, "'");
    DFRT_TRY(checkBits("disciplines", kernel.disciplines, kAllDisciplines));
    DFRT_TRY(checkBits("transports", kernel.transports, kAllTransports));
    if (kernel.threads == 0 || kernel.threads % 32 ||
        kernel.threads > kMaximumThreads)
      return fail("threads is ", kernel.threads,
                  ", but must be a multiple of 32 up to ", kMaximumThreads);
    if (kernel.reservedBytes % kRecordAlignment)
      return fail("reserved_bytes is ", kernel.reservedBytes,
                  ", not a multiple of ", kRecordAlignment);
    DFRT_TRY(atMost("reserved_bytes", kernel.reservedBytes, kMaximumReserved));
    const Kernel::Reserved &parts = kernel.reserved;
    for (uint64_t part :
         {parts.rings, parts.barriers, parts.exchange, parts.scratch})
      DFRT_TRY(atMost("a part of reserved_bytes", part, kernel.reservedBytes));
    DFRT_TRY(atMost("the sum of the parts of reserved_bytes", parts.total(),
                    kernel.reservedBytes));
    DFRT_TRY(atMost("max_barriers", kernel.maxBarriers, kMaximumBarriers));
    DFRT_TRY(atMost("scratch_bytes", kernel.scratchBytes, kMaximumScratch));
    if (!isPowerOfTwo(kernel.maxCluster) || kernel.maxCluster > kMaximumCluster)
      return fail("max_cluster is ", kernel.maxCluster,
                  ", but must be a power of two up to ", kMaximumCluster);
    DFRT_TRY(checkAlignment());
    for (size_t i = 0; i < kernel.maps.size(); ++i)
      DFRT_TRY(checkMap(kernel.maps[i], textOf("maps[", i, "]")));
    uint64_t bytes = kernelParameterBytes(artifact.program, kernel.maps.size());
    DFRT_TRY(atMost("parameter_bytes", bytes, kMaximumParameterBytes));
    if (kernel.parameterBytes != bytes)
      return fail("parameter_bytes is ", kernel.parameterBytes, ", expected ",
                  bytes);
    return Status::success();
  }

private:
  template <typename... Parts>
  Status fail(const Parts &...parts) const {
    return artifactFailure(where, ".", parts...);
  }

  Status atMost(const char *field, uint64_t value, uint64_t limit) const {
    if (value <= limit)
      return Status::success();
    return fail(field, " is ", value, ", but must be at most ", limit);
  }

  Status checkBits(const char *field, uint32_t bits, uint32_t known) const {
    if (bits == 0)
      return fail(field, " is 0: the kernel takes no plan at all");
    if (bits & ~known)
      return fail(field, " is ", bits, ", of which only ", known, " is known");
    return Status::success();
  }

  Status checkBlob(const char *field, uint32_t index,
                   CodeBlob::Kind kind) const {
    if (index >= artifact.code.size())
      return fail(field, " is ", index, ", but there are ",
                  artifact.code.size(), " blobs");
    const CodeBlob &blob = artifact.code[index];
    if (blob.kind != kind)
      return fail(field, " is ", index, ", which is ", kindName(blob.kind),
                  ", expected ", kindName(kind));
    if (blob.bytes.empty())
      return fail(field, " is ", index, ", which is empty");
    return Status::success();
  }

  Status checkAlignment() const {
    size_t arguments = artifact.program.arguments.size();
    if (kernel.argumentAlignment.size() != arguments)
      return fail("argument_alignment has ", kernel.argumentAlignment.size(),
                  " entries, but the program has ", arguments, " arguments");
    for (size_t i = 0; i < arguments; ++i) {
      uint32_t alignment = kernel.argumentAlignment[i];
      if (!isPowerOfTwo(alignment) || alignment > kMaximumAlignment)
        return fail("argument_alignment[", i, "] is ", alignment,
                    ", but must be a power of two up to ", kMaximumAlignment);
    }
    return Status::success();
  }

  Status checkMap(const TensorMapSpec &map, const std::string &name) const {
    if (map.argument >= artifact.program.arguments.size())
      return fail(name, ".argument is ", map.argument, ", but the program has ",
                  artifact.program.arguments.size(), " arguments");
    const Argument &argument = artifact.program.arguments[map.argument];
    if (elementBytes(map.element) != elementBytes(argument.element))
      return fail(name, ".element is ", elementName(map.element),
                  ", but argument '", argument.name, "' has ",
                  elementName(argument.element));
    if (map.fill == TensorMapSpec::Fill::nan && !isWideFloat(map.element))
      return fail(name, ".fill is NaN, but the element is ",
                  elementName(map.element));
    if (map.dimensions.empty() || map.dimensions.size() > map.kMaxRank)
      return fail(name, " has ", map.dimensions.size(),
                  " dimensions, which is not 1 to ", map.kMaxRank);
    for (size_t d = 0; d < map.dimensions.size(); ++d)
      if (map.dimensions[d].box < 1 || map.dimensions[d].box > map.kMaxBox)
        return fail(name, ".dimensions[", d, "].box is ", map.dimensions[d].box,
                    ", which is not 1 to ", map.kMaxBox);
    DFRT_TRY(checkRuns(map, argument, name));
    uint64_t inner =
        uint64_t(map.dimensions[0].box) * elementBytes(map.element);
    if (inner % 16)
      return fail(name, ".dimensions[0].box takes ", inner,
                  " bytes, no multiple of 16");
    uint64_t span = uint64_t(16) << uint32_t(map.swizzle);
    if (map.swizzle != TensorMapSpec::Swizzle::none && inner > span)
      return fail(name, ".dimensions[0].box takes ", inner,
                  " bytes, more than the swizzle's ", span);
    return Status::success();
  }

  /// Each dimension of the argument lies in one run, and the dimensions of a
  /// run split it without gaps.
  Status checkRuns(const TensorMapSpec &map, const Argument &argument,
                   const std::string &name) const {
    const std::vector<TensorMapSpec::Dimension> &all = map.dimensions;
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t(0));
    // From the argument's last dimension to its first, each run from inside.
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::make_tuple(all[b].last, all[a].unit) <
             std::make_tuple(all[a].last, all[b].unit);
    });
    if (order[0] != 0)
      return fail(name, ".dimensions[0] is ", all[0].first, " to ", all[0].last,
                  " in steps of ", all[0].unit, ", but ", name, ".dimensions[",
                  order[0], "] has neighbouring elements");
    uint64_t left = argument.shape.size(), step = 1;
    for (size_t i = 0; i < order.size(); ++i) {
      const TensorMapSpec::Dimension &d = all[order[i]];
      std::string field = textOf(name, ".dimensions[", order[i], "]");
      if (d.last + uint64_t(1) != left || d.first > d.last)
        return fail(field, " is ", d.first, " to ", d.last, ", but ", left,
                    " dimensions of argument '", argument.name, "' are left");
      if (d.unit != step)
        return fail(field, ".unit is ", d.unit, ", expected ", step);
      bool ends = i + 1 == order.size() || all[order[i + 1]].last != d.last;
      if (ends != (d.limit == 0))
        return fail(field, ".limit is ", d.limit, ", but ",
                    ends ? "no dimension takes what is behind it"
                         : "other dimensions take what is behind it");
      if (d.limit > kMaximumSteps / d.unit)
        return fail(field, " takes ", d.limit, " times ", d.unit,
                    " elements, more than ", kMaximumSteps);
      step = ends ? 1 : d.unit * d.limit;
      if (ends)
        left = d.first;
      else if (all[order[i + 1]].first != d.first)
        return fail(field, " is ", d.first, " to ", d.last, ", but ", name,
                    ".dimensions[", order[i + 1], "] is ",
                    all[order[i + 1]].first, " to ", d.last);
    }
    if (left != 0)
      return fail(name, " leaves out ", left, " dimensions of argument '",
                  argument.name, "'");
    return Status::success();
  }

  const Artifact &artifact;
  const Kernel &kernel;
  std::string where;
};
} // namespace

Status dfrt::checkKernels(const Artifact &artifact) {
  for (size_t i = 0; i < artifact.kernels.size(); ++i)
    DFRT_TRY(KernelChecker(artifact, i).run());
  return Status::success();
}
