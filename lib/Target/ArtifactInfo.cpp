//===- ArtifactInfo.cpp - What an artifact holds, as text -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--artifact-info`, `--artifact-to-ptx` and `--artifact-to-llvm`.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/ArtifactInfo.h"

#include "dfrt/dfrt.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Breaks JSON without spaces into lines.
static void indent(StringRef json, raw_ostream &output) {
  unsigned depth = 0;
  bool quoted = false;
  auto newLine = [&] { output << "\n" << std::string(2 * depth, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (quoted) {
      output << c;
      if (c == '\\')
        output << json[++i];
      quoted = c != '"';
      continue;
    }
    bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    quoted = c == '"';
    if (closes && json[i - 1] != '{' && json[i - 1] != '[') {
      --depth;
      newLine();
    } else if (closes) {
      --depth;
    }
    output << c;
    depth += opens;
    char next = i + 1 < json.size() ? json[i + 1] : '\0';
    if (c == ',' || (opens && next != '}' && next != ']'))
      newLine();
    else if (c == ':')
      output << ' ';
  }
  output << "\n";
}

LogicalResult df::printArtifactInfo(StringRef bytes, raw_ostream &output,
                                    MLIRContext *context) {
  auto fail = [&] {
    return emitError(UnknownLoc::get(context)) << dfrt_last_error();
  };
  dfrt_artifact *artifact = nullptr;
  if (dfrt_artifact_load_memory(bytes.data(), bytes.size(), &artifact) !=
      DFRT_OK)
    return fail();
  const char *json = nullptr;
  bool described = dfrt_artifact_describe(artifact, &json) == DFRT_OK;
  if (described)
    indent(json, output);
  dfrt_artifact_release(artifact);
  return described ? success() : LogicalResult(fail());
}

LogicalResult df::printArtifactCode(StringRef bytes, dfrt::CodeBlob::Kind kind,
                                    raw_ostream &output, MLIRContext *context) {
  Location loc = UnknownLoc::get(context);
  dfrt::Expected<dfrt::Artifact> artifact = dfrt::readArtifact(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  if (!artifact)
    return emitError(loc) << artifact.status().message();
  bool any = false;
  for (const dfrt::CodeBlob &blob : artifact->code) {
    if (blob.kind != kind)
      continue;
    any = true;
    output << (kind == dfrt::CodeBlob::Kind::ptx ? "// " : "; ") << blob.target
           << "\n";
    output.write(reinterpret_cast<const char *>(blob.bytes.data()),
                 blob.bytes.size());
    if (blob.bytes.empty() || blob.bytes.back() != '\n')
      output << "\n";
  }
  if (any)
    return success();
  InFlightDiagnostic error = emitError(loc)
                             << "the artifact of '" << artifact->program.name
                             << "' holds no " << dfrt::kindName(kind);
  if (artifact->code.empty())
    return error << ", nor other code";
  error << ", but ";
  llvm::interleaveComma(artifact->code, error, [&](const dfrt::CodeBlob &blob) {
    error << dfrt::kindName(blob.kind);
  });
  return error;
}

void df::registerArtifactInfoTranslations() {
  using Print = LogicalResult (*)(StringRef, raw_ostream &, MLIRContext *);
  auto add = [](StringRef name, StringRef description, Print print) {
    TranslateRegistration(
        name, description,
        [print](const std::shared_ptr<llvm::SourceMgr> &sources,
                raw_ostream &output, MLIRContext *context) -> LogicalResult {
          return print(
              sources->getMemoryBuffer(sources->getMainFileID())->getBuffer(),
              output, context);
        });
  };
  add("artifact-info", "print what an artifact holds as JSON",
      printArtifactInfo);
  add("artifact-to-ptx", "print the PTX that an artifact holds",
      [](StringRef bytes, raw_ostream &output, MLIRContext *context) {
        return printArtifactCode(bytes, dfrt::CodeBlob::Kind::ptx, output,
                                 context);
      });
  add("artifact-to-llvm", "print the LLVM IR that an artifact holds",
      [](StringRef bytes, raw_ostream &output, MLIRContext *context) {
        return printArtifactCode(bytes, dfrt::CodeBlob::Kind::llvm, output,
                                 context);
      });
}
