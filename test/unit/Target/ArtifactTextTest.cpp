//===- ArtifactTextTest.cpp - What an artifact holds, as text -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/ArtifactInfo.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;
using dfrt::CodeBlob;

namespace {
CodeBlob blob(CodeBlob::Kind kind, const std::string &text) {
  CodeBlob blob;
  blob.kind = kind;
  blob.target = "sm_90a";
  blob.bytes.assign(text.begin(), text.end());
  return blob;
}

dfrt::Artifact artifact(std::vector<CodeBlob> code) {
  dfrt::Artifact artifact;
  artifact.producer = "test";
  artifact.program.name = "program";
  artifact.code = std::move(code);
  return artifact;
}

std::string write(const dfrt::Artifact &artifact) {
  dfrt::Expected<std::vector<uint8_t>> bytes = dfrt::writeArtifact(artifact);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

struct Printed {
  bool good;
  std::string text, diagnostics;
};

Printed
print(llvm::function_ref<LogicalResult(raw_ostream &, MLIRContext *)> print) {
  MLIRContext context;
  Printed result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    result.diagnostics += diagnostic.str();
  });
  llvm::raw_string_ostream output(result.text);
  result.good = succeeded(print(output, &context));
  return result;
}

Printed printCode(const std::string &bytes, CodeBlob::Kind kind) {
  return print([&](raw_ostream &output, MLIRContext *context) {
    return printArtifactCode(bytes, kind, output, context);
  });
}

Printed printInfo(const std::string &bytes) {
  return print([&](raw_ostream &output, MLIRContext *context) {
    return printArtifactInfo(bytes, output, context);
  });
}
} // namespace

TEST(ArtifactText, PrintsEveryBlobOfAKind) {
  std::string bytes = write(artifact({blob(CodeBlob::Kind::ptx, "one\n"),
                                      blob(CodeBlob::Kind::llvm, "define"),
                                      blob(CodeBlob::Kind::ptx, "two")}));
  Printed ptx = printCode(bytes, CodeBlob::Kind::ptx);
  EXPECT_TRUE(ptx.good) << ptx.diagnostics;
  EXPECT_EQ(ptx.text, "// sm_90a\none\n// sm_90a\ntwo\n");
  Printed llvm = printCode(bytes, CodeBlob::Kind::llvm);
  EXPECT_TRUE(llvm.good) << llvm.diagnostics;
  EXPECT_EQ(llvm.text, "; sm_90a\ndefine\n");
}

TEST(ArtifactText, SaysWhatThereIsInstead) {
  Printed none = printCode(write(artifact({})), CodeBlob::Kind::llvm);
  EXPECT_FALSE(none.good);
  EXPECT_EQ(none.diagnostics,
            "the artifact of 'program' holds no llvm, nor other code");
  Printed others =
      printCode(write(artifact({blob(CodeBlob::Kind::ptx, "text"),
                                blob(CodeBlob::Kind::cubin, "machine code")})),
                CodeBlob::Kind::llvm);
  EXPECT_FALSE(others.good);
  EXPECT_EQ(others.diagnostics,
            "the artifact of 'program' holds no llvm, but ptx, cubin");
  EXPECT_EQ(others.text, "");
  EXPECT_FALSE(printCode("nonsense", CodeBlob::Kind::ptx).good);
}

TEST(ArtifactText, InfoListsKernels) {
  dfrt::Artifact made = artifact({blob(CodeBlob::Kind::cubin, "machine code")});
  made.program.name = "with \"quotes\" {and, brackets]";
  dfrt::Kernel kernel;
  kernel.symbol = "kernel";
  kernel.target = "sm_90a";
  kernel.disciplines = 1;
  kernel.transports = 2;
  kernel.threads = 384;
  kernel.parameterBytes = uint32_t(kernelParameterBytes(made.program, 0));
  kernel.remarks = {"handler 'piece': whole"};
  made.kernels = {kernel};
  Printed info = printInfo(write(made));
  ASSERT_TRUE(info.good) << info.diagnostics;
  for (const char *line :
       {"{\n  \"producer\": \"test\",\n",
        "  \"program\": \"with \\\"quotes\\\" {and, brackets]\",\n",
        "  \"arguments\": [],\n", "\n    {\n      \"symbol\": \"kernel\",\n",
        "\"disciplines\": [\n        \"static\"\n      ],\n",
        "\"threads\": 384,\n", "\"handler 'piece': whole\"", "\n}\n"})
    EXPECT_THAT(info.text, testing::HasSubstr(line));
}

TEST(ArtifactText, InfoOfAnythingElseFails) {
  Printed info = printInfo("nonsense that is not an artifact");
  EXPECT_FALSE(info.good);
  EXPECT_EQ(info.diagnostics, "artifact: file identifier is not 'DFAR'");
}
