//===- ArrayView.h - Non-owning view of a contiguous sequence ---*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few lines of C++20's `std::span` that a C++17 library without LLVM needs.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_SCHEDULE_ARRAYVIEW_H
#define DATAFLOW_SCHEDULE_ARRAYVIEW_H

#include <cstddef>
#include <vector>

namespace dfrt {

/// A pointer and a length. The viewed storage must outlive the view.
template <typename T>
class ArrayView {
public:
  ArrayView() = default;
  ArrayView(const T *data, size_t size) : first(data), count(size) {}
  ArrayView(const std::vector<T> &vector)
      : first(vector.data()), count(vector.size()) {}

  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  const T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  const T &operator[](size_t index) const { return first[index]; }
  const T &front() const { return first[0]; }
  const T &back() const { return first[count - 1]; }

private:
  const T *first = nullptr;
  size_t count = 0;
};

} // namespace dfrt

#endif // DATAFLOW_SCHEDULE_ARRAYVIEW_H
