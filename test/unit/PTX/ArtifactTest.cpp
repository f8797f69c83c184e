//===- ArtifactTest.cpp - The PTX of an artifact --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dfrt/Artifact.h"
#include "dataflow/Target/PTX.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;

static std::string write(std::vector<dfrt::CodeBlob> code) {
  dfrt::Artifact artifact;
  artifact.producer = "test";
  artifact.program.name = "program";
  artifact.code = std::move(code);
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(artifact);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

static dfrt::CodeBlob ptx(const std::string &text) {
  dfrt::CodeBlob blob;
  blob.kind = dfrt::CodeBlob::Kind::ptx;
  blob.target = "sm_90a";
  blob.bytes.assign(text.begin(), text.end());
  return blob;
}

TEST(ArtifactPTX, PrintsEveryBlob) {
  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
  });
  std::string text;
  llvm::raw_string_ostream output(text);
  LogicalResult result = printArtifactPTX(
      write({ptx(".version 8.6 one"), ptx("two")}), output, &context);
  EXPECT_TRUE(succeeded(result)) << diagnostics;
  EXPECT_EQ(text, "// sm_90a\n.version 8.6 one\n// sm_90a\ntwo\n");
}

TEST(ArtifactPTX, SaysThatThereIsNone) {
  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
  });
  std::string text;
  llvm::raw_string_ostream output(text);
  EXPECT_TRUE(failed(printArtifactPTX("nonsense", output, &context)));
  EXPECT_FALSE(diagnostics.empty());
  EXPECT_EQ(text, "");
}
