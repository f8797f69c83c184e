//===- Loaded.cpp - Compiled bodies in this process -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Loaded.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace cputest;

dfrt::Field cputest::field(std::string name, dfrt::ElementType element,
                           std::vector<int64_t> shape, int32_t separable) {
  dfrt::Field result;
  result.name = std::move(name);
  result.element = element;
  result.shape = std::move(shape);
  result.separable = separable;
  return result;
}

dfrt::Record cputest::record(std::vector<dfrt::Field> fields, uint32_t slices) {
  dfrt::Record result;
  result.fields = std::move(fields);
  result.slices = slices;
  dfrt::Status status = dfrt::layoutRecord(result);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

Descriptor::Descriptor(void *data, std::vector<int64_t> shape, int64_t offset) {
  words = {reinterpret_cast<int64_t>(data), reinterpret_cast<int64_t>(data),
           offset};
  words.insert(words.end(), shape.begin(), shape.end());
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  words.insert(words.end(), strides.begin(), strides.end());
}

Source::Source(const std::string &text) {
  mlir::DialectRegistry registry;
  mlir::df::registerCPUTargetDialects(registry);
  context.appendDialectRegistry(registry);
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(errors) << diagnostic << "\n";
  });
  module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(&context));
  EXPECT_TRUE(module) << errors;
}

mlir::df::HandlerFunction Source::function(const std::string &name) {
  mlir::df::HandlerFunction result;
  result.symbol = name;
  auto op = module->lookupSymbol<mlir::func::FuncOp>(name);
  EXPECT_TRUE(op) << name;
  if (op)
    result.body = &op.getBody();
  return result;
}

Library::Library(const dfrt::CodeBlob &blob) : blob(blob) {
  file = memfd_create("code", MFD_CLOEXEC);
  EXPECT_GE(file, 0);
  EXPECT_EQ(write(file, blob.bytes.data(), blob.bytes.size()),
            ssize_t(blob.bytes.size()));
  std::string path = "/proc/self/fd/" + std::to_string(file);
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(handle) << dlerror();
}

Library::~Library() {
  if (handle)
    dlclose(handle);
  close(file);
}

void Library::call(const std::string &symbol, std::vector<void *> arguments) {
  auto *function =
      reinterpret_cast<void (*)(void **)>(dlsym(handle, symbol.c_str()));
  ASSERT_TRUE(function) << symbol;
  uint64_t bytes = 0;
  for (const dfrt::CodeBlob::Function &entry : blob.functions)
    if (entry.symbol == symbol)
      bytes = entry.scratchBytes;
  // A guard behind the scratch memory shows writes past its end.
  constexpr size_t guard = 64;
  auto *scratch = static_cast<uint8_t *>(
      std::aligned_alloc(64, (bytes + guard + 63) / 64 * 64));
  std::memset(scratch, 0xff, bytes + guard);
  arguments.push_back(scratch);
  function(arguments.data());
  for (size_t i = 0; i < guard; ++i)
    EXPECT_EQ(scratch[bytes + i], 0xff) << symbol << " overran its scratch";
  std::free(scratch);
}
