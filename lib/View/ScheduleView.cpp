//===- ScheduleView.cpp - A schedule to look at ---------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `viewSchedule` of ScheduleView.h.
//
//===----------------------------------------------------------------------===//

#include "dataflow/View/ScheduleView.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace dfrt;

/// Length of a step; times are integers.
static constexpr int64_t kStep = 1000;

static std::string nameOf(const PlanImage &image, uint32_t number) {
  const Instruction &instruction = image.schedule.instructions[number];
  const PlanImage::StageInfo &stage = image.stages[instruction.stage];
  std::string name = stage.name;
  if (number < image.places.size()) {
    const PlanImage::Place &place = image.places[number];
    // A plan has room for all axes; zeros behind the last one say nothing.
    size_t axes = place.coordinates.size();
    while (axes > 1 && place.coordinates[axes - 1] == 0)
      --axes;
    for (size_t a = 0; a < axes; ++a)
      name += (a ? ", " : " (") + std::to_string(place.coordinates[a]);
    name += axes ? ")" : "";
    if (place.rangeBegin != place.rangeEnd)
      name += " [" + std::to_string(place.rangeBegin) + ", " +
              std::to_string(place.rangeEnd) + ")";
  } else {
    name += " task " + std::to_string(instruction.task);
  }
  if (stage.slices > 1)
    name += " slices " + std::to_string(instruction.sliceBegin) + " to " +
            std::to_string(instruction.sliceEnd);
  return name;
}

/// Who writes and who reads each slot.
static void connect(const Schedule &schedule, ScheduleView &view) {
  view.slots.resize(schedule.slots.size());
  for (uint32_t i = 0; i < schedule.instructions.size(); ++i) {
    const Instruction &instruction = schedule.instructions[i];
    for (uint32_t slot : schedule.outputsOf(instruction))
      view.slots[slot].writer = i;
    for (const Operand &operand : schedule.operandsOf(instruction)) {
      std::vector<uint32_t> &readers = view.slots[operand.slot].readers;
      if (readers.empty() || readers.back() != i)
        readers.push_back(i);
    }
  }
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      view.slots[slot].writer = transfer.instruction;
}

namespace {
/// Places instructions without a simulation.
class Stepper {
public:
  Stepper(const PlanImage &image, ScheduleView &view)
      : schedule(image.schedule), view(view), done(view.instructions.size()),
        ctas(std::max(image.topology.ctas, 1u)), free(ctas) {}

  void run() {
    std::vector<size_t> next(schedule.queues.size());
    for (bool moved = true, force = false; moved || force;) {
      moved = false;
      bool left = false;
      for (size_t q = 0; q < schedule.queues.size(); ++q) {
        const std::vector<uint32_t> &queue = schedule.queues[q].instructions;
        while (next[q] < queue.size() && (force || isReady(queue[next[q]]))) {
          if (force && !isReady(queue[next[q]])) {
            view.stuck.push_back(queue[next[q]]);
            force = false;
          }
          place(queue[next[q]++], schedule.queues[q].cta);
          moved = true;
        }
        left |= next[q] < queue.size();
      }
      // All that are left wait for each other: let one of them go.
      force = left && !moved;
    }
  }

private:
  bool isReady(uint32_t number) const {
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[number])) {
      uint32_t writer = view.slots[operand.slot].writer;
      if (writer != kNone && writer != number && !done[writer])
        return false;
    }
    return true;
  }

  void place(uint32_t number, uint32_t cta) {
    if (cta == kNone) {
      // Of a ticket list: the CTA that is free first draws.
      if (schedule.instructions[number].draw || drawer == kNone)
        drawer =
            uint32_t(std::min_element(free.begin(), free.end()) - free.begin());
      cta = drawer;
    }
    ScheduleView::Instruction &entry = view.instructions[number];
    entry.cta = std::min(cta, ctas - 1);
    entry.wait = entry.begin = free[entry.cta];
    for (const Operand &operand :
         schedule.operandsOf(schedule.instructions[number])) {
      uint32_t writer = view.slots[operand.slot].writer;
      if (writer != kNone && done[writer])
        entry.begin = std::max(entry.begin, view.instructions[writer].end);
    }
    entry.end = free[entry.cta] = entry.begin + kStep;
    done[number] = true;
  }

  const Schedule &schedule;
  ScheduleView &view;
  std::vector<bool> done;
  uint32_t ctas, drawer = kNone;
  std::vector<int64_t> free; ///< when each CTA is
};
} // namespace

static int64_t rounded(double ns) { return std::llround(ns); }

ScheduleView dfrt::viewSchedule(const PlanImage &image, std::string title,
                                const SimulationResult *times, bool measured) {
  const Schedule &schedule = image.schedule;
  ScheduleView view;
  view.image = &image;
  view.title = std::move(title);
  view.instructions.resize(schedule.instructions.size());
  for (uint32_t i = 0; i < view.instructions.size(); ++i)
    view.instructions[i].name = nameOf(image, i);
  connect(schedule, view);

  view.timed = times != nullptr;
  view.measured = view.timed && measured;
  if (times) {
    view.floor = rounded(times->floorNs);
    view.total = rounded(times->totalNs);
    for (const InstructionSpan &span : times->spans) {
      ScheduleView::Instruction &entry = view.instructions[span.instruction];
      entry.cta = span.cta;
      entry.wait = rounded(span.wait);
      entry.begin = rounded(span.begin);
      entry.end = rounded(span.end);
    }
  } else {
    Stepper(image, view).run();
  }

  view.rows.resize(std::max(image.topology.ctas, 1u));
  for (uint32_t i = 0; i < view.instructions.size(); ++i) {
    view.total = std::max(view.total, view.instructions[i].end);
    if (view.instructions[i].cta < view.rows.size())
      view.rows[view.instructions[i].cta].push_back(i);
  }
  for (std::vector<uint32_t> &row : view.rows)
    std::sort(row.begin(), row.end(), [&](uint32_t a, uint32_t b) {
      const ScheduleView::Instruction &x = view.instructions[a],
                                      &y = view.instructions[b];
      return std::tie(x.wait, x.end, a) < std::tie(y.wait, y.end, b);
    });

  std::vector<bool> arrives(schedule.slots.size());
  for (const Transfer &transfer : schedule.transfers)
    for (uint32_t slot : schedule.destinationsOf(transfer))
      arrives[slot] = slot != transfer.source;
  for (uint32_t s = 0; s < view.slots.size(); ++s) {
    ScheduleView::Slot &entry = view.slots[s];
    const Slot &slot = schedule.slots[s];
    const PlanImage::StageInfo &stage = image.stages[slot.stage];
    entry.bytes =
        stage.headBytes + stage.sliceBytes * (slot.sliceEnd - slot.sliceBegin);
    entry.cta = slot.cta;
    if (entry.writer == kNone)
      continue;
    const ScheduleView::Instruction &writer = view.instructions[entry.writer];
    if (entry.cta == kNone)
      entry.cta = writer.cta;
    entry.from = arrives[s] ? writer.end : writer.begin;
    entry.to = writer.end;
    for (uint32_t reader : entry.readers)
      entry.to = std::max(entry.to, view.instructions[reader].end);
  }
  return view;
}
