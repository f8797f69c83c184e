//===- Completion.h - Completion of command lines by a shell ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_COMPLETION_H
#define DF_RUN_COMPLETION_H

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace dfrt {

/// What may stand behind an option ("--solver"), where that is a word.
using CompletionWords = std::map<std::string, std::vector<std::string>>;

/// A script for bash, or for zsh, that completes the options of `app`, their
/// words and files.
std::string completionScript(const CLI::App &app, const CompletionWords &words,
                             const std::string &shell);

} // namespace dfrt

#endif // DF_RUN_COMPLETION_H
