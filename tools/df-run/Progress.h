//===- Progress.h - Says on stderr what takes so long -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_PROGRESS_H
#define DF_RUN_PROGRESS_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace dfrt {

/// Prints the current phase once it has lasted for a second, and again at ever
/// longer intervals. Prints nothing when `enabled` is false.
class Progress {
public:
  explicit Progress(bool enabled);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Starts a phase; the one before it ends.
  void phase(const std::string &name);
  /// Ends the phase: what follows is not worth a word.
  void done() { phase(""); }

private:
  void watch();

  std::mutex mutex;
  std::condition_variable changed;
  std::string name;
  unsigned serial = 0;
  bool finished = false;
  std::thread watcher;
};

} // namespace dfrt

#endif // DF_RUN_PROGRESS_H
