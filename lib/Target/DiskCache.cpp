//===- DiskCache.cpp - Results on disk ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"

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
#include <vector>

using namespace mlir;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static constexpr size_t kHashBytes = 32;

static std::string digest(llvm::SHA256 &sum) {
  auto bytes = sum.final();
  return std::string(bytes.begin(), bytes.end());
}

std::string df::DiskCache::key(const Kind &kind,
                               llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 sum;
  sum.update(kind.letters);
  for (StringRef part : parts) {
    char size[8];
    llvm::support::endian::write64le(size, part.size());
    sum.update(StringRef(size, sizeof size));
    sum.update(part);
  }
  return llvm::toHex(digest(sum), /*LowerCase=*/true);
}

std::string df::DiskCache::path(StringRef key) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, key + kind.suffix);
  return path.str().str();
}

std::string df::DiskCache::temporarySuffix() const {
  return (kind.suffix + ".tmp").str();
}

df::DiskCache::Lookup df::DiskCache::find(StringRef key,
                                          std::string &result) const {
  if (folder.empty())
    return Lookup::absent;
  std::string name = path(key);
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return Lookup::absent;
  StringRef bytes = (*buffer)->getBuffer();
  if (!bytes.consume_front(kind.letters) || bytes.size() < kHashBytes)
    return Lookup::damaged;
  StringRef rest = bytes.drop_front(kHashBytes);
  llvm::SHA256 sum;
  sum.update(rest);
  if (bytes.take_front(kHashBytes) != digest(sum))
    return Lookup::damaged;
  result = rest.str();
  // Marked as used; if that fails it is merely evicted earlier.
  int file;
  if (!fs::openFileForWrite(name, file, fs::CD_OpenExisting, fs::OF_Append)) {
    (void)fs::setLastAccessAndModificationTime(
        file, std::chrono::time_point_cast<llvm::sys::TimePoint<>::duration>(
                  std::chrono::system_clock::now()));
    llvm::sys::fs::file_t handle = fs::convertFDToNativeFile(file);
    (void)fs::closeFile(handle);
  }
  return Lookup::found;
}

std::error_code df::DiskCache::store(StringRef key,
                                     llvm::ArrayRef<StringRef> parts) const {
  if (folder.empty())
    return std::error_code();
  if (std::error_code code = fs::create_directories(folder))
    return code;
  llvm::SmallString<128> model(folder), temporary;
  llvm::sys::path::append(model, key + "-%%%%%%%%" + temporarySuffix());
  int file;
  if (std::error_code code = fs::createUniqueFile(model, file, temporary))
    return code;
  llvm::SHA256 sum;
  for (StringRef part : parts)
    sum.update(part);
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << kind.letters << digest(sum);
  for (StringRef part : parts)
    stream << part;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  if (!code)
    code = fs::rename(temporary, path(key));
  if (code) {
    fs::remove(temporary);
    return code;
  }
  evict();
  return std::error_code();
}

void df::DiskCache::evict() const {
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
    if (!status ||
        (!name.ends_with(kind.suffix) && !name.ends_with(temporarySuffix())))
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
    if (StringRef(file.path).ends_with(temporarySuffix()) && file.used > recent)
      continue;
    if (!fs::remove(file.path))
      total -= std::min(total, file.bytes);
  }
}
