//===- Handles.h - What the handles of the C API hold -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State behind the opaque handles, and the frame of every API function. Shared
// state is reference-counted, so that handles may be released in any order.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_HANDLES_H
#define DFRT_LIB_HANDLES_H

#include "cpu/CodeModule.h"
#include "cpu/Tensors.h"
#include "dataflow/Schedule/Message.h"

#include "dataflow/Schedule/Profile.h"
#include "dataflow/Schedule/Schedulers.h"
#include "dfrt/PlanImage.h"
#include "dfrt/dfrt.h"

#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

namespace dfrt {

class CudaDevice;

/// A loaded artifact; its code is loaded on first use and then kept.
class ArtifactState {
public:
  explicit ArtifactState(Artifact artifact) : artifact(std::move(artifact)) {}

  const Artifact artifact;

  /// Code of kind cpu or cpuReference.
  Expected<const cpu::ProgramCode *> code(CodeBlob::Kind kind);
  const char *description();

private:
  std::mutex mutex;
  std::unique_ptr<cpu::ProgramCode> bound[2];
  std::string json;
};

/// A plan: its bytes, and what is known of its making.
class PlanState {
public:
  std::shared_ptr<ArtifactState> artifact;
  std::vector<uint8_t> bytes;
  Decisions decisions;
  double makeUs = -1; ///< negative where unknown, as the next three
  double predictedNs = -1;
  double floorNs = -1;
  double boundNs = -1;

  Expected<const char *> summary();
  const char *decisionText();
  /// The plan has changed: texts are made anew.
  void forgetTexts() {
    summaryJson.clear();
    decisionJson.clear();
  }

private:
  std::mutex mutex;
  std::string summaryJson, decisionJson;
};

/// Stores `status` as the calling thread's last error and gives its code.
dfrt_status report(const Status &status);

/// Runs the body of an API function: nothing it throws escapes.
template <typename Body>
dfrt_status guarded(Body body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report(Status(StatusCode::resourceExhausted, "out of memory"));
  } catch (const std::length_error &) {
    return report(Status(StatusCode::resourceExhausted, "out of memory"));
  } catch (...) {
    return report(Status(StatusCode::internalError, "unexpected exception"));
  }
}

/// Fails when `pointer` is null.
inline Status require(const void *pointer, const char *what) {
  if (pointer)
    return Status::success();
  return failure(StatusCode::invalidArgument, what, " is null");
}

/// The caller's tensors. Fails when one is malformed. With `partial` a tensor
/// may have no shape; it is then left empty.
Status viewTensors(const Program &program, const dfrt_tensor *arguments,
                   uint32_t count, bool partial,
                   std::vector<TensorView> &views);

/// What making a plan reads of each argument (dfrt_plan_use).
std::vector<uint32_t> planUses(const Program &program);

/// The plan-time inputs among `views`. `uses`: as planUses gives. What `inputs`
/// hold is replaced in place.
Status planInputs(const Program &program, ArrayView<uint32_t> uses,
                  ArrayView<TensorView> views, std::vector<PlanInput> &inputs);
inline Status planInputs(const Program &program, ArrayView<TensorView> views,
                         std::vector<PlanInput> &inputs) {
  return planInputs(program, planUses(program), views, inputs);
}

/// What plan options mean to the planner. Tests them.
Status planSettings(const dfrt_plan_options &options, Topology &topology,
                    CostModel &costs, ScheduleOptions &schedule);
PlanMaxima toMaxima(const dfrt_capacity &capacity);

/// Opens a device. `cudaLibrary` is the CUDA driver's; for tests.
Status openDevice(const char *name, const std::string &cudaLibrary,
                  dfrt_device **device);

/// JSON texts.
std::string describeArtifact(const Artifact &artifact);
std::string describePlan(const PlanImage &image, const PlanState &state);
std::string describeDecisions(const Decisions &decisions);

} // namespace dfrt

struct dfrt_device {
  std::string name;
  std::shared_ptr<dfrt::CudaDevice> cuda; ///< null: the CPU
  std::string description;                ///< JSON, made when it is opened
};
struct dfrt_profile {
  dfrt::DeviceProfile profile;
};
struct dfrt_artifact {
  std::shared_ptr<dfrt::ArtifactState> state;
};
struct dfrt_plan {
  std::shared_ptr<dfrt::PlanState> state;
};

#endif // DFRT_LIB_HANDLES_H
