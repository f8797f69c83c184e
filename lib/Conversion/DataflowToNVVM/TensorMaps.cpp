//===- TensorMaps.cpp - Tensor maps of a kernel ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where they lie, and how the module describes them to whoever makes them.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/StreamLowering.h"

#include "dfrt/KernelABI.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::df;

using Spec = dfrt::TensorMapSpec;

uint64_t mlir::df::placeMaps(const dfrt::Program &program) {
  // A descriptor has two addresses, an offset, and a size and a stride for each
  // dimension, in words of 64 bits.
  uint64_t offset = DFRT_KERNEL_ARGUMENTS;
  for (const dfrt::Argument &argument : program.arguments)
    offset += 8 * (3 + 2 * argument.shape.size());
  return llvm::alignTo(offset, 64);
}

Attribute mlir::df::describeMap(Builder &builder, const Spec &map) {
  auto number = [&](StringRef key, uint64_t value) {
    return builder.getNamedAttr(key, builder.getI64IntegerAttr(int64_t(value)));
  };
  SmallVector<Attribute> dimensions;
  for (const Spec::Dimension &d : map.dimensions)
    dimensions.push_back(builder.getDenseI64ArrayAttr(
        {d.first, d.last, d.box, int64_t(d.unit), int64_t(d.limit)}));
  return builder.getDictionaryAttr(
      {number("argument", map.argument),
       number("element", uint64_t(map.element)),
       number("swizzle", uint64_t(map.swizzle)),
       number("promotion", uint64_t(map.promotion)),
       number("fill", uint64_t(map.fill)),
       builder.getNamedAttr("dimensions", builder.getArrayAttr(dimensions))});
}

std::optional<Spec> mlir::df::readMap(Attribute attribute) {
  auto facts = dyn_cast<DictionaryAttr>(attribute);
  auto dimensions = facts ? facts.getAs<ArrayAttr>("dimensions") : ArrayAttr();
  bool complete = dimensions != nullptr;
  auto number = [&](StringRef key) -> uint64_t {
    auto value = complete ? facts.getAs<IntegerAttr>(key) : IntegerAttr();
    complete &= value != nullptr;
    return value ? uint64_t(value.getInt()) : 0;
  };
  Spec map;
  map.argument = uint32_t(number("argument"));
  map.element = dfrt::ElementType(number("element"));
  map.swizzle = Spec::Swizzle(number("swizzle"));
  map.promotion = Spec::Promotion(number("promotion"));
  map.fill = Spec::Fill(number("fill"));
  if (!complete)
    return std::nullopt;
  for (Attribute each : dimensions) {
    auto words = dyn_cast<DenseI64ArrayAttr>(each);
    if (!words || words.size() != 5)
      return std::nullopt;
    map.dimensions.push_back({uint32_t(words[0]), uint32_t(words[1]),
                              uint32_t(words[2]), uint64_t(words[3]),
                              uint64_t(words[4])});
  }
  return map;
}
