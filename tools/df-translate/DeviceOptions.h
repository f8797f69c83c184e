//===- DeviceOptions.h - Options and environment for devices ----*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_TRANSLATE_DEVICEOPTIONS_H
#define DF_TRANSLATE_DEVICEOPTIONS_H

#include "dataflow/Target/PTX.h"

/// What the command line and the environment say. The options exist from the
/// start of the process; call this after they have been parsed.
mlir::df::DeviceTranslationOptions deviceOptions();

#endif // DF_TRANSLATE_DEVICEOPTIONS_H
