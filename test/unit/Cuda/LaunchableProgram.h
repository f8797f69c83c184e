//===- LaunchableProgram.h - A program with kernels -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test program, an artifact of it whose kernels the fake driver "runs", and
// plans for them.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CUDA_LAUNCHABLEPROGRAM_H
#define DATAFLOW_TEST_CUDA_LAUNCHABLEPROGRAM_H

#include "Runtime/TestPrograms.h"

#include "dfrt/cuda/Kernel.h"

namespace dfrt::test {

/// A kernel that takes everything, for the program's arguments.
Kernel anyKernel(const Program &program, uint32_t blob,
                 const std::string &symbol = "kernel");

/// `test` with a cubin and two kernels: "kernel" and "kernel$watchdog".
TestCase withKernels(TestCase test);

/// Packed plan of the batch of `test`, with room for `spare` entries more than
/// it needs in every section.
std::vector<uint8_t> packedPlan(const TestCase &test, const Topology &topology,
                                const ScheduleOptions &options = {},
                                uint32_t spare = 0);

/// The topology of plans for `anyKernel`.
Topology kernelTopology(uint32_t ctas = 8, uint32_t cluster = 1);

} // namespace dfrt::test

#endif // DATAFLOW_TEST_CUDA_LAUNCHABLEPROGRAM_H
