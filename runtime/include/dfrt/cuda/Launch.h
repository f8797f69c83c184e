//===- Launch.h - Launch shapes and launches --------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Choosing a launch shape and launching are two calls. Choosing asks the driver
// how many clusters can be resident and falls back 16 -> 8 -> 4 -> 2 -> 1,
// saying why each larger size was refused; launching does exactly what it is
// told, or fails. A CUDA graph freezes what was launched.
//
// CTAs that wait for each other have to be resident at once. The occupancy
// query knows nothing of other streams and processes, so such launches are
// cooperative where the driver takes that together with clusters; `probeDevice`
// finds out.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_CUDA_LAUNCH_H
#define DFRT_CUDA_LAUNCH_H

#include "dfrt/cuda/Module.h"
#include "dfrt/cuda/Stream.h"

#include <vector>

namespace dfrt::cuda {

/// What a launch asks for, and what a graph freezes of it.
struct LaunchShape {
  uint32_t ctas = 0;
  uint32_t threads = 0;     ///< of a CTA
  uint32_t clusterSize = 1; ///< divides `ctas`
  uint64_t sharedBytes = 0; ///< dynamic, of a CTA
  bool cooperative = false;

  bool operator==(const LaunchShape &other) const {
    return ctas == other.ctas && threads == other.threads &&
           clusterSize == other.clusterSize &&
           sharedBytes == other.sharedBytes && cooperative == other.cooperative;
  }
};

/// What the device and its driver do, found by trying; see `probeDevice`.
struct DeviceProbe {
  /// Clusters of 1, 2, 4, 8 and 16 CTAs that are resident with one CTA a
  /// multiprocessor; 0: refused.
  uint32_t residentClusters[5] = {};
  bool cooperative = false;         ///< cooperative launches
  bool cooperativeClusters = false; ///< the same with clusters of 2
  bool graphs = false;              ///< clusters in a captured graph
  bool graphsCooperative = false;   ///< cooperative clusters in one

  std::string json() const;
};

/// Tries launches with an empty kernel of our own, of one cluster, and captures
/// of them. Needs the driver's PTX compiler.
Expected<DeviceProbe> probeDevice(const Device &device);

/// How many clusters of this shape can be resident on an idle device. A size
/// that the device does not take gives 0.
Expected<uint32_t> residentClusters(const Function &function,
                                    const LaunchShape &shape);

enum class Cooperation : uint32_t {
  no,        ///< CTAs do not wait for each other across clusters
  preferred, ///< cooperative where the driver takes it, else by occupancy
  required,  ///< cooperative, or no launch
};

/// What the caller would like.
struct ShapeRequest {
  LaunchShape wanted; ///< with the largest cluster; `cooperative` is ignored
  uint32_t smallestCluster = 1;
  /// All CTAs have to be resident at once.
  bool resident = false;
  Cooperation cooperation = Cooperation::no;
};

struct ChosenShape {
  LaunchShape shape;
  uint32_t residentCtas = 0; ///< on an idle device
  /// Why each larger cluster was refused, largest first.
  std::vector<std::string> refused;

  /// One line, for logs.
  std::string text() const;
};

/// The largest cluster size, by powers of two down from the wanted one, with
/// which the kernel can be launched. Fails, with all reasons, when there is
/// none.
Expected<ChosenShape> chooseShape(const Function &function,
                                  const DeviceProbe &probe,
                                  const ShapeRequest &request);

/// Launches. `arguments` points to one value per parameter of the kernel. No
/// CTAs is no launch, and a success. Fails before the driver is asked when the
/// shape contradicts itself, the device or the kernel (a cluster size fixed at
/// compile time given again would multiply the grid).
Status launch(const Function &function, const LaunchShape &shape,
              const std::vector<void *> &arguments, const Stream &stream);

} // namespace dfrt::cuda

#endif // DFRT_CUDA_LAUNCH_H
