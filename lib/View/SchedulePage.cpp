//===- SchedulePage.cpp - A schedule as a page ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `toHtml` of ScheduleView.h: the page is schedule.html, which draws
// on a canvas what it finds in its data. Numbers are in flat lists, since there
// may be a hundred thousand of them.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/JsonWriter.h"
#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/View/ScheduleView.h"

#include <cstring>

using namespace dfrt;

static const char *const kPage =
#include "SchedulePage.inc"
    ;

static int64_t orMinusOne(uint32_t index) {
  return index == kNone ? -1 : int64_t(index);
}

static void writeSlots(const ScheduleView &view, JsonWriter &json) {
  const Schedule &schedule = view.image->schedule;
  // stage, space, cta, offset, bytes, writer, from, to
  std::vector<int64_t> numbers;
  for (uint32_t s = 0; s < view.slots.size(); ++s) {
    const Slot &slot = schedule.slots[s];
    const ScheduleView::Slot &entry = view.slots[s];
    numbers.insert(numbers.end(),
                   {slot.stage, int64_t(slot.space), orMinusOne(entry.cta),
                    int64_t(slot.offset), int64_t(entry.bytes),
                    orMinusOne(entry.writer), entry.from, entry.to});
  }
  json.numbers("slots", numbers);
  json.beginArray("readers");
  for (const ScheduleView::Slot &slot : view.slots)
    json.numbers(nullptr, slot.readers);
  json.endArray();
}

static std::string dataOf(const ScheduleView &view) {
  const PlanImage &image = *view.image;
  const Schedule &schedule = image.schedule;
  JsonWriter json;
  json.beginObject();
  json.member("title", view.title);
  json.member("solver", schedule.solver);
  json.member("ticket", schedule.discipline == Discipline::ticket);
  json.member("timed", view.timed);
  json.member("measured", view.measured);
  json.member("total", view.total);
  json.member("floor", view.floor);
  json.member("ctas", uint64_t(view.rows.size()));
  json.member("cluster", std::max(image.topology.clusterSize, 1u));
  json.member("slotLimit", image.topology.slotBytes());
  json.member("sharedBytes", schedule.sharedBytes);
  json.member("globalBytes", schedule.globalBytes);
  json.member("releases", uint64_t(schedule.releases.size()));
  json.beginArray("stages");
  for (const PlanImage::StageInfo &stage : image.stages)
    json.element(stage.name);
  json.endArray();
  json.beginArray("names");
  for (const ScheduleView::Instruction &instruction : view.instructions)
    json.element(instruction.name);
  json.endArray();
  // stage, cta, wait, begin, end
  std::vector<int64_t> numbers;
  for (uint32_t i = 0; i < view.instructions.size(); ++i) {
    const ScheduleView::Instruction &entry = view.instructions[i];
    numbers.insert(numbers.end(),
                   {schedule.instructions[i].stage, orMinusOne(entry.cta),
                    entry.wait, entry.begin, entry.end});
  }
  json.numbers("instructions", numbers);
  writeSlots(view, json);
  // transport, instruction, source, destinations
  json.beginArray("transfers");
  for (const Transfer &transfer : schedule.transfers) {
    numbers = {int64_t(transfer.transport), orMinusOne(transfer.instruction),
               orMinusOne(transfer.source)};
    for (uint32_t slot : schedule.destinationsOf(transfer))
      numbers.push_back(slot);
    json.numbers(nullptr, numbers);
  }
  json.endArray();
  json.beginArray("transports");
  for (int transport = 0; transport <= int(Transport::multicast); ++transport)
    json.element(transportName(Transport(transport)));
  json.endArray();
  json.numbers("stuck", view.stuck);
  json.endObject();
  return json.take();
}

std::string dfrt::toHtml(const ScheduleView &view) {
  const char *mark = std::strstr(kPage, "@DATA@");
  std::string out(kPage, mark);
  // A name must not end the script that holds it.
  for (char c : dataOf(view))
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out + (mark + std::strlen("@DATA@"));
}
