//===- Tables.h - What planning on the device reads -------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sources of this folder that a device compiles (all headers but
// ProgramLines.h, and PlanningKernel.cpp) are freestanding: no heap, no
// standard library, integers only. The host compiles the same sources, so both
// write the same bytes.
//
// A line is the tiles of all tasks of one stage, end to end. It is cut into a
// stretch for each CTA. Costs are counted in units of 1/256 tile: what a call
// costs beyond its tiles is `start`.
//
//===----------------------------------------------------------------------===//

#ifndef DFRT_LIB_PLANNING_TABLES_H
#define DFRT_LIB_PLANNING_TABLES_H

#include "dfrt/ABI.h"

namespace dfrt {
namespace planning {

constexpr uint32_t kMaxLines = 4;
constexpr uint32_t kMaxInputs = 8;
/// Loads of a CTA that are tried, evenly spaced between bounds of the best; as
/// many as there are threads for with all segments.
constexpr uint32_t kCandidates = 64;
/// Segments of a line, which are cut independently of each other.
constexpr uint32_t kSegments = 3;
constexpr uint32_t kTileUnits = 256;
/// Most threads that plan together.
constexpr uint32_t kMaxThreads = 256;
/// Sums that are formed at once.
constexpr uint32_t kMaxSums = 5;
/// Most tiles of a line: costs are counted in 32 bits.
constexpr uint32_t kMostTiles = 1 << 22;
/// Most that a call costs, and all calls of a line together.
constexpr uint32_t kMostStart = 1 << 20, kMostStarts = 1u << 30;
/// Sections that differ between plans, beside the queues: instructions,
/// operands, outputs, slots, transfers, destinations.
constexpr uint32_t kFilled = 6;
static_assert(DFRT_SECTION_INSTRUCTIONS == 1 && DFRT_SECTION_DESTINATIONS == 6);
/// Tasks that cutting looks ahead.
constexpr uint32_t kLookAhead = 3;
/// Alignment of records in the global slot arena.
constexpr uint64_t kSlotAlignment = 128;

/// An integer of each task: a constant, or an element of a tensor.
struct Value {
  int64_t constant;
  uint32_t input; ///< in Launch::inputs; DFRT_NONE: the constant
  uint32_t bytes; ///< of an element: 4 or 8
  /// Elements from one coordinate of an axis to the next.
  int64_t strides[DFRT_MAX_AXES];
};

enum class LineKind : uint32_t {
  split = 0, ///< map into pieces, a reduce, a finalize
  tiles = 1, ///< map or finalize that is called for each tile
};

struct Line {
  LineKind kind;
  uint32_t stage;
  uint32_t tasks;
  uint32_t extents[DFRT_MAX_AXES]; ///< 1 where there is no axis
  Value length, offset;
  int64_t tile, maxLength; ///< elements
  uint32_t maxTiles;       ///< of all tasks together
  uint32_t start;          ///< cost of a call, units
  uint32_t minTiles;       ///< of a piece that is not the last of its task
  /// Of LineKind::tiles: whether each tile makes a record, and the earlier line
  /// all of whose records of a task each call reads, or DFRT_NONE.
  uint32_t makesRecords, source;
  int64_t sourceStrides[DFRT_MAX_AXES]; ///< from coordinates to its task
  uint64_t recordBytes;                 ///< of a piece or tile
  uint32_t slices, reserved;            ///< of it, and of what is reduced
  // Of LineKind::split: the stages behind, and the reduced record.
  uint32_t reduce, finalize;
  uint32_t shares;                       ///< most CTAs that share a task
  uint32_t finalSlices;                  ///< of a whole call of the finalize
  uint32_t slicedReduce, slicedFinalize; ///< variants
  uint64_t headBytes, sliceBytes;
  /// How many segments, and the place of each one's first CTA; then `ctas`.
  uint32_t segments;
  uint32_t firstPlace[kSegments + 1];
};

/// Where the line is cut: CTA q begins with tile `tile` of task `task`.
struct alignas(8) Cut {
  uint32_t task, tile;
};

/// Where the tables of a planning CTA lie in its memory, and how large it is.
struct ArenaLayout {
  struct OfLine {
    uint32_t costs;  ///< uint32_t[tasks + 1 + kLookAhead], prefix sums
    uint32_t filled; ///< uint32_t[tasks + 1], tasks with tiles before
    uint32_t reads;  ///< uint32_t[tasks + 1], records read by calls before
    /// uint32_t[tasks]: the place with the first part of a task that is split,
    /// and the one behind the last. Only of LineKind::split, which has neither
    /// of the two above.
    uint32_t firstPart, endPart;
    uint32_t cuts; ///< Cut[ctas + 1]
    /// uint32_t[ctas], of the first record: its slot, its transfer, and its
    /// place in units of kSlotAlignment.
    uint32_t slots, transfers, units;
  };
  OfLine lines[kMaxLines];
  /// Cut[ctas][kCandidates]: threads that try candidates side by side write to
  /// different banks.
  uint32_t trials;
  uint32_t outcomes; ///< uint32_t[kSegments][kCandidates]
  uint32_t sums;     ///< uint32_t[kMaxSums][kMaxThreads]
  uint32_t calls;    ///< uint32_t[ctas + 1], instructions of CTAs before
  uint32_t operands; ///< uint32_t[ctas + 1]
  uint32_t state;    ///< State
};
/// Program, launch shape and capacity: fixed when a planner is made.
struct Tables {
  uint32_t ctas, lineCount;
  uint32_t entryBytes[kFilled];
  uint64_t offset[DFRT_SECTION_COUNT], totalBytes;
  Line lines[kMaxLines];
  ArenaLayout arena;
};

enum Fault : uint32_t {
  kNoFault = 0,
  kLength = 1,     ///< of a task: negative, or above the maximum
  kOffset = 2,     ///< of a task: negative, or too large
  kTotalTiles = 3, ///< of all tasks of a line: more than the maximum
};

/// What became of the last plan, and of all.
struct Report {
  uint64_t plans;    ///< made or refused so far
  uint64_t refusals; ///< so far
  uint32_t fault;    ///< of the first refusal since this was read
  uint32_t line, task;
  uint32_t reserved;
  int64_t value, limit;
};

/// The parameter of the kernel. Addresses.
struct Launch {
  uint64_t plan;
  uint64_t frame; ///< header, then releases to names, of all plans
  uint64_t report;
  uint64_t inputs[kMaxInputs];
  Tables tables;
};
static_assert(sizeof(Launch) <= 4096, "the parameter of a kernel is limited");

/// What all threads of a planning CTA share beside the tables.
struct State {
  uint32_t fault, line, task, reserved;
  int64_t value, limit;
  uint32_t first[kMaxLines]; ///< CTA with the first stretch of a line
  uint32_t used[kFilled];    ///< entries of the whole plan
  uint32_t units;            ///< of slots
  // Of the line that is being cut.
  Cut segmentBegin[kSegments + 1];
  uint32_t best[kSegments], usedCtas[kSegments];
};

/// Divides the places of a line among its segments. A piece that ends a segment
/// may be of any size, so there is one where pieces may not.
inline void layoutSegments(Tables &tables) {
  for (uint32_t l = 0; l < tables.lineCount; ++l) {
    Line &line = tables.lines[l];
    line.segments = tables.ctas < kSegments ? tables.ctas : kSegments;
    if (line.minTiles > 1)
      line.segments = 1;
    for (uint32_t s = 0; s <= kSegments; ++s)
      line.firstPlace[s] =
          s < line.segments ? tables.ctas * s / line.segments : tables.ctas;
  }
}

/// Lays out the arena for these CTAs and lines; returns its bytes.
inline uint64_t layoutArena(Tables &tables) {
  ArenaLayout &layout = tables.arena;
  uint64_t at = 0;
  auto place = [&](uint64_t bytes) {
    uint64_t begin = at;
    at = (at + bytes + 15) / 16 * 16;
    return uint32_t(begin);
  };
  uint64_t ctas = tables.ctas;
  layout.state = place(sizeof(State));
  layout.sums = place(kMaxSums * kMaxThreads * 4);
  layout.calls = place((ctas + 1) * 4);
  layout.operands = place((ctas + 1) * 4);
  for (uint32_t l = 0; l < tables.lineCount; ++l) {
    uint64_t tasks = uint64_t(tables.lines[l].tasks) + 1;
    layout.lines[l].costs = place((tasks + kLookAhead) * 4);
    layout.lines[l].filled = layout.lines[l].firstPart = place(tasks * 4);
    layout.lines[l].reads = layout.lines[l].endPart = place(tasks * 4);
    layout.lines[l].cuts = place((ctas + 1) * sizeof(Cut));
    layout.lines[l].slots = place(ctas * 4);
    layout.lines[l].transfers = place(ctas * 4);
    layout.lines[l].units = place(ctas * 4);
  }
  layout.trials = place(kCandidates * ctas * sizeof(Cut));
  layout.outcomes = place(kSegments * kCandidates * 4);
  return at;
}

} // namespace planning
} // namespace dfrt

#endif // DFRT_LIB_PLANNING_TABLES_H
