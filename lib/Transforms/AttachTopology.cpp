//===- AttachTopology.cpp - Say on which device a program is planned ------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options, or what was measured on a chip, as the attribute
// `dataflow.topology`; of a device profile also the constants of the cost model
// as `dataflow.costs`.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/Passes.h"

#include "CostAttr.h"

#include "dataflow/IR/Dataflow.h"
#include "dataflow/Schedule/Profile.h"

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
    getOperation()->removeAttr(kCostsName);
    FailureOr<dfrt::Topology> topology =
        profile.empty() ? resolve(getOperation()) : readProfile(getOperation());
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

  /// Topology and costs of a profile.
  FailureOr<dfrt::Topology> readProfile(ProgramOp program) {
    if (!chip.empty())
      return program.emitOpError("has both a chip, '")
             << chip << "', and a profile, '" << profile << "'";
    dfrt::Expected<dfrt::DeviceProfile> read = dfrt::readProfileFile(profile);
    if (!read)
      return program.emitOpError("cannot be planned with this profile: ")
             << read.status().message();
    dfrt::Expected<dfrt::Topology> topology =
        dfrt::topologyOf(*read, clusterSize, ctas, sharedBytes, reservedBytes);
    if (!topology)
      return program.emitOpError("cannot have this topology: ")
             << topology.status().message();
    program->setAttr(kCostsName, getCosts(&getContext(),
                                          dfrt::costModel(*read, clusterSize)));
    return *topology;
  }

  FailureOr<dfrt::Topology> resolve(ProgramOp program) {
    // Copies: an option itself does not print as a number.
    uint32_t askedCtas = ctas, size = clusterSize;
    uint64_t askedBytes = sharedBytes;
    dfrt::Topology topology;
    topology.clusterSize = size;
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
    uint32_t defaultCtas = topology.ctas;
    uint64_t defaultBytes = topology.sharedBytes;
    // An illegal cluster size is left to the check of the topology.
    if (known && llvm::isPowerOf2_32(size) && size <= 16) {
      defaultCtas = known->residentCtas[llvm::Log2_32(size)];
      defaultBytes = known->sharedBytes;
      if (askedCtas > defaultCtas)
        return program.emitOpError("chip '")
               << chip << "' keeps at most " << defaultCtas
               << " CTAs resident in clusters of " << size << ", but "
               << askedCtas << " are asked for";
      if (askedBytes > defaultBytes)
        return program.emitOpError("chip '")
               << chip << "' has " << defaultBytes
               << " bytes of shared memory a CTA, but " << askedBytes
               << " are asked for";
    }
    topology.ctas = askedCtas ? askedCtas : defaultCtas;
    topology.sharedBytes = askedBytes ? askedBytes : defaultBytes;
    if (dfrt::Status status = dfrt::check(topology); !status)
      return program.emitOpError("cannot have this topology: ")
             << status.message();
    return topology;
  }
};

} // namespace
