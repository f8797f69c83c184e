//===- CostAttr.cpp - Constants of the cost model in the IR ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostAttr.h"

#include "SchedulePasses.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::df;

namespace {
struct Constant {
  const char *name;
  double dfrt::CostModel::*member;
};
} // namespace

static constexpr Constant kConstants[] = {
    {"bandwidth", &dfrt::CostModel::bandwidth},
    {"clockGHz", &dfrt::CostModel::clockGHz},
    {"clusterBytesPerCycle", &dfrt::CostModel::clusterBytesPerCycle},
    {"clusterHopCycles", &dfrt::CostModel::clusterHopCycles},
    {"ctaBandwidth", &dfrt::CostModel::ctaBandwidth},
    {"drawNs", &dfrt::CostModel::drawNs},
    {"exitNs", &dfrt::CostModel::exitNs},
    {"flops", &dfrt::CostModel::flops},
    {"globalBytesPerCycle", &dfrt::CostModel::globalBytesPerCycle},
    {"globalHopCycles", &dfrt::CostModel::globalHopCycles},
    {"instructionNs", &dfrt::CostModel::instructionNs},
    {"launchNs", &dfrt::CostModel::launchNs},
    {"recordWeight", &dfrt::CostModel::recordWeight},
    {"startNs", &dfrt::CostModel::startNs},
};
static constexpr StringLiteral kReadRates = "readRates";

DictionaryAttr mlir::df::getCosts(MLIRContext *context,
                                  const dfrt::CostModel &costs) {
  Builder builder(context);
  NamedAttrList members;
  for (const Constant &constant : kConstants)
    members.set(constant.name, builder.getF64FloatAttr(costs.*constant.member));
  SmallVector<double> rates;
  for (const dfrt::ReadRate &rate : costs.readRates)
    rates.append({rate.ctas, rate.bandwidth});
  if (!rates.empty())
    members.set(kReadRates, builder.getDenseF64ArrayAttr(rates));
  return members.getDictionary(context);
}

FailureOr<dfrt::CostModel> mlir::df::importCosts(ProgramOp program) {
  dfrt::CostModel costs;
  Attribute attribute = program->getAttr(kCostsName);
  if (!attribute)
    return costs;
  auto members = dyn_cast<DictionaryAttr>(attribute);
  if (!members)
    return emitProgramError(program)
           << "'" << kCostsName << "' must be a dictionary";
  for (NamedAttribute member : members) {
    StringRef name = member.getName();
    if (name == kReadRates) {
      auto rates = dyn_cast<DenseF64ArrayAttr>(member.getValue());
      if (!rates || rates.size() % 2)
        return emitProgramError(program)
               << "member " << member.getName() << " of '" << kCostsName
               << "' must be array<f64: ...> of pairs, got "
               << member.getValue();
      for (int64_t i = 0; i < rates.size(); i += 2)
        costs.readRates.push_back({rates[i], rates[i + 1]});
      continue;
    }
    const Constant *known = llvm::find_if(
        kConstants, [&](const Constant &c) { return name == c.name; });
    if (known == std::end(kConstants))
      return emitProgramError(program)
             << "member " << member.getName() << " of '" << kCostsName
             << "' is not known";
    auto value = dyn_cast<FloatAttr>(member.getValue());
    if (!value || !value.getType().isF64())
      return emitProgramError(program)
             << "member " << member.getName() << " of '" << kCostsName
             << "' must be an f64, got " << member.getValue();
    costs.*known->member = value.getValueAsDouble();
  }
  return costs;
}
