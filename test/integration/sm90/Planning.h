//===- Planning.h - A program planned in a graph ----------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_SM90_PLANNING_H
#define DATAFLOW_TEST_SM90_PLANNING_H

#include "Try.h"

#include "dfrt/cuda/Graph.h"
#include "dfrt/cuda/Memory.h"
#include "dfrt/dfrt.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace planning_test {

struct Options {
  std::string artifact;
  std::vector<std::string> tensors; ///< NAME=SHAPE[:FILL]
  uint32_t rounds = 100;
};

/// An argument of the program, on the device and on the host.
struct Tensor {
  std::vector<int64_t> shape;
  uint32_t element = 0;
  std::vector<uint8_t> host;
  dfrt::cuda::Buffer device;
  bool output = false;
  bool planned = false; ///< planning reads its values
  /// What the device draws: low + step * (0 to count - 1); count 0: nothing.
  int64_t low = 0, count = 0, step = 0;

  dfrt_tensor view(void *data) const {
    return {data, shape.data(), uint32_t(shape.size()), element};
  }
};

/// Microseconds: of a plan, of a plan and the program's kernel, of the kernel
/// alone, and of it with the plan that the host makes by default.
struct Times {
  double plan, both, kernel, stream;
};

class Rig {
public:
  /// Plans, or launches, in a graph that is timed.
  static constexpr uint32_t kRepeats = 20;

  dfrt::Status prepare(const Options &options);
  ~Rig();

  /// Poisons the outputs and replays the graph.
  dfrt::Status replay();
  dfrt::Expected<std::vector<uint8_t>> devicePlan();
  /// Brings what was drawn to the host.
  dfrt::Status readDrawn();
  /// The host's plan of what was drawn.
  dfrt::Expected<dfrt::PlanHandle> hostPlan();
  /// Poisons the outputs and launches with a plan of the host.
  dfrt::Status launchHost(const dfrt::PlanHandle &plan);
  dfrt::Expected<std::vector<uint8_t>> outputs();
  dfrt::Status report(uint64_t &plans, uint64_t &refusals);
  /// Plans a batch beyond the bound; gives what it was refused for.
  dfrt::Expected<std::string> refuse();
  dfrt::Expected<Times> measure();
  uint64_t planBytes() const { return bytesOfPlan; }

private:
  dfrt::Status makeTensor(const dfrt_argument_info &info, const Options &given);
  dfrt::Status draw();
  dfrt::Status poison();
  std::vector<dfrt_tensor> hostViews(bool most);
  dfrt::Expected<double> timeOf(const std::function<dfrt::Status()> &record);

  dfrt::ArtifactHandle artifact;
  dfrt::DeviceHandle handle;
  dfrt::cuda::Device device;
  dfrt::cuda::Stream stream;
  std::unique_ptr<dfrt::cuda::ModuleCache> modules;
  dfrt::cuda::Function drawing;
  dfrt::cuda::Buffer rounds; ///< counts them, on the device
  std::vector<Tensor> tensors;
  std::vector<std::vector<uint8_t>> bounds; ///< of what is drawn
  dfrt::KernelHandle kernel;
  dfrt_launch_shape shape = {};
  dfrt_device_planner *planner = nullptr;
  dfrt::LauncherHandle planned, uploaded;
  dfrt::cuda::Graph graph;
  uint64_t bytesOfPlan = 0;
};

} // namespace planning_test

#endif // DATAFLOW_TEST_SM90_PLANNING_H
