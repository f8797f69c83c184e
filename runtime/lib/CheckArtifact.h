//===- CheckArtifact.h - Do code and program fit? ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What readArtifact tests once the tables are read.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_CHECKARTIFACT_H
#define DFRT_LIB_CHECKARTIFACT_H

#include "dataflow/Schedule/Message.h"
#include "dfrt/Artifact.h"

namespace dfrt {

template <typename... Parts>
Status artifactFailure(const Parts &...parts) {
  return failure(StatusCode::invalidFile, "artifact: ", parts...);
}

/// At most one blob of each CPU kind, with every function that the program
/// names.
Status checkCode(const Artifact &artifact);

/// Every number of every kernel is one that a launch can use.
Status checkKernels(const Artifact &artifact);

} // namespace dfrt

#endif // DFRT_LIB_CHECKARTIFACT_H
