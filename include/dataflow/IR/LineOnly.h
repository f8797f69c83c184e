//===- LineOnly.h - Where a report belongs, in one line ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_LINEONLY_H
#define DATAFLOW_IR_LINEONLY_H

#include "mlir/IR/Location.h"

namespace mlir::df {

/// `location` without its column, if it is in a file. Tools print the source
/// line under a diagnostic with a column; a report on a whole kernel or program
/// is no better for a line of its text.
inline Location lineOnly(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return FileLineColLoc::get(file.getFilename(), file.getLine(), 0);
  return location;
}

} // namespace mlir::df

#endif // DATAFLOW_IR_LINEONLY_H
