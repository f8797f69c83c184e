//===- CodeImage.cpp - Tests of a code image before it is loaded ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionState.h"

#include <cstring>

using namespace dfrt;
using namespace dfrt::cuda;

namespace {
/// ELF64, little-endian, as the System V ABI has it.
struct FileHeader {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, programOffset, sectionOffset;
  uint32_t flags;
  uint16_t headerBytes, programBytes, programCount;
  uint16_t sectionBytes, sectionCount, nameSection;
};
static_assert(sizeof(FileHeader) == 64);
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, bytes;
  uint32_t link, info;
  uint64_t alignment, entryBytes;
};
static_assert(sizeof(SectionHeader) == 64);
struct ProgramHeader {
  uint32_t type, flags;
  uint64_t offset, address, physical, bytes, memoryBytes, alignment;
};
static_assert(sizeof(ProgramHeader) == 56);
constexpr uint32_t kNoBits = 8; // a section without bytes in the file
constexpr uint16_t kMachineCUDA = 190;
constexpr uint32_t kFatBinary = 0xba55ed50;

bool within(uint64_t offset, uint64_t count, uint64_t each, uint64_t size) {
  return offset <= size && (!each || count <= (size - offset) / each);
}

Status checkCubin(const uint8_t *image, uint64_t bytes,
                  const std::string &object) {
  auto corrupt = [&](const auto &...why) {
    return failure(StatusCode::invalidFile, object,
                   ": the cubin is corrupt: ", why...,
                   "; build the artifact again");
  };
  FileHeader header;
  if (bytes < sizeof(header))
    return corrupt("it has ", bytes, " bytes, less than its header of ",
                   sizeof(header));
  std::memcpy(&header, image, sizeof(header));
  if (header.ident[4] != 2 || header.ident[5] != 1)
    return corrupt("it is no 64-bit little-endian ELF file");
  if (header.machine != kMachineCUDA)
    return failure(StatusCode::invalidFile, object,
                   ": the ELF file is for "
                   "machine ",
                   header.machine, ", not for CUDA (", kMachineCUDA,
                   "); give a cubin");
  if (header.sectionBytes != sizeof(SectionHeader) ||
      !within(header.sectionOffset, header.sectionCount, sizeof(SectionHeader),
              bytes))
    return corrupt(header.sectionCount, " section headers at ",
                   header.sectionOffset, " leave its ", bytes, " bytes");
  if (header.programCount && (header.programBytes != sizeof(ProgramHeader) ||
                              !within(header.programOffset, header.programCount,
                                      sizeof(ProgramHeader), bytes)))
    return corrupt(header.programCount, " program headers at ",
                   header.programOffset, " leave its ", bytes, " bytes");
  for (uint16_t i = 0; i < header.sectionCount; ++i) {
    SectionHeader section;
    std::memcpy(&section, image + header.sectionOffset + i * sizeof(section),
                sizeof(section));
    if (section.type != kNoBits &&
        !within(section.offset, section.bytes, 1, bytes))
      return corrupt("section ", i, " at ", section.offset, " with ",
                     section.bytes, " bytes leaves its ", bytes, " bytes");
  }
  return Status::success();
}
} // namespace

Status cuda::checkImage(const void *image, uint64_t bytes,
                        const std::string &object, bool &text) {
  const uint8_t *first = static_cast<const uint8_t *>(image);
  text = false;
  if (!first || bytes < 4)
    return failure(StatusCode::invalidFile, object, ": the code has ", bytes,
                   " bytes, which is no cubin and no PTX; build the artifact "
                   "again");
  if (!std::memcmp(first,
                   "\x7f"
                   "ELF",
                   4))
    return checkCubin(first, bytes, object);
  uint32_t magic = 0;
  std::memcpy(&magic, first, 4);
  if (magic == kFatBinary) {
    // Magic, version and size of the header, then the size of what follows.
    uint16_t headerBytes = 0;
    uint64_t size = 0;
    if (bytes >= 16) {
      std::memcpy(&headerBytes, first + 6, 2);
      std::memcpy(&size, first + 8, 8);
    }
    if (bytes < 16 || headerBytes < 16 || headerBytes > bytes ||
        size > bytes - headerBytes)
      return failure(StatusCode::invalidFile, object,
                     ": the fat binary is "
                     "truncated at ",
                     bytes, " bytes; build the artifact again");
    return Status::success();
  }
  // PTX is text; its zero at the end may or may not be counted.
  uint64_t length = bytes - (first[bytes - 1] == 0);
  for (uint64_t i = 0; i < length; ++i)
    if (first[i] == 0 || (first[i] < 0x20 && first[i] != '\n' &&
                          first[i] != '\r' && first[i] != '\t'))
      return failure(StatusCode::invalidFile, object,
                     ": the code is neither a "
                     "cubin nor PTX text (byte ",
                     uint32_t(first[i]), " at offset ", i,
                     "); build the artifact again");
  text = true;
  return Status::success();
}
