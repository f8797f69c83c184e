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
// GPU code: blobs of kind cubin with persistent kernels, each described by a
// `Kernel`; beside them, for people, the PTX (kind ptx) and the LLVM IR (kind
// llvm) that they were made of. A kernel executes any plan that fits what its
// record says. Its one parameter is described in KernelABI.h.
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
inline constexpr uint32_t kArtifactVersion = 2;
inline constexpr uint32_t kArtifactMinimumVersion = 1;

struct CodeBlob {
  enum class Kind : uint8_t {
    cpu = 0,
    cpuReference = 1,
    cubin = 2,
    ptx = 3,  ///< text
    llvm = 4, ///< LLVM IR of a device module, text
  };
  Kind kind = Kind::cpu;
  std::string target; ///< e.g. "x86-64-v3", "sm_90a"
  std::vector<uint8_t> bytes;
  struct Function {
    std::string symbol;
    uint64_t scratchBytes = 0;
  };
  std::vector<Function> functions;
};

/// "cpu", "cpu_reference", "cubin", "ptx", "llvm".
const char *kindName(CodeBlob::Kind kind);

/// How a tensor map is made of a bound argument. Arguments are dense and
/// row-major, so neighbouring dimensions can be merged into one, a run. The
/// runs of a map are the argument's dimensions, each in one of them. A run may
/// be split in several dimensions of the map: the innermost takes its elements
/// one by one, up to its limit, the next one takes as many at a step, and so
/// on; the outermost has what is there. So a matrix of 192 columns, whose rows
/// come in eights, is {columns, limit 64}, {rows, limit 8}, {columns, unit 64},
/// {rows, unit 8}: three chunks of 64 columns, each with eight rows. Dimension
/// 0 of the map is the innermost one of the run with the last dimension; the
/// others may stand in any order.
struct TensorMapSpec {
  static constexpr uint32_t kMaxRank = 5;
  static constexpr uint32_t kMaxBox = 256;
  enum class Swizzle : uint8_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };
  enum class Promotion : uint8_t { none = 0, b64 = 1, b128 = 2, b256 = 3 };
  enum class Fill : uint8_t { zero = 0, nan = 1 };

  struct Dimension {
    uint32_t first = 0, last = 0; ///< dimensions of the argument, inclusive
    uint32_t box = 1;             ///< steps that a copy moves, 1 to kMaxBox
    uint64_t unit = 1;  ///< elements of the run from one step to the next
    uint64_t limit = 0; ///< steps; 0: as many as there are

    friend bool operator==(const Dimension &a, const Dimension &b) {
      return a.first == b.first && a.last == b.last && a.box == b.box &&
             a.unit == b.unit && a.limit == b.limit;
    }
  };

  uint32_t argument = 0; ///< of the program
  /// As the copy engine sees an element; as wide as the argument's. 8-bit
  /// types are unsigned bytes to it.
  ElementType element = ElementType::f32;
  std::vector<Dimension> dimensions; ///< 1 to kMaxRank
  Swizzle swizzle = Swizzle::none;
  Promotion promotion = Promotion::none; ///< what the L2 fetches at a time
  Fill fill = Fill::zero;                ///< what is read outside the tensor

  friend bool operator==(const TensorMapSpec &a, const TensorMapSpec &b) {
    return a.argument == b.argument && a.element == b.element &&
           a.dimensions == b.dimensions && a.swizzle == b.swizzle &&
           a.promotion == b.promotion && a.fill == b.fill;
  }
};

/// A persistent kernel in a cubin, and which plans and launches it takes.
struct Kernel {
  std::string symbol;         ///< in the cubin
  uint32_t blob = 0;          ///< the cubin, in Artifact::code
  uint32_t ptxBlob = kNone;   ///< its PTX, if the artifact has it
  std::string target;         ///< that of the cubin, e.g. "sm_90a"
  uint32_t disciplines = 0;   ///< bit d: plans of Discipline d
  uint32_t transports = 0;    ///< bit t: plans with transfers by Transport t
  uint32_t threads = 0;       ///< of a CTA, in warps of 32
  uint64_t reservedBytes = 0; ///< of shared memory, before the slot arena; the
                              ///< topology of a plan must reserve as much
  /// What takes `reservedBytes`; aligning it takes the rest. All 0: not known.
  struct Reserved {
    uint64_t rings = 0;    ///< tiles of streams that are loaded ahead
    uint64_t barriers = 0; ///< of rings and plans, and the control block
    uint64_t exchange = 0; ///< where layouts of fragments are converted
    uint64_t scratch = 0;  ///< of handlers and folds

    uint64_t total() const { return rings + barriers + exchange + scratch; }
  };
  Reserved reserved;
  uint32_t maxBarriers = 0; ///< plan barriers of a CTA
  /// Global memory of a CTA for handlers; stacks of collected records come
  /// behind it.
  uint64_t scratchBytes = 0;
  uint32_t maxCluster = 1;     ///< CTAs, a power of two
  bool watchdog = false;       ///< waits end; see dfrt_watchdog_record
  bool timeline = false;       ///< it can record; see dfrt_timeline_record
  uint32_t parameterBytes = 0; ///< kernelParameterBytes(program, maps.size())
  /// Alignment in bytes, a power of two, that the kernel needs of each argument
  /// of the program.
  std::vector<uint32_t> argumentAlignment;
  std::vector<TensorMapSpec> maps;
  /// For people: which way each handler took, and why.
  std::vector<std::string> remarks;
};

struct Artifact {
  std::string producer; ///< compiler name and version
  Program program;
  std::vector<CodeBlob> code;
  std::vector<Kernel> kernels;

  const CodeBlob *find(CodeBlob::Kind kind) const;
};

/// The type that `type` becomes in cpuReference code: f64 for every
/// floating-point type, else the type itself.
ElementType referenceElement(ElementType type);

/// The record as cpuReference code lays it out: `layoutRecord` of the same
/// fields (with their `separable`) in referenceElement types, with one slice.
/// Fails as layoutRecord does.
Expected<Record> referenceRecord(const Record &record);

/// Bytes of the parameter of a kernel of `program` with `maps` tensor maps, as
/// KernelABI.h lays it out, and where its maps begin in it.
uint64_t kernelParameterBytes(const Program &program, size_t maps);
uint64_t kernelMapsOffset(const Program &program);

/// The most that a kernel parameter may have.
inline constexpr uint64_t kMaximumParameterBytes = 32764;

/// Serialises; deterministic. Fails only when a blob exceeds 2 GiB.
Expected<std::vector<uint8_t>> writeArtifact(const Artifact &artifact);

/// Reads and validates (FlatBuffers verifier, version, `check(Program)`,
/// symbols present, kernels described in full). The message says which field
/// was wrong.
Expected<Artifact> readArtifact(const uint8_t *bytes, uint64_t size);

} // namespace dfrt

#endif // DFRT_ARTIFACT_H
