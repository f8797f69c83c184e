//===- DataflowAttrs.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "AttrFormat.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::df;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

#define GET_ATTRDEF_CLASSES
#include "dataflow/IR/DataflowAttrs.cpp.inc"

#include "dataflow/IR/DataflowAttrInterfaces.cpp.inc"

void DataflowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dataflow/IR/DataflowAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Topology, variant, stage_info
//===----------------------------------------------------------------------===//

LogicalResult TopologyAttr::verify(EmitError emitError, uint32_t ctas,
                                   uint32_t clusterSize, uint64_t sharedBytes,
                                   uint64_t reservedBytes) {
  // C1
  if (ctas == 0 || ctas > 65536)
    return emitError() << "ctas must be 1 to 65536, got " << ctas;
  // C2
  if (clusterSize == 0 || clusterSize > 16 || (clusterSize & (clusterSize - 1)))
    return emitError() << "cluster_size must be 1, 2, 4, 8 or 16, got "
                       << clusterSize;
  if (ctas % clusterSize)
    return emitError() << "cluster_size " << clusterSize
                       << " does not divide ctas, " << ctas;
  // C3
  if (reservedBytes > sharedBytes)
    return emitError() << "reserved_bytes, " << reservedBytes
                       << ", exceeds shared_bytes, " << sharedBytes;
  return success();
}

TopologyAttr TopologyAttr::get(MLIRContext *context,
                               const dfrt::Topology &topology) {
  return get(context, topology.ctas, topology.clusterSize, topology.sharedBytes,
             topology.reservedBytes);
}

dfrt::Topology TopologyAttr::getTopology() const {
  dfrt::Topology topology;
  topology.ctas = getCtas();
  topology.clusterSize = getClusterSize();
  topology.sharedBytes = getSharedBytes();
  topology.reservedBytes = getReservedBytes();
  return topology;
}

LogicalResult VariantAttr::verify(EmitError emitError, VariantKind kind,
                                  int64_t value) {
  // C1
  bool counted = kind == VariantKind::tiles || kind == VariantKind::exact ||
                 kind == VariantKind::bounded;
  if (counted && value < 1)
    return emitError() << "variant " << stringifyVariantKind(kind)
                       << " needs a value of at least 1, got " << value;
  if (!counted && value != 0)
    return emitError() << "variant " << stringifyVariantKind(kind)
                       << " takes no value, got " << value;
  return success();
}

LogicalResult StageInfoAttr::verify(EmitError emitError, StringRef name,
                                    StageKind, uint64_t, uint64_t,
                                    uint32_t slices) {
  // C1
  if (name.empty())
    return emitError() << "stage_info has an empty name";
  // C2
  if (slices == 0)
    return emitError() << "stage_info of \"" << name
                       << "\" needs at least 1 slice, got 0";
  return success();
}

//===----------------------------------------------------------------------===//
// Transports
//===----------------------------------------------------------------------===//

std::optional<dfrt::Transport> mlir::df::getTransport(Attribute transport) {
  if (!transport)
    return dfrt::Transport::automatic;
  if (isa<LocalAttr>(transport))
    return dfrt::Transport::local;
  if (isa<ClusterSharedAttr>(transport))
    return dfrt::Transport::clusterShared;
  if (isa<GlobalAttr>(transport))
    return dfrt::Transport::global;
  if (isa<MulticastAttr>(transport))
    return dfrt::Transport::multicast;
  return std::nullopt;
}

TransportAttrInterface mlir::df::getTransportAttr(MLIRContext *context,
                                                  dfrt::Transport transport) {
  switch (transport) {
  case dfrt::Transport::automatic:
    return nullptr;
  case dfrt::Transport::local:
    return LocalAttr::get(context);
  case dfrt::Transport::clusterShared:
    return ClusterSharedAttr::get(context);
  case dfrt::Transport::global:
    return GlobalAttr::get(context);
  case dfrt::Transport::multicast:
    return MulticastAttr::get(context);
  }
  return nullptr;
}

/// Fails unless there is exactly one destination.
static LogicalResult verifyOneDestination(StringRef transport,
                                          ArrayRef<uint32_t> destinations,
                                          EmitError emitError) {
  if (destinations.size() == 1)
    return success();
  return emitError() << transport << " has one destination, got "
                     << destinations.size();
}

/// Fails unless all destinations are in the source's cluster.
static LogicalResult verifyOneCluster(StringRef transport,
                                      const dfrt::Topology &topology,
                                      uint32_t source,
                                      ArrayRef<uint32_t> destinations,
                                      EmitError emitError) {
  for (uint32_t destination : destinations)
    if (topology.cluster(destination) != topology.cluster(source))
      return emitError() << transport << " stays within a cluster, but cta "
                         << source << " is in cluster "
                         << topology.cluster(source) << " and cta "
                         << destination << " in cluster "
                         << topology.cluster(destination);
  return success();
}

StringRef LocalAttr::getTransportName() const { return getMnemonic(); }
bool LocalAttr::needsBarrier() const { return false; }
bool LocalAttr::needsFlag() const { return false; }
LogicalResult LocalAttr::verifyRoute(const dfrt::Topology &, uint32_t source,
                                     ArrayRef<uint32_t> destinations,
                                     EmitError emitError) const {
  if (failed(verifyOneDestination(getMnemonic(), destinations, emitError)))
    return failure();
  if (destinations[0] != source)
    return emitError() << "local stays on one cta, but the source is on cta "
                       << source << " and the destination on cta "
                       << destinations[0];
  return success();
}

StringRef ClusterSharedAttr::getTransportName() const { return getMnemonic(); }
bool ClusterSharedAttr::needsBarrier() const { return true; }
bool ClusterSharedAttr::needsFlag() const { return false; }
LogicalResult ClusterSharedAttr::verifyRoute(const dfrt::Topology &topology,
                                             uint32_t source,
                                             ArrayRef<uint32_t> destinations,
                                             EmitError emitError) const {
  if (failed(verifyOneDestination(getMnemonic(), destinations, emitError)))
    return failure();
  return verifyOneCluster(getMnemonic(), topology, source, destinations,
                          emitError);
}

StringRef GlobalAttr::getTransportName() const { return getMnemonic(); }
bool GlobalAttr::needsBarrier() const { return false; }
bool GlobalAttr::needsFlag() const { return true; }
LogicalResult GlobalAttr::verifyRoute(const dfrt::Topology &, uint32_t,
                                      ArrayRef<uint32_t> destinations,
                                      EmitError emitError) const {
  return verifyOneDestination(getMnemonic(), destinations, emitError);
}

StringRef MulticastAttr::getTransportName() const { return getMnemonic(); }
bool MulticastAttr::needsBarrier() const { return true; }
bool MulticastAttr::needsFlag() const { return false; }
LogicalResult MulticastAttr::verifyRoute(const dfrt::Topology &topology,
                                         uint32_t,
                                         ArrayRef<uint32_t> destinations,
                                         EmitError emitError) const {
  // The source is in global memory; the receivers share a cluster.
  if (destinations.empty())
    return emitError() << "multicast has no destination";
  return verifyOneCluster(getMnemonic(), topology, destinations[0],
                          destinations, emitError);
}
