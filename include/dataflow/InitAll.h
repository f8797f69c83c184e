//===- InitAll.h ------------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers everything of this project, and the upstream parts that it works
// with. Tools call all of it; an embedder may call what it needs. Each function
// may be called once in a process.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_INITALL_H
#define DATAFLOW_INITALL_H

namespace mlir {
class DialectRegistry;

namespace df {

/// The dataflow dialect and the upstream dialects of handler bodies and of what
/// they are lowered to. Without it nothing parses.
void registerAllDialects(DialectRegistry &registry);

/// External models: `func.func` as handler, bufferization of the upstream
/// dialects, translation to LLVM IR. Without it passes fail on ops that lack an
/// interface.
void registerAllExtensions(DialectRegistry &registry);

/// This project's passes and pipelines, and the upstream passes that are useful
/// on its files.
void registerAllPasses();

/// The translations of df-translate.
void registerAllTranslations();

} // namespace df
} // namespace mlir

#endif // DATAFLOW_INITALL_H
