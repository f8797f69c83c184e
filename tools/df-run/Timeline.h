//===- Timeline.h - A simulated schedule as a picture -----------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One lane a CTA, grouped by cluster; boxes are instructions, coloured by
// stage. `drawSvg` makes a self-contained SVG with hover titles, `drawText` a
// few lines for a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_TIMELINE_H
#define DF_RUN_TIMELINE_H

#include "dataflow/Schedule/Simulator.h"

#include <string>

namespace dfrt {

/// What is drawn. All referenced objects must belong together.
struct Timeline {
  const Problem &problem;
  const Schedule &schedule;
  const SimulationResult &simulation;
  std::string title;
};

std::string drawSvg(const Timeline &timeline);

/// At most `lanes` rows (each of several CTAs where there are more) and
/// `columns` characters.
std::string drawText(const Timeline &timeline, unsigned columns = 100,
                     unsigned lanes = 24);

} // namespace dfrt

#endif // DF_RUN_TIMELINE_H
