//===- ArtifactCache.h - Artifacts on disk ----------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Artifacts that were compiled before, by everything that decides them: the
// program, the decisions of the caller, and the compiler. A folder may be
// shared by any number of processes.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_ARTIFACTCACHE_H
#define DATAFLOW_TARGET_ARTIFACTCACHE_H

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class Location;
class Operation;

namespace df {

struct ArtifactCacheOptions {
  /// Made if it is not there; empty: nothing is kept.
  std::string folder;
  /// The artifacts in the folder are kept below this size by removing what was
  /// used longest ago.
  uint64_t bytes = uint64_t(1) << 30;
  /// Remark also on what is not found.
  bool verbose = false;
};

/// This compiler: its version, LLVM's, and the file that holds its code, by
/// size and time of change (so that a compiler in development meets none of
/// the artifacts of its predecessors).
std::string compilerIdentity();

/// The key of what `compiler` makes of `root`, a module or program, under
/// `decisions`. Locations and comments do not matter, nor does the way the
/// program is spelt; parameters do, they are bound in the program. Empty for
/// what has no bytecode.
std::string artifactKey(Operation *root, ArrayRef<std::string> decisions,
                        StringRef compiler);

/// The bytes of the artifact with this key (empty: none has it), or those that
/// `compile` makes, which are then kept. A hit is a remark at `loc`; an entry
/// that is damaged or cannot be written is a warning, and compiled. Fails only
/// if `compile` does.
FailureOr<std::vector<uint8_t>>
findOrCompile(StringRef key, const ArtifactCacheOptions &options, Location loc,
              function_ref<FailureOr<std::vector<uint8_t>>()> compile);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_TARGET_ARTIFACTCACHE_H
