//===- ArtifactCache.cpp - Artifacts on disk ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/ArtifactCache.h"

#include "../DiskCache.h"
#include "dataflow/IR/LineOnly.h"
#include "dfrt/Artifact.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mlir;

static constexpr df::DiskCache::Kind kArtifacts = {"dfartif1", ".dfart"};

std::string df::compilerIdentity() {
  std::string text = "dataflow " DATAFLOW_VERSION " LLVM " LLVM_VERSION_STRING;
  void *address = reinterpret_cast<void *>(&df::compilerIdentity);
  Dl_info info;
  std::string file;
  if (dladdr(address, &info) && info.dli_fname)
    file = info.dli_fname;
  // A program that was found in PATH is named as it was called.
  if (!StringRef(file).contains('/'))
    file = llvm::sys::fs::getMainExecutable(nullptr, address);
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(file, status))
    text += (" " + llvm::Twine(status.getSize()) + " " +
             llvm::Twine(
                 status.getLastModificationTime().time_since_epoch().count()))
                .str();
  return text;
}

/// Bytecode holds all of an operation; text may leave out large constants.
static std::string canonicalForm(Operation *root) {
  OwningOpRef<Operation *> copy(root->clone());
  Location unknown = UnknownLoc::get(root->getContext());
  copy.get()->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(copy.get(), stream)))
    return "";
  return bytes;
}

std::string df::artifactKey(Operation *root, ArrayRef<std::string> decisions,
                            StringRef compiler) {
  std::string program = canonicalForm(root);
  if (program.empty())
    return "";
  SmallVector<StringRef> parts = {compiler, program};
  parts.append(decisions.begin(), decisions.end());
  return DiskCache::key(kArtifacts, parts);
}

FailureOr<std::vector<uint8_t>>
df::findOrCompile(StringRef key, const ArtifactCacheOptions &options,
                  Location where,
                  function_ref<FailureOr<std::vector<uint8_t>>()> compile) {
  if (key.empty() || options.folder.empty())
    return compile();
  DiskCache cache(kArtifacts, options.folder, options.bytes);
  Location loc = lineOnly(where);
  std::string found;
  DiskCache::Lookup lookup = cache.find(key, found);
  if (lookup == DiskCache::Lookup::found) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(found.data());
    if (dfrt::readArtifact(bytes, found.size())) {
      emitRemark(loc, "artifact cache: hit ") << key;
      return std::vector<uint8_t>(bytes, bytes + found.size());
    }
    lookup = DiskCache::Lookup::damaged;
  }
  if (lookup == DiskCache::Lookup::damaged)
    emitWarning(loc, "artifact cache: '")
        << cache.path(key) << "' is damaged and compiled anew";
  else if (options.verbose)
    emitRemark(loc, "artifact cache: miss ") << key;
  FailureOr<std::vector<uint8_t>> bytes = compile();
  if (failed(bytes))
    return failure();
  if (std::error_code code = cache.store(key, llvm::toStringRef(*bytes)))
    emitWarning(loc, "artifact cache: '")
        << cache.path(key) << "' cannot be written: " << code.message();
  return bytes;
}
