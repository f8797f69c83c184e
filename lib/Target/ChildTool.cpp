//===- ChildTool.cpp - A tool run as a child process ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChildTool.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <optional>
#include <thread>

using namespace mlir;
using llvm::StringRef;

/// llvm::sys::Wait with a time limit is built on alarm(), of which a process
/// has only one; so children are polled.
static constexpr std::chrono::milliseconds kPoll(1);

llvm::Expected<std::unique_ptr<df::ChildTool>>
df::ChildTool::start(StringRef program, llvm::ArrayRef<StringRef> arguments,
                     llvm::ArrayRef<char> input, StringRef inputSuffix,
                     StringRef outputSuffix, unsigned timeoutSeconds) {
  std::unique_ptr<ChildTool> tool(new ChildTool);
  tool->program = program.str();
  std::pair<llvm::SmallString<128> *, StringRef> files[] = {
      {&tool->input, inputSuffix},
      {&tool->output, outputSuffix},
      {&tool->log, "txt"}};
  for (auto [path, suffix] : files)
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("dataflow", suffix, *path))
      return llvm::createStringError("temporary file: " + code.message());
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(tool->input, code);
    stream.write(input.data(), input.size());
    stream.close();
    if (code || stream.has_error()) {
      code = code ? code : stream.error();
      stream.clear_error();
      return llvm::createStringError("cannot write " + tool->input + ": " +
                                     code.message());
    }
  }
  llvm::SmallVector<StringRef> words = {program};
  for (StringRef argument : arguments)
    words.push_back(argument == "%i"   ? StringRef(tool->input)
                    : argument == "%o" ? StringRef(tool->output)
                                       : argument);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(tool->log),
                                          StringRef(tool->log)};
  std::string error;
  bool failed = false;
  tool->process = llvm::sys::ExecuteNoWait(program, words, std::nullopt,
                                           redirects, 0, &error, &failed);
  if (failed)
    return llvm::createStringError("cannot run " + program + ": " + error);
  tool->running = true;
  tool->timeout = timeoutSeconds;
  tool->deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(timeoutSeconds);
  return std::move(tool);
}

df::ChildTool::~ChildTool() {
  if (running) {
    ::kill(process.Pid, SIGKILL);
    llvm::sys::Wait(process, std::nullopt);
  }
  for (StringRef path : {StringRef(input), StringRef(output), StringRef(log)})
    if (!path.empty())
      llvm::sys::fs::remove(path);
}

bool df::ChildTool::poll() {
  if (!running)
    return true;
  if (!timedOut && std::chrono::steady_clock::now() > deadline) {
    timedOut = true;
    ::kill(process.Pid, SIGKILL);
  }
  llvm::sys::ProcessInfo ended = llvm::sys::Wait(
      process, timedOut ? std::nullopt : std::optional<unsigned>(0), &problem,
      nullptr, /*Polling=*/!timedOut);
  if (ended.Pid == 0)
    return false;
  running = false;
  status = timedOut ? -1 : ended.ReturnCode;
  if (timedOut)
    problem = "killed after " + std::to_string(timeout) + " seconds";
  return true;
}

df::ChildTool::Result df::ChildTool::take() {
  Result result;
  result.status = status;
  if (auto buffer = llvm::MemoryBuffer::getFile(log))
    result.log = (*buffer)->getBuffer().trim().str();
  if (!problem.empty() && status != 0)
    result.log += (result.log.empty() ? "" : "\n") + problem;
  if (auto buffer =
          llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false))
    result.output.assign((*buffer)->getBuffer().bytes_begin(),
                         (*buffer)->getBuffer().bytes_end());
  return result;
}

llvm::Expected<df::ChildTool::Result>
df::runChildTool(StringRef program, llvm::ArrayRef<StringRef> arguments,
                 llvm::ArrayRef<char> input, StringRef inputSuffix,
                 StringRef outputSuffix, unsigned timeoutSeconds) {
  llvm::Expected<std::unique_ptr<ChildTool>> tool = ChildTool::start(
      program, arguments, input, inputSuffix, outputSuffix, timeoutSeconds);
  if (!tool)
    return tool.takeError();
  while (!(*tool)->poll())
    std::this_thread::sleep_for(kPoll);
  return (*tool)->take();
}
