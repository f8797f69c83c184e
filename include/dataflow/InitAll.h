//===- InitAll.h ------------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers everything of this project and, with the `All` functions, what
// upstream has to go with it. Tools and plugins call nothing else. Each
// function may be called once in a process.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_INITALL_H
#define DATAFLOW_INITALL_H

#include "dataflow/Target/PTX.h"

#include <functional>
#include <string>

namespace mlir {
class DialectRegistry;

namespace df {

/// This project's dialect and external models (`func.func` as a handler). For
/// processes that have registered the upstream dialects themselves. Without it
/// no program parses.
void registerDataflowDialects(DialectRegistry &registry);

/// This project's passes and pipelines. Without it `--dataflow-...` options are
/// unknown.
void registerDataflowPasses();

/// The above and all upstream dialects: handler bodies are written in some of
/// them and lowered to others.
void registerAllDialects(DialectRegistry &registry);

/// The upstream dialects' external models: bufferization, inlining, translation
/// to LLVM IR. Without it passes fail on ops that lack an interface.
void registerAllExtensions(DialectRegistry &registry);

/// This project's passes and all of upstream.
void registerAllPasses();

/// The translations of df-translate. Without it that tool does nothing.
/// `scheduleName` gives the name of the schedule to pack as a plan; without it,
/// a file may hold only one. `device` gives chip, assembler and cache for the
/// translations to PTX and cubins; without it, they have defaults. Apart from
/// the others, in DataflowTranslations: it needs all targets.
void registerAllTranslations(
    std::function<std::string()> scheduleName = nullptr,
    std::function<DeviceTranslationOptions()> device = nullptr);

} // namespace df
} // namespace mlir

#endif // DATAFLOW_INITALL_H
