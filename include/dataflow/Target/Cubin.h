//===- Cubin.h - PTX to machine code ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs NVIDIA's assembler as child processes, several at once, and says what it
// said: registers, spills, barriers and remarks of every kernel. Results are
// kept on disk, keyed by everything that decides them.
//
// The assembler reports lost performance as "info": an ignored setmaxnreg,
// serialised matrix instructions. For kernels that depend on them these are
// errors; `strictFindings` lists them.
//
// Nothing here reads the environment but for PATH, nor knows MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_CUBIN_H
#define DATAFLOW_TARGET_CUBIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::df {

/// One line of the assembler that is not a count.
struct PtxasRemark {
  enum class Level : uint8_t { info, warning, error, fatal };
  Level level = Level::info;
  /// "C7508"; empty if the line has none.
  std::string code;
  /// The function that the line names; empty if it names none.
  std::string function;
  std::string text;
};

/// What the assembler counts for one function. A function that is no kernel has
/// a stack and spills only.
struct PtxasFunction {
  std::string name;
  bool kernel = false;
  unsigned registers = 0;
  unsigned barriers = 0;
  uint64_t stackBytes = 0;
  uint64_t spillStoreBytes = 0;
  uint64_t spillLoadBytes = 0;
  /// Static shared memory.
  uint64_t sharedBytes = 0;
  /// Local memory where it is counted apart from the stack.
  uint64_t localBytes = 0;
  /// Constant bank 0, which holds the arguments.
  uint64_t constantBytes = 0;
};

struct PtxasReport {
  std::vector<PtxasFunction> functions;
  std::vector<PtxasRemark> remarks;
};

/// Reads what `ptxas -v` prints. Unknown lines become remarks, none is lost but
/// for the headings. `kernelsWithMaxnreg`: for the remark of an ignored
/// setmaxnreg, which names no function; used if it holds exactly one name.
PtxasReport parsePtxasLog(llvm::StringRef log,
                          llvm::ArrayRef<std::string> kernelsWithMaxnreg = {});

/// What `--strict-ptxas` refuses: remarks of lost or serialised wgmma and of an
/// ignored setmaxnreg, spills, local memory. One text each, naming the
/// function.
struct StrictFinding {
  std::string function;
  std::string text;
};
std::vector<StrictFinding> strictFindings(const PtxasReport &report);

struct PtxasOptions {
  /// The assembler; empty: searched for in `toolkits` (in their folder bin),
  /// then in PATH, then in /usr/local/cuda.
  std::string program;
  std::vector<std::string> toolkits;
  /// Added to the command line.
  std::vector<std::string> flags;
  unsigned optLevel = 3;
  /// How many assemblers run at once; 0 is taken as 1.
  unsigned jobs = 1;
  unsigned timeoutSeconds = 600;
  /// Folder of the cache, made if it is not there; empty: no cache.
  std::string cacheFolder;
  /// The cache is kept below this size by removing what was used longest ago.
  uint64_t cacheBytes = uint64_t(1) << 30;
};

/// A module to assemble.
struct PTXText {
  /// For messages.
  std::string name;
  std::string chip;
  std::string text;
  /// The LLVM IR that it was made of, before optimisation; not needed to
  /// assemble it.
  std::string llvm;
};

struct CubinResult {
  /// Empty if the assembler failed: `problem` then says how.
  std::vector<uint8_t> cubin;
  std::string problem;
  PtxasReport report;
  bool cached = false;
};

/// The path of the assembler, or an error that says where it was searched for.
llvm::Expected<std::string> findPtxas(const PtxasOptions &options);

/// What the assembler calls itself; two with the same text are the same.
llvm::Expected<std::string> ptxasVersion(const PtxasOptions &options);

/// Assembles `modules`, at most `options.jobs` at once; one result each, in the
/// same order. Fails as a whole only if there is no assembler to run.
llvm::Expected<std::vector<CubinResult>>
assembleToCubin(llvm::ArrayRef<PTXText> modules, const PtxasOptions &options);

} // namespace mlir::df

#endif // DATAFLOW_TARGET_CUBIN_H
