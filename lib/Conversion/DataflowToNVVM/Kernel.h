//===- Kernel.h - A kernel while it is being made ---------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of making a kernel, in the order in which they stand here. Private
// to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_KERNEL_H
#define DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_KERNEL_H

#include "Emitter.h"
#include "dataflow/Conversion/DataflowToNVVM.h"
#include "dataflow/Conversion/HandlerToLLVM.h"
#include "dataflow/Schedule/Program.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::df::nvvm {

/// Memory of a CTA that belongs to the kernel, not to the plan: in shared
/// memory where it fits the budget, else in the CTA's global scratch. Whoever
/// asks gets memory that others use at other times, but for what it holds
/// itself.
class Memory {
public:
  /// A piece of memory. Generic code gets its address by `Memory::address`.
  struct Place {
    bool shared = true;
    uint64_t offset = 0;
  };

  explicit Memory(uint64_t budget) : budget(budget) {}

  /// Begins a set of pieces that are used at the same time.
  void begin() { usedShared = usedGlobal = 0; }
  Place take(uint64_t bytes);

  /// Bytes of all sets together.
  uint64_t sharedBytes() const { return mostShared; }
  uint64_t globalBytes() const { return mostGlobal; }

private:
  uint64_t budget;
  uint64_t usedShared = 0, usedGlobal = 0;
  uint64_t mostShared = 0, mostGlobal = 0;
};

/// Everything that the steps share.
struct KernelState {
  KernelState(const dfrt::Program &program, Operation *module,
              uint64_t sharedBudget)
      : program(program), emitter(module), memory(sharedBudget) {}

  const dfrt::Program &program;
  Emitter emitter;
  Memory memory;
  /// Scratch of the handler functions, by symbol.
  llvm::StringMap<uint64_t> scratchBytes;
  /// Symbols of handler functions that are split into parts.
  llvm::StringSet<> split;
  /// Those of them that have a load part.
  llvm::StringSet<> loads;
  /// Functions whose warps exchange through shared memory: between two calls
  /// the threads meet.
  llvm::StringSet<> exchanging;
  /// Functions that a warp calls by itself, without meeting others.
  llvm::StringSet<> byWarp;
  /// Functions that get tables of collected records instead of copies.
  llvm::StringSet<> tables;
  /// Of functions that may do the work of a finalize, too: its stage.
  llvm::StringMap<uint32_t> following;
  /// Registers of a thread that records or slices on their way may take.
  unsigned windowRegisters = 160;
  /// Where the descriptor of each argument of the program lies in the kernel's
  /// parameter.
  std::vector<uint64_t> descriptorOffset;

  /// The function that the compute threads call for a variant.
  std::string calleeOf(const dfrt::Variant &variant) const;
  Value address(Memory::Place place);
};

/// Parses the device library into `module`, which is empty.
LogicalResult insertDeviceLibrary(Operation *module);

/// A function `name` in `module` that returns the integer `value` of `type`.
void defineFact(Operation *module, StringRef name, Type type, int64_t value);

/// Whether the kernel has code of its own for this variant. Others run the
/// generic one, which computes the same.
bool isCompiled(const dfrt::Variant &variant);

/// Whether records that a consumer of `stage` reads may be rows of others.
bool mayBeRow(const dfrt::Program &program, uint32_t stage);
/// The stage that wrote what consumers of `stage` read.
uint32_t recordStage(const dfrt::Program &program, uint32_t stage);

/// A record in memory, as device code sees it.
struct StoredValue {
  Value base;
  Value slice; ///< the first slice that is there, an i32
};

/// Head and first slice of a record of layout `record`, seen from slice
/// `slice`; without, from the first that is there.
std::pair<Value, Value> viewOf(Emitter &emitter, const dfrt::Record &record,
                               StoredValue stored, Value slice = {});

/// The record of operand `number` of the instruction, the same in all lanes.
/// `isNear`: it is one of the first kNearOperands, which the lanes know.
constexpr unsigned kNearOperands = 32;
StoredValue findOperand(KernelState &state, Value number, bool isNear = false);
/// Whether rows that a consumer of `stage` reads can be used where they are:
/// their bytes lie together, as those of a record do.
bool canReadRow(const dfrt::Program &program, uint32_t stage);
/// The same, if that is so, for a consumer of `stage`: a row in its place.
StoredValue findRowOperand(KernelState &state, uint32_t stage, Value number,
                           bool isNear);
/// The same for a consumer that reads `stage`. A row is copied to `row` first,
/// if there can be one.
StoredValue readOperand(KernelState &state, uint32_t stage, Value number,
                        std::optional<Memory::Place> row);

/// Copies `field` of `count` operands from `first` on, records of one layout,
/// dense to `to`, one behind the other.
void stackField(KernelState &state, const dfrt::Record &record,
                const dfrt::Field &field, Value first, Value count, Value to);
/// The addresses of the field instead, one behind the other.
void stackAddresses(KernelState &state, const dfrt::Record &record,
                    const dfrt::Field &field, Value first, Value count,
                    Value to);
uint64_t fieldBytes(const dfrt::Field &field);

/// Words of an instruction (ABI.h).
enum InstructionWord : unsigned {
  kStageVariant = 1,
  kRangeBegin = 4,
  kRangeEnd = 6,
  kTileBegin = 8,
  kTileEnd = 10,
  kCoordinates = 12,
  kSlices = 16,
  kFirstOperand = 17,
  kOperandCount = 18,
  kFirstOutput = 19
};

/// How many warps compute, an i32.
Value warpCount(Emitter &emitter);
/// How many tiles the instruction covers, an i32.
Value tileCount(Emitter &emitter);

/// How the calls of an instruction are made: each by all threads, which do
/// nothing or meet between two of them, or each by one warp.
enum class Between { nothing, meet, warps };

/// Calls `body` with tile and slice for each call that a map or finalize makes:
/// once, once a tile, once a slice. The slice is null unless `sliced`.
void forEachCall(Emitter &emitter, const dfrt::Stage &stage, bool sliced,
                 Between between, function_ref<void(Value, Value)> body);
/// The arguments of a handler up to its tensor operands: coordinates, range
/// (not for a reduce), slice, descriptors.
void appendIndices(KernelState &state, const dfrt::Stage &stage, Value tile,
                   Value slice, SmallVectorImpl<Value> &arguments);

/// The variant of a stage that computes slices, or null.
const dfrt::Variant *findSliced(const dfrt::Stage &stage);

/// The results of a function: several are a struct, one is itself.
SmallVector<Type> scalarsOf(LLVM::LLVMFuncOp function);

/// How the kernel stores the separable f32 fields of the records of each stage:
/// narrower where a precision request on a reduce says so (#dataflow.precision)
/// and all stages that read or write these records can. The reduces `unfolded`
/// cannot: findUnfolded. Fails, with a diagnostic, where a type is asked for by
/// name and that cannot be. Appends to `remarks` what has been decided.
using StoredTypes = std::vector<std::optional<dfrt::ElementType>>;
FailureOr<StoredTypes>
chooseStoredTypes(ProgramOp program, const dfrt::Program &planned,
                  KernelOp kernel, const llvm::DenseSet<uint32_t> &unfolded,
                  std::vector<std::string> &remarks);

/// Says so of each of `functions`, those of the stages of `planned`.
void narrowRecords(const dfrt::Program &planned, const StoredTypes &types,
                   std::vector<HandlerFunction> &functions);
/// A reduce of narrow parts that does not keep what it has merged in registers:
/// memory would round it each time.
std::optional<uint32_t> findUnfolded(KernelState &state,
                                     const StoredTypes &types);

/// How many registers of a thread they take.
unsigned registersOf(ArrayRef<Type> scalars);

/// The functions by which a reduce works on records in registers
/// (dataflow/Conversion/HandlerToLLVM.h).
struct StateFunctions {
  std::string load, merge, store, head;
  std::string widen;         ///< empty: what is loaded is a record
  SmallVector<Type> scalars; ///< that stand for a record
  SmallVector<Type> loaded;  ///< that `load` returns
  unsigned registers = 0;    ///< that a loaded record takes of a thread
};

/// Those of the handler function `callee`. Nothing if it has none, or if two
/// records do not fit the registers.
std::optional<StateFunctions> findStateFunctions(Emitter &emitter,
                                                 StringRef callee);

/// The functions by which a warp loads slices ahead
/// (dataflow/Conversion/HandlerToLLVM.h).
struct SliceFunctions {
  std::string common, slice, apply; ///< `common` may be empty
  SmallVector<Type> scalars;        ///< that stand for a slice
  unsigned registers = 0;           ///< that it takes of a thread
};

/// Those of the handler function `callee`, if it has them.
std::optional<SliceFunctions> findSliceFunctions(Emitter &emitter,
                                                 StringRef callee);

/// How many records are loaded ahead: groups, each of which is loaded at once.
struct Window {
  unsigned groups = 1, size = 1; ///< records of a group
  unsigned records() const { return groups * size; }
};
/// For records that take so many registers of a thread, of which `available`
/// may be taken altogether.
Window windowOf(unsigned registers, Window most, unsigned available);

/// The slices of the instruction that this warp works on: neighbours.
struct WarpSlices {
  Value begin, end;
};
WarpSlices warpSlices(Emitter &emitter);

/// Where a record begins and where its slice: head and slice.
using RecordView = std::pair<Value, Value>;

/// How a fold does the work of a finalize that reads the slices which it makes
/// (dataflow/Schedule/Following.h).
struct FoldFollow {
  /// Emits the question whether that is the next instruction. All threads ask.
  function_ref<Value()> ask;
  /// Emits its work for a slice in registers. The code for the first slice of
  /// all, which may have more to do, stands at one place by itself.
  function_ref<void(Value, ValueRange)> apply;
};

/// Folds the parts of a reduce, at least one, from left to right in registers:
/// everything at once, or with `sliced` one slice after the other. `byWarp`:
/// each slice by one warp. `part` says where a part lies, and is told whether
/// it is near; `output` says where the result goes. Both get the slice, null
/// unless `sliced`. What `meanwhile` emits runs while the first parts are on
/// their way, before `output` is asked. `follow`, null without, is for folds by
/// warps.
void emitRegisterFold(KernelState &state, const dfrt::Stage &stage,
                      const StateFunctions &functions, bool sliced, bool byWarp,
                      function_ref<RecordView(Value, Value, bool)> part,
                      function_ref<void()> meanwhile,
                      function_ref<RecordView(Value)> output,
                      const FoldFollow *follow = nullptr);

/// Calls `apply` with each of `slices` and the registers of what has been
/// loaded of it, in ascending order; `load` loads a slice, that in front of
/// slices.end even if there are none. What `first` emits runs while the first
/// loads are on their way.
void emitSliceWindow(KernelState &state, const SliceFunctions &functions,
                     WarpSlices slices,
                     function_ref<SmallVector<Value>(Value)> load,
                     function_ref<void()> first,
                     function_ref<void(Value, ValueRange)> apply);

/// Functions of an instruction of the stage: handler calls of a map or
/// finalize, the fold of a reduce, the load parts of any.
void emitCalls(KernelState &state, uint32_t stage, uint32_t variant,
               StringRef name);
void emitFold(KernelState &state, uint32_t stage, uint32_t variant,
              StringRef name);
void emitLoads(KernelState &state, uint32_t stage, uint32_t variant,
               StringRef name);

/// `dfk_dispatch` and `dfk_dispatch_load`, which run the code of an
/// instruction's stage and variant.
void emitDispatch(KernelState &state);

/// Gives all functions of `module` but kernels the attributes that device code
/// needs, and removes those that nobody uses.
void finishModule(Operation *module);

} // namespace mlir::df::nvvm

#endif // DATAFLOW_LIB_CONVERSION_DATAFLOWTONVVM_KERNEL_H
