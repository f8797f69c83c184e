//===- BindExtents.cpp - Extents that are parameters ----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BindExtents.h"

using namespace mlir;
using namespace mlir::df;

static constexpr llvm::StringLiteral kExtents = "dataflow.extents";

/// The extent that an entry stands for, kDynamic for -1, or none.
static std::optional<int64_t> extentOf(Attribute entry,
                                       ArrayRef<NamedAttribute> bound) {
  if (auto name = dyn_cast<StringAttr>(entry)) {
    for (NamedAttribute param : bound)
      if (param.getName() == name)
        if (auto number = dyn_cast<IntegerAttr>(param.getValue()))
          return number.getInt();
    return std::nullopt;
  }
  auto number = dyn_cast<IntegerAttr>(entry);
  if (!number || number.getInt() < -1)
    return std::nullopt;
  return number.getInt() == -1 ? ShapedType::kDynamic : number.getInt();
}

LogicalResult mlir::df::bindExtents(ProgramOp program,
                                    ArrayRef<NamedAttribute> bound) {
  Attribute attribute = program->getAttr(kExtents);
  if (!attribute)
    return success();
  auto stated = dyn_cast<DictionaryAttr>(attribute);
  if (!stated)
    return program.emitOpError("attribute '")
           << kExtents << "' must be a dictionary";
  for (NamedAttribute entry : stated) {
    StringRef name = entry.getName();
    BlockArgument argument = program.getArgument(name);
    if (!argument)
      return program.emitOpError("'")
             << kExtents << "' names '" << name
             << "', which is no argument of the program";
    auto type = cast<RankedTensorType>(argument.getType());
    auto entries = dyn_cast<ArrayAttr>(entry.getValue());
    if (!entries || int64_t(entries.size()) != type.getRank())
      return program.emitOpError("'")
             << kExtents << "' of argument '" << name << "' must be a list of "
             << type.getRank() << " extents, got " << entry.getValue();
    SmallVector<int64_t> shape(type.getShape());
    for (auto [d, value] : llvm::enumerate(entries)) {
      std::optional<int64_t> extent = extentOf(value, bound);
      if (!extent)
        return program.emitOpError("dimension ")
               << d << " of argument '" << name
               << "' is to be an index parameter, a number or -1, but is "
               << value;
      if (ShapedType::isDynamic(*extent))
        continue;
      if (!ShapedType::isDynamic(shape[d]) && shape[d] != *extent)
        return program.emitOpError("dimension ")
               << d << " of argument '" << name << "' is to be " << *extent
               << ", but its type says " << shape[d];
      shape[d] = *extent;
    }
    argument.setType(type.clone(shape));
  }
  program->removeAttr(kExtents);
  return success();
}
