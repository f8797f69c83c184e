//===- LaunchableProgram.cpp - A program with kernels ---------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchableProgram.h"

#include "CudaTest.h"

using namespace dfrt;
using namespace dfrt::test;

Kernel test::anyKernel(const Program &program, uint32_t blob,
                       const std::string &symbol) {
  Kernel kernel;
  kernel.symbol = symbol;
  kernel.blob = blob;
  kernel.target = "sm_90a";
  kernel.disciplines = 3;
  kernel.transports = 0x1e;
  kernel.threads = 384;
  kernel.reservedBytes = 8192;
  kernel.maxBarriers = 64;
  kernel.scratchBytes = 100;
  kernel.maxCluster = 16;
  kernel.argumentAlignment.assign(program.arguments.size(), 8);
  kernel.parameterBytes = uint32_t(kernelParameterBytes(program, 0));
  return kernel;
}

TestCase test::withKernels(TestCase test) {
  CodeBlob code;
  code.kind = CodeBlob::Kind::cubin;
  code.target = "sm_90a";
  std::vector<char> image = cuda::makeCubin();
  code.bytes.assign(image.begin(), image.end());
  uint32_t blob = uint32_t(test.artifact.code.size());
  test.artifact.code.push_back(code);
  test.artifact.kernels = {anyKernel(test.program(), blob),
                           anyKernel(test.program(), blob, "kernel$watchdog")};
  test.artifact.kernels[1].watchdog = true;
  return test;
}

Topology test::kernelTopology(uint32_t ctas, uint32_t cluster) {
  Topology topology;
  topology.ctas = ctas;
  topology.clusterSize = cluster;
  topology.reservedBytes = 8192;
  return topology;
}

std::vector<uint8_t> test::packedPlan(const TestCase &test,
                                      const Topology &topology,
                                      const ScheduleOptions &options,
                                      uint32_t spare) {
  Problem problem = test.problem(topology);
  Expected<Schedule> schedule = makeSchedule(problem, options);
  EXPECT_TRUE(bool(schedule)) << schedule.status().message();
  PlanImage image = makePlanImage(problem, std::move(*schedule));
  PlanMaxima maxima = exactMaxima(image);
  for (uint32_t &entries : maxima.capacity)
    entries += spare;
  Expected<std::vector<uint8_t>> bytes = packPlan(image, maxima);
  EXPECT_TRUE(bool(bytes)) << bytes.status().message();
  return *bytes;
}
