//===- Calls.cpp - Handler functions compiled and called ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Engine.h"
#include "Rings.h"
#include "dataflow/Transforms/ProgramImport.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace conversiontest;
using dfrt::ElementType;
using mlir::df::HandlerFunction;
using mlir::df::HandlerFunctionInfo;
using mlir::df::HandlerTarget;

Code::~Code() = default;

std::unique_ptr<Code>
Code::compile(const std::vector<HandlerFunction> &functions,
              HandlerTarget target, mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  auto infos = mlir::df::convertHandlersToLLVM(functions, target, *module);
  if (mlir::failed(infos))
    return nullptr;
  for (const HandlerFunctionInfo &info : *infos) {
    auto op = module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(info.symbol);
    op.setLinkage(mlir::LLVM::Linkage::External);
    op.setAlwaysInline(false);
  }
  std::unique_ptr<Code> code(new Code);
  code->engine = makeEngine(*module, {{"dfk_thread", dfk_thread},
                                      {"dfk_threads", dfk_threads},
                                      {"dfk_sync", dfk_sync},
                                      {"dfk_lane", dfk_lane},
                                      {"dfk_take", dfk_take},
                                      {"dfk_give", dfk_give},
                                      {"dfk_fill_begin", dfk_fill_begin},
                                      {"dfk_fill_run", dfk_fill_run},
                                      {"dfk_fill_run_keep", dfk_fill_run_keep},
                                      {"dfk_fill_end", dfk_fill_end}});
  if (!code->engine)
    return nullptr;
  code->infos = std::move(*infos);
  return code;
}

Code::Function Code::find(const std::string &symbol) const {
  auto address = engine->lookup(symbol);
  if (!address) {
    ADD_FAILURE() << llvm::toString(address.takeError());
    return nullptr;
  }
  return reinterpret_cast<Function>(*address);
}

const HandlerFunctionInfo &Code::info(const std::string &symbol) const {
  for (const HandlerFunctionInfo &info : infos)
    if (info.symbol == symbol)
      return info;
  static HandlerFunctionInfo none;
  ADD_FAILURE() << "no function " << symbol;
  return none;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics *semantics(ElementType element) {
  switch (element) {
  case ElementType::f64:
    return &llvm::APFloat::IEEEdouble();
  case ElementType::f32:
    return &llvm::APFloat::IEEEsingle();
  case ElementType::f16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::bf16:
    return &llvm::APFloat::BFloat();
  case ElementType::f8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementType::f8E5M2:
    return &llvm::APFloat::Float8E5M2();
  default:
    return nullptr;
  }
}

static double read(const uint8_t *from, ElementType element) {
  uint64_t bits = 0;
  unsigned bytes = dfrt::elementBytes(element);
  std::memcpy(&bits, from, bytes);
  const llvm::fltSemantics *format = semantics(element);
  if (!format)
    return double(bits);
  bool lossy;
  llvm::APFloat value(*format, llvm::APInt(8 * bytes, bits));
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lossy);
  return value.convertToDouble();
}

void Call::fill(std::vector<uint8_t> &buffer, ElementType element,
                uint64_t offset, uint64_t count) {
  unsigned bytes = dfrt::elementBytes(element);
  const llvm::fltSemantics *format = semantics(element);
  for (uint64_t i = 0; i < count; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint64_t word = random >> 33;
    uint64_t bits =
        element == ElementType::i1 ? word & 1 : word % sizes.integers;
    if (format) {
      // Multiples of 1/8 in [-2, 2): exact in every format but f8E5M2.
      llvm::APFloat value(double(word % 32) / 8 - 2);
      bool lossy;
      value.convert(*format, llvm::APFloat::rmNearestTiesToEven, &lossy);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(&buffer[offset + i * bytes], &bits, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Call
//===----------------------------------------------------------------------===//

void Call::addTensor(mlir::Type type, int64_t dynamic,
                     std::vector<std::vector<uint8_t>> &buffers,
                     std::vector<std::vector<int64_t>> &descriptors) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  ElementType element = *mlir::df::getElementType(tensor);
  std::vector<int64_t> words(3), shape;
  uint64_t count = 1;
  for (int64_t extent : tensor.getShape()) {
    shape.push_back(mlir::ShapedType::isDynamic(extent) ? dynamic : extent);
    count *= shape.back();
  }
  buffers.emplace_back(std::max<uint64_t>(count, 1) *
                       dfrt::elementBytes(element));
  fill(buffers.back(), element, 0, count);
  words.insert(words.end(), shape.begin(), shape.end());
  int64_t stride = 1;
  words.resize(3 + 2 * shape.size());
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    words[3 + shape.size() + i] = stride;
  descriptors.push_back(words);
}

/// Calls `visit` with offset and count of the numbers of each field.
template <typename Visit>
static void forEachField(const dfrt::Record &record, Visit visit) {
  for (const dfrt::Field &field : record.fields) {
    uint64_t count = 1;
    for (int64_t extent : field.shape)
      count *= extent;
    if (field.separable < 0) {
      visit(field, field.offset, count);
      continue;
    }
    for (uint32_t slice = 0; slice < record.slices; ++slice)
      visit(field, record.headBytes + slice * record.sliceBytes + field.offset,
            count / record.slices);
  }
}

Call::Call(const HandlerFunction &function, const Sizes &sizes)
    : function(function), sizes(sizes), indices(sizes.indices) {
  mlir::Block &block = function.body->front();
  indices.resize(function.indices);
  for (unsigned i = 0; i < function.operands; ++i)
    addTensor(block.getArgument(function.indices + i).getType(), sizes.dynamic,
              operands, operandWords);
  stacked = sizes.dynamic;
  for (const HandlerFunction::Input &input : function.inputs) {
    if (input.collected) {
      for (const dfrt::Field &field : input.record.fields) {
        uint64_t count = stacked;
        for (int64_t extent : field.shape)
          count *= extent;
        inputs.emplace_back(count * dfrt::elementBytes(field.element));
        fill(inputs.back(), field.element, 0, count);
      }
      continue;
    }
    inputs.emplace_back(input.record.bytes());
    forEachField(input.record, [&](const dfrt::Field &field, uint64_t offset,
                                   uint64_t count) {
      fill(inputs.back(), field.element, offset, count);
    });
  }
  if (function.output) {
    initial.emplace_back(function.output->bytes(), 0xa5);
    forEachField(*function.output, [&](const dfrt::Field &field,
                                       uint64_t offset, uint64_t count) {
      numbers.push_back({0, field.element, offset, count, field.name});
    });
  }
  unsigned first =
      block.getNumArguments() - function.pointers - function.outputs;
  for (unsigned i = 0; i < function.outputs; ++i) {
    mlir::Type type = block.getArgument(first + i).getType();
    addTensor(type, sizes.dynamic, initial, outputWords);
    ElementType element = *mlir::df::getElementType(type);
    numbers.push_back({initial.size() - 1, element, 0,
                       initial.back().size() / dfrt::elementBytes(element),
                       "output " + std::to_string(i)});
  }
}

void Call::run(const Code &code, unsigned threads, Order order,
               unsigned streams) {
  outputs = initial;
  std::vector<void *> arguments;
  for (int64_t &index : indices)
    arguments.push_back(&index);
  auto addDescriptors = [&](std::vector<std::vector<int64_t>> &words,
                            std::vector<uint8_t> *data) {
    for (std::vector<int64_t> &descriptor : words) {
      descriptor[0] = descriptor[1] =
          reinterpret_cast<int64_t>((data++)->data());
      arguments.push_back(descriptor.data());
    }
  };
  addDescriptors(operandWords, operands.data());
  auto buffer = inputs.begin();
  for (const HandlerFunction::Input &input : function.inputs) {
    if (input.collected) {
      arguments.push_back(&stacked);
      for (size_t i = 0; i < input.record.fields.size(); ++i)
        arguments.push_back((buffer++)->data());
      continue;
    }
    arguments.push_back(buffer->data());
    arguments.push_back(buffer->data() + input.record.headBytes);
    ++buffer;
  }
  if (function.output) {
    arguments.push_back(outputs[0].data());
    arguments.push_back(outputs[0].data() + function.output->headBytes);
  }
  addDescriptors(outputWords,
                 outputs.data() + outputs.size() - outputWords.size());

  // A guard behind the scratch memory shows writes past its end.
  constexpr size_t guard = 64;
  uint64_t bytes = code.info(function.symbol).scratchBytes;
  auto *scratch = static_cast<uint8_t *>(
      std::aligned_alloc(64, (bytes + guard + 63) / 64 * 64));
  std::memset(scratch, 0xff, bytes + guard);
  arguments.push_back(scratch);
  Code::Function callee = code.find(function.symbol);
  ASSERT_TRUE(callee);
  if (threads == 0)
    callee(arguments.data());
  else
    EXPECT_TRUE(runTogether(threads, order,
                            [&] {
                              std::vector<int32_t> counters(streams);
                              std::vector<void *> own = arguments;
                              if (function.pointers)
                                own.push_back(counters.data());
                              // No part reads the kernel's parameter.
                              own.resize(arguments.size() + function.pointers);
                              callee(own.data());
                            }))
        << function.symbol << ": threads disagree on barriers";
  for (size_t i = 0; i < guard; ++i)
    EXPECT_EQ(scratch[bytes + i], 0xff)
        << function.symbol << " overran its scratch";
  std::free(scratch);
}

std::string Call::difference(const std::vector<std::vector<uint8_t>> &expected,
                             double tolerance) const {
  for (const Numbers &run : numbers) {
    const uint8_t *got = &outputs[run.buffer][run.offset];
    const uint8_t *want = &expected[run.buffer][run.offset];
    unsigned bytes = dfrt::elementBytes(run.element);
    double largest = 0;
    for (uint64_t i = 0; i < run.count; ++i)
      if (double value = read(want + i * bytes, run.element);
          std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
    for (uint64_t i = 0; i < run.count; ++i) {
      double a = read(got + i * bytes, run.element);
      double b = read(want + i * bytes, run.element);
      if (a == b || (std::isnan(a) && std::isnan(b)) ||
          std::fabs(a - b) <= tolerance * largest)
        continue;
      return function.symbol + ": " + run.name + "[" + std::to_string(i) +
             "] is " + std::to_string(a) + ", expected " + std::to_string(b);
    }
  }
  return "";
}

void conversiontest::expectEqual(const std::vector<HandlerFunction> &functions,
                                 const std::vector<Sizes> &sizes,
                                 double tolerance, mlir::MLIRContext &context) {
  auto cpu = Code::compile(functions, HandlerTarget::cpu, context);
  auto device = Code::compile(functions, HandlerTarget::device, context);
  ASSERT_TRUE(cpu && device);
  for (size_t i = 0; i < functions.size(); ++i) {
    const HandlerFunction &function = functions[i];
    Call call(function, sizes[i]);
    call.run(*cpu, 0, Order::ascending);
    auto expected = call.results();
    call.run(*device, 1, Order::ascending);
    EXPECT_EQ(call.difference(expected, tolerance), "");
    auto single = call.results();
    for (unsigned threads : {3u, 32u})
      for (Order order :
           {Order::ascending, Order::descending, Order::shuffled}) {
        call.run(*device, threads, order);
        EXPECT_TRUE(call.results() == single)
            << function.symbol << " on " << threads << " threads, order "
            << int(order) << ": " << call.difference(single, 0);
      }
  }
}
