//===- Ptxas.cpp - The assembler as a child process -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ChildTool.h"
#include "CubinCache.h"
#include "PTXText.h"
#include "dataflow/Target/Cubin.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <thread>

using namespace mlir;
using llvm::StringRef;

llvm::Expected<std::string> df::findPtxas(const PtxasOptions &options) {
  if (!options.program.empty()) {
    if (llvm::sys::fs::can_execute(options.program))
      return options.program;
    return llvm::createStringError("ptxas '" + options.program +
                                   "' is not there or cannot be run");
  }
  std::string tried;
  auto inToolkit = [&](StringRef toolkit) -> std::string {
    llvm::SmallString<128> path(toolkit);
    llvm::sys::path::append(path, "bin", "ptxas");
    tried += (path + ", ").str();
    return llvm::sys::fs::can_execute(path) ? path.str().str() : "";
  };
  for (const std::string &toolkit : options.toolkits)
    if (std::string path = inToolkit(toolkit); !path.empty())
      return path;
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  if (std::string path = inToolkit("/usr/local/cuda"); !path.empty())
    return path;
  return llvm::createStringError(
      "ptxas was not found (tried " + tried +
      "PATH): a cubin cannot be made without it, PTX can");
}

llvm::Expected<std::string> df::ptxasVersion(const PtxasOptions &options) {
  llvm::Expected<std::string> program = findPtxas(options);
  if (!program)
    return program.takeError();
  llvm::Expected<ChildTool::Result> run = runChildTool(
      *program, {"--version"}, {}, "ptx", "cubin", options.timeoutSeconds);
  if (!run)
    return run.takeError();
  if (run->status != 0)
    return llvm::createStringError("'" + *program +
                                   " --version' failed: " + run->log);
  return std::move(run->log);
}

namespace {

/// What is decided by the options alone.
struct Assembler {
  std::string program;
  std::string version;
  const df::PtxasOptions &options;
};

/// One module on its way.
struct Job {
  std::string key;
  std::unique_ptr<df::ChildTool> tool;
};

} // namespace

static std::vector<std::string> commandLine(const Assembler &assembler,
                                            const df::PTXText &module) {
  std::vector<std::string> words = {
      "-arch=" + module.chip, "-v",
      "-O" + std::to_string(assembler.options.optLevel)};
  words.insert(words.end(), assembler.options.flags.begin(),
               assembler.options.flags.end());
  return words;
}

static std::string cacheKey(const Assembler &assembler,
                            const df::PTXText &module) {
  std::vector<std::string> words = commandLine(assembler, module);
  llvm::SmallVector<StringRef> parts = {assembler.version, module.text};
  parts.append(words.begin(), words.end());
  return df::CubinCache::key(parts);
}

static llvm::Expected<std::unique_ptr<df::ChildTool>>
start(const Assembler &assembler, const df::PTXText &module) {
  std::vector<std::string> words = commandLine(assembler, module);
  llvm::SmallVector<StringRef> arguments(words.begin(), words.end());
  arguments.append({"-o", "%o", "%i"});
  return df::ChildTool::start(assembler.program, arguments, module.text, "ptx",
                              "cubin", assembler.options.timeoutSeconds);
}

static void finish(const df::PTXText &module, df::CubinCache::Entry entry,
                   df::CubinResult &result) {
  result.cubin = std::move(entry.cubin);
  result.report =
      df::parsePtxasLog(entry.log, df::kernelsWithSetmaxnreg(module.text));
}

llvm::Expected<std::vector<df::CubinResult>>
df::assembleToCubin(llvm::ArrayRef<PTXText> modules,
                    const PtxasOptions &options) {
  llvm::Expected<std::string> program = findPtxas(options);
  if (!program)
    return program.takeError();
  llvm::Expected<std::string> version = ptxasVersion(options);
  if (!version)
    return version.takeError();
  Assembler assembler{*program, *version, options};
  CubinCache cache(options.cacheFolder, options.cacheBytes);

  std::vector<CubinResult> results(modules.size());
  std::vector<Job> jobs(modules.size());
  size_t next = 0, running = 0;
  while (next < modules.size() || running > 0) {
    for (; next < modules.size() && running < std::max(1u, options.jobs);
         ++next) {
      const PTXText &module = modules[next];
      jobs[next].key = cacheKey(assembler, module);
      if (auto entry = cache.find(jobs[next].key)) {
        results[next].cached = true;
        finish(module, std::move(*entry), results[next]);
        continue;
      }
      auto tool = start(assembler, module);
      if (!tool) {
        results[next].problem = llvm::toString(tool.takeError());
        continue;
      }
      jobs[next].tool = std::move(*tool);
      ++running;
    }
    bool ended = false;
    for (size_t i = 0; i < next; ++i) {
      Job &job = jobs[i];
      if (!job.tool || !job.tool->poll())
        continue;
      ended = true;
      --running;
      ChildTool::Result run = job.tool->take();
      job.tool.reset();
      if (run.status != 0 || run.output.empty()) {
        results[i].problem = "ptxas failed with status " +
                             std::to_string(run.status) + " on '" +
                             modules[i].name + "'";
        run.output.clear();
      }
      CubinCache::Entry entry{std::move(run.log), std::move(run.output)};
      if (results[i].problem.empty())
        cache.store(job.key, entry);
      finish(modules[i], std::move(entry), results[i]);
    }
    if (!ended && running > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return results;
}
