//===- CalibrateTable.cpp - A device profile for people -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace dfrt;

static std::string readRows(const DeviceProfile &profile) {
  std::string text;
  for (uint32_t cluster : {1u, 2u, 4u, 8u, 16u}) {
    std::string ctas, rates;
    for (const DeviceProfile::Read &read : profile.reads)
      if (read.clusterSize == cluster) {
        ctas += fmt::format("{:>6}", read.ctas);
        rates += fmt::format("{:>6.2f}", read.bandwidth / 1000);
      }
    if (!ctas.empty())
      text += fmt::format("  clusters of {:<3} CTAs {}\n{:>18}TB/s {}\n",
                          cluster, ctas, "", rates);
  }
  return text;
}

static std::string hopRows(const DeviceProfile &profile) {
  // All records have the same sizes.
  std::string head;
  for (const DeviceProfile::Hop &hop : profile.hops)
    if (hop.samples.size() > 1 && head.empty())
      for (const DeviceProfile::HopSample &sample : hop.samples)
        head += fmt::format("{:>7}", sample.bytes);
  std::string text =
      fmt::format("  {:<15}{:>5}{:>8}{} B\n", "", "CTAs", "waiters", head);
  for (const DeviceProfile::Hop &hop : profile.hops) {
    text += fmt::format("  {:<15}{:>5}{:>8}", hopName(hop.kind), hop.ctas,
                        hop.waiters);
    for (const DeviceProfile::HopSample &sample : hop.samples)
      text += fmt::format("{:>7.0f}", sample.cycles);
    if (hop.bytesPerCycle > 0)
      text += fmt::format("   {:.0f} + bytes / {:.1f}", hop.latencyCycles,
                          hop.bytesPerCycle);
    text += '\n';
  }
  return text;
}

static std::string placeRows(const DeviceProfile &profile) {
  std::string text = "processing clusters ";
  if (profile.processingClusters.empty()) {
    text += "unknown";
  } else {
    std::map<int32_t, unsigned> sizes;
    for (int32_t place : profile.processingClusters)
      ++sizes[place];
    unsigned alone = sizes.count(-1) ? sizes[-1] : 0;
    sizes.erase(-1);
    text += fmt::format("{} of", sizes.size());
    for (const auto &[place, size] : sizes)
      text += fmt::format(" {}", size);
    text += fmt::format(" multiprocessors, {} not seen in one", alone);
  }
  text += "\nhalves of the L2    ";
  if (profile.l2Sides.empty())
    return text + "unknown\n";
  size_t ones = size_t(
      std::count(profile.l2Sides.begin(), profile.l2Sides.end(), int32_t(1)));
  return text + fmt::format("{} and {} multiprocessors near\n",
                            profile.l2Sides.size() - ones, ones);
}

std::string dfrt::profileTable(const DeviceProfile &profile) {
  std::string text = fmt::format(
      "{} ({}), {}, {} multiprocessors at {:.0f} MHz, {} bytes of shared "
      "memory a CTA, {:.0f} MB of L2\n",
      profile.card, profile.architecture, profile.driver,
      profile.multiprocessors, profile.clockMegahertz, profile.sharedBytes,
      double(profile.l2Bytes) / 1048576);
  text += "resident CTAs       ";
  for (uint32_t size : {1u, 2u, 4u, 8u, 16u})
    text +=
        profile.residentCtas(size)
            ? fmt::format("{} in clusters of {}{}", profile.residentCtas(size),
                          size, size == 16 ? "" : ", ")
            : fmt::format("clusters of {} refused{}", size,
                          size == 16 ? "" : ", ");
  const DeviceProfile::Launch &launch = profile.launch;
  text += fmt::format(
      "\nlaunch              events {:.2f} us, with an empty kernel {:.2f} us, "
      "a graph's empty kernel {:.2f} us\n"
      "read of N bytes     {:.2f} us + N / rate, with all CTAs\n",
      launch.eventPair / 1000, launch.emptyKernel / 1000,
      launch.graphNode / 1000, launch.readKernel / 1000);
  text += placeRows(profile);
  text += "read rate, L2 cold\n" + readRows(profile);
  text += "hop, cycles until the receiver goes on\n" + hopRows(profile);
  return text;
}
