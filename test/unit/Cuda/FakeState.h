//===- FakeState.h - What the fake CUDA driver remembers --------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects of the fake driver, and how an entry point begins.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CUDA_FAKESTATE_H
#define DATAFLOW_TEST_CUDA_FAKESTATE_H

#include "FakeDriver.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fakecuda {
using namespace dfrt::cuda::api;

struct Work {
  GraphNodeType type;
  CopyParameters copy;
  LaunchConfig launch;
  std::vector<unsigned char> parameter; ///< of a launch that is looked at
};
struct Node {
  Work work;
};
struct FakeGraph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct FakeExec {
  std::vector<Work> work;
  std::map<Node *, size_t> index;
};
struct FakeStream {
  std::vector<std::function<void()>> queue;
  FakeGraph *capture = nullptr;
  bool invalid = false;
};
struct FakeEvent {
  int marks = 0, passed = 0;
};
struct FakeFunction {
  int dynamicShared = 48 * 1024;
  int nonPortable = 0;
};
struct FakeModule {
  std::map<std::string, FakeFunction> functions;
};

struct Fake {
  FakeDriver control;
  std::map<std::string, int> calls, failAt;
  std::map<std::string, Result> failWith;
  Result lost = Result::success;
  int references = 0;
  std::vector<ContextHandle> stack;
  std::map<char *, size_t> memory;
  std::set<void *> host;
  std::set<FakeModule *> modules;
  std::set<FakeStream *> streams;
  std::set<FakeEvent *> events;
  std::set<FakeGraph *> graphs;
  std::set<FakeExec *> execs;
  FakeStream legacy;
  /// How many streams are captured, and what this thread may do meanwhile.
  int captures = 0;
  CaptureMode threadMode = CaptureMode::global;
};

inline Fake &fake() {
  static Fake *instance = nullptr;
  if (!instance) {
    instance = new Fake;
    fakeDriver();
  }
  return *instance;
}

inline ContextHandle theContext() {
  static int object;
  return reinterpret_cast<ContextHandle>(&object);
}

/// Counts a call; the result it has to give, if it was told one.
inline Result enter(const char *function, bool inContext = true) {
  Fake &f = fake();
  int number = ++f.calls[function];
  auto at = f.failAt.find(function);
  if (at != f.failAt.end() && at->second == number)
    return f.failWith[function];
  if (!inContext)
    return Result::success;
  if (f.lost != Result::success)
    return f.lost;
  if (f.stack.empty() || f.stack.back() != theContext())
    return Result::invalidContext;
  return Result::success;
}
#define ENTER(...)                                                             \
  if (Result r_ = enter(__func__, ##__VA_ARGS__); r_ != Result::success)       \
  return r_

/// Destroys an object of `all`; an error when it is none.
template <typename T>
inline Result destroy(std::set<T *> &all, void *handle) {
  T *object = static_cast<T *>(handle);
  if (!all.erase(object))
    return Result::invalidHandle;
  delete object;
  return Result::success;
}
template <typename T>
inline void destroyAll(std::set<T *> &all) {
  for (T *object : all)
    delete object;
  all.clear();
}

inline void runStream(FakeStream &stream) {
  std::vector<std::function<void()>> queue;
  queue.swap(stream.queue);
  for (const std::function<void()> &work : queue)
    work();
}
inline FakeStream &streamOf(StreamHandle handle) {
  return handle ? *reinterpret_cast<FakeStream *>(handle) : fake().legacy;
}
inline void runAll() {
  runStream(fake().legacy);
  for (FakeStream *stream : fake().streams)
    runStream(*stream);
}

} // namespace fakecuda

#endif // DATAFLOW_TEST_CUDA_FAKESTATE_H
