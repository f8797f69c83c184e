//===- PTXText.h - What is in a PTX text ------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Just enough of the grammar to say which function holds an instruction.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_PTX_PTXTEXT_H
#define DATAFLOW_TARGET_PTX_PTXTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir::df {

struct PTXFunction {
  std::string name;
  bool kernel = false;
  /// Declared `.extern`: it has no body.
  bool external = false;
  bool traps = false;
  bool usesSetmaxnreg = false;
};

/// The functions of `text`, in order.
std::vector<PTXFunction> scanPTX(llvm::StringRef text);

/// The kernels of `text` that hold a setmaxnreg.
std::vector<std::string> kernelsWithSetmaxnreg(llvm::StringRef text);

} // namespace mlir::df

#endif // DATAFLOW_TARGET_PTX_PTXTEXT_H
