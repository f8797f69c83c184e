//===- APIArtifact.cpp - C API: errors and artifacts ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace dfrt;

static_assert(int32_t(StatusCode::internalError) == DFRT_INTERNAL_ERROR);
static_assert(uint32_t(ElementType::i1) == DFRT_I1);
static_assert(uint32_t(ElementType::f8E5M2) == DFRT_F8E5M2);
static_assert(uint32_t(ScheduleOptions::Combine::tree) == DFRT_COMBINE_TREE);
static_assert(uint32_t(Transport::multicast) == DFRT_TRANSPORT_MULTICAST);

namespace {
struct LastError {
  dfrt_status status = DFRT_OK;
  std::string message;
};
thread_local LastError lastError;

Expected<std::vector<uint8_t>> readFile(const char *path) {
  auto fail = [&](const char *what) {
    return failure(StatusCode::invalidFile, what, " '", path,
                   "': ", std::strerror(errno));
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path, "rb"),
                                                        &std::fclose);
  if (!file)
    return fail("cannot open");
  std::vector<uint8_t> bytes;
  uint8_t block[1 << 16];
  while (size_t count = std::fread(block, 1, sizeof(block), file.get()))
    bytes.insert(bytes.end(), block, block + count);
  if (std::ferror(file.get()))
    return fail("cannot read");
  return bytes;
}

Status load(const void *bytes, uint64_t size, dfrt_artifact **artifact) {
  Expected<Artifact> read =
      readArtifact(static_cast<const uint8_t *>(bytes), size);
  if (!read)
    return read.status();
  *artifact =
      new dfrt_artifact{std::make_shared<ArtifactState>(std::move(*read))};
  return Status::success();
}
} // namespace

dfrt_status dfrt::report(const Status &status) {
  lastError.status = dfrt_status(status.code());
  lastError.message = status.message();
  return lastError.status;
}

Expected<const cpu::ProgramCode *> ArtifactState::code(CodeBlob::Kind kind) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<cpu::ProgramCode> &code =
      bound[kind == CodeBlob::Kind::cpuReference];
  if (!code) {
    Expected<cpu::ProgramCode> loaded = cpu::bindCode(artifact, kind);
    if (!loaded)
      return loaded.status();
    code = std::make_unique<cpu::ProgramCode>(std::move(*loaded));
  }
  return static_cast<const cpu::ProgramCode *>(code.get());
}

const char *ArtifactState::description() {
  std::lock_guard<std::mutex> lock(mutex);
  if (json.empty())
    json = describeArtifact(artifact);
  return json.c_str();
}

std::vector<uint32_t> dfrt::planUses(const Program &program) {
  std::vector<uint32_t> uses(program.arguments.size(), DFRT_PLAN_USE_NONE);
  auto use = [&](uint32_t argument, uint32_t what) {
    if (argument != kNone)
      uses[argument] = std::max(uses[argument], what);
  };
  auto useValue = [&](const PlanValue &value) {
    if (value.kind != PlanValue::Kind::constant)
      use(value.argument, value.kind == PlanValue::Kind::dimension
                              ? DFRT_PLAN_USE_SHAPE
                              : DFRT_PLAN_USE_VALUES);
  };
  for (const Domain &domain : program.domains) {
    for (const Axis &axis : domain.axes)
      useValue(axis.extent);
    use(domain.coordinates, DFRT_PLAN_USE_VALUES);
    use(domain.weights, DFRT_PLAN_USE_VALUES);
  }
  for (const Range &range : program.ranges) {
    useValue(range.length);
    useValue(range.offset);
  }
  for (const Stage &stage : program.stages)
    if (stage.kind == StageKind::reshard && stage.reshard == ReshardKind::rekey)
      use(stage.rekey.argument, DFRT_PLAN_USE_VALUES);
  return uses;
}

uint32_t dfrt_api_version(void) { return DFRT_API_VERSION; }

const char *dfrt_status_name(dfrt_status status) {
  static constexpr const char *kNames[] = {"ok",
                                           "invalid argument",
                                           "invalid file",
                                           "unsupported",
                                           "resource exhausted",
                                           "verification failed",
                                           "deadlock",
                                           "busy",
                                           "device error",
                                           "internal error"};
  return status >= 0 && status <= DFRT_INTERNAL_ERROR ? kNames[status]
                                                      : "unknown";
}

const char *dfrt_last_error(void) { return lastError.message.c_str(); }
dfrt_status dfrt_last_status(void) { return lastError.status; }

dfrt_status dfrt_artifact_load_file(const char *path,
                                    dfrt_artifact **artifact) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(path, "path"));
    DFRT_TRY(require(artifact, "result pointer"));
    Expected<std::vector<uint8_t>> bytes = readFile(path);
    if (!bytes)
      return bytes.status();
    if (Status status = load(bytes->data(), bytes->size(), artifact);
        !status.ok())
      return failure(status.code(), "'", path, "': ", status.message());
    return Status::success();
  });
}

dfrt_status dfrt_artifact_load_memory(const void *bytes, uint64_t size,
                                      dfrt_artifact **artifact) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(bytes, "artifact bytes"));
    DFRT_TRY(require(artifact, "result pointer"));
    return load(bytes, size, artifact);
  });
}

void dfrt_artifact_release(dfrt_artifact *artifact) { delete artifact; }

const char *dfrt_artifact_program_name(const dfrt_artifact *artifact) {
  return artifact ? artifact->state->artifact.program.name.c_str() : "";
}

uint32_t dfrt_artifact_argument_count(const dfrt_artifact *artifact) {
  return artifact ? uint32_t(artifact->state->artifact.program.arguments.size())
                  : 0;
}

uint32_t dfrt_artifact_stage_count(const dfrt_artifact *artifact) {
  return artifact ? uint32_t(artifact->state->artifact.program.stages.size())
                  : 0;
}

dfrt_status dfrt_artifact_argument(const dfrt_artifact *artifact,
                                   uint32_t index, dfrt_argument_info *info) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(info, "result pointer"));
    const Program &program = artifact->state->artifact.program;
    if (index >= program.arguments.size())
      return failure(StatusCode::invalidArgument, "argument ", index,
                     " does not exist: the program has ",
                     program.arguments.size());
    const Argument &argument = program.arguments[index];
    *info = {argument.name.c_str(),
             argument.shape.data(),
             uint32_t(argument.shape.size()),
             uint32_t(argument.element),
             argument.output,
             planUses(program)[index]};
    return Status::success();
  });
}

dfrt_status dfrt_artifact_stage(const dfrt_artifact *artifact, uint32_t index,
                                dfrt_stage_info *info) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(info, "result pointer"));
    const Program &program = artifact->state->artifact.program;
    if (index >= program.stages.size())
      return failure(StatusCode::invalidArgument, "stage ", index,
                     " does not exist: the program has ",
                     program.stages.size());
    const Stage &stage = program.stages[index];
    *info = {stage.name.c_str(),  uint32_t(stage.kind),
             stage.record.slices, stage.record.bytes(),
             stage.separable,     uint32_t(stage.variants.size())};
    return Status::success();
  });
}

dfrt_status dfrt_artifact_describe(const dfrt_artifact *artifact,
                                   const char **json) {
  return guarded([&]() -> Status {
    DFRT_TRY(require(artifact, "artifact"));
    DFRT_TRY(require(json, "result pointer"));
    *json = artifact->state->description();
    return Status::success();
  });
}
