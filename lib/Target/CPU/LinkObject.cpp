//===- LinkObject.cpp - Relocatable object to shared object ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs ld.lld as a child process on temporary files: the linker as a library is
// not part of LLVM's shared library, and must not take this process down.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

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

static std::string contents(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}

FailureOr<std::vector<uint8_t>> df::cpu::linkSharedObject(ArrayRef<char> object,
                                                          Location loc) {
  std::string linker = findLinker();
  if (linker.empty())
    return emitError(loc) << "ld.lld (or ld.lld-22) was not found in PATH"
                          << (*DATAFLOW_LLVM_TOOLS_DIR ? " nor in " : "")
                          << DATAFLOW_LLVM_TOOLS_DIR
                          << "; cpu code cannot be linked without it";
  SmallString<128> paths[3];
  const char *suffixes[3] = {"o", "so", "txt"};
  for (int i = 0; i < 3; ++i)
    if (std::error_code code = llvm::sys::fs::createTemporaryFile(
            "dataflow", suffixes[i], paths[i]))
      return emitError(loc) << "temporary file: " << code.message();
  llvm::FileRemover removers[3] = {llvm::FileRemover(paths[0]),
                                   llvm::FileRemover(paths[1]),
                                   llvm::FileRemover(paths[2])};
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(paths[0], code);
    stream.write(object.data(), object.size());
    stream.close();
    if (code || stream.has_error()) {
      code = code ? code : stream.error();
      stream.clear_error();
      return emitError(loc)
             << "cannot write " << paths[0] << ": " << code.message();
    }
  }
  SmallVector<StringRef> arguments = {
      linker,          "-shared",          "-o",
      paths[1],        paths[0],           "--gc-sections",
      "-O2",           "--hash-style=gnu", "--build-id=none",
      "-znoexecstack", "-zrelro",          "--strip-all"};
  std::optional<StringRef> redirects[3] = {StringRef(""), StringRef(paths[2]),
                                           StringRef(paths[2])};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/120,
                                         /*MemoryLimit=*/0, &error);
  if (status != 0)
    return emitError(loc) << linker << " failed with status " << status
                          << (error.empty() ? "" : ": ") << error << ": "
                          << contents(paths[2]);
  auto linked = llvm::MemoryBuffer::getFile(paths[1], /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!linked)
    return emitError(loc) << "cannot read " << paths[1] << ": "
                          << linked.getError().message();
  StringRef bytes = (*linked)->getBuffer();
  if (failed(checkSymbols(bytes, loc)))
    return failure();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}
