//===- TransportTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which routes each transport takes, and how one of another dialect joins in.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;

namespace {

/// Any attribute of another dialect can be a transport.
struct Carrier
    : public TransportAttrInterface::ExternalModel<Carrier, StringAttr> {
  StringRef getTransportName(Attribute) const { return "carrier"; }
  LogicalResult verifyRoute(Attribute, const dfrt::Topology &, uint32_t,
                            ArrayRef<uint32_t>,
                            llvm::function_ref<InFlightDiagnostic()>) const {
    return success();
  }
  bool needsBarrier(Attribute) const { return false; }
  bool needsFlag(Attribute) const { return true; }
};

class Transports : public testing::Test {
protected:
  Transports() {
    context.loadDialect<DataflowDialect>();
    topology.ctas = 8;
    topology.clusterSize = 2;
  }

  /// What the transport says of a route: "" if it is legal.
  std::string route(TransportAttrInterface transport, uint32_t source,
                    ArrayRef<uint32_t> destinations) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    LogicalResult result =
        transport.verifyRoute(topology, source, destinations, [&] {
          return emitError(UnknownLoc::get(&context));
        });
    EXPECT_EQ(succeeded(result), message.empty());
    return message;
  }

  MLIRContext context;
  dfrt::Topology topology;
};

TEST_F(Transports, LocalStaysOnTheCta) {
  auto local = LocalAttr::get(&context);
  EXPECT_EQ(route(local, 3, {3}), "");
  EXPECT_EQ(route(local, 3, {2}), "local stays on one cta, but the source is "
                                  "on cta 3 and the destination on cta 2");
  EXPECT_EQ(route(local, 3, {3, 3}), "local has one destination, got 2");
}

TEST_F(Transports, ClusterSharedStaysInTheCluster) {
  auto shared = ClusterSharedAttr::get(&context);
  EXPECT_EQ(route(shared, 3, {2}), "");
  EXPECT_EQ(route(shared, 3, {4}),
            "cluster_shared stays within a cluster, but cta 3 is in cluster 1 "
            "and cta 4 in cluster 2");
  EXPECT_EQ(route(shared, 3, {}), "cluster_shared has one destination, got 0");
}

TEST_F(Transports, GlobalReachesEveryCta) {
  EXPECT_EQ(route(GlobalAttr::get(&context), 0, {7}), "");
}

TEST_F(Transports, MulticastReachesOneCluster) {
  auto multicast = MulticastAttr::get(&context);
  EXPECT_EQ(route(multicast, 0, {4, 5}), "");
  EXPECT_EQ(route(multicast, 0, {5, 6}),
            "multicast stays within a cluster, but cta 5 is in cluster 2 and "
            "cta 6 in cluster 3");
  EXPECT_EQ(route(multicast, 0, {}), "multicast has no destination");
}

TEST_F(Transports, ArriveOnABarrierOrAFlag) {
  EXPECT_TRUE(ClusterSharedAttr::get(&context).needsBarrier());
  EXPECT_TRUE(MulticastAttr::get(&context).needsBarrier());
  EXPECT_FALSE(GlobalAttr::get(&context).needsBarrier());
  EXPECT_TRUE(GlobalAttr::get(&context).needsFlag());
  EXPECT_FALSE(LocalAttr::get(&context).needsFlag());
}

TEST_F(Transports, AreThePlanners) {
  for (auto transport : {dfrt::Transport::automatic, dfrt::Transport::local,
                         dfrt::Transport::clusterShared,
                         dfrt::Transport::global, dfrt::Transport::multicast})
    EXPECT_EQ(getTransport(getTransportAttr(&context, transport)), transport);
  EXPECT_EQ(getTransport(StringAttr::get(&context, "x")), std::nullopt);
}

TEST_F(Transports, OfOtherDialectsAreAccepted) {
  const char *text = R"(
    dataflow.schedule @s of @p on #dataflow.topology<ctas = 1> static
        solver "hand" attributes {fingerprint = 0 : i64,
        stages = [#dataflow.stage_info<name = "a", kind = map>]} {
      dataflow.slot @s0 of "a"
      dataflow.queue cta 0 {
        dataflow.instruction "a" task 0 outs [@s0]
        dataflow.transfer @s0 to [@s0] via "carrier"
      }
    })";
  {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    EXPECT_FALSE(parseSourceString<ModuleOp>(text, &context));
  }
  StringAttr::attachInterface<Carrier>(context);
  EXPECT_TRUE(parseSourceString<ModuleOp>(text, &context));
}

TEST_F(Transports, TopologyIsThePlanners) {
  auto attribute = TopologyAttr::get(&context, topology);
  EXPECT_EQ(attribute.getTopology().ctas, 8u);
  EXPECT_EQ(attribute.getTopology().clusterSize, 2u);
  EXPECT_EQ(attribute.getTopology().sharedBytes, topology.sharedBytes);
  EXPECT_EQ(attribute.getTopology().reservedBytes, topology.reservedBytes);
}

} // namespace
