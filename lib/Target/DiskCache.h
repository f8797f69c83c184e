//===- DiskCache.h - Results on disk ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file an entry: eight letters that say what it is, a checksum, the bytes.
// Files are written under another name and renamed, so any number of processes
// may share a folder, and caches with different suffixes too.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_DISKCACHE_H
#define DATAFLOW_TARGET_DISKCACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <system_error>

namespace mlir::df {

class DiskCache {
public:
  /// What kind of result: `letters` are eight, and change with the format.
  struct Kind {
    llvm::StringRef letters;
    llvm::StringRef suffix; ///< of the files, e.g. ".cubin"
  };
  enum class Lookup { found, absent, damaged };

  /// An empty folder name makes a cache that keeps nothing.
  DiskCache(const Kind &kind, llvm::StringRef folder, uint64_t limitBytes)
      : kind(kind), folder(folder), limit(limitBytes) {}

  /// The key of whatever is decided by `parts`, in this order.
  static std::string key(const Kind &kind,
                         llvm::ArrayRef<llvm::StringRef> parts);

  /// Reads an entry into `bytes` and marks it as used now.
  Lookup find(llvm::StringRef key, std::string &bytes) const;
  /// Writes an entry, made of `parts`, and removes the oldest of this kind
  /// until all fit below the limit. An error leaves the folder as it was.
  std::error_code store(llvm::StringRef key,
                        llvm::ArrayRef<llvm::StringRef> parts) const;
  /// The file of an entry.
  std::string path(llvm::StringRef key) const;

private:
  std::string temporarySuffix() const;
  void evict() const;

  Kind kind;
  std::string folder;
  uint64_t limit;
};

} // namespace mlir::df

#endif // DATAFLOW_TARGET_DISKCACHE_H
