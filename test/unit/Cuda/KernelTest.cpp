//===- KernelTest.cpp - Choosing a kernel and a launch shape --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "LaunchableProgram.h"

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {
class KernelTest : public CudaTest {
protected:
  void TearDown() override {
    loaded = LoadedKernel();
    CudaTest::TearDown();
  }
  const Kernel &record(uint32_t index = 0) {
    return test.artifact.kernels[index];
  }
  Expected<uint32_t> choose(const KernelRequest &request) {
    return chooseKernel("ragged", test.artifact.kernels, device.report(),
                        request);
  }
  LoadedKernel load(uint32_t index = 0) {
    ModuleCache cache(device);
    const Kernel &kernel = record(index);
    loaded = take(LoadedKernel::load(device, cache, kernel,
                                     test.artifact.code[kernel.blob], "ragged",
                                     test.program().fingerprint()));
    return loaded;
  }
  PlanFacts facts(const Topology &topology = kernelTopology(),
                  const ScheduleOptions &options = {}) {
    return planFacts(test.program(),
                     packedPlan(test, topology, options).data());
  }

  TestCase test = withKernels(raggedCase({37, 0, 200, 1}));
  LoadedKernel loaded;
};

TEST_F(KernelTest, FactsOfAPlan) {
  PlanFacts plan = facts();
  EXPECT_EQ(plan.fingerprint, test.program().fingerprint());
  EXPECT_FALSE(plan.ticket);
  EXPECT_EQ(plan.ctas, 8u);
  EXPECT_EQ(plan.reservedBytes, 8192u);
  EXPECT_EQ(plan.collectedBytes, 0u);
  EXPECT_GT(plan.flags, 0u);
  EXPECT_TRUE(plan.resident);
  EXPECT_TRUE(plan.transports >> uint32_t(Transport::global) & 1);
  EXPECT_EQ(plan.sections[DFRT_SECTION_QUEUES], sizeof(dfrt_plan_header));

  ScheduleOptions tickets;
  tickets.solver = "tickets";
  plan = facts(kernelTopology(), tickets);
  EXPECT_TRUE(plan.ticket);
  EXPECT_FALSE(plan.resident); // any CTAs make progress
  EXPECT_EQ(plan.barriers, 0u);

  ScheduleOptions cluster;
  cluster.transport = Transport::clusterShared;
  test = withKernels(raggedCase({400})); // cut, whatever the solver prefers
  plan = facts(kernelTopology(2, 2), cluster);
  EXPECT_EQ(plan.clusterSize, 2u);
  EXPECT_TRUE(plan.exitBarrier);
  EXPECT_GT(plan.barriers, 0u);
  EXPECT_FALSE(plan.resident); // a cluster is resident as a whole
}

TEST_F(KernelTest, CollectedFieldsNeedRoom) {
  // 100 elements are 25 tiles: 25 * 8 bytes of each field, at multiples of 128.
  TestCase spread = spreadCase({100, 3});
  std::vector<uint8_t> plan = packedPlan(spread, kernelTopology());
  EXPECT_EQ(planFacts(spread.program(), plan.data()).collectedBytes, 2 * 256u);
  // Nor less for smaller fields: kernels may keep their addresses there.
  Program small = spread.program();
  for (Stage &stage : small.stages)
    for (Field &field : stage.record.fields)
      field.element = ElementType::f32;
  EXPECT_EQ(planFacts(small, plan.data()).collectedBytes, 2 * 256u);
}

TEST_F(KernelTest, FirstThatFits) {
  EXPECT_EQ(take(choose({})), 0u);
  KernelRequest request;
  request.watchdog = true;
  EXPECT_EQ(take(choose(request)), 1u);
  std::swap(test.artifact.kernels[0], test.artifact.kernels[1]);
  EXPECT_EQ(take(choose({})), 1u); // not the one with bounded waits
  std::swap(test.artifact.kernels[0], test.artifact.kernels[1]);
  request = {};
  request.symbol = "kernel$watchdog";
  EXPECT_EQ(take(choose(request)), 1u);
  request = {};
  request.timeline = true;
  EXPECT_FAILURE(choose(request).status(), StatusCode::unsupported,
                 HasSubstr("it records no timeline"));
  test.artifact.kernels[1].timeline = true;
  EXPECT_EQ(take(choose(request)), 1u);
  test.artifact.kernels[0].disciplines = 2;
  request = {};
  request.disciplines = 1;
  EXPECT_EQ(take(choose(request)), 1u);
  test.artifact.kernels[1].reservedBytes = 4096;
  PlanFacts plan = facts();
  request.plan = &plan;
  EXPECT_FAILURE(
      choose(request).status(), StatusCode::unsupported,
      AllOf(HasSubstr("kernel 'kernel': it takes no static queues"),
            HasSubstr("kernel 'kernel$watchdog': the plan leaves 8192 bytes of "
                      "shared memory to the kernel, which needs 4096")));
}

TEST_F(KernelTest, RefusalsNameEverything) {
  PlanFacts plan = facts();
  plan.barriers = 65;
  Kernel &kernel = test.artifact.kernels[0];
  test.artifact.kernels.pop_back();
  kernel.target = "sm_100a";
  kernel.threads = 2048;
  kernel.transports = 0x2;
  kernel.maxCluster = 1;
  KernelRequest request;
  request.plan = &plan;
  request.clusterSize = 2;
  EXPECT_FAILURE(
      choose(request).status(), StatusCode::unsupported,
      AllOf(HasSubstr("program 'ragged' has no kernel that fits 'Fake GPU' "
                      "(device 0)"),
            HasSubstr("compiled for sm_100a, the device is sm_90"),
            HasSubstr("2048 threads a CTA, the device has at most 1024"),
            HasSubstr("takes clusters of at most 1, not of 2"),
            HasSubstr("has global transfers, which the kernel does not do"),
            HasSubstr("has 65 barriers, the kernel has room for 64")));
  test.artifact.kernels.clear();
  EXPECT_FAILURE(choose({}).status(), StatusCode::unsupported,
                 HasSubstr("has no kernel: its artifact was compiled without "
                           "a device target; compile it for sm_90"));
  EXPECT_EQ(fake().calls("cuModuleLoadDataEx"), 0);
}

TEST_F(KernelTest, LoadsAndDescribes) {
  LoadedKernel kernel = load();
  EXPECT_EQ(kernel.function().name(), "kernel");
  EXPECT_THAT(kernel.json(), AllOf(HasSubstr("\"symbol\":\"kernel\""),
                                   HasSubstr("\"reserved_bytes\":8192"),
                                   HasSubstr("\"cluster_shared\""),
                                   HasSubstr("\"registers\":64")));
  fake().maxThreads = 256;
  ModuleCache cache(device);
  EXPECT_FAILURE(LoadedKernel::load(device, cache, record(),
                                    test.artifact.code[2], "ragged", 1)
                     .status(),
                 StatusCode::unsupported,
                 AllOf(HasSubstr("384 threads"), HasSubstr("at most 256")));
}

TEST_F(KernelTest, PlansAreTested) {
  LoadedKernel kernel = load();
  PlanFacts plan = facts();
  EXPECT_OK(kernel.check(plan));
  plan.fingerprint += 1;
  plan.reservedBytes = 16384;
  EXPECT_FAILURE(
      kernel.check(plan), StatusCode::invalidArgument,
      AllOf(HasSubstr("kernel 'kernel' cannot execute this plan"),
            HasSubstr("another program than 'ragged'"),
            HasSubstr("leaves 16384 bytes of shared memory to the kernel, "
                      "which needs 8192"),
            Not(HasSubstr("transfers"))));
}

TEST_F(KernelTest, ShapesOfTheDevice) {
  LoadedKernel kernel = load();
  DeviceProbe probe = take(probeDevice(device));
  ChosenShape shape = take(chooseKernelShape(kernel, probe, {}));
  EXPECT_EQ(shape.shape, (LaunchShape{132, 384, 1, 232448, true}));
  KernelShapeRequest request;
  request.clusterSize = 16;
  shape = take(chooseKernelShape(kernel, probe, request));
  EXPECT_EQ(shape.shape.ctas, 128u);
  EXPECT_EQ(shape.shape.clusterSize, 16u);
  EXPECT_TRUE(shape.refused.empty());

  fake().largestCluster = 4;
  shape = take(chooseKernelShape(kernel, probe, request));
  EXPECT_EQ(shape.shape.clusterSize, 4u);
  EXPECT_EQ(shape.shape.ctas, 132u);
  EXPECT_THAT(shape.refused, ElementsAre(HasSubstr("clusters of 16"),
                                         HasSubstr("clusters of 8")));
  request.smallestCluster = 8;
  EXPECT_FAILURE(chooseKernelShape(kernel, probe, request).status(),
                 StatusCode::resourceExhausted, HasSubstr("clusters of 8"));
}

TEST_F(KernelTest, ShapesOfTheCaller) {
  LoadedKernel kernel = load();
  DeviceProbe probe = take(probeDevice(device));
  KernelShapeRequest request;
  request.ctas = 140;
  EXPECT_FAILURE(chooseKernelShape(kernel, probe, request).status(),
                 StatusCode::resourceExhausted,
                 HasSubstr("only 132 of 140 CTAs can be resident"));
  request.cooperation = Cooperation::no;
  EXPECT_FALSE(bool(chooseKernelShape(kernel, probe, request)));
  request.resident = false;
  ChosenShape shape = take(chooseKernelShape(kernel, probe, request));
  EXPECT_EQ(shape.shape.ctas, 140u);
  EXPECT_FALSE(shape.shape.cooperative);
  request.sharedBytes = 8000;
  EXPECT_FAILURE(chooseKernelShape(kernel, probe, request).status(),
                 StatusCode::invalidArgument,
                 HasSubstr("8000 bytes of shared memory a CTA were asked for, "
                           "which is not 8192 (its own) to 232448"));
  request.sharedBytes = 0;
  request.clusterSize = 32;
  EXPECT_FAILURE(chooseKernelShape(kernel, probe, request).status(),
                 StatusCode::invalidArgument, HasSubstr("at most 16"));
}
} // namespace
