//===- Threads.cpp - Device functions on cooperative threads --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <ucontext.h>
#include <vector>

namespace {

constexpr size_t kStackBytes = 256 << 10;

struct Thread {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
};

struct Team {
  std::vector<Thread> threads;
  ucontext_t scheduler;
  unsigned current = 0;
  std::vector<int32_t> words; ///< [threads], that a shuffle exchanges
  const std::function<void()> *body = nullptr;
};

Team *team = nullptr;
unsigned numShuffles = 0;

void start() {
  (*team->body)();
  team->threads[team->current].done = true;
  swapcontext(&team->threads[team->current].context, &team->scheduler);
}

} // namespace

extern "C" int32_t dfk_thread() { return team->current; }
extern "C" int32_t dfk_threads() { return team->threads.size(); }
extern "C" void dfk_sync() {
  swapcontext(&team->threads[team->current].context, &team->scheduler);
}

extern "C" int32_t dfk_warp() { return dfk_thread() / 32; }
extern "C" int32_t dfk_shuffle_xor(int32_t value, int32_t mask) {
  ++numShuffles;
  int32_t self = dfk_thread();
  team->words[self] = value;
  dfk_sync();
  int32_t theirs = team->words[self ^ mask];
  dfk_sync();
  return theirs;
}

unsigned conversiontest::countShuffles() { return numShuffles; }

bool conversiontest::runTogether(unsigned threads, Order order,
                                 const std::function<void()> &body) {
  Team members;
  members.threads = std::vector<Thread>(threads);
  members.words.resize(threads);
  members.body = &body;
  numShuffles = 0;
  team = &members;
  for (Thread &thread : members.threads) {
    getcontext(&thread.context);
    thread.stack.reset(new char[kStackBytes]);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, start, 0);
  }
  std::vector<unsigned> turns(threads);
  std::iota(turns.begin(), turns.end(), 0u);
  if (order == Order::descending)
    std::reverse(turns.begin(), turns.end());
  std::mt19937 random(threads);
  while (true) {
    if (order == Order::shuffled)
      std::shuffle(turns.begin(), turns.end(), random);
    unsigned done = 0;
    for (unsigned turn : turns) {
      members.current = turn;
      swapcontext(&members.scheduler, &members.threads[turn].context);
      done += members.threads[turn].done;
    }
    if (done == threads)
      return true;
    if (done != 0)
      return false;
  }
}
