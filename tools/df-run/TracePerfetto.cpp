//===- TracePerfetto.cpp - Perfetto's protobuf ----------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few messages of perfetto/trace/trace.proto, encoded by hand: a library for
// them would be larger than this tool. Field numbers are named below as they
// are there.
//
//===----------------------------------------------------------------------===//

#include "TraceSink.h"

#include <cmath>
#include <cstring>

using namespace dfrt;

namespace {
enum TraceField { kPacket = 1 };
enum PacketField {
  kTimestamp = 8,
  kSequence = 10, ///< trusted_packet_sequence_id
  kTrackEvent = 11,
  kTrackDescriptor = 60
};
enum DescriptorField {
  kUuid = 1,
  kTrackName = 2,
  kProcess = 3,
  kParent = 5,
  kChildOrdering = 11,
  kSiblingOrder = 12
};
enum ProcessField { kPid = 1, kProcessName = 6 };
enum EventField {
  kAnnotation = 4,
  kType = 9,
  kEventTrack = 11,
  kCategory = 22,
  kEventName = 23,
  kFlow = 47,
  kTerminatingFlow = 48
};
enum EventType { kSliceBegin = 1, kSliceEnd = 2 };
enum AnnotationField { kIntValue = 4, kDoubleValue = 5, kAnnotationName = 10 };
constexpr uint64_t kExplicitOrder = 3;

/// A message under construction.
class Message {
public:
  void number(uint32_t field, uint64_t value) {
    varint(uint64_t(field) << 3);
    varint(value);
  }
  void fixed(uint32_t field, uint64_t value) {
    varint(uint64_t(field) << 3 | 1);
    for (int byte = 0; byte < 8; ++byte)
      bytes += char(value >> (8 * byte));
  }
  void real(uint32_t field, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    fixed(field, bits);
  }
  void text(uint32_t field, const std::string &value) {
    varint(uint64_t(field) << 3 | 2);
    varint(value.size());
    bytes += value;
  }
  void message(uint32_t field, const Message &value) {
    text(field, value.bytes);
  }
  std::string bytes;

private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += char(value | 0x80);
    bytes += char(value);
  }
};

class PerfettoSink : public TraceSink {
public:
  void process(uint32_t number, const std::string &name) override {
    Message process, descriptor;
    process.number(kPid, number);
    process.text(kProcessName, name);
    descriptor.number(kUuid, uuid(number, 0));
    descriptor.message(kProcess, process);
    descriptor.number(kChildOrdering, kExplicitOrder);
    describe(descriptor);
  }
  void track(uint32_t process, uint32_t number,
             const std::string &name) override {
    Message descriptor;
    descriptor.number(kUuid, uuid(process, number));
    descriptor.text(kTrackName, name);
    descriptor.number(kParent, uuid(process, 0));
    descriptor.number(kSiblingOrder, number);
    describe(descriptor);
  }
  void slice(uint32_t process, uint32_t track, double begin, double end,
             const std::string &name, const char *category,
             const std::vector<TraceArgument> &arguments,
             const std::vector<TraceFlow> &flows) override {
    Message first;
    first.number(kType, kSliceBegin);
    first.number(kEventTrack, uuid(process, track));
    first.text(kEventName, name);
    first.text(kCategory, category);
    for (const TraceArgument &argument : arguments) {
      Message annotation;
      if (argument.value == std::floor(argument.value))
        annotation.number(kIntValue, uint64_t(int64_t(argument.value)));
      else
        annotation.real(kDoubleValue, argument.value);
      annotation.text(kAnnotationName, argument.name);
      first.message(kAnnotation, annotation);
    }
    for (const TraceFlow &flow : flows)
      first.fixed(flow.begins ? kFlow : kTerminatingFlow, flow.number);
    event(begin, first);
    Message last;
    last.number(kType, kSliceEnd);
    last.number(kEventTrack, uuid(process, track));
    event(end, last);
  }
  std::string finish(const std::string &) override { return trace.bytes; }

private:
  /// Number of a process and track, different for all of them, not 0.
  static uint64_t uuid(uint32_t process, uint32_t track) {
    return uint64_t(process) << 32 | (uint64_t(track) + 1);
  }
  void packet(Message &packet) {
    packet.number(kSequence, 1);
    trace.message(kPacket, packet);
  }
  void describe(const Message &descriptor) {
    Message around;
    around.message(kTrackDescriptor, descriptor);
    packet(around);
  }
  void event(double time, const Message &event) {
    Message around;
    around.number(kTimestamp, uint64_t(std::llround(std::max(time, 0.0))));
    around.message(kTrackEvent, event);
    packet(around);
  }

  Message trace;
};
} // namespace

std::unique_ptr<TraceSink> dfrt::makePerfettoSink() {
  return std::make_unique<PerfettoSink>();
}
