//===- ReadFill.cpp - Fills as they stand in a workload file --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `readFill` and `readPadding` of Fill.h.
//
//===----------------------------------------------------------------------===//

#include "Fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

using namespace dfrt;

// Reads the optional member `key` into `target`.
static Status optional(const Node &node, const char *key, double &target) {
  if (!node.has(key))
    return Status::success();
  Expected<double> value = node.member(key).number();
  if (value)
    target = *value;
  return value.status();
}
static Status optional(const Node &node, const char *key, uint64_t &target) {
  if (!node.has(key))
    return Status::success();
  Expected<int64_t> value = node.member(key).integer();
  if (value)
    target = static_cast<uint64_t>(*value);
  return value.status();
}

static Status optional(const Node &node, const char *key, int64_t &target,
                       const FillNames &names) {
  if (!node.has(key))
    return Status::success();
  Expected<int64_t> value = names.dimension(node.member(key));
  if (value)
    target = *value;
  return value.status();
}

static Expected<std::vector<int64_t>>
requiredList(const Node &node, const char *key, const FillNames &names) {
  if (!node.has(key))
    return node.error(fmt::format("key \"{}\" is missing", key));
  return names.list(node.member(key));
}

// A JSON number, or a string that names a value JSON has no number for.
static Expected<double> anyNumber(const Node &node) {
  if (!node->is_string())
    return node.number();
  std::string text = node->get<std::string>();
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf")
    return std::numeric_limits<double>::infinity();
  if (text == "-inf")
    return -std::numeric_limits<double>::infinity();
  return node.error(fmt::format(
      "expected a number, \"nan\", \"inf\" or \"-inf\", got \"{}\"", text));
}

static Status readValues(const Node &node, const FillNames &names, Fill &fill) {
  fill.kind = Fill::Kind::values;
  if (node->is_string()) {
    Expected<std::vector<int64_t>> list = names.list(node);
    if (list)
      fill.integers = *list;
    return list.status();
  }
  if (!node->is_array())
    return node.error(fmt::format("expected a list or the name of one, got {}",
                                  kindName(*node)));
  bool integers = std::all_of(node->begin(), node->end(), [](const Json &v) {
    return v.is_number_integer();
  });
  for (size_t i = 0; i < node->size(); ++i) {
    if (integers) {
      Expected<int64_t> value = node.element(i).integer();
      if (!value)
        return value.status();
      fill.integers.push_back(*value);
      continue;
    }
    Expected<double> value = anyNumber(node.element(i));
    if (!value)
      return value.status();
    fill.numbers.push_back(*value);
  }
  return Status::success();
}

static Status readNormal(const Node &node, const FillNames &, Fill &fill) {
  fill.kind = Fill::Kind::normal;
  if (Status s = node.expectKeys({"seed", "mean", "scale"}); !s)
    return s;
  if (Status s = optional(node, "seed", fill.seed); !s)
    return s;
  if (Status s = optional(node, "mean", fill.number); !s)
    return s;
  return optional(node, "scale", fill.scale);
}

static Status readUniform(const Node &node, const FillNames &, Fill &fill) {
  fill.kind = Fill::Kind::uniform;
  if (Status s = node.expectKeys({"seed", "low", "high"}); !s)
    return s;
  if (Status s = optional(node, "seed", fill.seed); !s)
    return s;
  if (Status s = optional(node, "low", fill.low); !s)
    return s;
  return optional(node, "high", fill.high);
}

static Status readConstant(const Node &node, const FillNames &, Fill &fill) {
  Expected<double> value = anyNumber(node);
  if (value)
    fill.number = *value;
  return value.status();
}

static Status readIota(const Node &node, const FillNames &, Fill &fill) {
  fill.kind = Fill::Kind::iota;
  if (Status s = node.expectKeys({"start", "step"}); !s)
    return s;
  if (Status s = optional(node, "start", fill.number); !s)
    return s;
  return optional(node, "step", fill.scale);
}

static Status readPrefixSum(const Node &node, const FillNames &names,
                            Fill &fill) {
  fill.kind = Fill::Kind::prefixSum;
  Expected<std::vector<int64_t>> list = names.list(node);
  if (list)
    fill.integers = *list;
  return list.status();
}

/// All page numbers or keys are shuffled at once, in memory.
static constexpr int64_t kMaxPages = int64_t(1) << 28;

// Reads `lengths` and `tile`, and counts tiles.
static Status readLengths(const Node &node, const FillNames &names, Fill &fill,
                          int64_t &tiles) {
  Expected<std::vector<int64_t>> list = requiredList(node, "lengths", names);
  if (!list)
    return list.status();
  fill.integers = *list;
  if (Status s = optional(node, "tile", fill.tile, names); !s)
    return s;
  if (fill.tile < 1)
    return node.error(fmt::format("tile must be positive, got {}", fill.tile));
  tiles = 0;
  for (int64_t length : fill.integers) {
    if (length < 0)
      return node.error(fmt::format("negative length {}", length));
    if (__builtin_add_overflow(tiles, pagesOf(length, fill.tile), &tiles))
      return node.error("the number of pages does not fit 64 bits");
  }
  return Status::success();
}

// The same for fills that lay all elements end to end, and counts these.
static Status readElements(const Node &node, const FillNames &names, Fill &fill,
                           int64_t &elements) {
  int64_t tiles = 0;
  if (Status s = readLengths(node, names, fill, tiles); !s)
    return s;
  elements = 0;
  for (int64_t length : fill.integers)
    if (__builtin_add_overflow(elements, length, &elements))
      return node.error("the sum of the lengths does not fit 64 bits");
  return Status::success();
}

static Status readPageTable(const Node &node, const FillNames &names,
                            Fill &fill) {
  fill.kind = Fill::Kind::pageTable;
  if (Status s =
          node.expectKeys({"lengths", "tile", "pages", "seed", "unused"});
      !s)
    return s;
  int64_t used = 0;
  if (Status s = readLengths(node, names, fill, used); !s)
    return s;
  fill.pages = used;
  if (Status s = optional(node, "pages", fill.pages, names); !s)
    return s;
  if (fill.pages < used)
    return node.error(fmt::format("pages is {}, but the lengths need {} pages",
                                  fill.pages, used));
  if (fill.pages > kMaxPages)
    return node.error(fmt::format("there are {} pages, expected at most {}",
                                  fill.pages, kMaxPages));
  if (Status s = optional(node, "unused", fill.unused, names); !s)
    return s;
  return optional(node, "seed", fill.seed);
}

static Status readTiles(const Node &node, const FillNames &names, Fill &fill) {
  fill.kind = Fill::Kind::tiles;
  if (Status s = node.expectKeys({"lengths", "tile", "give"}); !s)
    return s;
  int64_t elements = 0;
  if (Status s = readElements(node, names, fill, elements); !s)
    return s;
  std::string give;
  if (node.has("give") && node.member("give")->is_string())
    give = node.member("give")->get<std::string>();
  if (give == "owner")
    fill.fact = Fill::TileFact::owner;
  else if (give == "begin")
    fill.fact = Fill::TileFact::begin;
  else if (give == "length")
    fill.fact = Fill::TileFact::length;
  else
    return node.error("\"give\" must be \"owner\", \"begin\" or \"length\"");
  return Status::success();
}

/// What the fills about keys of tiles have in common.
static Status readKeys(const Node &node, const FillNames &names, Fill &fill) {
  if (Status s = node.expectKeys({"lengths", "tile", "keys", "seed", "unused"});
      !s)
    return s;
  int64_t elements = 0;
  if (Status s = readElements(node, names, fill, elements); !s)
    return s;
  if (!node.has("keys"))
    return node.error("key \"keys\" is missing");
  if (Status s = optional(node, "keys", fill.keys, names); !s)
    return s;
  if (fill.keys < (elements > 0 ? 1 : 0) || fill.keys > kMaxPages ||
      elements > kMaxPages)
    return node.error(fmt::format(
        "{} elements with {} keys, expected 1 to {} keys and at most {} "
        "elements",
        elements, fill.keys, kMaxPages, kMaxPages));
  if (Status s = optional(node, "unused", fill.unused, names); !s)
    return s;
  return optional(node, "seed", fill.seed);
}

static Status readTileKeys(const Node &node, const FillNames &names,
                           Fill &fill) {
  fill.kind = Fill::Kind::tileKeys;
  return readKeys(node, names, fill);
}

static Status readKeyPlaces(const Node &node, const FillNames &names,
                            Fill &fill) {
  fill.kind = Fill::Kind::keyPlaces;
  return readKeys(node, names, fill);
}

static Status readPermutation(const Node &node, const FillNames &, Fill &fill) {
  fill.kind = Fill::Kind::permutation;
  if (Status s = node.expectKeys({"seed"}); !s)
    return s;
  return optional(node, "seed", fill.seed);
}

static Status readRandomIntegers(const Node &node, const FillNames &names,
                                 Fill &fill) {
  fill.kind = Fill::Kind::randomIntegers;
  if (Status s = node.expectKeys({"seed", "low", "high", "distinct"}); !s)
    return s;
  if (!node.has("high"))
    return node.error("key \"high\" is missing");
  if (Status s = optional(node, "low", fill.integersLow, names); !s)
    return s;
  if (Status s = optional(node, "high", fill.integersHigh, names); !s)
    return s;
  if (fill.integersHigh < fill.integersLow)
    return node.error(fmt::format("high is {}, which is below low, {}",
                                  fill.integersHigh, fill.integersLow));
  if (int64_t width;
      __builtin_sub_overflow(fill.integersHigh, fill.integersLow, &width))
    return node.error(fmt::format("{} to {} is wider than 2^63",
                                  fill.integersLow, fill.integersHigh));
  if (node.has("distinct")) {
    Node flag = node.member("distinct");
    if (!flag->is_boolean())
      return flag.error(
          fmt::format("expected true or false, got {}", kindName(*flag)));
    fill.distinct = flag->get<bool>();
  }
  return optional(node, "seed", fill.seed);
}

namespace {
struct Reader {
  const char *name;
  Status (*read)(const Node &, const FillNames &, Fill &);
};
} // namespace

static const Reader kReaders[] = {
    {"values", readValues},
    {"normal", readNormal},
    {"uniform", readUniform},
    {"constant", readConstant},
    {"iota", readIota},
    {"prefix_sum", readPrefixSum},
    {"page_table", readPageTable},
    {"tiles", readTiles},
    {"tile_keys", readTileKeys},
    {"key_places", readKeyPlaces},
    {"permutation", readPermutation},
    {"random_integers", readRandomIntegers},
};

Expected<Fill> dfrt::readFill(const Node &node, const FillNames &names) {
  Fill fill;
  if (node->is_string()) {
    std::string word = node->get<std::string>();
    if (word == "zeros")
      return fill;
    if (word == "nan") {
      fill.number = std::numeric_limits<double>::quiet_NaN();
      return fill;
    }
    // The kinds all of whose keys are optional may be given by name alone.
    Json empty = Json::object();
    Node none{&empty, node.place};
    for (const Reader &reader : kReaders)
      if (word == reader.name && (word == "normal" || word == "uniform" ||
                                  word == "iota" || word == "permutation")) {
        if (Status s = reader.read(none, names, fill); !s)
          return s;
        return fill;
      }
    return node.error(fmt::format(
        "unknown fill \"{}\"; known by name alone are zeros, nan, normal, "
        "uniform, iota, permutation",
        word));
  }
  if (!node->is_object() || node->size() != 1)
    return node.error("expected a name, or an object with one key: the kind of "
                      "the fill");
  std::string kind = node->begin().key();
  for (const Reader &reader : kReaders)
    if (kind == reader.name) {
      if (Status s = reader.read(node.member(kind), names, fill); !s)
        return s;
      return fill;
    }
  std::vector<const char *> known;
  for (const Reader &reader : kReaders)
    known.push_back(reader.name);
  return node.error(fmt::format("unknown fill \"{}\"; known are: {}", kind,
                                fmt::join(known, ", ")));
}

Status dfrt::readPadding(const Node &node, const FillNames &names, Fill &fill) {
  if (Status s = node.expectKeys({"lengths", "value"}); !s)
    return s;
  Expected<std::vector<int64_t>> lengths = requiredList(node, "lengths", names);
  if (!lengths)
    return lengths.status();
  fill.padded = true;
  fill.valid = std::move(*lengths);
  if (!node.has("value"))
    return Status::success();
  Expected<double> value = anyNumber(node.member("value"));
  if (value)
    fill.padding = *value;
  return value.status();
}
