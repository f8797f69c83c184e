//===- Rings.cpp - Streams without end ------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rings.h"
#include "Threads.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace {

constexpr int32_t kStageBits = 20; ///< of a place in a stage
constexpr uint8_t kNothing = 0xff;

struct Stage {
  std::unique_ptr<uint8_t[]> data;
  int32_t bytes = 0;
  int64_t expected = 0, arrived = 0;
  int32_t gives = 0;
  /// What each thread reads, so that it reads nothing that it gave back.
  std::map<int32_t, std::unique_ptr<uint8_t[]>> copies;
};

struct State {
  std::deque<Stage> stages;
  /// Numbers of the stages of a stream, which its empty barriers identify.
  std::map<int32_t, std::vector<int32_t>> streams;
  std::map<std::pair<int32_t, int32_t>, bool> held; ///< by thread and stream
  unsigned given = 0;
  std::string fault;
};

State state;

void fail(const std::string &what) {
  if (state.fault.empty())
    state.fault = what;
}

std::string nameOf(int32_t stream, int32_t number) {
  return "stage " + std::to_string(number) + " of stream " +
         std::to_string(stream);
}

} // namespace

void conversiontest::resetRings() { state = State(); }
unsigned conversiontest::filledStages() { return state.stages.size(); }
unsigned conversiontest::givenStages() { return state.given; }
std::string conversiontest::ringFault() { return state.fault; }

extern "C" int32_t dfk_lane() { return dfk_thread(); }

extern "C" int32_t dfk_fill_begin(int32_t full, int32_t empty, int32_t,
                                  int32_t depth, int32_t stageBytes,
                                  int32_t *counter, int32_t bytes) {
  if (empty != full + 8 * depth)
    fail("barriers overlap");
  std::vector<int32_t> &stream = state.streams[empty];
  if (*counter == int32_t(stream.size())) {
    stream.push_back(state.stages.size());
    Stage &stage = state.stages.emplace_back();
    stage.data.reset(new uint8_t[stageBytes]);
    std::memset(stage.data.get(), kNothing, stageBytes);
    stage.bytes = stageBytes;
    stage.expected = bytes;
  }
  int32_t number = stream.at(*counter);
  if (bytes > stageBytes || bytes != state.stages[number].expected)
    fail(nameOf(empty, *counter) + ": expects " + std::to_string(bytes));
  return number << kStageBits;
}

extern "C" void dfk_fill_run(int32_t full, int32_t depth, int32_t *counter,
                             int32_t to, char *from, int32_t bytes,
                             int32_t lane) {
  if (lane == -1)
    return;
  int32_t empty = full + 8 * depth, number = to >> kStageBits;
  int32_t offset = to & ((1 << kStageBits) - 1);
  Stage &stage = state.stages.at(number);
  if (lane != dfk_lane() || number != state.streams[empty].at(*counter) ||
      bytes <= 0 || bytes % 16 || offset % 16 ||
      reinterpret_cast<uintptr_t>(from) % 16 || offset + bytes > stage.bytes)
    return fail(nameOf(empty, *counter) + ": a copy of " +
                std::to_string(bytes) + " bytes to " + std::to_string(offset));
  std::memcpy(stage.data.get() + offset, from, bytes);
  stage.arrived += bytes;
}

extern "C" void dfk_fill_run_keep(int32_t full, int32_t depth, int32_t *counter,
                                  int32_t to, char *from, int32_t bytes,
                                  int32_t lane) {
  dfk_fill_run(full, depth, counter, to, from, bytes, lane);
}

extern "C" void dfk_fill_end(int32_t *counter) { ++*counter; }

extern "C" char *dfk_take(int32_t, int32_t empty, int32_t, int32_t,
                          int32_t stageBytes, int32_t *counter) {
  static std::vector<char> nothing;
  std::vector<int32_t> &stream = state.streams[empty];
  bool &held = state.held[{dfk_thread(), empty}];
  if (held || *counter >= int32_t(stream.size())) {
    fail(nameOf(empty, *counter) + (held ? ": is held" : ": was not filled"));
    nothing.resize(stageBytes);
    return nothing.data();
  }
  held = true;
  Stage &stage = state.stages.at(stream[*counter]);
  if (stage.arrived != stage.expected)
    fail(nameOf(empty, *counter) + ": " + std::to_string(stage.arrived) +
         " bytes arrived, expected " + std::to_string(stage.expected));
  std::unique_ptr<uint8_t[]> &copy = stage.copies[dfk_thread()];
  copy.reset(new uint8_t[stage.bytes]);
  std::memcpy(copy.get(), stage.data.get(), stage.bytes);
  return reinterpret_cast<char *>(copy.get());
}

extern "C" void dfk_give(int32_t empty, int32_t, int32_t *counter) {
  bool &held = state.held[{dfk_thread(), empty}];
  std::vector<int32_t> &stream = state.streams[empty];
  if (!held || *counter >= int32_t(stream.size()))
    return fail(nameOf(empty, *counter) + ": is given, not held");
  held = false;
  Stage &stage = state.stages.at(stream[(*counter)++]);
  // Others may still read it.
  std::memset(stage.copies[dfk_thread()].get(), kNothing, stage.bytes);
  state.given += ++stage.gives == dfk_threads();
}
