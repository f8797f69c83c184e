//===- BindInputs.cpp - Shapes and values of one batch --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the option `values` and writes the attribute `dataflow.inputs`.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace mlir::df {
#define GEN_PASS_DEF_BINDINPUTS
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

/// One entry of the option: `name[shape]=values`.
struct Entry {
  StringRef name;
  std::optional<SmallVector<int64_t>> shape;
  std::optional<SmallVector<int64_t>> values;
};

} // namespace

/// Reads integers between separators; nothing for an empty text.
static LogicalResult parseIntegers(ProgramOp program, StringRef name,
                                   StringRef what, StringRef text,
                                   char separator,
                                   SmallVector<int64_t> &result) {
  if (text.trim().empty())
    return success();
  SmallVector<StringRef> pieces;
  text.split(pieces, separator);
  for (StringRef piece : pieces) {
    int64_t value = 0;
    if (piece.trim().getAsInteger(10, value))
      return program.emitOpError("argument '")
             << name << "' has a " << what << " '" << piece.trim()
             << "' that is not a number";
    result.push_back(value);
  }
  return success();
}

static FailureOr<Entry> parseEntry(ProgramOp program, StringRef text) {
  Entry entry;
  auto [head, values] = text.split('=');
  bool hasValues = head.size() != text.size();
  StringRef shape;
  std::tie(entry.name, shape) = head.trim().split('[');
  entry.name = entry.name.trim();
  if (head.contains('[')) {
    if (!shape.consume_back("]"))
      return program.emitOpError("input '")
             << text << "' has a shape without ']'";
    entry.shape.emplace();
    if (failed(parseIntegers(program, entry.name, "dimension", shape, 'x',
                             *entry.shape)))
      return failure();
  } else if (!hasValues) {
    return program.emitOpError("input '")
           << text << "' has neither a shape nor values";
  }
  if (hasValues) {
    entry.values.emplace();
    if (failed(parseIntegers(program, entry.name, "value", values, ',',
                             *entry.values)))
      return failure();
  }
  return entry;
}

/// Tests an entry against the argument that it names and makes its attribute.
static FailureOr<Attribute> bindEntry(ProgramOp program, Entry &entry) {
  BlockArgument argument = program.getArgument(entry.name);
  if (!argument) {
    InFlightDiagnostic diag = program.emitOpError("has no argument '")
                              << entry.name << "'; its arguments are ";
    llvm::interleaveComma(
        program.getArguments(), diag,
        [&](BlockArgument other) { diag << program.getArgumentName(other); });
    return diag;
  }
  auto type = cast<RankedTensorType>(argument.getType());
  auto fail = [&]() {
    return program.emitOpError("argument '")
           << entry.name << "' of type " << type;
  };
  if (entry.values && !type.getElementType().isInteger())
    return fail() << " holds no integers, but is given " << entry.values->size()
                  << " values";
  if (!entry.shape) {
    if (type.getRank() > 1)
      return fail() << " needs a shape, as in " << entry.name << "[2x3]=...";
    entry.shape.emplace();
    if (type.getRank() == 1)
      entry.shape->push_back(entry.values->size());
  }
  if (static_cast<int64_t>(entry.shape->size()) != type.getRank())
    return fail() << " has rank " << type.getRank()
                  << ", but is given a shape of "
                  << "rank " << entry.shape->size();
  int64_t elements = 1;
  for (auto [dim, given] : llvm::enumerate(*entry.shape)) {
    if (given < 0)
      return fail() << " is given " << given << " as dimension " << dim;
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) != given)
      return fail() << " has " << type.getDimSize(dim) << " as dimension "
                    << dim << ", but is given " << given;
    if (llvm::MulOverflow(elements, given, elements))
      return fail() << " is given a shape of more than 2^63 - 1 elements";
  }
  MLIRContext *context = program.getContext();
  if (!entry.values)
    return Attribute(DenseI64ArrayAttr::get(context, *entry.shape));
  if (static_cast<int64_t>(entry.values->size()) != elements)
    return fail() << " has " << elements << " elements, but is given "
                  << entry.values->size() << " values";
  // Signed, as the runtime reads tensors; an i1 is 0 or 1.
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  for (int64_t value : *entry.values)
    if (width == 1 ? value != 0 && value != 1 : !llvm::isIntN(width, value))
      return fail() << " cannot hold the value " << value;
  auto shaped =
      RankedTensorType::get(*entry.shape, IntegerType::get(context, 64));
  return Attribute(DenseIntElementsAttr::get(shaped, *entry.values));
}

namespace {

struct BindInputs : public mlir::df::impl::BindInputsBase<BindInputs> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(bind(getOperation())))
      signalPassFailure();
  }

  LogicalResult bind(ProgramOp program) {
    NamedAttrList inputs;
    if (auto before = program->getAttrOfType<DictionaryAttr>("dataflow.inputs"))
      inputs = NamedAttrList(before);
    SmallVector<StringRef> pieces;
    StringRef(values).split(pieces, ';', -1, /*KeepEmpty=*/false);
    llvm::StringSet<> seen;
    for (StringRef piece : pieces) {
      FailureOr<Entry> entry = parseEntry(program, piece.trim());
      if (failed(entry))
        return failure();
      if (!seen.insert(entry->name).second)
        return program.emitOpError("argument '")
               << entry->name << "' is given twice";
      FailureOr<Attribute> attr = bindEntry(program, *entry);
      if (failed(attr))
        return failure();
      inputs.set(entry->name, *attr);
      ++numBoundInputs;
    }
    program->setAttr("dataflow.inputs", inputs.getDictionary(&getContext()));
    remark::passed(program.getLoc(), remark::RemarkOpts::name("bind-inputs")
                                         .category("dataflow")
                                         .function(program.getSymName()))
        << "bound inputs" << remark::metric("Arguments", seen.size());
    return success();
  }
};

} // namespace
