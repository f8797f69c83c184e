//===- BoundedVariants.cpp - Handlers for tasks with few elements ---------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clones are made while parameters still have names: which extents of a body
// come from the parameter cannot be told from numbers.
//
//===----------------------------------------------------------------------===//

#include "BoundedVariants.h"

#include "HandlerClones.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::df;

static RangeOp lookupBound(StageOpInterface stage, BoundedAttr request) {
  return cast<RangeOp>(
      SymbolTable::lookupSymbolIn(stage->getParentOp(), request.getRange()));
}

static VariantAttr variantFor(MLIRContext *context, int64_t size) {
  return VariantAttr::get(context, VariantKind::bounded, size);
}

/// The handler with `parameter` bound to `size`, behind its other variants.
static void makeVariant(HandlerOp handler, StringRef parameter, int64_t size) {
  auto clone = cast<HandlerOp>(handler->clone());
  clone.setVariantAttr(variantFor(handler.getContext(), size));
  clone.setVariantOfAttr(FlatSymbolRefAttr::get(handler.getSymNameAttr()));
  clone.setSymName((handler.getSymName() + "_bounded" + Twine(size)).str());
  SmallVector<ParamOp> uses;
  clone.walk([&](ParamOp op) {
    if (op.getParam() == parameter)
      uses.push_back(op);
  });
  for (ParamOp op : uses) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, op.getLoc(), size).getResult());
    op.erase();
  }
  insertVariant(handler, clone);
  remark::passed(handler.getLoc(),
                 remark::RemarkOpts::name("specialize-program")
                     .category("dataflow")
                     .function(handler.getSymName()))
      << ("made variant '" + clone.getSymName().str() + "'");
}

FailureOr<unsigned>
mlir::df::makeBoundedVariants(ProgramOp program,
                              ArrayRef<NamedAttribute> bound) {
  unsigned count = 0;
  DenseMap<Operation *, std::pair<StringAttr, StageOpInterface>> parameters;
  for (StageOpInterface stage : program.getStages()) {
    auto request = stage.getRequest<BoundedAttr>();
    if (!request)
      continue;
    auto parameter =
        dyn_cast<StringAttr>(lookupBound(stage, request).getTile());
    if (!parameter)
      continue; // checkBoundedVariants
    auto handler = dyn_cast<HandlerOp>(stage.lookupHandler().getOperation());
    if (!handler)
      return stage->emitOpError("request 'bounded' needs a handler of the "
                                "dialect, '")
             << stage.lookupHandler().getHandlerName().getValue()
             << "' is foreign";
    auto [it, isNew] = parameters.try_emplace(handler, parameter, stage);
    if (it->second.first != parameter) {
      InFlightDiagnostic diagnostic =
          stage->emitOpError("request 'bounded' is about the parameter '")
          << parameter.getValue() << "' of handler '" << handler.getSymName()
          << "', another stage's about '" << it->second.first.getValue() << "'";
      diagnostic.attachNote(it->second.second->getLoc()) << "the other stage";
      return diagnostic;
    }
    int64_t whole = 0;
    for (NamedAttribute param : bound)
      if (param.getName() == parameter)
        if (auto number = dyn_cast<IntegerAttr>(param.getValue()))
          whole = number.getInt();
    for (int64_t size : request.getSizes()) {
      if (size >= whole ||
          findVariant(handler, variantFor(program.getContext(), size)))
        continue;
      makeVariant(handler, parameter, size);
      ++count;
    }
  }
  return count;
}

LogicalResult mlir::df::checkBoundedVariants(StageOpInterface stage) {
  auto request = stage.getRequest<BoundedAttr>();
  if (!request)
    return success();
  int64_t whole = lookupBound(stage, request).getStaticTile().value_or(0);
  for (int64_t size : request.getSizes())
    if (size < whole && !findVariant(stage.lookupHandler(),
                                     variantFor(stage->getContext(), size)))
      return stage->emitOpError("request 'bounded' needs a variant of '")
             << stage.lookupHandler().getHandlerName().getValue()
             << "' for at most " << size << " elements of range '"
             << request.getRange().getValue()
             << "'; dataflow-specialize-program makes it of a range whose tile "
                "is a parameter";
  return success();
}
