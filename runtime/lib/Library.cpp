//===- Library.cpp - The shared library -----------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libdfrt.so is made of the objects of the static library; this file is here
// because a library needs one of its own.
//
//===----------------------------------------------------------------------===//

#include "dfrt/dfrt.h"
