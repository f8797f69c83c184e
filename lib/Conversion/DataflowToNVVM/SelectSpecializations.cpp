//===- SelectSpecializations.cpp - Which kernels a program needs ----------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with everything inside would be larger and start later than one for
// the plans that there are. Requests say which transports a plan may use; the
// discipline is the planner's choice.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Conversion/Passes.h"
#include "dataflow/Transforms/ProgramImport.h"

namespace mlir::df {
#define GEN_PASS_DEF_SELECTSPECIALIZATIONS
#include "dataflow/Conversion/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;
using dfrt::Transport;

static constexpr uint32_t bits(std::initializer_list<Transport> transports) {
  uint32_t result = 0;
  for (Transport each : transports)
    result |= 1u << unsigned(each);
  return result;
}

static constexpr StringLiteral kStatic = "static",
                               kStaticGlobal = "static_global",
                               kTicket = "ticket";

std::vector<KernelSpecialization> df::kernelSpecializations() {
  uint32_t anywhere = bits({Transport::local, Transport::global});
  uint32_t all =
      anywhere | bits({Transport::clusterShared, Transport::multicast});
  return {{kStatic.str(), false, all},
          {kStaticGlobal.str(), false, anywhere},
          {kTicket.str(), true, anywhere}};
}

static StringRef nameOf(const KernelSpecialization &specialization) {
  return specialization.name;
}

FailureOr<std::vector<KernelSpecialization>>
df::kernelSpecializations(ArrayRef<std::string> names, Location loc) {
  std::vector<KernelSpecialization> all = kernelSpecializations(), result;
  for (const std::string &name : names) {
    auto found = llvm::find_if(all, [&](const KernelSpecialization &each) {
      return each.name == name;
    });
    if (found == all.end())
      return emitError(loc, "no kernel specialisation '")
             << name << "', expected static, static_global or ticket";
    if (llvm::is_contained(llvm::map_range(result, nameOf), name))
      return emitError(loc, "kernel specialisation '")
             << name << "' is named twice";
    result.push_back(*found);
  }
  return result;
}

/// Whether the records of a stage can only be handed over through global
/// memory, or within a CTA.
static bool staysOutOfClusters(const dfrt::Stage &stage) {
  if (stage.arity == dfrt::Arity::none ||
      stage.kind == dfrt::StageKind::reshard)
    return true;
  return stage.requests.transport == Transport::local ||
         stage.requests.transport == Transport::global ||
         stage.requests.memory == dfrt::StageRequests::Memory::global ||
         stage.requests.resident;
}

static bool asksForClusters(const dfrt::Stage &stage) {
  return stage.requests.transport == Transport::clusterShared ||
         stage.requests.transport == Transport::multicast;
}

FailureOr<std::vector<KernelSpecialization>>
df::selectSpecializations(ProgramOp program) {
  std::vector<std::string> names;
  if (Attribute given = program->getAttr(kSpecializationsAttrName)) {
    auto list = dyn_cast<ArrayAttr>(given);
    if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return program.emitError("'")
             << kSpecializationsAttrName << "' must be a list of names, got "
             << given;
    for (auto name : list.getAsRange<StringAttr>())
      names.push_back(name.getValue().str());
    return kernelSpecializations(names, program.getLoc());
  }
  FailureOr<dfrt::Program> planned = importProgram(program);
  if (failed(planned))
    return failure();
  bool clusters = !llvm::all_of(planned->stages, staysOutOfClusters);
  names.push_back((clusters ? kStatic : kStaticGlobal).str());
  // Draws hand nothing over into another CTA's shared memory.
  if (llvm::none_of(planned->stages, asksForClusters))
    names.push_back(kTicket.str());
  return kernelSpecializations(names, program.getLoc());
}

namespace {
struct SelectSpecializations
    : df::impl::SelectSpecializationsBase<SelectSpecializations> {
  using SelectSpecializationsBase::SelectSpecializationsBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::vector<std::string> given(only.begin(), only.end());
    FailureOr<std::vector<KernelSpecialization>> chosen =
        given.empty() ? selectSpecializations(program)
                      : kernelSpecializations(given, program.getLoc());
    if (failed(chosen))
      return signalPassFailure();
    SmallVector<StringRef> names;
    for (const KernelSpecialization &each : *chosen)
      names.push_back(each.name);
    program->setAttr(kSpecializationsAttrName,
                     Builder(&getContext()).getStrArrayAttr(names));
  }
};
} // namespace
