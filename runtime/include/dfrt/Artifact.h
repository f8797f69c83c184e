//===- Artifact.h - A compiled program in one file --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The artifact holds what the planner must know (`Program`) and code blobs. The
// compiler writes it, the runtime reads it; the schema is
// runtime/schema/Artifact.fbs.
//
// CPU code (`kind` cpu and cpuReference) is an ELF shared object for x86-64-v3
// without undefined symbols but those of libm. Every function in it has the
// type `void (*)(void **arguments)`; the arguments are, in this order:
//
//   1. int64_t*       one per axis of the stage's domain: the task's
//   coordinates
//                     (not for reduce and identity functions)
//   2. int64_t* x2    begin and end of the piece, for a stage with a range
//   3. int64_t*       index of the slice, for variants of kind sliced
//   4. descriptor*    one per tensor operand
//   5. inputs         per channel of arity one or tiles (one tile a call):
//                     uint8_t* head, uint8_t* slices of the record; per channel
//                     of arity collected: int64_t* count, then per field a
//                     uint8_t* to `count` fields stacked contiguously.
//                     A reduce has two inputs of its own record type, a and b.
//   6. uint8_t* x2    head and slices of the output record (not for finalize)
//   7. descriptor*    one per output tensor (finalize)
//   8. uint8_t*       scratch, 64-byte aligned, `scratchBytes` long
//
// `slices` points at the first slice that the call may touch: all of them for
// other variants, the one of index 3 for a sliced variant. A descriptor is
// MLIR's ranked memref descriptor as int64 words: allocated pointer, aligned
// pointer, offset, sizes, strides (elements).
//
// An identity function takes 6 and 8 only and writes the whole record. A stage
// with `each` is called once a tile, with that tile's begin and end. The output
// record never overlaps an input. In `count` fields of a collected channel
// every field is dense and row-major, slices put together, without padding in
// between.
//
// kind cpuReference is the same program with all floating-point arithmetic,
// record fields and output tensors in f64 (operands keep their storage types)
// and one slice per record: what results are checked against. Its symbols are
// those of the generic variants and the identities; its records are laid out by
// `referenceRecord`.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_ARTIFACT_H
#define DFRT_ARTIFACT_H

#include "dataflow/Schedule/Program.h"

#include <string>
#include <vector>

namespace dfrt {

/// Highest and lowest artifact version that this library reads; it writes the
/// highest.
inline constexpr uint32_t kArtifactVersion = 1;
inline constexpr uint32_t kArtifactMinimumVersion = 1;

struct CodeBlob {
  enum class Kind : uint8_t { cpu = 0, cpuReference = 1, cubin = 2, ptx = 3 };
  Kind kind = Kind::cpu;
  std::string target; ///< e.g. "x86-64-v3", "sm_90a"
  std::vector<uint8_t> bytes;
  struct Function {
    std::string symbol;
    uint64_t scratchBytes = 0;
  };
  std::vector<Function> functions;
};

struct Artifact {
  std::string producer; ///< compiler name and version
  Program program;
  std::vector<CodeBlob> code;

  const CodeBlob *find(CodeBlob::Kind kind) const;
};

/// The type that `type` becomes in cpuReference code: f64 for every
/// floating-point type, else the type itself.
ElementType referenceElement(ElementType type);

/// The record as cpuReference code lays it out: `layoutRecord` of the same
/// fields (with their `separable`) in referenceElement types, with one slice.
/// Fails as layoutRecord does.
Expected<Record> referenceRecord(const Record &record);

/// Serialises; deterministic. Fails only when a blob exceeds 2 GiB.
Expected<std::vector<uint8_t>> writeArtifact(const Artifact &artifact);

/// Reads and validates (FlatBuffers verifier, version, `check(Program)`,
/// symbols present). The message says which field was wrong.
Expected<Artifact> readArtifact(const uint8_t *bytes, uint64_t size);

} // namespace dfrt

#endif // DFRT_ARTIFACT_H
