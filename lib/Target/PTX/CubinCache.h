//===- CubinCache.h - Cubins on disk ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file an entry: a head with a checksum, the assembler's log (so that a hit
// is judged as a miss is), the cubin. Files are written under another name and
// renamed, so any number of processes may share a folder; what cannot be read
// counts as absent and is written anew. Failures to write are not errors.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PTX_CUBINCACHE_H
#define DATAFLOW_TARGET_PTX_CUBINCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::df {

class CubinCache {
public:
  struct Entry {
    std::string log;
    std::vector<uint8_t> cubin;
  };

  /// An empty folder name makes a cache that keeps nothing.
  CubinCache(llvm::StringRef folder, uint64_t limitBytes)
      : folder(folder), limit(limitBytes) {}

  /// The key of whatever is decided by `parts`, in this order.
  static std::string key(llvm::ArrayRef<llvm::StringRef> parts);

  /// Reads an entry and marks it as used now.
  std::optional<Entry> find(llvm::StringRef key) const;
  /// Writes an entry and removes the oldest until all fit below the limit.
  void store(llvm::StringRef key, const Entry &entry) const;

private:
  std::string path(llvm::StringRef key) const;
  void evict() const;

  std::string folder;
  uint64_t limit;
};

} // namespace mlir::df

#endif // DATAFLOW_TARGET_PTX_CUBINCACHE_H
