//===- CalibrateTest.cpp - Measuring a device -----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What needs no GPU: how observations become places, and that a device whose
// kernels do nothing gives no profile.
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "ScratchFolder.h"

#include "cuda/calibrate/Bench.h"

#include <cmath>
#include <fstream>

using namespace dfrt;
using namespace dfrt::cuda;
using namespace dfrt::cuda::calibration;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Calibration, GroupsByWhoWasSeenTogether) {
  // 0-2-4-6 by a chain, 1-3 a pair, 5 alone, 7 beyond.
  EXPECT_THAT(groupsOf(7, {{0, 2}, {4, 6}, {6, 2}, {1, 3}, {5}, {7, 5}}, 2),
              ElementsAre(0, 1, 0, 1, 0, -1, 0));
  EXPECT_THAT(groupsOf(4, {{3, 1}}, 3), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(groupsOf(2, {}, 1), ElementsAre(0, 1));
}

namespace {
/// Latencies: rows in halves, columns in halves, some distance of each row and
/// noise.
std::vector<std::vector<double>> latencies(double far, double noise) {
  std::vector<std::vector<double>> cycles(12, std::vector<double>(32));
  std::vector<uint64_t> words = randomWords(12 * 32);
  for (size_t r = 0; r < cycles.size(); ++r)
    for (size_t c = 0; c < 32; ++c)
      cycles[r][c] = 600 + 7.0 * double(r) + ((r / 3 + c / 5) % 2 ? far : 0) +
                     noise * (double(words[r * 32 + c] % 2001) / 1000 - 1);
  return cycles;
}
} // namespace

TEST(Calibration, SplitsInHalvesOnlyWhatIsClear) {
  EXPECT_THAT(splitInHalves(latencies(200, 10)),
              ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(splitInHalves(latencies(0, 10)), IsEmpty());
  EXPECT_THAT(splitInHalves(latencies(0, 0)), IsEmpty());
  EXPECT_THAT(splitInHalves({}), IsEmpty());
  // One row that differs is no half.
  std::vector<std::vector<double>> one = latencies(0, 1);
  for (size_t c = 0; c < 32; c += 2)
    one[5][c] += 200;
  EXPECT_THAT(splitInHalves(one), IsEmpty());
}

TEST(Calibration, Median) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({}), 0);
}

namespace {
void writeKernels(const std::string &folder) {
  std::vector<char> image = makeCubin();
  for (const char *name : kModules)
    std::ofstream(folder + "/" + name + ".cubin", std::ios::binary)
        .write(image.data(), std::streamsize(image.size()));
}
} // namespace

TEST_F(CudaTest, CalibrationNamesTheMissingKernel) {
  ScratchFolder folder;
  CalibrationOptions options;
  options.kernels = folder.path().string();
  EXPECT_FAILURE(calibrate(device, options).status(), StatusCode::invalidFile,
                 AllOf(HasSubstr("calibration kernels are missing"),
                       HasSubstr(options.kernels + "/handover.cubin")));
  writeKernels(options.kernels);
  EXPECT_OK(findCalibrationKernels(options.kernels));
  EXPECT_FAILURE(calibrate(Device(), options).status(),
                 StatusCode::invalidArgument, HasSubstr("handle is empty"));
  options.samples = 0;
  EXPECT_FAILURE(calibrate(device, options).status(),
                 StatusCode::invalidArgument, HasSubstr("one sample"));
}

TEST_F(CudaTest, CalibrationBelievesNoIdleKernel) {
  ScratchFolder folder;
  fake().memoryBytes = uint64_t(16) << 30;
  fake().multiprocessors = 4; // the fake's memory is the host's
  CalibrationOptions options;
  options.kernels = folder.path().string();
  writeKernels(options.kernels);
  options.samples = 1;
  std::vector<std::string> said;
  options.progress = [&](const char *what) { said.push_back(what); };
  EXPECT_FAILURE(calibrate(take(Device::open(driver)), options).status(),
                 StatusCode::verificationFailed, HasSubstr("exclusive or"));
  EXPECT_THAT(said, testing::Contains("read bandwidth"));
}

TEST_F(CudaTest, CalibrationReportsTheDevicesError) {
  ScratchFolder folder;
  fake().fail("cuEventElapsedTime", 1, api::Result::invalidHandle);
  CalibrationOptions options;
  options.kernels = folder.path().string();
  writeKernels(options.kernels);
  EXPECT_FAILURE(calibrate(device, options).status(), StatusCode::deviceError,
                 HasSubstr("cuEventElapsedTime"));
}
