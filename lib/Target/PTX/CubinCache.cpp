//===- CubinCache.cpp - Cubins on disk ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CubinCache.h"

#include "llvm/Support/Endian.h"

using namespace mlir;
using llvm::StringRef;

static constexpr df::DiskCache::Kind kCubins = {"dfcubin1", ".cubin"};

df::CubinCache::CubinCache(StringRef folder, uint64_t limitBytes)
    : disk(kCubins, folder, limitBytes) {}

std::string df::CubinCache::key(llvm::ArrayRef<StringRef> parts) {
  return DiskCache::key(kCubins, parts);
}

std::optional<df::CubinCache::Entry> df::CubinCache::find(StringRef key) const {
  std::string bytes;
  if (disk.find(key, bytes) != DiskCache::Lookup::found || bytes.size() < 8)
    return std::nullopt;
  StringRef rest = StringRef(bytes).drop_front(8);
  uint64_t length = llvm::support::endian::read64le(bytes.data());
  if (length > rest.size())
    return std::nullopt;
  StringRef cubin = rest.drop_front(length);
  return Entry{rest.take_front(length).str(),
               std::vector<uint8_t>(cubin.bytes_begin(), cubin.bytes_end())};
}

void df::CubinCache::store(StringRef key, const Entry &entry) const {
  char length[8];
  llvm::support::endian::write64le(length, entry.log.size());
  (void)disk.store(key, {StringRef(length, sizeof length), entry.log,
                         llvm::toStringRef(entry.cubin)});
}
