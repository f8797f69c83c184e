//===- Progress.cpp - Says on stderr what takes so long -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Progress.h.
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

using namespace dfrt;

Progress::Progress(bool enabled) {
  if (enabled)
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watcher.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    finished = true;
  }
  changed.notify_one();
  watcher.join();
}

void Progress::phase(const std::string &phaseName) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    name = phaseName;
    ++serial;
  }
  changed.notify_one();
}

void Progress::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!finished) {
    unsigned current = serial;
    unsigned seconds = 0, interval = 1;
    // Runs until the phase is over.
    while (!finished && serial == current) {
      changed.wait_for(lock, std::chrono::seconds(interval));
      if (finished || serial != current)
        break;
      seconds += interval;
      if (seconds > 1)
        interval = seconds;
      if (!name.empty()) {
        fmt::print(stderr, "df-run: {} ({} s)\n", name, seconds);
        std::fflush(stderr);
      }
    }
  }
}
