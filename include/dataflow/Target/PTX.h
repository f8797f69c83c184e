//===- PTX.h - Device modules to PTX ----------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device module is a `gpu.module` whose kernels are `llvm.func`s with
// `nvvm.kernel` and bodies of llvm, nvvm, scf, cf, arith, math, vector and
// nvgpu operations. It becomes PTX text for one chip, in this process but for
// LLVM's optimiser and code generator: these abort on what a chip lacks, so
// they run in a forked child whose end is a diagnostic here.
//
// Checks with names, for what upstream compiles silently into wrong or slow
// code (docs/ptx.md explains each):
//
//   L1  atomicrmw with an ordering or a scope that its PTX would not have
//   L2  a data layout or triple other than the target's
//   L3  internal shared memory that this module only reads
//   L4  trap in PTX: the assembler then ignores setmaxnreg
//   L5  calls of functions that nobody defines
//   L6  setmaxregister in a kernel without a fixed number of threads (warning)
//   L7  a remote mbarrier operation with the scope of a CTA
//   L8  wgmma for a chip without it: some of its operations become text that
//       only the assembler reads
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PTX_H
#define DATAFLOW_TARGET_PTX_H

#include "dataflow/Target/Cubin.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class Operation;

namespace df {

struct PTXOptions {
  /// sm_90a or sm_100a.
  std::string chip = "sm_90a";
  /// Features for the code generator, e.g. "+ptx86"; empty: the chip's default.
  std::string features;
  /// 0 to 3.
  unsigned optLevel = 2;
  /// Pointers to shared, constant and local memory have 32 bits.
  bool shortPointers = false;
  /// The child is killed after this time.
  unsigned timeoutSeconds = 300;
};

/// Registers what compileToPTX needs; it also does so itself, but a registry
/// may not be extended while passes run in parallel.
void registerPTXTargetDialects(DialectRegistry &registry);

/// Compiles `module`, a gpu.module, or a builtin.module that holds the kernels
/// itself. `module` is not changed. Fails with diagnostics at the operations or
/// kernels at fault: operations that the chip lacks, lints, a code generator
/// that gave up.
///
/// Forks. In a process with several threads the child may use only what no
/// other thread can have locked: this function initialises the code generator
/// first and translates to LLVM IR before the fork.
FailureOr<PTXText> compileToPTX(Operation *module, const PTXOptions &options);

/// Turns the result for `module` into diagnostics at its kernels: the counts
/// and each of the assembler's remarks. With `strict`, what strictFindings
/// lists are errors. Fails on errors, and if there is no cubin.
LogicalResult reportCubin(Operation *module, const CubinResult &result,
                          bool strict);

/// What the translations below are told by their tool.
struct DeviceTranslationOptions {
  PTXOptions ptx;
  PtxasOptions ptxas;
  bool strict = false;
  /// Which gpu.module to compile; empty: all.
  std::string module;
  /// Where cubins of several modules go, NAME.cubin each.
  std::string cubinFolder;
  /// Folder of the artifacts that are kept, made if it is not there; empty:
  /// none are. It may be that of the cubins; each kind has a limit of its own,
  /// `ptxas.cacheBytes`.
  std::string artifactCacheFolder;
  /// Say also what was not found in it.
  bool verboseCache = false;
  /// What an artifact holds code for: cpu, and chips with kernels of the
  /// program.
  std::vector<std::string> targets = {"cpu", "sm_90a"};
  /// Waits of those kernels are bounded.
  bool watchdog = false;
  /// They record when each instruction began and ended.
  bool timeline = false;
};

/// Everything in `options` that decides the code, as words for a cache's key:
/// chip, features, options, and the version of the assembler, if there is one.
std::vector<std::string>
describeDecisions(const DeviceTranslationOptions &options);

/// Registers `--dataflow-to-ptx` and `--dataflow-to-cubin`.
void registerDeviceTranslations(
    std::function<DeviceTranslationOptions()> options);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_TARGET_PTX_H
