//===- SharedLayout.cpp ---------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles in shared memory: strides, and the exchange of 16-byte units.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::df;
using llvm::ArrayRef;
using llvm::Twine;

std::optional<SharedLayout> SharedLayout::get(ArrayRef<int64_t> shape,
                                              unsigned elementBytes,
                                              unsigned swizzle,
                                              AtomOrder order) {
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    return std::nullopt;
  int64_t rowBytes = shape[1] * elementBytes;
  if (swizzle == 0)
    return SharedLayout(0, 8 * rowBytes, 0);
  int64_t atom = 8 * int64_t(swizzle);
  SharedLayout layout = order == AtomOrder::rows
                            ? SharedLayout(swizzle, 8 * rowBytes, atom)
                            : SharedLayout(swizzle, atom, shape[0] * swizzle);
  if (check(swizzle, layout.rowGroup, layout.chunk) ||
      layout.check(shape, elementBytes))
    return std::nullopt;
  return layout;
}

std::optional<std::string> SharedLayout::check(unsigned swizzle,
                                               int64_t rowGroupStride,
                                               int64_t chunkStride) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return ("swizzle must be 0, 32, 64 or 128, got " + Twine(swizzle)).str();
  if (swizzle == 0) {
    if (rowGroupStride < 8 || rowGroupStride % 8 != 0)
      return ("row_group must be 8 rows of at least 1 byte, got " +
              Twine(rowGroupStride))
          .str();
    if (chunkStride != 0)
      return ("chunk must be 0 without swizzle, got " + Twine(chunkStride))
          .str();
    return std::nullopt;
  }
  int64_t atom = 8 * int64_t(swizzle);
  for (auto [name, stride] : {std::pair("row_group", rowGroupStride),
                              std::pair("chunk", chunkStride)})
    if (stride < atom || stride % atom != 0)
      return (Twine(name) + " must be a multiple of the " + Twine(atom) +
              " bytes of an atom, got " + Twine(stride))
          .str();
  return std::nullopt;
}

std::optional<std::string> SharedLayout::check(ArrayRef<int64_t> shape,
                                               unsigned elementBytes) const {
  if (shape.size() != 2)
    return ("a tile in shared memory must have rank 2, got " +
            Twine(shape.size()))
        .str();
  int64_t rows = shape[0], rowBytes = shape[1] * elementBytes;
  if (swizzleBytes == 0) {
    if (rowBytes > rowGroup / 8)
      return ("a row has " + Twine(rowBytes) + " bytes, rows are " +
              Twine(rowGroup / 8) + " apart")
          .str();
    return std::nullopt;
  }
  if (rows % 8 != 0)
    return ("rows must be a multiple of 8, got " + Twine(rows)).str();
  if (rowBytes % swizzleBytes != 0)
    return ("a row must be a multiple of " + Twine(swizzleBytes) +
            " bytes, got " + Twine(rowBytes))
        .str();
  // Atoms must not overlap: one of the orders, with room left over or not.
  int64_t groups = rows / 8, chunks = rowBytes / swizzleBytes;
  if (groups > 1 && chunks > 1 && rowGroup < chunks * chunk &&
      chunk < groups * rowGroup)
    return ("atoms overlap: " + Twine(chunks) + " chunks, " + Twine(chunk) +
            " apart, and " + Twine(groups) + " groups of rows, " +
            Twine(rowGroup) + " apart")
        .str();
  return std::nullopt;
}

int64_t SharedLayout::byteOffset(int64_t row, int64_t column,
                                 unsigned elementBytes) const {
  int64_t byte = column * elementBytes;
  if (swizzleBytes == 0)
    return row * (rowGroup / 8) + byte;
  // The number of a 16-byte unit takes on the number of the 128 bytes that it
  // lies in: narrower modes have several rows in these.
  int64_t inAtom = row % 8 * swizzleBytes + byte % swizzleBytes;
  int64_t unit = inAtom >> 7;
  return row / 8 * rowGroup + byte / swizzleBytes * chunk +
         (inAtom ^ unit << 4);
}

int64_t SharedLayout::tileBytes(ArrayRef<int64_t> shape,
                                unsigned elementBytes) const {
  int64_t rows = shape[0], rowBytes = shape[1] * elementBytes;
  if (swizzleBytes == 0)
    return (rows - 1) * (rowGroup / 8) + rowBytes;
  return (llvm::divideCeil(rows, 8) - 1) * rowGroup +
         (llvm::divideCeil(rowBytes, swizzleBytes) - 1) * chunk +
         8 * int64_t(swizzleBytes);
}

std::optional<int64_t> SharedLayout::windowOffset(int64_t row, int64_t column,
                                                  unsigned elementBytes) const {
  int64_t byte = column * elementBytes;
  if (swizzleBytes == 0)
    return byteOffset(row, column, elementBytes);
  if (row % 8 != 0 || byte % swizzleBytes != 0)
    return std::nullopt;
  return byteOffset(row, column, elementBytes);
}
