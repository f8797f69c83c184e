//===- TensorCore.cpp - A model of a CTA with tensor cores ----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCore.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tensorcore;

uint64_t tensorcore::encode(Type type, double value) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

double tensorcore::decode(Type type, uint64_t bits) {
  llvm::APFloat number(
      cast<FloatType>(type).getFloatSemantics(),
      llvm::APInt(type.getIntOrFloatBitWidth(), bits, false, true));
  bool inexact;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToDouble();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Machine::Cells &Machine::make(Value value, size_t parts) {
  Cells &made = values[value];
  made.resize(parts, std::vector<uint64_t>(threads));
  return made;
}

const Machine::Cells &Machine::cells(Value value) const {
  return values.find(value)->second;
}

void Machine::set(Value value, function_ref<uint64_t(unsigned)> bits) {
  std::vector<uint64_t> &part = make(value, 1)[0];
  for (unsigned t = 0; t != threads; ++t)
    part[t] = bits(t);
}

uint64_t Machine::get(Value value, unsigned thread) const {
  return cells(value)[0][thread];
}

uint64_t Machine::load(uint64_t address, unsigned bytes) const {
  uint64_t value = 0;
  for (unsigned i = 0; i != bytes; ++i)
    value |= uint64_t(memory.at(address + i)) << (8 * i);
  return value;
}

void Machine::store(uint64_t address, unsigned bytes, uint64_t value) {
  for (unsigned i = 0; i != bytes; ++i)
    memory.at(address + i) = uint8_t(value >> (8 * i));
}

//===----------------------------------------------------------------------===//
// Ordinary operations
//===----------------------------------------------------------------------===//

static unsigned widthOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 32;
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
}

static size_t partsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? size_t(vector.getNumElements()) : 1;
}

static uint64_t truncate(uint64_t value, unsigned width) {
  return width >= 64 ? value : value & ((uint64_t(1) << width) - 1);
}

void Machine::run(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      runOp(op);
}

void Machine::runLoop(scf::ForOp loop) {
  std::vector<bool> outside = active;
  Value counter = loop.getInductionVar();
  set(counter, [&](unsigned t) { return get(loop.getLowerBound(), t); });
  for (;;) {
    bool any = false;
    for (unsigned t = 0; t != threads; ++t) {
      active[t] = outside[t] && int32_t(get(counter, t)) <
                                    int32_t(get(loop.getUpperBound(), t));
      any |= active[t];
    }
    if (!any)
      break;
    run(*loop.getBody());
    std::vector<uint64_t> &part = values.find(counter)->second[0];
    for (unsigned t = 0; t != threads; ++t)
      part[t] = uint32_t(part[t] + get(loop.getStep(), t));
  }
  active = outside;
}

void Machine::runOp(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop);
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return runAssembly(assembly);
  for (Value operand : op.getOperands()) {
    auto flying = inFlight.find(operand);
    if (flying == inFlight.end())
      continue;
    size_t number = flying->second;
    if (isa<LLVM::ExtractValueOp>(op))
      inFlight[op.getResult(0)] = number;
    else
      problem("an accumulator is read before the wait");
  }

  if (auto storeOp = dyn_cast<LLVM::StoreOp>(op)) {
    unsigned bytes = widthOf(storeOp.getValue().getType()) / 8;
    // `make` could move the cells.
    const Cells &value = cells(storeOp.getValue());
    for (unsigned t = 0; t != threads; ++t) {
      if (!active[t])
        continue;
      uint64_t address = get(storeOp.getAddr(), t);
      if (address % (bytes * value.size()) != 0)
        problem("a store is not aligned");
      for (size_t i = 0; i != value.size(); ++i)
        store(address + i * bytes, bytes, value[i][t]);
    }
    ++counts["store" + std::to_string(bytes * value.size())];
    return;
  }

  Value result = op.getResult(0);
  Type type = result.getType();
  size_t parts = partsOf(type);
  unsigned width = isa<LLVM::LLVMStructType>(type) ? 64 : widthOf(type);
  Cells out(parts, std::vector<uint64_t>(threads));
  auto each = [&](auto compute) {
    for (size_t i = 0; i != parts; ++i)
      for (unsigned t = 0; t != threads; ++t)
        out[i][t] = truncate(uint64_t(compute(i, t)), width);
  };
  auto operand = [&](unsigned number, size_t part, unsigned t) {
    return cells(op.getOperand(number))[part][t];
  };
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](arith::ConstantOp constant) {
        Attribute value = constant.getValue();
        if (auto dense = dyn_cast<DenseElementsAttr>(value))
          value = dense.getSplatValue<Attribute>();
        APInt bits = isa<FloatAttr>(value)
                         ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                         : cast<IntegerAttr>(value).getValue();
        each([&](size_t, unsigned) { return bits.getZExtValue(); });
      })
      .Case([&](arith::AddIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) + operand(1, i, t);
        });
      })
      .Case([&](arith::MulIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) * operand(1, i, t);
        });
      })
      .Case([&](arith::AndIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) & operand(1, i, t);
        });
      })
      .Case([&](arith::OrIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) | operand(1, i, t);
        });
      })
      .Case([&](arith::XOrIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) ^ operand(1, i, t);
        });
      })
      .Case([&](arith::ShLIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) << operand(1, i, t);
        });
      })
      .Case([&](arith::ShRUIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) >> operand(1, i, t);
        });
      })
      .Case([&](arith::DivUIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) / operand(1, i, t);
        });
      })
      .Case([&](arith::RemUIOp) {
        each([&](size_t i, unsigned t) {
          return operand(0, i, t) % operand(1, i, t);
        });
      })
      .Case<arith::ExtUIOp, arith::BitcastOp, LLVM::IntToPtrOp>(
          [&](Operation *) {
            each([&](size_t i, unsigned t) { return operand(0, i, t); });
          })
      .Case([&](LLVM::GEPOp gep) {
        auto indices = gep.getIndices();
        int64_t bytes = cast<IntegerAttr>(indices[0]).getInt();
        each([&](size_t, unsigned t) { return operand(0, 0, t) + bytes; });
      })
      .Case([&](LLVM::PoisonOp) {
        each([&](size_t, unsigned) { return 0xdeaddeaddeaddeadull; });
      })
      .Case([&](LLVM::InsertElementOp insert) {
        each([&](size_t i, unsigned t) {
          return i == operand(2, 0, t) ? operand(1, 0, t) : operand(0, i, t);
        });
      })
      .Case([&](LLVM::ExtractElementOp) {
        each([&](size_t, unsigned t) {
          return operand(0, operand(1, 0, t), t);
        });
      })
      .Case([&](LLVM::ExtractValueOp extract) {
        each([&](size_t, unsigned t) {
          return operand(0, size_t(extract.getPosition()[0]), t);
        });
      })
      .Case([&](LLVM::BitcastOp cast) {
        unsigned from = widthOf(cast.getArg().getType());
        each([&](size_t i, unsigned t) {
          uint64_t value = 0;
          for (unsigned bit = 0; bit != width; ++bit) {
            size_t at = i * width + bit;
            value |= (operand(0, at / from, t) >> (at % from) & 1) << bit;
          }
          return value;
        });
      })
      .Case([&](LLVM::LoadOp loadOp) {
        unsigned bytes = width / 8;
        for (unsigned t = 0; t != threads; ++t) {
          uint64_t address = operand(0, 0, t);
          if (address % (bytes * parts) != 0)
            problem("a load is not aligned");
          for (size_t i = 0; i != parts; ++i)
            out[i][t] = load(address + i * bytes, bytes);
        }
        ++counts["load" + std::to_string(bytes * parts)];
      })
      .Default([&](Operation *) {
        problem("no model of " + op.getName().getStringRef().str());
      });
  values[result] = std::move(out);
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// An instruction with its operands: values of each thread.
struct Machine::Instruction {
  LLVM::InlineAsmOp op;
  std::string name;
  /// Text behind the name, cut at commas; lists in braces are one each.
  std::vector<std::string> operands;
  std::vector<const std::vector<uint64_t> *> inputs; ///< $n, n >= results
  std::vector<const std::vector<uint64_t> *> inOut;  ///< of the first results
  Cells results;

  /// The numbers in "{$1, $2}" or "$1".
  static std::vector<size_t> numbers(StringRef text) {
    std::vector<size_t> found;
    SmallVector<StringRef> parts;
    text.trim("{} ").split(parts, ',');
    for (StringRef part : parts) {
      size_t number;
      part.trim(" $").getAsInteger(10, number);
      found.push_back(number);
    }
    return found;
  }
  const std::vector<uint64_t> &input(size_t number) const {
    return *inputs.at(number - results.size());
  }
};

void Machine::runAssembly(LLVM::InlineAsmOp op) {
  Instruction instruction;
  instruction.op = op;
  StringRef text = op.getAsmString();
  if (!text.consume_back(";"))
    problem("an instruction has no end");
  auto [name, rest] = text.split(' ');
  instruction.name = name.str();
  std::string part;
  unsigned depth = 0;
  for (char c : rest) {
    depth += c == '{';
    depth -= c == '}';
    if (c == ',' && !depth) {
      instruction.operands.push_back(StringRef(part).trim().str());
      part.clear();
    } else {
      part += c;
    }
  }
  instruction.operands.push_back(StringRef(part).trim().str());

  SmallVector<StringRef> constraints;
  op.getConstraints().split(constraints, ',');
  size_t results = 0, input = 0;
  for (StringRef constraint : constraints) {
    if (constraint.starts_with("=")) {
      ++results;
    } else if (!constraint.starts_with("~")) {
      size_t tied;
      Value value = op.getOperand(unsigned(input++));
      const std::vector<uint64_t> *part = &cells(value)[0];
      if (constraint.getAsInteger(10, tied)) {
        instruction.inputs.push_back(part);
      } else {
        if (tied != instruction.inOut.size())
          problem("a tied operand is out of order");
        instruction.inOut.push_back(part);
      }
    }
  }
  instruction.results.resize(results, std::vector<uint64_t>(threads));
  for (auto [number, part] : llvm::enumerate(instruction.inOut))
    instruction.results[number] = *part;

  // Accumulators go from one product to the next, and to the wait.
  bool product = name.starts_with("wgmma.mma_async");
  bool wait = name.starts_with("wgmma.wait_group");
  size_t running = 0;
  if (wait && (rest.getAsInteger(10, running) || running > groups))
    problem("a wait for no group: " + rest.str());
  for (auto [number, operand] : llvm::enumerate(op.getOperands()))
    if (auto it = inFlight.find(operand);
        it != inFlight.end() &&
        !(product && number >= instruction.inputs.size()) &&
        !(wait && it->second + running < groups))
      problem("an accumulator is read before the wait");
  if (product)
    inFlight[op.getRes()] = groups;
  if (product) {
    if (!fenced)
      problem("there is no fence before the product");
    wgmma(instruction);
  } else if (name.starts_with("wgmma.fence")) {
    fenced = true;
  } else if (wait) {
    fenced = false;
  } else if (name.starts_with("stmatrix")) {
    matrices(instruction, /*store=*/true);
  } else if (name.starts_with("ldmatrix")) {
    matrices(instruction, /*store=*/false);
  } else if (name == "redux.sync.or.b32") {
    for (unsigned t = 0; t != threads; ++t)
      for (unsigned lane = 0; lane != 32; ++lane)
        instruction.results[0][t] |=
            (*instruction.inputs[0])[t / 32 * 32 + lane];
  } else if (name.starts_with("wgmma.commit_group")) {
    ++groups;
  } else {
    problem("no model of " + name.str());
  }
  ++counts[name.str()];
  if (results)
    values[op.getRes()] = std::move(instruction.results);
}

void Machine::wgmma(Instruction &instruction) {
  MLIRContext *context = instruction.op.getContext();
  // wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
  SmallVector<StringRef> words;
  StringRef(instruction.name).split(words, '.');
  size_t n = 0, k = 0;
  {
    auto [mn, kText] = words[4].split('k');
    kText.getAsInteger(10, k);
    mn.split('n').second.getAsInteger(10, n);
  }
  auto typeOf = [&](StringRef name) -> Type {
    return llvm::StringSwitch<Type>(name)
        .Case("f32", Float32Type::get(context))
        .Case("tf32", Float32Type::get(context))
        .Case("f16", Float16Type::get(context))
        .Case("bf16", BFloat16Type::get(context))
        .Case("e4m3", Float8E4M3FNType::get(context))
        .Default(Float8E5M2Type::get(context));
  };
  Type dType = typeOf(words[5]), aType = typeOf(words[6]),
       bType = typeOf(words[7]);
  unsigned aBytes = widthOf(aType) / 8;
  const std::vector<std::string> &text = instruction.operands;
  std::vector<size_t> d = Instruction::numbers(text[0]);
  std::vector<size_t> a = Instruction::numbers(text[1]);
  std::vector<size_t> b = Instruction::numbers(text[2]);
  auto flag = [&](size_t number) {
    return number < text.size() && text[number] == "1";
  };
  bool read = flag(3), registers = a.size() == 4;
  // Signs first; then whether A (if it has a descriptor) and B are transposed.
  bool aTransposed = !registers && flag(6),
       bTransposed = flag(registers ? 6 : 7);
  size_t expected = 6 + (aBytes == 2 ? (registers ? 1 : 2) : 0);
  if (text.size() != expected || !flag(4) || !flag(5))
    problem("the product's operands are wrong: " + instruction.name);
  if (k * aBytes != 32 || n % 8 != 0 || n > 256)
    problem("the product's shape is wrong: " + instruction.name);
  if (d.size() != n / 2 / (dType.isF32() ? 1 : 2) ||
      (read ? instruction.inOut.size() : d.size()) != d.size())
    problem("the product's accumulators are wrong: " + instruction.name);

  // The element (row, contracted) of a matrix with this descriptor.
  auto element = [&](uint64_t descriptor, bool transposed, size_t row,
                     size_t at) {
    uint64_t start = (descriptor & 0x3fff) << 4;
    uint64_t leading = (descriptor >> 16 & 0x3fff) << 4;
    uint64_t stride = (descriptor >> 32 & 0x3fff) << 4;
    if (descriptor >> 49 & 7)
      problem("a descriptor has a base offset");
    unsigned mode = unsigned(descriptor >> 62);
    unsigned width = mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 0;
    if (!width) {
      problem("a descriptor has no swizzle");
      return uint64_t(0);
    }
    uint64_t address;
    if (!transposed)
      address = start + row / 8 * stride + row % 8 * width + at * aBytes;
    else
      address = start + row * aBytes / width * leading + row * aBytes % width +
                at / 8 * stride + at % 8 * width;
    uint64_t mask = width / 16 - 1;
    address ^= (address >> 7 & mask) << 4;
    return load(address, aBytes);
  };
  for (unsigned first = 0; first != threads; first += 128) {
    auto uniform = [&](size_t operand) {
      uint64_t value = instruction.input(operand)[first];
      for (unsigned t = 0; t != 128; ++t)
        if (instruction.input(operand)[first + t] != value)
          problem("a descriptor differs between threads");
      return value;
    };
    std::vector<double> aTile(64 * k), bTile(n * k);
    if (!registers) {
      uint64_t descriptor = uniform(a[0]);
      for (size_t m = 0; m != 64; ++m)
        for (size_t i = 0; i != k; ++i)
          aTile[m * k + i] =
              decode(aType, element(descriptor, aTransposed, m, i));
    } else {
      unsigned perWord = 4 / aBytes;
      for (unsigned t = 0; t != 128; ++t)
        for (unsigned word = 0; word != 4; ++word)
          for (unsigned i = 0; i != perWord; ++i) {
            size_t row = t / 32 * 16 + t % 32 / 4 + 8 * (word % 2);
            size_t column = t % 4 * perWord + k / 2 * (word / 2) + i;
            uint64_t bits = instruction.input(a[word])[first + t];
            aTile[row * k + column] =
                decode(aType, truncate(bits >> (8 * aBytes * i), 8 * aBytes));
          }
    }
    uint64_t descriptor = uniform(b[0]);
    for (size_t m = 0; m != n; ++m)
      for (size_t i = 0; i != k; ++i)
        bTile[m * k + i] =
            decode(bType, element(descriptor, bTransposed, m, i));

    for (unsigned t = 0; t != 128; ++t)
      for (size_t i = 0; i != n / 2; ++i) {
        size_t row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
        size_t column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
        uint64_t &cell =
            instruction.results[d[dType.isF32() ? i : i / 2]][first + t];
        unsigned shift = dType.isF32() ? 0 : 16 * unsigned(i % 2);
        unsigned width = widthOf(dType);
        double sum = read ? decode(dType, truncate(cell >> shift, width)) : 0;
        for (size_t at = 0; at != k; ++at)
          sum += aTile[row * k + at] * bTile[column * k + at];
        cell &= ~(truncate(~uint64_t(0), width) << shift);
        cell |= encode(dType, sum) << shift;
      }
  }
}

void Machine::matrices(Instruction &instruction, bool isStore) {
  StringRef name = instruction.name;
  bool transposed = name.contains(".trans");
  unsigned count = name.contains(".x4") ? 4 : name.contains(".x2") ? 2 : 1;
  const std::string &addressText = instruction.operands[isStore ? 0 : 1];
  std::vector<size_t> registers =
      Instruction::numbers(instruction.operands[isStore ? 1 : 0]);
  auto [base, bytes] = StringRef(addressText).trim("[]").split('+');
  uint64_t offset = 0;
  bytes.getAsInteger(10, offset);
  const std::vector<uint64_t> &bases =
      instruction.input(Instruction::numbers(base)[0]);
  if (registers.size() != count)
    problem("a matrix instruction has the wrong registers");
  for (unsigned first = 0; first != threads; first += 32)
    for (unsigned matrix = 0; matrix != count; ++matrix)
      for (unsigned row = 0; row != 8; ++row) {
        uint64_t address = bases[first + 8 * matrix + row] + offset;
        if (address % 16 != 0)
          problem("a row of a matrix is not aligned");
        for (unsigned column = 0; column != 8; ++column) {
          unsigned along = transposed ? column : row;
          unsigned across = transposed ? row : column;
          unsigned t = first + 4 * along + across / 2;
          unsigned shift = 16 * (across % 2);
          if (isStore) {
            uint64_t word = instruction.input(registers[matrix])[t];
            store(address + 2 * column, 2, word >> shift & 0xffff);
          } else {
            instruction.results[registers[matrix]][t] |=
                load(address + 2 * column, 2) << shift;
          }
        }
      }
}
