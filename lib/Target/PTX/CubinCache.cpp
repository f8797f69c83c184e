//===- CubinCache.cpp - Cubins on disk ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CubinCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// Head of a file: magic, checksum of the rest, length of the log.
static constexpr StringRef kMagic = "dfcubin1";
static constexpr size_t kHashBytes = 32;
static constexpr size_t kHeadBytes = 8 + kHashBytes;
static constexpr StringRef kSuffix = ".cubin";
static constexpr StringRef kTemporary = ".tmp";

static std::string hash(StringRef bytes) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
  return std::string(digest.begin(), digest.end());
}

static std::string word(uint64_t value) {
  char bytes[8];
  llvm::support::endian::write64le(bytes, value);
  return std::string(bytes, sizeof bytes);
}

std::string df::CubinCache::key(llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 sum;
  sum.update(kMagic);
  for (StringRef part : parts) {
    sum.update(word(part.size()));
    sum.update(part);
  }
  return llvm::toHex(sum.final(), /*LowerCase=*/true);
}

std::string df::CubinCache::path(StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key + kSuffix);
  return path.str().str();
}

std::optional<df::CubinCache::Entry> df::CubinCache::find(StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  std::string name = path(key);
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < kHeadBytes + 8 || !bytes.starts_with(kMagic))
    return std::nullopt;
  StringRef rest = bytes.drop_front(kHeadBytes);
  if (bytes.substr(kMagic.size(), kHashBytes) != hash(rest))
    return std::nullopt;
  uint64_t length = llvm::support::endian::read64le(rest.data());
  rest = rest.drop_front(8);
  if (length > rest.size())
    return std::nullopt;
  StringRef cubin = rest.drop_front(length);
  // Marked as used; if that fails it is merely evicted earlier.
  int file;
  if (!fs::openFileForWrite(name, file, fs::CD_OpenExisting, fs::OF_Append)) {
    (void)fs::setLastAccessAndModificationTime(
        file, std::chrono::time_point_cast<llvm::sys::TimePoint<>::duration>(
                  std::chrono::system_clock::now()));
    llvm::sys::fs::file_t handle = fs::convertFDToNativeFile(file);
    (void)fs::closeFile(handle);
  }
  return Entry{rest.take_front(length).str(),
               std::vector<uint8_t>(cubin.bytes_begin(), cubin.bytes_end())};
}

void df::CubinCache::store(StringRef key, const Entry &entry) const {
  if (folder.empty() || fs::create_directories(folder))
    return;
  std::string rest = word(entry.log.size()) + entry.log;
  rest.append(entry.cubin.begin(), entry.cubin.end());
  llvm::SmallString<128> model(folder), temporary;
  llvm::sys::path::append(model, key + "-%%%%%%%%" + kTemporary);
  int file;
  if (fs::createUniqueFile(model, file, temporary))
    return;
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << kMagic << hash(rest) << rest;
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || fs::rename(temporary, path(key))) {
    fs::remove(temporary);
    return;
  }
  evict();
}

void df::CubinCache::evict() const {
  struct File {
    std::string path;
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    StringRef name = it->path();
    llvm::ErrorOr<fs::basic_file_status> status = it->status();
    if (!status || (!name.ends_with(kSuffix) && !name.ends_with(kTemporary)))
      continue;
    files.push_back(
        {name.str(), status->getLastModificationTime(), status->getSize()});
    total += status->getSize();
  }
  // A temporary file may belong to a writer at work unless it is old; being
  // counted, an abandoned one goes when its turn comes.
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  auto recent = std::chrono::system_clock::now() - std::chrono::minutes(10);
  for (const File &file : files) {
    if (total <= limit)
      break;
    if (StringRef(file.path).ends_with(kTemporary) && file.used > recent)
      continue;
    if (!fs::remove(file.path))
      total -= std::min(total, file.bytes);
  }
}
