//===- CodeModule.cpp - A code blob, loaded -------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeModule.h"

#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace dfrt;
using namespace dfrt::cpu;

static Status systemFailure(const char *call) {
  return failure(StatusCode::deviceError, "cpu: ", call, ": ",
                 std::strerror(errno));
}

Expected<std::shared_ptr<CodeModule>> CodeModule::load(const CodeBlob &blob) {
  if (blob.bytes.size() < 4 || std::memcmp(blob.bytes.data(),
                                           "\x7f"
                                           "ELF",
                                           4))
    return failure(StatusCode::invalidFile,
                   "cpu: the code blob is not an ELF object");
  std::shared_ptr<CodeModule> module(new CodeModule);
  module->file = memfd_create("dataflow-code", MFD_CLOEXEC);
  if (module->file < 0)
    return systemFailure("memfd_create");
  for (size_t done = 0; done < blob.bytes.size();) {
    ssize_t count =
        write(module->file, blob.bytes.data() + done, blob.bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return systemFailure("write");
    done += size_t(count);
  }
  // The loader knows libraries by path: the file stays open as long as the
  // library, so that no other blob gets the same path meanwhile.
  std::string path = textOf("/proc/self/fd/", module->file);
  module->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->library)
    return failure(StatusCode::invalidFile, "cpu: dlopen: ", dlerror());
  return module;
}

CodeModule::~CodeModule() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

void *CodeModule::find(const std::string &symbol) const {
  return dlsym(library, symbol.c_str());
}

static Status checkProcessor(const std::string &target) {
#if defined(__x86_64__)
  if (target == "x86-64-v3" &&
      !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")))
    return failure(StatusCode::unsupported, "cpu: the code is for ", target,
                   ", but this processor lacks avx2, fma or bmi2");
  return Status::success();
#else
  return failure(StatusCode::unsupported, "cpu: the code is for '", target,
                 "', which this processor does not run");
#endif
}

Expected<ProgramCode> cpu::bindCode(const Artifact &artifact,
                                    CodeBlob::Kind kind) {
  const CodeBlob *blob = artifact.find(kind);
  bool reference = kind == CodeBlob::Kind::cpuReference;
  if (!blob)
    return failure(StatusCode::unsupported, "cpu: artifact '",
                   artifact.program.name, "' has no ",
                   reference ? "reference" : "cpu", " code");
  DFRT_TRY(checkProcessor(blob->target));
  Expected<std::shared_ptr<CodeModule>> module = CodeModule::load(*blob);
  if (!module)
    return module.status();

  ProgramCode code;
  code.module = *module;
  for (const CodeBlob::Function &function : blob->functions)
    code.scratchBytes = std::max(code.scratchBytes, function.scratchBytes);
  auto bind = [&](const std::string &symbol, HandlerFunction &function) {
    function = reinterpret_cast<HandlerFunction>(code.module->find(symbol));
    if (function)
      return Status::success();
    return failure(StatusCode::invalidFile, "cpu: the code blob has no '",
                   symbol, "'");
  };
  for (const Stage &stage : artifact.program.stages) {
    StageCode bound;
    bound.variants.resize(stage.variants.size());
    for (size_t v = 0; v < stage.variants.size(); ++v)
      if (!reference || stage.variants[v].kind == Variant::Kind::generic)
        DFRT_TRY(bind(stage.variants[v].symbol, bound.variants[v]));
    if (stage.kind == StageKind::reduce)
      DFRT_TRY(bind(stage.identitySymbol, bound.identity));
    code.stages.push_back(std::move(bound));
  }
  return code;
}
