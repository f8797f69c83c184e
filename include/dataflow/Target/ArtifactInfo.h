//===- ArtifactInfo.h - What an artifact holds, as JSON ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For people and scripts: names and numbers of the program, sizes of the code.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TARGET_ARTIFACTINFO_H
#define DATAFLOW_TARGET_ARTIFACTINFO_H

namespace mlir::df {

/// Registers `--artifact-info`: reads an artifact and prints JSON.
void registerArtifactInfoTranslation();

} // namespace mlir::df

#endif // DATAFLOW_TARGET_ARTIFACTINFO_H
