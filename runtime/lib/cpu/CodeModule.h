//===- CodeModule.h - A code blob, loaded -----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the ELF shared object of an artifact from memory (no file is written)
// and binds the functions of every stage.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CPU_CODEMODULE_H
#define DFRT_LIB_CPU_CODEMODULE_H

#include "dfrt/Artifact.h"

#include <memory>

namespace dfrt::cpu {

/// A shared object that stays loaded while this lives.
class CodeModule {
public:
  static Expected<std::shared_ptr<CodeModule>> load(const CodeBlob &blob);
  ~CodeModule();
  CodeModule(const CodeModule &) = delete;
  CodeModule &operator=(const CodeModule &) = delete;

  /// Address of a symbol, or null.
  void *find(const std::string &symbol) const;

private:
  CodeModule() = default;
  int file = -1;
  void *library = nullptr;
};

using HandlerFunction = void (*)(void **arguments);

struct StageCode {
  std::vector<HandlerFunction> variants; ///< as in Stage::variants, or null
  HandlerFunction identity = nullptr;    ///< of a reduce
};

/// Every function of a program.
struct ProgramCode {
  std::shared_ptr<CodeModule> module;
  std::vector<StageCode> stages;
  uint64_t scratchBytes = 0; ///< the most that any function needs
};

/// Loads the blob of `kind` and looks up its functions; from a cpuReference
/// blob the generic variants only. Fails, naming blob or symbol, when there is
/// none, or the processor cannot run it.
Expected<ProgramCode> bindCode(const Artifact &artifact, CodeBlob::Kind kind);

} // namespace dfrt::cpu

#endif // DFRT_LIB_CPU_CODEMODULE_H
