//===- FitTasks.cpp - Tasks that fill the room of a lane ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FitTasks.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace dfrt;
using namespace dfrt::detail;

/// A full lane may exceed its share by this part of a tile.
static constexpr double kOver = 0.25;
/// It may leave as much room as a further segment costs, and this part of a
/// tile, by which cuts at whole tiles miss the share in any case.
static constexpr double kUnder = 0.5;
/// So many of the longest items are considered where one is to be cut.
static constexpr size_t kCandidates = 16;

void FitTasks::begin(const std::vector<WorkItem> &all, bool asTheyAre) {
  items = &all;
  inOrder = asTheyAre;
  left = all.size();
  second = kNoItem;
  rest.clear();
  if (inOrder)
    return;
  double tile = 0;
  further = 0;
  for (uint32_t i = 0; i < all.size(); ++i) {
    rest.push_back({static_cast<double>(all[i].cost()), i});
    tile = std::max(tile, static_cast<double>(all[i].tile));
    further = std::max(further, all[i].further);
  }
  over = kOver * tile;
  under = further + kUnder * tile;
  std::sort(rest.begin(), rest.end(), [](const Rest &a, const Rest &b) {
    return a.cost < b.cost || (a.cost == b.cost && a.item < b.item);
  });
}

/// The longest item of at most `room`, or kNoItem.
size_t FitTasks::longestWithin(double room) const {
  auto it = std::upper_bound(
      rest.begin(), rest.end(), room,
      [](double r, const Rest &entry) { return r < entry.cost; });
  return it == rest.begin() ? kNoItem
                            : static_cast<size_t>(it - rest.begin()) - 1;
}

/// The longest item that fills `room`, or kNoItem.
size_t FitTasks::filling(double room) const {
  size_t i = longestWithin(room + over);
  return i != kNoItem && rest[i].cost >= room - under ? i : kNoItem;
}

/// The longer of the two items that fill `room` best, or kNoItem.
size_t FitTasks::fillingWithAnother(double room) {
  double best = room - under;
  size_t found = kNoItem, longer = longestWithin(room + over);
  for (size_t shorter = 0; longer != kNoItem && shorter < longer;) {
    double both = rest[shorter].cost + further + rest[longer].cost;
    if (both > room + over) {
      --longer;
      continue;
    }
    if (both >= best) {
      best = both;
      found = longer;
      second = shorter;
    }
    ++shorter;
  }
  return found;
}

/// The longest item that leaves a rest, when `room` of it is cut off, beside
/// which another one fills a lane; else the longest of all.
size_t FitTasks::longToCut(double room, double share) const {
  size_t last = rest.size() - 1;
  for (size_t i = last; i + kCandidates > last && rest[i].cost > room; --i) {
    double fixed = static_cast<double>((*items)[rest[i].item].fixed);
    double onLast = fixed + std::fmod(rest[i].cost - room, share - fixed);
    size_t other = filling(share - onLast - further);
    if (other != kNoItem && other != i)
      return i;
    if (i == 0)
      break;
  }
  return last;
}

const WorkItem &FitTasks::remove(size_t index) {
  const WorkItem &item = (*items)[rest[index].item];
  rest.erase(rest.begin() + static_cast<ptrdiff_t>(index));
  --left;
  return item;
}

const WorkItem &FitTasks::take(double room, bool first, double share) {
  if (inOrder)
    return (*items)[items->size() - left--];
  if (second != kNoItem) // in front of the longer one, which is gone
    return remove(std::exchange(second, kNoItem));
  if (!first)
    room -= further;
  size_t index = filling(room);
  if (index == kNoItem)
    index = fillingWithAnother(room);
  if (index == kNoItem && rest.back().cost > room)
    index = longToCut(room, share);
  if (index == kNoItem)
    index = rest.size() - 1;
  return remove(index);
}
