//===- Jit.h - Artifacts from program text, in this process -----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of the compiler behind one function. No header of MLIR is needed to call
// it: an engine can keep it in a library of its own that is loaded when there
// is something to compile.
//
//===----------------------------------------------------------------------===//

#ifndef EMBED_JIT_JIT_H
#define EMBED_JIT_JIT_H

#include "dfrt/dfrt.hpp"

#include <string>
#include <vector>

struct JitOptions {
  /// Values of compile-time parameters, e.g. "heads=32,element=bf16".
  std::string params;
  /// What the artifact holds code for: cpu, sm_90a.
  std::vector<std::string> targets = {"cpu"};
  /// Folder of the artifacts that were compiled before; empty: none is kept.
  std::string cache;
};

/// The artifact of the one program in `text`: from the cache if it was compiled
/// before with these options, whatever its spelling; else compiled. `retrieved`
/// says which. Fails with what the compiler complained about.
dfrt::Expected<dfrt::ArtifactHandle> buildOrRetrieve(const std::string &text,
                                                     const JitOptions &options,
                                                     bool &retrieved);

#endif // EMBED_JIT_JIT_H
