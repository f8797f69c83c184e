//===- ByteMutants.cpp - Ways to break the bytes of a plan ---------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteMutants.h"

#include "CRC32.h"
#include "dfrt/ABI.h"

#include <algorithm>
#include <cstring>

using namespace dfrt;
using namespace dfrt::test;

namespace {

using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

struct FieldPlace {
  const char *name;
  uint32_t section;
  const char *list;
  uint64_t record, offset, size;
};
struct HeaderPlace {
  const char *name;
  uint64_t offset, size;
};

#define FIELD(section, list, type, field)                                      \
  FieldPlace {                                                                 \
    list "." #field, DFRT_SECTION_##section, list, sizeof(type),               \
        offsetof(type, field), sizeof(type::field)                             \
  }

const std::vector<FieldPlace> &fieldPlaces() {
  static const std::vector<FieldPlace> places = {
      FIELD(QUEUES, "queues", dfrt_queue, cta),
      FIELD(QUEUES, "queues", dfrt_queue, count),
      FIELD(QUEUES, "queues", dfrt_queue, rest),
      FIELD(QUEUES, "queues", dfrt_queue, first_barrier),
      FIELD(QUEUES, "queues", dfrt_queue, barrier_count),
      FIELD(QUEUES, "queues", dfrt_queue, reserved),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, opcode),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, flags),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, stage),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, variant),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, task_low),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, task_high),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, range_begin),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, range_end),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, tile_begin),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, tile_end),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, coordinates),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, slice_begin),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, slice_end),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, first_operand),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, operand_count),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, first_output),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, output_count),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, first_transfer),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, transfer_count),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, first_acquire),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, acquire_count),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, first_release),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, release_count),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, identity),
      FIELD(INSTRUCTIONS, "instructions", dfrt_instruction, reserved),
      FIELD(OPERANDS, "operands", dfrt_operand, slot),
      FIELD(OPERANDS, "operands", dfrt_operand, row),
      FIELD(OPERANDS, "operands", dfrt_operand, flags),
      FIELD(OPERANDS, "operands", dfrt_operand, space),
      FIELD(OPERANDS, "operands", dfrt_operand, slice_begin),
      FIELD(OPERANDS, "operands", dfrt_operand, reserved),
      FIELD(OPERANDS, "operands", dfrt_operand, offset),
      FIELD(OPERANDS, "operands", dfrt_operand, signal),
      FIELD(OPERANDS, "operands", dfrt_operand, phase),
      FIELD(OUTPUTS, "outputs", dfrt_output, slot),
      FIELD(OUTPUTS, "outputs", dfrt_output, space),
      FIELD(OUTPUTS, "outputs", dfrt_output, slice_begin),
      FIELD(OUTPUTS, "outputs", dfrt_output, offset),
      FIELD(SLOTS, "slots", dfrt_slot, offset),
      FIELD(SLOTS, "slots", dfrt_slot, bytes),
      FIELD(SLOTS, "slots", dfrt_slot, stage),
      FIELD(SLOTS, "slots", dfrt_slot, space),
      FIELD(SLOTS, "slots", dfrt_slot, slice_begin),
      FIELD(SLOTS, "slots", dfrt_slot, slice_end),
      FIELD(SLOTS, "slots", dfrt_slot, cta),
      FIELD(SLOTS, "slots", dfrt_slot, barrier),
      FIELD(SLOTS, "slots", dfrt_slot, phase),
      FIELD(SLOTS, "slots", dfrt_slot, flag),
      FIELD(SLOTS, "slots", dfrt_slot, reserved),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, source),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, transport),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, source_space),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, first_destination),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, destination_count),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, instruction),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, identity),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, bytes),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, source_offset),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, source_slice_begin),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, cluster_mask),
      FIELD(TRANSFERS, "transfers", dfrt_transfer, reserved),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, slot),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, cta),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, offset),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, signal),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, space),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, slice_begin),
      FIELD(DESTINATIONS, "destinations", dfrt_destination, reserved),
      FIELD(RELEASES, "releases", dfrt_release, slot),
      FIELD(RELEASES, "releases", dfrt_release, from),
      FIELD(RELEASES, "releases", dfrt_release, to),
      FIELD(RELEASES, "releases", dfrt_release, to_cta),
      FIELD(RELEASES, "releases", dfrt_release, barrier),
      FIELD(RELEASES, "releases", dfrt_release, phase),
      FIELD(RELEASES, "releases", dfrt_release, identity),
      FIELD(RELEASES, "releases", dfrt_release, reserved),
      FIELD(BARRIERS, "barriers", dfrt_barrier, arrivals),
      FIELD(BARRIERS, "barriers", dfrt_barrier, identity),
      FIELD(STAGES, "stages", dfrt_stage, name),
      FIELD(STAGES, "stages", dfrt_stage, kind),
      FIELD(STAGES, "stages", dfrt_stage, head_bytes),
      FIELD(STAGES, "stages", dfrt_stage, slice_bytes),
      FIELD(STAGES, "stages", dfrt_stage, slices),
      FIELD(STAGES, "stages", dfrt_stage, reserved),
      FIELD(DRAWS, "draws", dfrt_draw, first),
      FIELD(DRAWS, "draws", dfrt_draw, count),
  };
  return places;
}

const std::vector<HeaderPlace> &headerPlaces() {
  static const std::vector<HeaderPlace> places = {
      {"header.magic", offsetof(dfrt_plan_header, magic),
       sizeof(dfrt_plan_header::magic)},
      {"header.version", offsetof(dfrt_plan_header, version),
       sizeof(dfrt_plan_header::version)},
      {"header.total_bytes", offsetof(dfrt_plan_header, total_bytes),
       sizeof(dfrt_plan_header::total_bytes)},
      {"header.fingerprint", offsetof(dfrt_plan_header, fingerprint),
       sizeof(dfrt_plan_header::fingerprint)},
      {"header.flags", offsetof(dfrt_plan_header, flags),
       sizeof(dfrt_plan_header::flags)},
      {"header.ctas", offsetof(dfrt_plan_header, ctas),
       sizeof(dfrt_plan_header::ctas)},
      {"header.cluster_size", offsetof(dfrt_plan_header, cluster_size),
       sizeof(dfrt_plan_header::cluster_size)},
      {"header.global_flags", offsetof(dfrt_plan_header, global_flags),
       sizeof(dfrt_plan_header::global_flags)},
      {"header.shared_bytes", offsetof(dfrt_plan_header, shared_bytes),
       sizeof(dfrt_plan_header::shared_bytes)},
      {"header.global_bytes", offsetof(dfrt_plan_header, global_bytes),
       sizeof(dfrt_plan_header::global_bytes)},
      {"header.reserved_bytes", offsetof(dfrt_plan_header, reserved_bytes),
       sizeof(dfrt_plan_header::reserved_bytes)},
      {"header.shared_limit", offsetof(dfrt_plan_header, shared_limit),
       sizeof(dfrt_plan_header::shared_limit)},
      {"header.program_name", offsetof(dfrt_plan_header, program_name),
       sizeof(dfrt_plan_header::program_name)},
      {"header.solver_name", offsetof(dfrt_plan_header, solver_name),
       sizeof(dfrt_plan_header::solver_name)},
      {"header.reserved0", offsetof(dfrt_plan_header, reserved0),
       sizeof(dfrt_plan_header::reserved0)},
      {"header.sections", offsetof(dfrt_plan_header, sections),
       sizeof(dfrt_plan_header::sections)},
      {"header.reserved1", offsetof(dfrt_plan_header, reserved1),
       sizeof(dfrt_plan_header::reserved1)},
  };
  return places;
}

dfrt_plan_header headerOf(const Bytes &bytes) {
  dfrt_plan_header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

void close(Bytes &bytes) {
  uint64_t hole = offsetof(dfrt_plan_header, checksum);
  uint32_t checksum = crc32WithHole(bytes.data(), bytes.size(), hole);
  std::memcpy(bytes.data() + hole, &checksum, 4);
}

/// Another value for `size` bytes at `at`; `other`: where such a field stands
/// as well.
void change(Bytes &bytes, uint64_t at, uint64_t size, uint64_t other,
            Random &random) {
  Bytes before(bytes.begin() + std::ptrdiff_t(at),
               bytes.begin() + std::ptrdiff_t(at + size));
  // An array: one of its words.
  if (size > 8) {
    at += random() % (size / 4) * 4;
    other = at;
    size = 4;
  }
  uint64_t value = 0, copied = 0;
  std::memcpy(&value, &bytes[at], size);
  std::memcpy(&copied, &bytes[other], size);
  uint64_t bits = 8 * size;
  const uint64_t choices[] = {value + 1,
                              value - 1,
                              0,
                              ~uint64_t(0),
                              value ^ (uint64_t(1) << (random() % bits)),
                              copied,
                              value * 2,
                              random() % 8};
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t chosen = choices[random() % 8] & mask;
  if (chosen == value)
    chosen = (value + 1) & mask;
  std::memcpy(&bytes[at], &chosen, size);
}

ByteMutantClass fieldClass(const FieldPlace &place) {
  return {place.name, [place](Bytes &bytes, Random &random) -> std::string {
            const dfrt_plan_header header = headerOf(bytes);
            const dfrt_section_entry &section = header.sections[place.section];
            // Of the instructions, closing ones as well.
            uint64_t count = place.section == DFRT_SECTION_INSTRUCTIONS
                                 ? section.capacity
                                 : section.count;
            if (count == 0)
              return "";
            uint64_t entry = random() % count;
            auto at = [&](uint64_t i) {
              return section.offset + i * place.record + place.offset;
            };
            change(bytes, at(entry), place.size, at(random() % count), random);
            close(bytes);
            return std::string(place.name) + ", entry " + std::to_string(entry);
          }};
}

ByteMutantClass headerClass(const HeaderPlace &place) {
  return {place.name, [place](Bytes &bytes, Random &random) -> std::string {
            change(bytes, place.offset, place.size, place.offset, random);
            close(bytes);
            return place.name;
          }};
}

/// D22: an entry that nobody uses holds something.
std::string fillUnused(Bytes &bytes, Random &random) {
  const dfrt_plan_header header = headerOf(bytes);
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  static constexpr uint64_t kSizes[DFRT_SECTION_COUNT] = {
      sizeof(dfrt_queue),
      sizeof(dfrt_instruction),
      sizeof(dfrt_operand),
      sizeof(dfrt_output),
      sizeof(dfrt_slot),
      sizeof(dfrt_transfer),
      sizeof(dfrt_destination),
      sizeof(dfrt_release),
      sizeof(dfrt_barrier),
      sizeof(dfrt_stage),
      1,
      sizeof(dfrt_draw)};
  std::vector<uint64_t> begins;
  for (const dfrt_section_entry &section : header.sections)
    begins.push_back(section.offset);
  begins.push_back(bytes.size());
  std::sort(begins.begin(), begins.end());
  for (uint32_t s = 0; s < DFRT_SECTION_COUNT; ++s) {
    const dfrt_section_entry &section = header.sections[s];
    uint64_t begin = section.offset + section.count * kSizes[s];
    uint64_t end =
        *std::upper_bound(begins.begin(), begins.end() - 1, section.offset);
    if (begin < end)
      gaps.push_back({begin, end});
  }
  if (gaps.empty())
    return "";
  auto [begin, end] = gaps[random() % gaps.size()];
  uint64_t at = begin + random() % (end - begin);
  bytes[at] = uint8_t(1 + random() % 255);
  close(bytes);
  return "byte " + std::to_string(at) + ", which no entry uses";
}

/// F46: the bytes that a receiver expects are multiplied by the cluster size.
std::string multiplyBytes(Bytes &bytes, Random &random) {
  const dfrt_plan_header header = headerOf(bytes);
  const dfrt_section_entry &section = header.sections[DFRT_SECTION_TRANSFERS];
  if (section.count == 0)
    return "";
  uint64_t entry = random() % section.count;
  uint8_t *at = &bytes[section.offset + entry * sizeof(dfrt_transfer) +
                       offsetof(dfrt_transfer, bytes)];
  uint64_t value = 0;
  std::memcpy(&value, at, 8);
  value *= std::max(2u, header.cluster_size);
  std::memcpy(at, &value, 8);
  close(bytes);
  return "bytes of transfer " + std::to_string(entry);
}

/// D24: sizes that do not agree: a plan that was cut, or has more behind it.
std::string cut(Bytes &bytes, Random &random) {
  if (random() % 2)
    bytes.resize(bytes.size() - 1 -
                 random() % std::min<size_t>(bytes.size(), 512));
  else
    bytes.resize(bytes.size() + 1 + random() % 512);
  if (bytes.size() >= sizeof(dfrt_plan_header))
    close(bytes);
  return "size";
}

std::string flipWithoutChecksum(Bytes &bytes, Random &random) {
  uint64_t at = random() % bytes.size();
  bytes[at] ^= uint8_t(1 << random() % 8);
  return "byte " + std::to_string(at) + ", checksum as it was";
}

} // namespace

const std::vector<ByteMutantClass> &test::byteMutantClasses() {
  static const std::vector<ByteMutantClass> classes = [] {
    std::vector<ByteMutantClass> all;
    for (const FieldPlace &place : fieldPlaces())
      all.push_back(fieldClass(place));
    for (const HeaderPlace &place : headerPlaces())
      all.push_back(headerClass(place));
    all.push_back({"fillUnused", fillUnused});
    all.push_back({"multiplyBytes", multiplyBytes});
    all.push_back({"cut", cut});
    all.push_back({"flipWithoutChecksum", flipWithoutChecksum});
    return all;
  }();
  return classes;
}

namespace {

/// The schedule with its lists one after the other and with one word for what
/// does not matter.
Schedule canonical(const Problem &problem, const Schedule &s) {
  Schedule result = s;
  result.solver.clear();
  result.sharedBytes = result.globalBytes = 0;
  result.operands.clear();
  result.outputs.clear();
  for (Instruction &x : result.instructions) {
    ArrayView<Operand> operands = s.operandsOf(x);
    ArrayView<uint32_t> outputs = s.outputsOf(x);
    x.firstOperand = uint32_t(result.operands.size());
    x.firstOutput = uint32_t(result.outputs.size());
    result.operands.insert(result.operands.end(), operands.begin(),
                           operands.end());
    result.outputs.insert(result.outputs.end(), outputs.begin(), outputs.end());
    x.variant = 0;
    // A reduce may say what its parts cover, or nothing.
    if (problem.program.stages[x.stage].kind == StageKind::reduce) {
      x.tileBegin = 0;
      x.tileEnd = 1;
    }
  }
  return result;
}

/// True if the same call, or an earlier one of its queue (ticket: of its draw),
/// waits for what operand `o` brings.
bool isCovered(const Schedule &s, uint32_t o) {
  const Slot &slot = s.slots[s.operands[o].slot];
  auto waits = [&](const Instruction &x) {
    for (uint32_t other = x.firstOperand;
         other < x.firstOperand + x.operandCount; ++other) {
      const Slot &its = s.slots[s.operands[other].slot];
      bool same = slot.barrier == kNone
                      ? s.operands[other].slot == s.operands[o].slot
                      : its.barrier == slot.barrier && its.phase == slot.phase;
      if (other != o && s.operands[other].wait && same)
        return true;
    }
    return false;
  };
  for (const Queue &queue : s.queues) {
    bool waited = false;
    for (uint32_t i : queue.instructions) {
      const Instruction &x = s.instructions[i];
      waited = waits(x) || (waited && !x.draw);
      if (o >= x.firstOperand && o < x.firstOperand + x.operandCount)
        return waited;
    }
  }
  return false;
}

} // namespace

bool test::isHarmless(const Problem &problem, const Schedule &legal,
                      const Schedule &mutant) {
  Schedule a = canonical(problem, legal), b = canonical(problem, mutant);
  if (b.exitBarrier < a.exitBarrier || a.operands.size() != b.operands.size())
    return false;
  b.exitBarrier = a.exitBarrier;
  for (uint32_t o = 0; o < b.operands.size(); ++o)
    if (b.operands[o].wait || isCovered(b, o))
      b.operands[o].wait = a.operands[o].wait;
  return a == b;
}
