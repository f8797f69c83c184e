//===- ProgramCheck.cpp - Tests of a program ------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `check(Program)`: everything after it may rely on indices, arities, axis maps
// and layouts being right.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Program.h"

#include "Requests.h"

#include "dataflow/Schedule/Message.h"

#include <set>

using namespace dfrt;

namespace {

bool isInteger(ElementType type) {
  return type == ElementType::i64 || type == ElementType::i32 ||
         type == ElementType::i16 || type == ElementType::i8 ||
         type == ElementType::i1;
}

const char *kindName(StageKind kind) {
  static const char *const names[] = {"map", "reduce", "reshard", "finalize"};
  return names[static_cast<int>(kind) & 3];
}

const char *arityName(Arity arity) {
  static const char *const names[] = {"one",   "pieces",    "tiles",
                                      "keyed", "collected", "none"};
  unsigned index = static_cast<unsigned>(arity);
  return index < 6 ? names[index] : "?";
}

bool sameFields(const Field &a, const Field &b) {
  return a.element == b.element && a.shape == b.shape &&
         a.separable == b.separable && a.offset == b.offset;
}

bool sameLayout(const Record &a, const Record &b) {
  if (a.fields.size() != b.fields.size() || a.slices != b.slices ||
      a.headBytes != b.headBytes || a.sliceBytes != b.sliceBytes)
    return false;
  for (size_t f = 0; f < a.fields.size(); ++f)
    if (!sameFields(a.fields[f], b.fields[f]))
      return false;
  return true;
}

class Checker {
public:
  explicit Checker(const Program &program) : program(program) {}

  Status run() {
    if (Status s = arguments(); !s)
      return s;
    for (uint32_t d = 0; d < program.domains.size(); ++d)
      if (Status s = domain(program.domains[d]); !s)
        return s;
    for (const Range &r : program.ranges)
      if (Status s = range(r); !s)
        return s;
    std::set<std::string> names;
    for (uint32_t i = 0; i < program.stages.size(); ++i) {
      if (!names.insert(program.stages[i].name).second)
        return invalidArgument("two stages have the name '",
                               program.stages[i].name, "'");
      if (Status s = stage(i); !s)
        return s;
    }
    if (Status s = detail::checkRequests(program); !s)
      return s;
    return separability();
  }

private:
  const Program &program;

  Status arguments() {
    std::set<std::string> names;
    for (const Argument &argument : program.arguments) {
      if (!names.insert(argument.name).second)
        return invalidArgument("two arguments have the name '", argument.name,
                               "'");
      for (int64_t extent : argument.shape)
        if (extent < -1)
          return invalidArgument("argument '", argument.name, "' has extent ",
                                 extent);
    }
    return Status::success();
  }

  /// An integer argument of rank `rank` that `what` reads.
  Status integerArgument(const std::string &what, uint32_t index, size_t rank) {
    if (index >= program.arguments.size())
      return invalidArgument(what, " names argument ", index, " of ",
                             program.arguments.size());
    const Argument &argument = program.arguments[index];
    if (!isInteger(argument.element))
      return invalidArgument(what, " reads argument '", argument.name,
                             "', which holds ", elementName(argument.element),
                             ", expected integers");
    if (argument.shape.size() != rank)
      return invalidArgument(what, " reads argument '", argument.name,
                             "' of rank ", argument.shape.size(), ", expected ",
                             rank);
    return Status::success();
  }

  /// `axes`: number of task axes that an element may be indexed by, or -1 where
  /// elements are not allowed.
  Status value(const std::string &what, const PlanValue &v, int64_t axes) {
    switch (v.kind) {
    case PlanValue::Kind::constant:
      return Status::success();
    case PlanValue::Kind::dimension:
      if (v.argument >= program.arguments.size())
        return invalidArgument(what, " names argument ", v.argument, " of ",
                               program.arguments.size());
      if (v.dimension >= program.arguments[v.argument].shape.size())
        return invalidArgument(what, " names dimension ", v.dimension,
                               " of argument '",
                               program.arguments[v.argument].name, "' of rank ",
                               program.arguments[v.argument].shape.size());
      return Status::success();
    case PlanValue::Kind::element:
      if (axes < 0)
        return invalidArgument(what, " may not be an element of an argument");
      if (Status s = integerArgument(what, v.argument, v.axes.size()); !s)
        return s;
      for (uint32_t axis : v.axes)
        if (axis >= axes)
          return invalidArgument(what, " is indexed by axis ", axis, " of ",
                                 axes);
      return Status::success();
    }
    return invalidArgument(what, " has an unknown kind");
  }

  Status domain(const Domain &d) {
    std::set<std::string> names;
    for (const Axis &axis : d.axes) {
      if (!names.insert(axis.name).second)
        return invalidArgument("domain '", d.name, "' has two axes '",
                               axis.name, "'");
      if (Status s = value(textOf("extent of axis '", axis.name,
                                  "' of domain '", d.name, "'"),
                           axis.extent, -1);
          !s)
        return s;
    }
    if (d.coordinates != kNone) {
      std::string what = textOf("coordinates of domain '", d.name, "'");
      if (Status s = integerArgument(what, d.coordinates, 2); !s)
        return s;
      int64_t columns = program.arguments[d.coordinates].shape[1];
      if (columns >= 0 && columns != int64_t(d.axes.size()))
        return invalidArgument(what, " have ", columns, " columns, expected ",
                               d.axes.size());
    }
    if (d.weights != kNone)
      return integerArgument(textOf("weights of domain '", d.name, "'"),
                             d.weights, 1);
    return Status::success();
  }

  Status range(const Range &r) {
    if (r.domain >= program.domains.size())
      return invalidArgument("range '", r.name, "' names domain ", r.domain,
                             " of ", program.domains.size());
    if (r.tile < 1)
      return invalidArgument("range '", r.name, "' has tile ", r.tile,
                             ", expected at least 1");
    int64_t axes = int64_t(program.domains[r.domain].axes.size());
    if (Status s =
            value(textOf("length of range '", r.name, "'"), r.length, axes);
        !s)
      return s;
    return value(textOf("offset of range '", r.name, "'"), r.offset, axes);
  }

  std::string label(uint32_t index) {
    const Stage &stage = program.stages[index];
    return textOf(kindName(stage.kind), " '", stage.name, "'");
  }

  Status stage(uint32_t index) {
    const Stage &stage = program.stages[index];
    std::string name = label(index);
    if (stage.domain >= program.domains.size())
      return invalidArgument(name, " names domain ", stage.domain, " of ",
                             program.domains.size());
    if (stage.range != kNone) {
      if (stage.kind != StageKind::map && stage.kind != StageKind::finalize)
        return invalidArgument(name, " may not have a range");
      if (stage.range >= program.ranges.size())
        return invalidArgument(name, " names range ", stage.range, " of ",
                               program.ranges.size());
      if (program.ranges[stage.range].domain != stage.domain)
        return invalidArgument(name, " iterates range '",
                               program.ranges[stage.range].name,
                               "' of another domain");
    } else if (stage.each) {
      return invalidArgument(name, " is called per tile, but has no range");
    }
    for (const StageInput &input : stage.inputs)
      if (input.stage >= index)
        return invalidArgument(name, " reads stage ", input.stage,
                               ", which is not an earlier one");
    if (Status s = arity(index); !s)
      return s;
    for (uint32_t i = 0; i < stage.inputs.size(); ++i)
      if (Status s = input(index, i); !s)
        return s;
    DFRT_TRY(collectedInputs(index));
    if (Status s = record(name, stage); !s)
      return s;
    return code(name, stage);
  }

  /// The stage that says which tasks the records of a channel come to: a
  /// rekeying reshard, or the stage that makes them.
  uint32_t delivering(uint32_t index) const {
    while (program.stages[index].kind == StageKind::reshard &&
           program.stages[index].reshard != ReshardKind::rekey)
      index = program.stages[index].inputs[0].stage;
    return index;
  }

  /// Operands of several collected inputs are told apart by the stages of
  /// their slots, and inputs of one stage share its operands equally. What a
  /// reduce would make is in the slot of a part where there is only one.
  Status collectedInputs(uint32_t index) {
    std::vector<uint32_t> inputs;
    for (const StageInput &input : program.stages[index].inputs)
      if (program.stages[input.stage].arity == Arity::collected)
        inputs.push_back(input.stage);
    if (inputs.size() < 2)
      return Status::success();
    for (uint32_t input : inputs) {
      uint32_t from = detail::recordSource(program, input);
      const Stage &source = program.stages[from];
      if (source.kind == StageKind::reduce)
        return invalidArgument(label(index), " collects records of reduce '",
                               source.name,
                               "' and others, expected one collected input");
      for (uint32_t other : inputs)
        if (detail::recordSource(program, other) == from &&
            delivering(other) != delivering(input))
          return invalidArgument(label(index), " collects records of '",
                                 source.name,
                                 "' that come in two ways, expected one");
    }
    return Status::success();
  }

  Status arity(uint32_t index) {
    const Stage &stage = program.stages[index];
    std::string name = label(index);
    Arity expected = Arity::one;
    switch (stage.kind) {
    case StageKind::map:
      if (stage.range != kNone)
        expected = stage.each ? Arity::tiles : Arity::pieces;
      break;
    case StageKind::reduce:
      if (stage.inputs.size() != 1)
        return invalidArgument(name, " has ", stage.inputs.size(),
                               " inputs, expected 1");
      break;
    case StageKind::finalize:
      expected = Arity::none;
      if (stage.range != kNone && !stage.each)
        return invalidArgument(name,
                               " has a range, but is not called per tile");
      break;
    case StageKind::reshard:
      if (stage.inputs.size() != 1)
        return invalidArgument(name, " has ", stage.inputs.size(),
                               " inputs, expected 1");
      expected = stage.reshard == ReshardKind::collect ? Arity::collected
                 : stage.reshard == ReshardKind::rekey
                     ? Arity::keyed
                     : program.stages[stage.inputs[0].stage].arity;
      break;
    default:
      return invalidArgument("stage '", stage.name, "' has an unknown kind");
    }
    if (stage.arity != expected ||
        (stage.arity == Arity::none) != (stage.kind == StageKind::finalize))
      return invalidArgument(name, " has arity ", arityName(stage.arity),
                             ", expected ", arityName(expected));
    return Status::success();
  }

  Status input(uint32_t index, uint32_t number) {
    const Stage &stage = program.stages[index];
    const StageInput &in = stage.inputs[number];
    const Stage &producer = program.stages[in.stage];
    std::string name = label(index);
    Arity a = producer.arity;
    auto refuse = [&](const char *expected) {
      return invalidArgument(name, " reads '", producer.name, "' of arity ",
                             arityName(a), ", expected ", expected);
    };
    bool rekey = false;
    switch (stage.kind) {
    case StageKind::reduce:
      if (a != Arity::pieces && a != Arity::tiles && a != Arity::keyed)
        return refuse("pieces, tiles or keyed");
      if (producer.domain != stage.domain)
        return invalidArgument(name, " reads '", producer.name,
                               "' of another domain");
      if (!sameLayout(stage.record, producer.record))
        return invalidArgument(name, " and its input '", producer.name,
                               "' have different records");
      break;
    case StageKind::reshard:
      if (a == Arity::none)
        return refuse("a channel");
      if (stage.reshard == ReshardKind::collect && a != Arity::tiles &&
          a != Arity::keyed)
        return refuse("tiles or keyed");
      if (stage.reshard == ReshardKind::collect && sendsRows(in.stage))
        return invalidArgument(name, " reads rows that '", producer.name,
                               "' delivers, expected whole records");
      if (stage.reshard == ReshardKind::rekey) {
        rekey = true;
        if (a != Arity::one && a != Arity::tiles)
          return refuse("one or tiles");
        if (Status s = rekeyed(index); !s)
          return s;
      } else if (producer.domain != stage.domain) {
        return invalidArgument(name, " reads '", producer.name,
                               "' of another domain");
      }
      if (stage.reshard == ReshardKind::move &&
          !sameLayout(stage.record, producer.record))
        return invalidArgument(name, " and its input '", producer.name,
                               "' have different records");
      break;
    case StageKind::map:
    case StageKind::finalize:
      if (a != Arity::one && a != Arity::tiles && a != Arity::collected)
        return refuse("one, tiles or collected");
      if (a == Arity::tiles &&
          (!stage.each ||
           program.stages[detail::recordSource(program, in.stage)].range !=
               stage.range))
        return invalidArgument(name, " reads the tiles of '", producer.name,
                               "', but is not called per tile of that range");
      break;
    }
    if (rekey)
      return Status::success();
    const Domain &from = program.domains[producer.domain];
    const Domain &to = program.domains[stage.domain];
    if (in.axes.size() != from.axes.size())
      return invalidArgument(name, " maps ", in.axes.size(), " axes of '",
                             producer.name, "', expected ", from.axes.size());
    for (size_t i = 0; i < in.axes.size(); ++i) {
      if (in.axes[i] >= to.axes.size())
        return invalidArgument(name, " maps axis '", from.axes[i].name,
                               "' of '", producer.name, "' to axis ",
                               in.axes[i], " of ", to.axes.size());
      if (to.axes[in.axes[i]].name != from.axes[i].name)
        return invalidArgument(name, " maps axis '", from.axes[i].name,
                               "' of '", producer.name, "' to axis '",
                               to.axes[in.axes[i]].name, "'");
    }
    return Status::success();
  }

  /// Whether the records of a channel are rows of others.
  bool sendsRows(uint32_t index) const {
    while (program.stages[index].kind == StageKind::reshard) {
      if (program.stages[index].rekey.rows)
        return true;
      index = program.stages[index].inputs[0].stage;
    }
    return false;
  }

  Status rekeyed(uint32_t index) {
    const Stage &stage = program.stages[index];
    const Stage &producer = program.stages[stage.inputs[0].stage];
    const Rekey &rekey = stage.rekey;
    std::string name = label(index);
    bool indexed = rekey.argument != kNone;
    if (!indexed && (rekey.rows || !rekey.axes.empty() || rekey.axis != 0))
      return invalidArgument(name, " has no index, but ",
                             rekey.rows ? "rows" : "axes for one");
    if (indexed)
      DFRT_TRY(integerArgument(textOf("index of ", name), rekey.argument,
                               rekey.axes.size() + rekey.rows));
    const Domain &from = program.domains[producer.domain];
    const Domain &to = program.domains[stage.domain];
    for (uint32_t axis : rekey.axes)
      if (axis >= from.axes.size())
        return invalidArgument(name, " is indexed by axis ", axis, " of ",
                               from.axes.size());
    if (indexed && rekey.axis >= to.axes.size())
      return invalidArgument(name, " replaces axis ", rekey.axis, " of ",
                             to.axes.size());
    for (uint32_t a = 0; a < to.axes.size(); ++a) {
      bool found = indexed && a == rekey.axis;
      for (const Axis &axis : from.axes)
        found |= axis.name == to.axes[a].name;
      if (!found)
        return invalidArgument(name, " gives no value to axis '",
                               to.axes[a].name, "'");
    }
    Record expected = producer.record;
    if (rekey.rows) {
      if (expected.fields.empty())
        return invalidArgument(name, " splits rows of an empty record");
      for (Field &field : expected.fields) {
        if (field.shape.empty() ||
            field.shape[0] != producer.record.fields[0].shape[0])
          return invalidArgument(name, " splits rows, but field '", field.name,
                                 "' has another first dimension");
        if (field.separable == 0)
          return invalidArgument(name, " splits rows, but field '", field.name,
                                 "' is separable along them");
        field.shape.erase(field.shape.begin());
        if (field.separable > 0)
          --field.separable;
      }
      if (Status s = layoutRecord(expected); !s)
        return s;
    }
    if (!sameLayout(stage.record, expected))
      return invalidArgument(name, " and its input '", producer.name,
                             "' have different ",
                             rekey.rows ? "rows" : "records");
    return Status::success();
  }

  Status record(const std::string &name, const Stage &stage) {
    if (stage.arity == Arity::none) {
      if (!stage.record.fields.empty())
        return invalidArgument(name, " has a record, expected none");
      return Status::success();
    }
    // A collected channel is never stored as such: its record is informative.
    if (stage.arity == Arity::collected)
      return Status::success();
    Record laidOut = stage.record;
    if (Status s = layoutRecord(laidOut); !s)
      return Status(s.code(), textOf(name, ": ", s.message()));
    if (!sameLayout(laidOut, stage.record))
      return invalidArgument(name, " has a record that is not laid out");
    if (laidOut.bytes() == 0)
      return invalidArgument(name, " has an empty record");
    return Status::success();
  }

  Status code(const std::string &name, const Stage &stage) {
    for (uint32_t operand : stage.operands)
      if (operand >= program.arguments.size())
        return invalidArgument(name, " reads argument ", operand, " of ",
                               program.arguments.size());
    if (stage.kind != StageKind::finalize && !stage.outputs.empty())
      return invalidArgument(name, " writes ", stage.outputs.size(),
                             " tensors, expected none");
    for (uint32_t output : stage.outputs) {
      if (output >= program.arguments.size())
        return invalidArgument(name, " writes argument ", output, " of ",
                               program.arguments.size());
      if (!program.arguments[output].output)
        return invalidArgument(name, " writes argument '",
                               program.arguments[output].name,
                               "', which is not an output");
    }
    if (stage.kind == StageKind::reshard)
      return Status::success();
    if (stage.variants.empty() ||
        stage.variants[0].kind != Variant::Kind::generic)
      return invalidArgument(name, " has no generic variant at index 0");
    bool sliced = false;
    for (const Variant &variant : stage.variants) {
      sliced |= variant.kind == Variant::Kind::sliced;
      if ((variant.kind == Variant::Kind::tiles ||
           variant.kind == Variant::Kind::exact) &&
          variant.value < 1)
        return invalidArgument(name, " has a variant for pieces of ",
                               variant.value, ", expected at least 1");
      if (variant.kind != Variant::Kind::bounded)
        continue;
      if (variant.value < 1)
        return invalidArgument(name, " has a variant for tasks with at most ",
                               variant.value, " elements, expected at least 1");
      if (stage.bound == kNone)
        return invalidArgument(name, " has a variant for tasks with at most ",
                               variant.value,
                               " elements, but no range says how many");
    }
    if (stage.bound != kNone) {
      if (stage.bound >= program.ranges.size())
        return invalidArgument(name, " is bounded by range ", stage.bound,
                               " of ", program.ranges.size());
      if (program.ranges[stage.bound].domain != stage.domain)
        return invalidArgument(name, " is bounded by range '",
                               program.ranges[stage.bound].name,
                               "' of another domain");
    }
    if (stage.separable && !sliced)
      return invalidArgument(name, " is separable, but has no sliced variant");
    return Status::success();
  }

  Status separability() {
    for (uint32_t i = 0; i < program.stages.size(); ++i)
      if (program.stages[i].kind != StageKind::reshard)
        if (Status s = separability(i); !s)
          return s;
    return Status::success();
  }

  Status separability(uint32_t index) {
    const Stage &stage = program.stages[index];
    std::string name = label(index);
    if (stage.separable && stage.kind == StageKind::reduce &&
        stage.record.sliceBytes == 0)
      return invalidArgument(name,
                             " is separable, but no field of its record is");
    uint32_t slices = stage.arity == Arity::none ? 0 : stage.record.slices;
    for (const StageInput &in : stage.inputs) {
      const Stage &channel = program.stages[in.stage];
      bool separable =
          program.stages[detail::recordSource(program, in.stage)].separable;
      if (separable && channel.kind != StageKind::reshard && !stage.separable)
        return invalidArgument(name, " is not separable, but its input '",
                               channel.name, "' is");
      if (!stage.separable || stage.kind == StageKind::reduce ||
          (!separable && channel.record.slices == 1))
        continue;
      // One slice index serves all inputs and the output of a call.
      if (slices == 0)
        slices = channel.record.slices;
      if (!separable || channel.record.slices != slices)
        return invalidArgument(name, " is separable, but its input '",
                               channel.name, "' has ", channel.record.slices,
                               separable ? "" : " inseparable",
                               " slices, expected 1", separable ? " or " : "",
                               separable ? std::to_string(slices) : "");
    }
    return Status::success();
  }
};

} // namespace

Status dfrt::check(const Program &program) { return Checker(program).run(); }
