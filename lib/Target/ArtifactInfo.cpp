//===- ArtifactInfo.cpp - What an artifact holds, as JSON -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--artifact-info`: for people and scripts. Names and numbers of the program,
// sizes of the code; not a format to read back.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/ArtifactInfo.h"

#include "dfrt/Artifact.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace {

const char *name(dfrt::StageKind kind) {
  static const char *const names[] = {"map", "reduce", "reshard", "finalize"};
  return names[static_cast<uint8_t>(kind)];
}

const char *name(dfrt::CodeBlob::Kind kind) {
  static const char *const names[] = {"cpu", "cpu-reference", "cubin", "ptx"};
  return names[static_cast<uint8_t>(kind)];
}

void writeShape(llvm::json::OStream &json, ArrayRef<int64_t> shape) {
  json.attributeArray("shape", [&] {
    for (int64_t extent : shape)
      json.value(extent);
  });
}

void writeStage(llvm::json::OStream &json, const dfrt::Stage &stage) {
  json.attribute("name", stage.name);
  json.attribute("kind", name(stage.kind));
  json.attribute("separable", stage.separable);
  json.attributeObject("record", [&] {
    json.attribute("bytes", stage.record.bytes());
    json.attribute("slices", stage.record.slices);
    json.attributeArray("fields", [&] {
      for (const dfrt::Field &field : stage.record.fields)
        json.object([&] {
          json.attribute("name", field.name);
          json.attribute("type", dfrt::elementName(field.element));
          writeShape(json, field.shape);
        });
    });
  });
  json.attributeObject("cost", [&] {
    json.attribute("fixed_bytes", stage.cost.fixedBytes);
    json.attribute("tile_bytes", stage.cost.tileBytes);
    json.attribute("fixed_flops", stage.cost.fixedFlops);
    json.attribute("tile_flops", stage.cost.tileFlops);
  });
  json.attributeArray("variants", [&] {
    for (const dfrt::Variant &variant : stage.variants)
      json.value(variant.symbol);
  });
}

void writeArtifact(llvm::json::OStream &json, const dfrt::Artifact &artifact) {
  const dfrt::Program &program = artifact.program;
  json.object([&] {
    json.attribute("producer", artifact.producer);
    json.attribute("program", program.name);
    json.attribute("fingerprint", llvm::utohexstr(program.fingerprint()));
    json.attributeArray("arguments", [&] {
      for (const dfrt::Argument &argument : program.arguments)
        json.object([&] {
          json.attribute("name", argument.name);
          json.attribute("type", dfrt::elementName(argument.element));
          writeShape(json, argument.shape);
          json.attribute("output", argument.output);
        });
    });
    json.attributeArray("stages", [&] {
      for (const dfrt::Stage &stage : program.stages)
        json.object([&] { writeStage(json, stage); });
    });
    json.attributeArray("code", [&] {
      for (const dfrt::CodeBlob &blob : artifact.code)
        json.object([&] {
          json.attribute("kind", name(blob.kind));
          json.attribute("target", blob.target);
          json.attribute("bytes", static_cast<uint64_t>(blob.bytes.size()));
          json.attribute("functions",
                         static_cast<uint64_t>(blob.functions.size()));
        });
    });
  });
}

} // namespace

void mlir::df::registerArtifactInfoTranslation() {
  TranslateRegistration(
      "artifact-info", "print what an artifact holds as JSON",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &output,
         MLIRContext *context) -> LogicalResult {
        StringRef bytes =
            sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
        dfrt::Expected<dfrt::Artifact> artifact = dfrt::readArtifact(
            reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
        if (!artifact)
          return emitError(UnknownLoc::get(context))
                 << artifact.status().message();
        llvm::json::OStream json(output, /*IndentSize=*/2);
        writeArtifact(json, *artifact);
        output << "\n";
        return success();
      });
}
