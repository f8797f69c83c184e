//===- LaunchTest.cpp - Launch shapes and launches ------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include "dfrt/cuda/Launch.h"

using namespace dfrt;
using namespace dfrt::cuda;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
ShapeRequest request(uint32_t ctas, uint32_t cluster) {
  ShapeRequest request;
  request.wanted.ctas = ctas;
  request.wanted.threads = 128;
  request.wanted.clusterSize = cluster;
  return request;
}

class LaunchTest : public CudaTest {
protected:
  void reopen() {
    device = Device();
    device = take(Device::open(driver));
  }
  /// One CTA, hence a cluster of one.
  void launchOne() {
    Function function = kernel();
    Stream stream = take(Stream::create(device, "stream"));
    EXPECT_OK(launch(function, {1, 128, 1, 0, false}, {}, stream));
  }
};

TEST_F(LaunchTest, Probe) {
  DeviceProbe probe = take(probeDevice(device));
  EXPECT_THAT(probe.residentClusters, ElementsAre(132, 66, 33, 16, 8));
  EXPECT_TRUE(probe.cooperative && probe.cooperativeClusters);
  EXPECT_TRUE(probe.graphs && probe.graphsCooperative);
  EXPECT_THAT(probe.json(), AllOf(HasSubstr("\"16\":8"),
                                  HasSubstr("\"graphs_cooperative\":true")));
  EXPECT_EQ(fake().calls("cuGraphLaunch"), 0);
}

TEST_F(LaunchTest, ProbeFindsLimits) {
  fake().largestCluster = 8;
  fake().cooperativeClusters = 0;
  DeviceProbe probe = take(probeDevice(device));
  EXPECT_THAT(probe.residentClusters, ElementsAre(132, 66, 33, 16, 0));
  EXPECT_FALSE(probe.cooperativeClusters || probe.graphsCooperative);
  EXPECT_TRUE(probe.cooperative && probe.graphs);
  fake().clusters = 0;
  reopen();
  probe = take(probeDevice(device));
  EXPECT_THAT(probe.residentClusters, ElementsAre(132, 0, 0, 0, 0));
}

// Without the attribute a kernel has no cluster to address, not even its own.
TEST_F(LaunchTest, StatesClustersOfOne) {
  launchOne();
  EXPECT_EQ(fake().lastStatesCluster, 1);
}

TEST_F(LaunchTest, StatesNoClusterWhereThereAreNone) {
  fake().clusters = 0;
  reopen();
  launchOne();
  EXPECT_EQ(fake().lastStatesCluster, 0);
}

TEST_F(LaunchTest, LargestClusterThatWorks) {
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  ChosenShape chosen = take(chooseShape(function, probe, request(128, 16)));
  EXPECT_EQ(chosen.shape.clusterSize, 16u);
  EXPECT_TRUE(chosen.refused.empty());
  EXPECT_EQ(chosen.residentCtas, 128u);
}

TEST_F(LaunchTest, FallsBackAndSaysWhy) {
  fake().largestCluster = 4;
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  ChosenShape chosen = take(chooseShape(function, probe, request(64, 16)));
  EXPECT_EQ(chosen.shape.clusterSize, 4u);
  EXPECT_THAT(chosen.refused,
              ElementsAre(HasSubstr("clusters of 16 were refused"),
                          HasSubstr("clusters of 8 were refused")));
  EXPECT_THAT(chosen.text(), AllOf(HasSubstr("64 CTAs"), HasSubstr("of 4"),
                                   HasSubstr("clusters of 16")));
  Stream s = stream();
  EXPECT_OK(launch(function, chosen.shape, {}, s));
  EXPECT_EQ(fake().lastCluster, 4u);
  EXPECT_EQ(fake().lastCtas, 64u);
}

TEST_F(LaunchTest, FallsBackWhenTheAttributeIsRefused) {
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  fake().fail("cuFuncSetAttribute", 1, api::Result::invalidValue);
  ChosenShape chosen = take(chooseShape(function, probe, request(64, 16)));
  EXPECT_EQ(chosen.shape.clusterSize, 8u);
}

TEST_F(LaunchTest, FallsBackToOne) {
  fake().clusters = 0;
  reopen();
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  ChosenShape chosen = take(chooseShape(function, probe, request(64, 16)));
  EXPECT_EQ(chosen.shape.clusterSize, 1u);
  EXPECT_EQ(chosen.refused.size(), 4u);
  ShapeRequest needsPairs = request(64, 16);
  needsPairs.smallestCluster = 2;
  EXPECT_FAILURE(chooseShape(function, probe, needsPairs).status(),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("no launch shape for 64 CTAs"),
                       HasSubstr("clusters of 2 were refused: the device has "
                                 "no clusters")));
}

TEST_F(LaunchTest, ResidencyLimitsTheCluster) {
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  ShapeRequest all = request(132, 4);
  all.resident = true;
  EXPECT_EQ(take(chooseShape(function, probe, all)).shape.clusterSize, 4u);
  all.wanted.ctas = 144;
  EXPECT_FAILURE(chooseShape(function, probe, all).status(),
                 StatusCode::resourceExhausted,
                 HasSubstr("only 132 of 144 CTAs can be resident"));
  ShapeRequest eights = request(132 - 4, 16);
  eights.resident = true;
  EXPECT_EQ(take(chooseShape(function, probe, eights)).shape.clusterSize, 16u);
}

TEST_F(LaunchTest, Cooperation) {
  Function function = kernel();
  DeviceProbe probe = take(probeDevice(device));
  ShapeRequest wanted = request(64, 8);
  wanted.cooperation = Cooperation::preferred;
  ChosenShape chosen = take(chooseShape(function, probe, wanted));
  EXPECT_TRUE(chosen.shape.cooperative);
  EXPECT_EQ(chosen.shape.clusterSize, 8u);
  Stream s = stream();
  EXPECT_OK(launch(function, chosen.shape, {}, s));
  EXPECT_TRUE(fake().lastCooperative);

  fake().cooperativeClusters = 0;
  probe = take(probeDevice(device));
  chosen = take(chooseShape(function, probe, wanted));
  EXPECT_FALSE(chosen.shape.cooperative);
  EXPECT_EQ(chosen.shape.clusterSize, 8u);
  wanted.cooperation = Cooperation::required;
  chosen = take(chooseShape(function, probe, wanted));
  EXPECT_TRUE(chosen.shape.cooperative);
  EXPECT_EQ(chosen.shape.clusterSize, 1u);
  EXPECT_THAT(chosen.refused[0],
              HasSubstr("no cooperative launch with clusters"));
}

TEST_F(LaunchTest, FixedClusterIsNotGivenTwice) {
  DeviceProbe probe = take(probeDevice(device));
  fake().requiredCluster = 2;
  Function function = kernel();
  int before = fake().calls("cuLaunchKernelEx");
  Stream s = stream();
  EXPECT_FAILURE(launch(function, {8, 128, 4, 0, false}, {}, s),
                 StatusCode::invalidArgument,
                 HasSubstr("compiled for clusters of 2"));
  EXPECT_EQ(fake().calls("cuLaunchKernelEx"), before);
  EXPECT_EQ(take(chooseShape(function, probe, request(8, 8))).shape.clusterSize,
            2u);
}

TEST_F(LaunchTest, ShapesThatContradict) {
  Function function = kernel();
  Stream s = stream();
  auto tried = [&](LaunchShape shape) {
    return launch(function, shape, {}, s);
  };
  EXPECT_FAILURE(tried({8, 128, 3, 0, false}), StatusCode::invalidArgument,
                 HasSubstr("1, 2, 4, 8 or 16"));
  EXPECT_FAILURE(tried({8, 128, 32, 0, false}), StatusCode::invalidArgument,
                 HasSubstr("1, 2, 4, 8 or 16"));
  EXPECT_FAILURE(tried({9, 128, 2, 0, false}), StatusCode::invalidArgument,
                 HasSubstr("does not divide"));
  EXPECT_FAILURE(tried({8, 0, 1, 0, false}), StatusCode::invalidArgument,
                 HasSubstr("1 to 1024 threads"));
  EXPECT_FAILURE(tried({8, 2048, 1, 0, false}), StatusCode::invalidArgument,
                 HasSubstr("1 to 1024 threads"));
  EXPECT_EQ(fake().calls("cuLaunchKernelEx"), 0);
}

TEST_F(LaunchTest, NoCtasIsNoLaunch) {
  Function function = kernel();
  EXPECT_OK(launch(function, {0, 128, 1, 0, false}, {}, stream()));
  EXPECT_EQ(fake().calls("cuLaunchKernelEx"), 0);
}

TEST_F(LaunchTest, TooMuchSharedMemory) {
  fake().staticShared = 1024;
  Function function = kernel();
  Stream s = stream();
  EXPECT_OK(launch(function, {1, 128, 1, 232448 - 1024, false}, {}, s));
  EXPECT_EQ(fake().lastShared, 232448u - 1024);
  EXPECT_FAILURE(launch(function, {1, 128, 1, 232448 - 1023, false}, {}, s),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("kernel 'kernel'"),
                       HasSubstr("231425 bytes of dynamic"),
                       HasSubstr("1024 of static"), HasSubstr("232448")));
  // What the driver refuses all the same names the call.
  Function other = kernel("other");
  fake().fail("cuFuncSetAttribute", 1, api::Result::invalidValue);
  EXPECT_FAILURE(launch(other, {1, 128, 1, 60000, false}, {}, s),
                 StatusCode::deviceError,
                 AllOf(HasSubstr("cuFuncSetAttribute failed with "
                                 "CUDA_ERROR_INVALID_VALUE (1)"),
                       HasSubstr("60000")));
  EXPECT_OK(launch(other, {1, 128, 1, 60000, false}, {}, s));
}

TEST_F(LaunchTest, DriverRefusesALaunch) {
  Function function = kernel();
  Stream s = stream("main");
  fake().largestCluster = 8;
  EXPECT_FAILURE(
      launch(function, {16, 128, 16, 0, false}, {}, s), StatusCode::unsupported,
      AllOf(HasSubstr("kernel 'kernel' of code 'code': "
                      "cuLaunchKernelEx failed with "
                      "CUDA_ERROR_INVALID_CLUSTER_SIZE (912)"),
            HasSubstr("16 CTAs of 128 threads in clusters of 16"),
            HasSubstr("stream 'main'"), HasSubstr("choose a smaller cluster")));
  EXPECT_FAILURE(launch(function, {256, 128, 1, 0, true}, {}, s),
                 StatusCode::resourceExhausted,
                 AllOf(HasSubstr("(720)"), HasSubstr("cooperative"),
                       HasSubstr("resident")));
}

TEST_F(LaunchTest, LaunchErrorLosesTheDevice) {
  Function function = kernel();
  Stream s = stream();
  fake().fail("cuLaunchKernelEx", 1, api::Result::launchFailed);
  EXPECT_FALSE(launch(function, {1, 128, 1, 0, false}, {}, s).ok());
  EXPECT_TRUE(device.lost());
}
} // namespace
