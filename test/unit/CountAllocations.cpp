//===- CountAllocations.cpp - Heap allocations of a thread ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountAllocations.h"

#include <cstdlib>
#include <new>

// Sanitizers replace operator new themselves; nothing is counted then.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DATAFLOW_COUNTS_NOTHING
#endif
#endif

static thread_local uint64_t count = 0;

uint64_t dfrt::test::allocationCount() { return count; }

#ifndef DATAFLOW_COUNTS_NOTHING

static void *allocate(std::size_t size, std::size_t alignment) {
  ++count;
  size = (size + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, size ? size : alignment);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

void *operator new(std::size_t size) {
  return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void *operator new[](std::size_t size) {
  return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void *operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void *operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

#endif // DATAFLOW_COUNTS_NOTHING
