//===- SpecializeProgram.cpp - Bind parameters, make shapes static --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the option `params`, substitutes numbers and types, repairs what a
// substituted type makes illegal, and leaves the shapes to ProgramShapes.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "ArgumentExtents.h"
#include "BindExtents.h"
#include "BoundedVariants.h"
#include "ProgramShapes.h"
#include "ScalarFolding.h"
#include "dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::df {
#define GEN_PASS_DEF_SPECIALIZEPROGRAM
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

//===----------------------------------------------------------------------===//
// Values of parameters
//===----------------------------------------------------------------------===//

/// The element type of this name that a plan can name too, or null.
static Type parseElementType(StringRef text, MLIRContext *context) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(text)
      .Case("f64", builder.getF64Type())
      .Case("f32", builder.getF32Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f8E4M3FN", Float8E4M3FNType::get(context))
      .Case("f8E5M2", Float8E5M2Type::get(context))
      .Case("i64", builder.getI64Type())
      .Case("i32", builder.getI32Type())
      .Case("i16", builder.getIntegerType(16))
      .Case("i8", builder.getIntegerType(8))
      .Case("i1", builder.getI1Type())
      .Default(Type());
}

/// The attribute that binds a parameter with this default to `text`; null after
/// an error.
static Attribute parseValue(ProgramOp program, StringRef name, StringRef text,
                            Attribute initial) {
  if (auto number = dyn_cast<IntegerAttr>(initial)) {
    int64_t value = 0;
    if (text.getAsInteger(10, value)) {
      program.emitOpError("parameter '")
          << name << "' is an integer, but is bound to '" << text << "'";
      return nullptr;
    }
    return IntegerAttr::get(number.getType(), value);
  }
  Type before = cast<TypeAttr>(initial).getValue();
  Type type = parseElementType(text, program.getContext());
  if (!type) {
    program.emitOpError("parameter '")
        << name << "' is an element type, but is bound to '" << text << "'";
    return nullptr;
  }
  if (isa<FloatType>(type) != isa<FloatType>(before)) {
    program.emitOpError("parameter '")
        << name << "' stands for " << before << " and cannot be bound to "
        << type << ": one is a float, the other an integer";
    return nullptr;
  }
  return TypeAttr::get(type);
}

/// Values of all parameters in the order of their names; fails after an error.
static FailureOr<SmallVector<NamedAttribute>> bindParams(ProgramOp program,
                                                         StringRef option) {
  SmallVector<NamedAttribute> bound;
  if (DictionaryAttr params = program.getParamsAttr())
    bound.assign(params.begin(), params.end());
  llvm::StringSet<> seen;
  SmallVector<StringRef> entries;
  option.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    StringRef name = entry.split('=').first.trim();
    StringRef text = entry.split('=').second.trim();
    auto it = llvm::find_if(bound, [&](NamedAttribute param) {
      return param.getName().getValue() == name;
    });
    if (it == bound.end()) {
      InFlightDiagnostic diag = program.emitOpError("has no parameter '")
                                << name << "' to bind to '" << text.trim()
                                << "'";
      for (NamedAttribute param : bound)
        diag.attachNote() << "parameter '" << param.getName().getValue()
                          << "' has the default " << param.getValue();
      return diag;
    }
    if (!seen.insert(name).second)
      return program.emitOpError("parameter '") << name << "' is bound twice";
    Attribute value = parseValue(program, name, text, it->getValue());
    if (!value)
      return failure();
    it->setValue(value);
  }
  for (NamedAttribute param : bound)
    if (auto number = dyn_cast<IntegerAttr>(param.getValue());
        number && number.getInt() < 1)
      return program.emitOpError("parameter '")
             << param.getName().getValue()
             << "' is at least 1, but is bound to " << number.getInt();
  return bound;
}

//===----------------------------------------------------------------------===//
// Substitution of types
//===----------------------------------------------------------------------===//

/// Old and new type of each type parameter whose type changes; fails when a
/// default type does not stand for one parameter only.
static FailureOr<DenseMap<Type, Type>>
collectTypes(ProgramOp program, ArrayRef<NamedAttribute> bound) {
  DenseMap<Type, Type> types;
  DenseMap<Type, StringRef> owners;
  for (NamedAttribute param : bound) {
    auto value = dyn_cast<TypeAttr>(param.getValue());
    if (!value)
      continue;
    StringRef name = param.getName().getValue();
    Type before = cast<TypeAttr>(program.getParam(name)).getValue();
    auto [owner, isFirst] = owners.try_emplace(before, name);
    if (!isFirst)
      return program.emitOpError("parameters '")
             << owner->second << "' and '" << name << "' both stand for "
             << before;
    if (before == value.getValue())
      continue;
    // Attributes of ops (positions, segment sizes, flags) have these types.
    if (before.isInteger(1) || before.isInteger(32) || before.isInteger(64))
      return program.emitOpError("parameter '")
             << name << "' stands for " << before
             << ", which cannot be told from the attributes of ops";
    types[before] = value.getValue();
  }
  return types;
}

/// The value in another type; sets `fits` to false when a finite number becomes
/// an infinity or an integer is cut.
static APFloat convert(APFloat value, FloatType type, bool &fits) {
  bool losesInfo = false, finite = value.isFinite();
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  fits &= value.isFinite() || !finite;
  return value;
}
static APInt convert(const APInt &value, Type type, bool &fits) {
  APInt result = value.sextOrTrunc(type.getIntOrFloatBitWidth());
  fits &= result.getSExtValue() == value.getSExtValue();
  return result;
}

/// Replaces types in all ops of the program. Fails when a constant does not
/// fit.
static LogicalResult replaceTypes(ProgramOp program,
                                  const DenseMap<Type, Type> &types) {
  // A replaced attribute is final: its new type may be another's default.
  using Result = std::optional<std::pair<Attribute, WalkResult>>;
  Attribute misfit;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    auto it = types.find(type);
    return it == types.end() ? std::nullopt : std::optional<Type>(it->second);
  });
  replacer.addReplacement([&](FloatAttr attr) -> Result {
    auto it = types.find(attr.getType());
    if (it == types.end())
      return std::nullopt;
    bool fits = true;
    APFloat value = convert(attr.getValue(), cast<FloatType>(it->second), fits);
    misfit = fits ? misfit : attr;
    return std::make_pair(FloatAttr::get(it->second, value),
                          WalkResult::skip());
  });
  replacer.addReplacement([&](IntegerAttr attr) -> Result {
    auto it = types.find(attr.getType());
    if (it == types.end())
      return std::nullopt;
    bool fits = true;
    APInt value = convert(attr.getValue(), it->second, fits);
    misfit = fits ? misfit : attr;
    return std::make_pair(IntegerAttr::get(it->second, value),
                          WalkResult::skip());
  });
  replacer.addReplacement([&](DenseElementsAttr attr) -> Result {
    auto it = types.find(attr.getElementType());
    if (it == types.end())
      return std::nullopt;
    bool fits = true;
    Attribute value;
    if (auto floats = dyn_cast<DenseFPElementsAttr>(attr))
      value = floats.mapValues(it->second, [&](const APFloat &element) {
        return convert(element, cast<FloatType>(it->second), fits)
            .bitcastToAPInt();
      });
    else
      value = cast<DenseIntElementsAttr>(attr).mapValues(
          it->second, [&](const APInt &element) {
            return convert(element, it->second, fits);
          });
    misfit = fits ? misfit : attr;
    return std::make_pair(value, WalkResult::skip());
  });
  replacer.addReplacement([&](DenseResourceElementsAttr attr) -> Result {
    if (types.contains(attr.getType().getElementType()))
      misfit = attr;
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(program, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  if (misfit)
    return program.emitOpError("constant ")
           << misfit << " does not fit the type bound to its parameter";
  return success();
}

/// Drops or turns round a conversion whose types no longer suit it.
static void repairConversion(Operation *op) {
  Value source = op->getOperand(0);
  Type result = op->getResult(0).getType();
  Type from = getElementTypeOrSelf(source.getType());
  Type to = getElementTypeOrSelf(result);
  unsigned before = from.getIntOrFloatBitWidth();
  unsigned after = to.getIntOrFloatBitWidth();
  bool widens = isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op);
  if (from != to && (widens ? before < after : before > after))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value value = source;
  auto withElement = [](Type type, Type element) -> Type {
    if (auto shaped = dyn_cast<ShapedType>(type))
      return shaped.clone(element);
    return element;
  };
  if (from == to) {
    if (source.getType() != result)
      value = tensor::CastOp::create(builder, loc, result, source);
  } else if (isa<IntegerType>(to)) {
    if (before < after)
      value = arith::ExtSIOp::create(builder, loc, result, source);
    else
      value = arith::TruncIOp::create(builder, loc, result, source);
  } else if (before < after) {
    value = arith::ExtFOp::create(builder, loc, result, source);
  } else {
    // Two formats of one width meet in f32.
    if (before == after)
      value = arith::ExtFOp::create(
          builder, loc, withElement(result, builder.getF32Type()), source);
    value = arith::TruncFOp::create(builder, loc, result, value);
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Replaces uses of index parameters by their values.
static LogicalResult replaceParams(ProgramOp program,
                                   ArrayRef<NamedAttribute> bound) {
  auto lookup = [&](Operation *op, StringRef name) -> IntegerAttr {
    for (NamedAttribute param : bound)
      if (param.getName().getValue() == name)
        if (auto number = dyn_cast<IntegerAttr>(param.getValue()))
          return number;
    op->emitOpError("names '") << name << "', which is not an index parameter";
    return nullptr;
  };
  OpBuilder builder(program.getContext());
  WalkResult walked = program.walk([&](Operation *op) -> WalkResult {
    if (auto param = dyn_cast<ParamOp>(op)) {
      IntegerAttr value = lookup(op, param.getParam());
      if (!value)
        return WalkResult::interrupt();
      builder.setInsertionPoint(op);
      Value constant =
          arith::ConstantIndexOp::create(builder, op->getLoc(), value.getInt());
      param.replaceAllUsesWith(constant);
      param.erase();
      return WalkResult::advance();
    }
    return TypeSwitch<Operation *, WalkResult>(op)
        .Case<RangeOp, RangeTilesOp>([&](auto named) -> WalkResult {
          auto name = dyn_cast<StringAttr>(named.getTile());
          if (!name)
            return WalkResult::advance();
          IntegerAttr value = lookup(op, name.getValue());
          if (!value)
            return WalkResult::interrupt();
          named.setTileAttr(builder.getI64IntegerAttr(value.getInt()));
          return WalkResult::advance();
        })
        .Default([](Operation *) { return WalkResult::advance(); });
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct SpecializeProgram
    : public mlir::df::impl::SpecializeProgramBase<SpecializeProgram> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(specialize(getOperation())))
      signalPassFailure();
  }

  LogicalResult specialize(ProgramOp program) {
    FailureOr<SmallVector<NamedAttribute>> bound = bindParams(program, params);
    if (failed(bound))
      return failure();
    FailureOr<DenseMap<Type, Type>> types = collectTypes(program, *bound);
    if (failed(types))
      return failure();
    FailureOr<unsigned> variants = makeBoundedVariants(program, *bound);
    if (failed(variants) || failed(replaceParams(program, *bound)))
      return failure();
    numVariants += *variants;

    std::string summary;
    llvm::raw_string_ostream os(summary);
    for (NamedAttribute param : *bound) {
      os << (summary.empty() ? "" : ", ") << param.getName().getValue()
         << " = ";
      if (auto number = dyn_cast<IntegerAttr>(param.getValue()))
        os << number.getInt();
      else
        os << param.getValue();
    }
    if (!types->empty()) {
      if (failed(replaceTypes(program, *types)))
        return failure();
      SmallVector<Operation *> conversions;
      program.walk([&](Operation *op) {
        if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
                arith::TruncIOp>(op))
          conversions.push_back(op);
      });
      llvm::for_each(conversions, repairConversion);
    }
    if (!bound->empty())
      program->setAttr("dataflow.bound_params",
                       DictionaryAttr::get(&getContext(), *bound));
    if (failed(bindExtents(program, *bound)))
      return failure();
    program.removeParamsAttr();
    numBoundParams += bound->size();

    // Extents and lengths that are computed from parameters.
    SmallVector<Operation *> scalars;
    for (Operation &op : program.getBody().front())
      scalars.push_back(&op);
    foldScalars(scalars);

    FailureOr<unsigned> refined = refineProgramShapes(program);
    if (failed(refined))
      return failure();
    numRefinedTypes += *refined;
    // Then extents of arguments follow, and from them shapes again.
    if (unsigned arguments = refineArgumentTypes(program)) {
      refined = refineProgramShapes(program);
      if (failed(refined))
        return failure();
      numRefinedTypes += arguments + *refined;
    }
    remark::passed(program.getLoc(),
                   remark::RemarkOpts::name("specialize-program")
                       .category("dataflow")
                       .function(program.getSymName()))
        << (summary.empty() ? std::string("no parameters") : "bound " + summary)
        << remark::metric("RefinedTypes", *refined);
    return success();
  }
};

} // namespace
