//===- ChildTool.h - A tool run as a child process --------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linkers and assemblers run as children, on temporary files: none of them is a
// library, and none may take this process down. Several can run at once; nobody
// needs a thread for that.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_CHILDTOOL_H
#define DATAFLOW_TARGET_CHILDTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace mlir::df {

/// One run of a tool that reads one file and writes another. The files are
/// removed with the object.
class ChildTool {
public:
  /// How it ended.
  struct Result {
    /// Exit status; negative after a signal or a timeout.
    int status = 0;
    /// Everything printed to both streams, trimmed.
    std::string log;
    /// What it wrote; empty if it wrote nothing.
    std::vector<uint8_t> output;
  };

  /// Starts `program` (a path) with `arguments`, in which "%i" and "%o" stand
  /// for the names of a file holding `input` and of the file to write, made
  /// with the suffixes given. Fails, naming the object, if files cannot be
  /// written or the program cannot be started.
  static llvm::Expected<std::unique_ptr<ChildTool>>
  start(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> arguments,
        llvm::ArrayRef<char> input, llvm::StringRef inputSuffix,
        llvm::StringRef outputSuffix, unsigned timeoutSeconds);

  ChildTool(const ChildTool &) = delete;
  ChildTool &operator=(const ChildTool &) = delete;
  /// Kills the child if it is still there.
  ~ChildTool();

  /// Whether the child has ended. Does not block; kills it when its time is up.
  bool poll();

  /// What it left behind. Only after poll() has returned true.
  Result take();

  /// The name that "%i" stood for: tools print it in their messages.
  llvm::StringRef inputPath() const { return input; }

private:
  ChildTool() = default;

  llvm::SmallString<128> input, output, log;
  std::string program;
  llvm::sys::ProcessInfo process;
  std::chrono::steady_clock::time_point deadline;
  unsigned timeout = 0;
  bool running = false;
  bool timedOut = false;
  int status = 0;
  std::string problem;
};

/// Starts one and waits for it.
llvm::Expected<ChildTool::Result>
runChildTool(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> arguments,
             llvm::ArrayRef<char> input, llvm::StringRef inputSuffix,
             llvm::StringRef outputSuffix, unsigned timeoutSeconds);

} // namespace mlir::df

#endif // DATAFLOW_TARGET_CHILDTOOL_H
