//===- LinkObject.cpp - Relocatable object to shared object ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs ld.lld as a child process: the linker as a library is not part of LLVM's
// shared library, and must not take this process down.
//
//===----------------------------------------------------------------------===//

#include "../ChildTool.h"
#include "Stages.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Program.h"

using namespace mlir;

#ifndef DATAFLOW_LLVM_TOOLS_DIR
#define DATAFLOW_LLVM_TOOLS_DIR ""
#endif

static std::string findLinker() {
  for (const char *name : {"ld.lld-22", "ld.lld"}) {
    for (StringRef folder : {StringRef(), StringRef(DATAFLOW_LLVM_TOOLS_DIR)}) {
      SmallVector<StringRef, 1> folders;
      if (!folder.empty())
        folders.push_back(folder);
      if (auto path = llvm::sys::findProgramByName(name, folders))
        return *path;
    }
  }
  return "";
}

/// Functions of libm; each also exists with the suffix f.
static const char *const kLibm[] = {
    "acos",      "acosh", "asin",   "asinh",     "atan",  "atan2", "atanh",
    "cbrt",      "ceil",  "cos",    "cosh",      "erf",   "erfc",  "exp",
    "exp10",     "exp2",  "expm1",  "fabs",      "floor", "fma",   "fmax",
    "fmin",      "fmod",  "hypot",  "ldexp",     "log",   "log10", "log1p",
    "log2",      "lrint", "lround", "nearbyint", "pow",   "rint",  "round",
    "roundeven", "sin",   "sincos", "sinh",      "sqrt",  "tan",   "tanh",
    "trunc"};

/// The loader of the code offers libm and nothing else.
static LogicalResult checkSymbols(StringRef library, Location loc) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(library, "code"));
  if (!file)
    return emitError(loc) << "linked code: "
                          << llvm::toString(file.takeError());
  auto *elf = dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
  if (!elf)
    return emitError(loc) << "linked code is no ELF file";
  for (llvm::object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return emitError(loc) << "linked code has a symbol that cannot be read";
    }
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || name->empty())
      continue;
    StringRef base = *name;
    if (llvm::is_contained(kLibm, base) ||
        (base.consume_back("f") && llvm::is_contained(kLibm, base)))
      continue;
    return emitError(loc) << "cpu code calls '" << *name
                          << "', which is not a function of libm";
  }
  return success();
}

FailureOr<std::vector<uint8_t>> df::cpu::linkSharedObject(ArrayRef<char> object,
                                                          Location loc) {
  std::string linker = findLinker();
  if (linker.empty())
    return emitError(loc) << "ld.lld (or ld.lld-22) was not found in PATH"
                          << (*DATAFLOW_LLVM_TOOLS_DIR ? " nor in " : "")
                          << DATAFLOW_LLVM_TOOLS_DIR
                          << "; cpu code cannot be linked without it";
  llvm::Expected<ChildTool::Result> run = runChildTool(
      linker,
      {"-shared", "-o", "%o", "%i", "--gc-sections", "-O2", "--hash-style=gnu",
       "--build-id=none", "-znoexecstack", "-zrelro", "--strip-all"},
      object, "o", "so", /*timeoutSeconds=*/120);
  if (!run)
    return emitError(loc) << llvm::toString(run.takeError());
  if (run->status != 0)
    return emitError(loc) << linker << " failed with status " << run->status
                          << ": " << run->log;
  StringRef bytes(reinterpret_cast<const char *>(run->output.data()),
                  run->output.size());
  if (failed(checkSymbols(bytes, loc)))
    return failure();
  return std::move(run->output);
}
