//===- EmitPTX.cpp - LLVM IR to PTX in a child ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a chip lacks ends in report_fatal_error, and some faults in a crash. The
// child prints LLVM's message and, from its crash handler, the pass and
// function it was in; the parent reads both.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);
}

using namespace mlir;
using llvm::StringRef;

StringRef df::ptx::triple() { return "nvptx64-nvidia-cuda"; }

std::string df::ptx::dataLayout(const PTXOptions &options) {
  return llvm::Triple(triple()).computeDataLayout(
      options.shortPointers ? "shortptr" : "");
}

static const llvm::Target *findTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(df::ptx::triple()),
                                            error);
}

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

/// The only way to short pointers is an option of the code generator, which is
/// global: it is set where it cannot outlive this module.
static bool setShortPointers() {
  auto &registered = llvm::cl::getRegisteredOptions();
  auto found = registered.find("nvptx-short-ptr");
  return found != registered.end() &&
         !found->second->addOccurrence(0, "nvptx-short-ptr", "true");
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine,
                     unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  builder.buildPerModuleDefaultPipeline(levels[level]).run(module, modules);
}

/// What LLVM puts before its fatal errors.
static constexpr StringRef kErrorMark = "LLVM ERROR: ";

static void writeAll(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = llvm::sys::RetryAfterSignal(-1, ::write, file,
                                                  bytes.data(), bytes.size());
    if (written <= 0)
      return;
    bytes = bytes.drop_front(written);
  }
}

namespace {

/// Without a handler LLVM prints errors and exits. They are sent at once, since
/// the code generator may go on and abort; warnings are dropped.
struct SendErrors : llvm::DiagnosticHandler {
  explicit SendErrors(bool &any) : any(any) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    any = true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << kErrorMark;
    info.print(printer);
    writeAll(STDERR_FILENO, stream.str() + "\n");
    return true;
  }
  bool &any;
};

} // namespace

/// Writes to `text`; returns what went wrong.
static std::string generate(llvm::Module &module, const llvm::Target &target,
                            const df::PTXOptions &options,
                            llvm::SmallVectorImpl<char> &text) {
  if (options.shortPointers && !setShortPointers())
    return "the code generator has no option nvptx-short-ptr";
  llvm::CodeGenOptLevel level = llvm::CodeGenOpt::getLevel(options.optLevel)
                                    .value_or(llvm::CodeGenOptLevel::Default);
  std::unique_ptr<llvm::TargetMachine> machine(target.createTargetMachine(
      module.getTargetTriple(), options.chip, options.features,
      llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt, level));
  if (machine->createDataLayout() != module.getDataLayout())
    return "the code generator's data layout is " +
           machine->createDataLayout().getStringRepresentation() +
           ", the module's " + module.getDataLayoutStr();
  bool errors = false;
  module.getContext().setDiagnosticHandler(
      std::make_unique<SendErrors>(errors));
  optimise(module, *machine, options.optLevel);
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return "the code generator writes no text";
  passes.run(module);
  return errors ? "code generation failed" : "";
}

static constexpr int kFailed = 1;

[[noreturn]] static void runChild(llvm::Module &module,
                                  const llvm::Target &target,
                                  const df::PTXOptions &options, int result,
                                  int messages) {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  ::dup2(messages, STDERR_FILENO);
  // On a crash the pass and the function are printed; what is on the stack
  // helps nobody.
  ::setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
  llvm::EnablePrettyStackTrace();
  llvm::SmallString<0> text;
  std::string problem = generate(module, target, options, text);
  if (!problem.empty()) {
    writeAll(STDERR_FILENO, problem);
    ::_exit(kFailed);
  }
  writeAll(result, text);
  ::_exit(0);
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

/// Reads two files to their ends; false if that takes longer than `limit`.
static bool readBoth(int first, std::string &firstText, int second,
                     std::string &secondText, std::chrono::seconds limit) {
  auto deadline = std::chrono::steady_clock::now() + limit;
  pollfd files[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  std::string *texts[] = {&firstText, &secondText};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return false;
    int ready = ::poll(files, 2, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    for (int i = 0; i < 2; ++i) {
      if (files[i].fd < 0 || !files[i].revents)
        continue;
      char buffer[1 << 16];
      ssize_t count = llvm::sys::RetryAfterSignal(
          -1, ::read, files[i].fd, static_cast<void *>(buffer), sizeof buffer);
      if (count > 0)
        texts[i]->append(buffer, count);
      else
        files[i].fd = -1;
    }
  }
  return true;
}

/// The part of the child's messages that says something to a user.
static std::string essence(StringRef messages) {
  size_t at = messages.find(kErrorMark);
  if (at != StringRef::npos)
    messages = messages.drop_front(at + kErrorMark.size());
  return messages.take_until([](char c) { return c == '\n'; }).trim().str();
}

/// "In function: k" or "on function '@k'".
static std::string functionIn(StringRef messages) {
  for (StringRef mark : {"In function: ", "on function '@"}) {
    size_t at = messages.find(mark);
    if (at != StringRef::npos)
      return messages.drop_front(at + mark.size())
          .take_while([](char c) {
            return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
          })
          .str();
  }
  return "";
}

df::ptx::Emission df::ptx::emitPTX(llvm::Module &module,
                                   const PTXOptions &options) {
  Emission emission;
  const llvm::Target *target = findTarget(emission.problem);
  if (!target)
    return emission;
  llvm::raw_string_ostream errors(emission.problem);
  if (llvm::verifyModule(module, &errors))
    return emission;
  emission.problem.clear();

  int result[2], messages[2];
  if (::pipe2(result, O_CLOEXEC))
    return {"", "cannot make a pipe: " + llvm::sys::StrError(), ""};
  if (::pipe2(messages, O_CLOEXEC)) {
    emission.problem = "cannot make a pipe: " + llvm::sys::StrError();
    ::close(result[0]);
    ::close(result[1]);
    return emission;
  }
  pid_t child = ::fork();
  if (child == 0) {
    ::close(result[0]);
    ::close(messages[0]);
    runChild(module, *target, options, result[1], messages[1]);
  }
  std::string forkError = child < 0 ? llvm::sys::StrError() : "";
  ::close(result[1]);
  ::close(messages[1]);
  std::string said;
  int status = 0;
  bool inTime = true;
  if (child > 0) {
    inTime = readBoth(result[0], emission.text, messages[0], said,
                      std::chrono::seconds(options.timeoutSeconds));
    if (!inTime)
      ::kill(child, SIGKILL);
    llvm::sys::RetryAfterSignal(-1, ::waitpid, child, &status, 0);
  }
  ::close(result[0]);
  ::close(messages[0]);

  if (child < 0) {
    emission.problem = "cannot fork: " + forkError;
  } else if (!inTime) {
    emission.problem =
        "killed after " + std::to_string(options.timeoutSeconds) + " seconds";
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    emission.problem = essence(said);
    emission.function = functionIn(said);
    if (emission.problem.empty())
      emission.problem =
          WIFSIGNALED(status)
              ? "ended by signal " + std::to_string(WTERMSIG(status))
              : "ended with status " + std::to_string(WEXITSTATUS(status));
  } else if (emission.text.empty()) {
    emission.problem = "wrote nothing";
  }
  if (!emission.problem.empty())
    emission.text.clear();
  return emission;
}
