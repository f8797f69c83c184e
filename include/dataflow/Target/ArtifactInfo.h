//===- ArtifactInfo.h - What an artifact holds, as JSON ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For people and scripts: names and numbers of the program, sizes of the code,
// kernels, and the texts that machine code was made of.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_ARTIFACTINFO_H
#define DATAFLOW_TARGET_ARTIFACTINFO_H

#include "dfrt/Artifact.h"
#include "mlir/Support/LLVM.h"

namespace mlir {
class MLIRContext;

namespace df {

/// Prints as JSON, indented, what dfrt_artifact_describe says. Fails if
/// `artifact` cannot be read.
LogicalResult printArtifactInfo(StringRef artifact, raw_ostream &output,
                                MLIRContext *context);

/// Prints the blobs of one kind, PTX or LLVM IR, under a comment with the
/// target. Fails if `artifact` cannot be read or, naming the kinds that it
/// holds, has no such blob.
LogicalResult printArtifactCode(StringRef artifact, dfrt::CodeBlob::Kind kind,
                                raw_ostream &output, MLIRContext *context);

/// Registers `--artifact-info`, `--artifact-to-ptx` and `--artifact-to-llvm`.
void registerArtifactInfoTranslations();

} // namespace df
} // namespace mlir

#endif // DATAFLOW_TARGET_ARTIFACTINFO_H
