//===- AttachTopology.cpp - Say on which device a program is planned ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options, or what was measured on a chip, as the attribute
// `dataflow.topology`.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/Remarks.h"

namespace mlir::df {
#define GEN_PASS_DEF_ATTACHTOPOLOGY
#include "dataflow/Transforms/Passes.h.inc"
} // namespace mlir::df

using namespace mlir;
using namespace mlir::df;

namespace {

/// What a chip holds with one CTA an SM.
struct Chip {
  const char *name;
  uint64_t sharedBytes;
  /// CTAs resident at once in clusters of 1, 2, 4, 8 and 16: whole clusters
  /// have to fit into one processing cluster of SMs.
  uint32_t residentCtas[5];
};

} // namespace

// Measured with the occupancy query and resident kernels. Parts of one name can
// differ in which SMs are fused off; the runtime asks the device again.
static constexpr Chip kChips[] = {
    {"h200", 232448, {132, 132, 120, 120, 112}},
};

namespace {

struct AttachTopology
    : public mlir::df::impl::AttachTopologyBase<AttachTopology> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<dfrt::Topology> topology = resolve(getOperation());
    if (failed(topology))
      return signalPassFailure();
    auto attr = TopologyAttr::get(&getContext(), *topology);
    getOperation()->setAttr("dataflow.topology", attr);
    ++numTopologies;
    remark::passed(getOperation().getLoc(),
                   remark::RemarkOpts::name("attach-topology")
                       .category("dataflow")
                       .function(getOperation().getSymName()))
        << "plans for this topology" << remark::metric("Ctas", topology->ctas)
        << remark::metric("ClusterSize", topology->clusterSize)
        << remark::metric("SlotBytes", topology->slotBytes());
  }

  FailureOr<dfrt::Topology> resolve(ProgramOp program) {
    dfrt::Topology topology;
    topology.clusterSize = clusterSize;
    topology.reservedBytes = reservedBytes;
    const Chip *known = nullptr;
    if (!chip.empty()) {
      for (const Chip &candidate : kChips)
        if (candidate.name == chip)
          known = &candidate;
      if (!known) {
        InFlightDiagnostic diag = program.emitOpError("chip '")
                                  << chip << "' is not known; known: ";
        llvm::interleaveComma(kChips, diag,
                              [&](const Chip &other) { diag << other.name; });
        return diag;
      }
    }
    topology.ctas = ctas ? ctas : topology.ctas;
    topology.sharedBytes = sharedBytes ? sharedBytes : topology.sharedBytes;
    if (known && llvm::isPowerOf2_32(clusterSize) && clusterSize <= 16) {
      uint32_t resident = known->residentCtas[llvm::Log2_32(clusterSize)];
      if (ctas > resident)
        return program.emitOpError("chip '")
               << chip << "' keeps at most " << resident
               << " CTAs resident in clusters of " << clusterSize << ", but "
               << ctas << " are asked for";
      if (sharedBytes > known->sharedBytes)
        return program.emitOpError("chip '")
               << chip << "' has " << known->sharedBytes
               << " bytes of shared memory a CTA, but " << sharedBytes
               << " are asked for";
      topology.ctas = ctas ? ctas : resident;
      topology.sharedBytes = sharedBytes ? sharedBytes : known->sharedBytes;
    }
    if (dfrt::Status status = dfrt::check(topology); !status)
      return program.emitOpError("cannot have this topology: ")
             << status.message();
    return topology;
  }
};

} // namespace
