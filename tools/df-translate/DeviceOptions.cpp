//===- DeviceOptions.cpp - Options and environment for devices ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries read no environment; what it says comes in here: CUDA_HOME and
// CUDA_PATH (where the assembler is), DATAFLOW_CACHE_DIR, XDG_CACHE_HOME and
// HOME (where cubins are kept, and artifacts if DATAFLOW_CACHE_DIR is set).
//
//===----------------------------------------------------------------------===//

#include "DeviceOptions.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"

#include <cstdlib>

namespace cl = llvm::cl;

static cl::OptionCategory category("Options for device modules");
static cl::opt<std::string> chip("chip", cl::init("sm_90a"), cl::cat(category),
                                 cl::desc("sm_90a or sm_100a"));
static cl::opt<std::string>
    features("ptx-features", cl::cat(category),
             cl::desc("Features for the code generator, e.g. +ptx86"));
static cl::opt<unsigned> optLevel("ptx-opt-level", cl::init(2),
                                  cl::cat(category),
                                  cl::desc("Optimisation level, 0 to 3"));
static cl::opt<bool> shortPointers(
    "ptx-short-pointers", cl::cat(category),
    cl::desc("32-bit pointers to shared, constant and local memory"));
static cl::opt<std::string>
    module("gpu-module", cl::cat(category),
           cl::desc("Which gpu.module; without it, all"));
static cl::opt<std::string>
    cubinFolder("cubin-dir", cl::cat(category),
                cl::desc("Write NAME.cubin for each gpu.module into this "
                         "folder, and their names to the output"));
static cl::opt<unsigned>
    jobs("ptxas-jobs", cl::init(0), cl::cat(category),
         cl::desc("Assemblers that run at once (0: one for each core)"));
static cl::opt<bool>
    strict("strict-ptxas", cl::cat(category),
           cl::desc("Spills, local memory, ignored setmaxnreg and serialised "
                    "wgmma are errors"));
static cl::opt<std::string> ptxas("ptxas", cl::cat(category),
                                  cl::desc("The assembler to run"));
static cl::opt<std::string> cacheFolder(
    "cache-dir", cl::cat(category),
    cl::desc("Where cubins are kept (default: DATAFLOW_CACHE_DIR, "
             "else dataflow in the user's cache folder), and "
             "artifacts (default: DATAFLOW_CACHE_DIR, else nowhere)"));
static cl::opt<uint64_t>
    cacheMegabytes("cache-size", cl::init(1024), cl::cat(category),
                   cl::desc("How much of each kind that folder may hold, in "
                            "MiB"));
static cl::opt<bool> noCache("no-cache", cl::cat(category),
                             cl::desc("Neither read nor write that folder"));

static cl::list<std::string>
    targets("targets", cl::CommaSeparated, cl::cat(category),
            cl::desc("What an artifact holds code for: cpu, sm_90a (default: "
                     "both)"));
static cl::opt<bool> watchdog(
    "watchdog", cl::cat(category),
    cl::desc("Bound every wait of an artifact's kernels; one that waits too "
             "long says what for"));
static cl::opt<bool> timeline(
    "timeline", cl::cat(category),
    cl::desc("Let an artifact's kernels record when each instruction began and "
             "ended, for df-run --timeline FILE.json"));
static cl::opt<bool>
    verboseCache("verbose-cache", cl::cat(category),
                 cl::desc("Say also what that folder does not hold"));

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string defaultCacheFolder() {
  if (std::string folder = environment("DATAFLOW_CACHE_DIR"); !folder.empty())
    return folder;
  llvm::SmallString<128> path(environment("XDG_CACHE_HOME"));
  if (path.empty()) {
    path = environment("HOME");
    if (path.empty())
      return "";
    llvm::sys::path::append(path, ".cache");
  }
  llvm::sys::path::append(path, "dataflow");
  return path.str().str();
}

mlir::df::DeviceTranslationOptions deviceOptions() {
  mlir::df::DeviceTranslationOptions options;
  options.ptx.chip = chip;
  options.ptx.features = features;
  options.ptx.optLevel = optLevel;
  options.ptx.shortPointers = shortPointers;
  options.ptxas.program = ptxas;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string toolkit = environment(name); !toolkit.empty())
      options.ptxas.toolkits.push_back(toolkit);
  options.ptxas.jobs =
      jobs ? jobs : llvm::hardware_concurrency().compute_thread_count();
  if (!noCache) {
    options.ptxas.cacheFolder =
        cacheFolder.empty() ? defaultCacheFolder() : cacheFolder.getValue();
    options.artifactCacheFolder = cacheFolder.empty()
                                      ? environment("DATAFLOW_CACHE_DIR")
                                      : cacheFolder.getValue();
  }
  options.verboseCache = verboseCache;
  if (!targets.empty())
    options.targets.assign(targets.begin(), targets.end());
  options.watchdog = watchdog;
  options.timeline = timeline;
  options.cubinFolder = cubinFolder;
  options.ptxas.cacheBytes = cacheMegabytes << 20;
  options.strict = strict;
  options.module = module;
  return options;
}
