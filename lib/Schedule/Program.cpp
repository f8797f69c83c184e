//===- Program.cpp - What a compiled program is, without its inputs -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types, record layout and the fingerprint. The tests of a program are
// in ProgramCheck.cpp.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Program.h"

#include "dataflow/Schedule/Message.h"

using namespace dfrt;

uint32_t dfrt::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::i64:
    return 8;
  case ElementType::f32:
  case ElementType::i32:
    return 4;
  case ElementType::f16:
  case ElementType::bf16:
  case ElementType::i16:
    return 2;
  case ElementType::f8E4M3FN:
  case ElementType::f8E5M2:
  case ElementType::i8:
  case ElementType::i1:
    return 1;
  }
  return 0;
}

const char *dfrt::elementName(ElementType type) {
  switch (type) {
  case ElementType::f64:
    return "f64";
  case ElementType::f32:
    return "f32";
  case ElementType::f16:
    return "f16";
  case ElementType::bf16:
    return "bf16";
  case ElementType::f8E4M3FN:
    return "f8E4M3FN";
  case ElementType::f8E5M2:
    return "f8E5M2";
  case ElementType::i64:
    return "i64";
  case ElementType::i32:
    return "i32";
  case ElementType::i16:
    return "i16";
  case ElementType::i8:
    return "i8";
  case ElementType::i1:
    return "i1";
  }
  return "?";
}

Status dfrt::layoutRecord(Record &record) {
  // Larger than any device's memory, and small enough that sums cannot wrap.
  constexpr uint64_t limit = uint64_t(1) << 48;
  if (record.slices == 0 || record.slices > 0xffff)
    return invalidArgument("record has ", record.slices,
                           " slices, expected 1 to 65535");
  bool separable = false;
  uint64_t head = 0, slice = 0;
  for (Field &field : record.fields) {
    uint64_t bytes = elementBytes(field.element);
    int32_t rank = static_cast<int32_t>(field.shape.size());
    if (field.separable < -1 || field.separable >= rank)
      return invalidArgument("field '", field.name, "' is separable along ",
                             field.separable, ", but has rank ", rank);
    for (int32_t d = 0; d < rank; ++d) {
      int64_t extent = field.shape[d];
      if (extent < 0)
        return invalidArgument("field '", field.name, "' has extent ", extent,
                               " in dimension ", d, ", expected a static one");
      if (d == field.separable) {
        if (extent % record.slices)
          return invalidArgument("field '", field.name,
                                 "' has separable extent ", extent, ", which ",
                                 record.slices, " slices do not divide");
        extent /= record.slices;
      }
      if (extent && bytes > limit / static_cast<uint64_t>(extent))
        return invalidArgument("field '", field.name, "' exceeds ", limit,
                               " bytes");
      bytes *= static_cast<uint64_t>(extent);
    }
    uint64_t &end = field.separable < 0 ? head : slice;
    separable |= field.separable >= 0;
    field.offset = end;
    end += (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
    if (end > limit / record.slices)
      return invalidArgument("record exceeds ", limit, " bytes");
  }
  if (!separable && record.slices != 1)
    return invalidArgument("record has ", record.slices,
                           " slices, but no separable field");
  record.headBytes = head;
  record.sliceBytes = slice;
  return Status::success();
}

namespace {

/// FNV-1a over a canonical sequence of 64-bit words and strings.
class Hasher {
public:
  void word(uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8)
      byte(static_cast<uint8_t>(value));
  }
  void text(const std::string &value) {
    word(value.size());
    for (char c : value)
      byte(static_cast<uint8_t>(c));
  }
  template <typename T>
  void words(const std::vector<T> &values) {
    word(values.size());
    for (T value : values)
      word(static_cast<uint64_t>(value));
  }
  void value(const PlanValue &v) {
    word(static_cast<uint64_t>(v.kind));
    word(static_cast<uint64_t>(v.constant));
    word(v.argument);
    word(v.dimension);
    words(v.axes);
  }
  uint64_t result() const { return state; }

private:
  void byte(uint8_t value) { state = (state ^ value) * 0x100000001b3ull; }
  uint64_t state = 0xcbf29ce484222325ull;
};

void hashStage(Hasher &hash, const Stage &stage) {
  hash.text(stage.name);
  hash.word(static_cast<uint64_t>(stage.kind));
  hash.word(static_cast<uint64_t>(stage.reshard));
  hash.word(stage.domain);
  hash.word(stage.range);
  hash.word(stage.each);
  hash.word(stage.inputs.size());
  for (const StageInput &input : stage.inputs) {
    hash.word(input.stage);
    hash.words(input.axes);
  }
  hash.word(static_cast<uint64_t>(stage.arity));
  hash.word(stage.record.slices);
  hash.word(stage.record.headBytes);
  hash.word(stage.record.sliceBytes);
  hash.word(stage.record.fields.size());
  for (const Field &field : stage.record.fields) {
    hash.text(field.name);
    hash.word(static_cast<uint64_t>(field.element));
    hash.words(field.shape);
    hash.word(static_cast<uint64_t>(field.separable));
    hash.word(field.offset);
  }
  hash.words(stage.operands);
  hash.words(stage.outputs);
  hash.word(stage.separable);
  hash.word(stage.rekey.argument);
  hash.words(stage.rekey.axes);
  hash.word(stage.rekey.axis);
  hash.word(stage.rekey.rows);
  hash.word(static_cast<uint64_t>(stage.requests.transport));
  hash.word(static_cast<uint64_t>(stage.requests.memory));
  hash.word(static_cast<uint64_t>(stage.requests.minTiles));
  hash.word(static_cast<uint64_t>(stage.requests.maxTiles));
  hash.word(stage.requests.resident);
  hash.word(stage.cost.fixedBytes);
  hash.word(stage.cost.tileBytes);
  hash.word(stage.cost.fixedFlops);
  hash.word(stage.cost.tileFlops);
  hash.word(stage.variants.size());
  for (const Variant &variant : stage.variants) {
    hash.word(static_cast<uint64_t>(variant.kind));
    hash.word(static_cast<uint64_t>(variant.value));
    if (variant.kind != Variant::Kind::bounded)
      continue;
    hash.word(stage.bound);
    hash.word(variant.cost.fixedBytes);
    hash.word(variant.cost.tileBytes);
    hash.word(variant.cost.fixedFlops);
    hash.word(variant.cost.tileFlops);
  }
}

} // namespace

uint64_t Program::fingerprint() const {
  Hasher hash;
  hash.text(name);
  hash.word(arguments.size());
  for (const Argument &argument : arguments) {
    hash.text(argument.name);
    hash.word(static_cast<uint64_t>(argument.element));
    hash.words(argument.shape);
    hash.word(argument.output);
  }
  hash.word(domains.size());
  for (const Domain &domain : domains) {
    hash.text(domain.name);
    hash.word(domain.axes.size());
    for (const Axis &axis : domain.axes) {
      hash.text(axis.name);
      hash.value(axis.extent);
    }
    hash.word(domain.coordinates);
    hash.word(domain.weights);
  }
  hash.word(ranges.size());
  for (const Range &range : ranges) {
    hash.text(range.name);
    hash.word(range.domain);
    hash.value(range.length);
    hash.value(range.offset);
    hash.word(static_cast<uint64_t>(range.tile));
  }
  hash.word(stages.size());
  for (const Stage &stage : stages)
    hashStage(hash, stage);
  return hash.result();
}

std::vector<uint32_t> Program::consumers(uint32_t stage) const {
  std::vector<uint32_t> result;
  for (uint32_t s = 0; s < stages.size(); ++s)
    for (const StageInput &input : stages[s].inputs)
      if (input.stage == stage) {
        result.push_back(s);
        break;
      }
  return result;
}
