//===- CubinCache.h - Cubins on disk ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry holds the assembler's log, so that a hit is judged as a miss is, and
// the cubin. What cannot be read counts as absent and is written anew; failures
// to write are not errors.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PTX_CUBINCACHE_H
#define DATAFLOW_TARGET_PTX_CUBINCACHE_H

#include "../DiskCache.h"

#include <optional>
#include <vector>

namespace mlir::df {

class CubinCache {
public:
  struct Entry {
    std::string log;
    std::vector<uint8_t> cubin;
  };

  /// An empty folder name makes a cache that keeps nothing.
  CubinCache(llvm::StringRef folder, uint64_t limitBytes);

  /// The key of whatever is decided by `parts`, in this order.
  static std::string key(llvm::ArrayRef<llvm::StringRef> parts);

  /// Reads an entry and marks it as used now.
  std::optional<Entry> find(llvm::StringRef key) const;
  /// Writes an entry and removes the oldest until all fit below the limit.
  void store(llvm::StringRef key, const Entry &entry) const;

private:
  DiskCache disk;
};

} // namespace mlir::df

#endif // DATAFLOW_TARGET_PTX_CUBINCACHE_H
