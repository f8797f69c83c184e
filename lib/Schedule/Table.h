//===- Table.h - Arrays that are filled again and again ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the planner keeps between batches. `Table` is a vector of plain data
// that can be sized without writing it; `setSize` and `fill` do for a
// std::vector what resize and assign do. All of them grow by half beyond what
// is asked for, so that a batch that needs a little more than those before it
// needs no memory.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_SCHEDULE_TABLE_H
#define DATAFLOW_LIB_SCHEDULE_TABLE_H

#include "dataflow/Schedule/ArrayView.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace dfrt {
namespace detail {

inline size_t withHeadroom(size_t size) { return size + size / 2 + 16; }

template <typename T>
class Table {
  static_assert(std::is_trivially_copyable_v<T> &&
                std::is_trivially_destructible_v<T>);

public:
  Table() = default;
  Table(const Table &) = delete;
  Table(Table &&) = default;
  Table &operator=(Table &&) = default;

  void clear() { count = 0; }
  /// Sets the size; the elements behind the old size are not written.
  void setSize(size_t size) {
    if (size > room)
      grow(size);
    count = size;
  }
  /// `size` times `value`.
  void fill(size_t size, T value) {
    count = 0;
    setSize(size);
    std::fill_n(memory.get(), size, value);
  }
  /// Appends `added` elements without writing them.
  T *extend(size_t added) {
    size_t at = count;
    setSize(count + added);
    return memory.get() + at;
  }
  void push(const T &value) {
    T copy = value; // may be an element
    *extend(1) = copy;
  }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return memory.get(); }
  const T *data() const { return memory.get(); }
  T *begin() { return data(); }
  T *end() { return data() + count; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + count; }
  T &operator[](size_t index) { return memory[index]; }
  const T &operator[](size_t index) const { return memory[index]; }
  T &back() { return memory[count - 1]; }
  operator ArrayView<T>() const { return {data(), count}; }
  void swap(Table &other) {
    memory.swap(other.memory);
    std::swap(count, other.count);
    std::swap(room, other.room);
  }

private:
  __attribute__((noinline)) void grow(size_t size) {
    room = withHeadroom(size);
    std::unique_ptr<T[]> larger(new T[room]);
    std::copy_n(memory.get(), count, larger.get());
    memory = std::move(larger);
  }

  // `count` changes all the time. It does not lie beside the pointer, or views
  // would be read with one load behind a store of half of it, which stalls.
  std::unique_ptr<T[]> memory;
  size_t room = 0;
  size_t count = 0;
};

template <typename T>
void reserve(std::vector<T> &list, size_t size) {
  if (size > list.capacity())
    list.reserve(withHeadroom(size));
}
template <typename T>
void setSize(std::vector<T> &list, size_t size) {
  reserve(list, size);
  list.resize(size);
}
template <typename T>
void fill(std::vector<T> &list, size_t size, T value) {
  reserve(list, size);
  list.assign(size, value);
}

} // namespace detail
} // namespace dfrt

#endif // DATAFLOW_LIB_SCHEDULE_TABLE_H
