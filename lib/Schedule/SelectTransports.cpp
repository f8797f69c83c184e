//===- SelectTransports.cpp - How records travel between CTAs -------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `selectTransports`. A record is published once for all readers outside its
// cluster, and sent once to each CTA of its cluster that reads it; a reader
// that needs some slices only is sent only these.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Schedule/Schedulers.h"

#include "Flow.h"
#include "Requests.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>

using namespace dfrt;
using namespace dfrt::detail;

Transport detail::requestedTransport(const Program &program, uint32_t reader,
                                     uint32_t source) {
  for (const StageInput &in : program.stages[reader].inputs) {
    uint32_t s = in.stage;
    Transport found = program.stages[s].requests.transport;
    // Behind a reshard, or a reduce of one part that needed no instruction.
    while (s != source && (program.stages[s].kind == StageKind::reshard ||
                           program.stages[s].kind == StageKind::reduce)) {
      s = program.stages[s].inputs[0].stage;
      if (found == Transport::automatic)
        found = program.stages[s].requests.transport;
    }
    if (s == source && found != Transport::automatic)
      return found;
  }
  return Transport::automatic;
}

StageRequests::Memory detail::requestedMemory(const Program &program,
                                              uint32_t source) {
  for (uint32_t s = source; s < program.stages.size(); ++s) {
    StageRequests::Memory memory = ownMemory(program.stages[s].requests);
    if (memory != StageRequests::Memory::automatic &&
        recordSource(program, s) == source)
      return memory;
  }
  return StageRequests::Memory::automatic;
}

const char *dfrt::transportName(Transport transport) {
  static const char *const names[] = {"automatic", "local", "cluster_shared",
                                      "global", "multicast"};
  return names[static_cast<unsigned>(transport) % 5];
}

namespace {

using Memory = StageRequests::Memory;

class Selector {
public:
  Selector(const Problem &problem, const ScheduleOptions &options,
           Schedule &schedule, const Flow &flow)
      : problem(problem), program(problem.program), options(options),
        schedule(schedule), flow(flow) {
    uint32_t stages = static_cast<uint32_t>(program.stages.size());
    memory.reserve(stages);
    requested.reserve(size_t(stages) * stages);
    for (uint32_t s = 0; s < stages; ++s) {
      memory.push_back(requestedMemory(program, s));
      for (uint32_t reader = 0; reader < stages; ++reader)
        requested.push_back(requestedTransport(program, reader, s));
    }
  }

  Status run() {
    // Operands by slot, in topological order of the readers.
    uint32_t count = static_cast<uint32_t>(schedule.slots.size());
    std::vector<Read> reads(flow.readerList.size());
    std::vector<uint32_t> next(flow.firstReader.begin(),
                               flow.firstReader.end() - 1);
    for (uint32_t i : flow.order) {
      const Instruction &instruction = schedule.instructions[i];
      for (uint32_t o = 0; o < instruction.operandCount; ++o) {
        uint32_t operand = instruction.firstOperand + o;
        reads[next[schedule.operands[operand].slot]++] = {operand, i};
      }
    }
    for (uint32_t slot = 0; slot < count; ++slot)
      if (Status s = select(slot, {reads.data() + flow.firstReader[slot],
                                   flow.readers(slot).size()});
          !s)
        return s;
    return Status::success();
  }

  void explain(Decisions &decisions) const {
    auto add = [&](uint64_t count, const char *choice, const char *why) {
      if (count)
        decisions.push_back(
            {"transport", choice, textOf(count, " records ", why)});
    };
    add(numLocal, "local", "are read on the CTA that made them only");
    add(numCluster, "cluster_shared",
        "go from shared memory to shared memory of a cluster peer");
    add(numGlobal, "global",
        "are published in global memory for readers outside the cluster");
    add(numMulticast, "multicast", "go to several peers at once, as requested");
  }

private:
  struct Read {
    uint32_t operand, instruction;
  };
  const Problem &problem;
  const Program &program;
  const ScheduleOptions &options;
  Schedule &schedule;
  const Flow &flow;
  std::vector<Memory> memory;                  ///< requests, [stages]
  std::vector<Transport> requested;            ///< [sources][readers]
  std::vector<Read> peers, outside, receivers; ///< of the slot at hand
  uint64_t numLocal = 0, numCluster = 0, numGlobal = 0, numMulticast = 0;

  std::string edgeName(uint32_t slot, const Read &read) const {
    const char *place =
        schedule.discipline == Discipline::ticket ? " in draw " : " on CTA ";
    return textOf("edge from ",
                  describeInstruction(problem, schedule, flow.writer[slot]),
                  place, flow.lane[flow.writer[slot]], " to ",
                  describeInstruction(problem, schedule, read.instruction),
                  place, flow.lane[read.instruction]);
  }

  /// The transport of one edge between lanes.
  Status choose(uint32_t slot, const Read &read, Transport &choice) {
    uint32_t stage = schedule.slots[slot].stage;
    uint32_t reader = schedule.instructions[read.instruction].stage;
    Transport forced = requested[stage * program.stages.size() + reader];
    if (forced == Transport::automatic)
      forced = options.transport;
    bool ticket = schedule.discipline == Discipline::ticket;
    uint32_t from = flow.lane[flow.writer[slot]];
    uint32_t to = flow.lane[read.instruction];
    const Topology &topology = problem.topology;
    bool sameCluster =
        !ticket && topology.cluster(from) == topology.cluster(to);
    choice = forced;
    auto refuse = [&](const char *limit) {
      return invalidArgument(edgeName(slot, read), ": transport ",
                             transportName(forced), " is requested, but ",
                             limit);
    };
    switch (forced) {
    case Transport::automatic:
      choice =
          sameCluster && memory[stage] != Memory::global &&
                  program.stages[stage].record.bytes() <= topology.slotBytes()
              ? Transport::clusterShared
              : Transport::global;
      return Status::success();
    case Transport::global:
      return Status::success();
    case Transport::local:
      return refuse(ticket ? "the draws differ" : "the CTAs differ");
    case Transport::clusterShared:
      if (!sameCluster)
        return refuse(ticket ? "draws are joined by global slots only"
                             : "the CTAs are in different clusters");
      if (memory[stage] == Memory::global)
        return refuse("the record is requested to be in global memory");
      return Status::success();
    case Transport::multicast:
      if (!sameCluster)
        return refuse(ticket ? "draws are joined by global slots only"
                             : "the CTAs are in different clusters");
      if (memory[stage] == Memory::shared)
        return refuse("the record is requested to be in shared memory");
      return Status::success();
    }
    return refuse("there is no such transport");
  }

  /// Slices of the record in `slot` that an operand needs.
  void neededSlices(uint32_t slot, const Read &read, uint32_t &begin,
                    uint32_t &end) const {
    const Slot &source = schedule.slots[slot];
    const Instruction &i = schedule.instructions[read.instruction];
    const Stage &reader = program.stages[i.stage];
    // Only a reduce is known to read of its parts what it writes.
    if (reader.kind == StageKind::reduce &&
        schedule.operands[read.operand].row == kNone &&
        reader.record.slices == program.stages[source.stage].record.slices) {
      begin = std::min(begin, i.sliceBegin);
      end = std::max(end, i.sliceEnd);
    } else {
      begin = source.sliceBegin;
      end = source.sliceEnd;
    }
  }

  Status select(uint32_t slot, ArrayView<Read> reads) {
    Memory request = memory[schedule.slots[slot].stage];
    uint32_t from = flow.lane[flow.writer[slot]];
    bool ticket = schedule.discipline == Discipline::ticket;
    peers.clear();
    outside.clear();
    receivers.clear();
    for (const Read &read : reads) {
      if (flow.lane[read.instruction] == from)
        continue;
      Transport transport;
      if (Status s = choose(slot, read, transport); !s)
        return s;
      (transport == Transport::clusterShared ? peers
       : transport == Transport::multicast   ? receivers
                                             : outside)
          .push_back(read);
    }
    numLocal +=
        !reads.empty() && peers.size() + outside.size() + receivers.size() == 0;
    numCluster += !peers.empty();
    numGlobal += !outside.empty();
    numMulticast += !receivers.empty();
    bool inPlace = request == Memory::global || !receivers.empty() ||
                   (ticket && !outside.empty() && request != Memory::shared);
    if (inPlace)
      schedule.slots[slot].space = Space::global;
    if (!receivers.empty())
      multicast(slot, receivers);
    if (!peers.empty()) {
      if (inPlace)
        return invalidArgument(
            edgeName(slot, peers[0]),
            ": transport cluster_shared needs a source in shared memory, but "
            "another reader needs it in global memory");
      sendToPeers(slot, peers);
    }
    if (!outside.empty())
      publish(slot, outside, inPlace);
    return Status::success();
  }

  uint32_t addSlot(uint32_t source, uint32_t begin, uint32_t end, Space space,
                   uint32_t cta) {
    Slot slot;
    slot.stage = schedule.slots[source].stage;
    slot.sliceBegin = begin;
    slot.sliceEnd = end;
    slot.space = space;
    slot.cta = cta;
    schedule.slots.push_back(slot);
    return static_cast<uint32_t>(schedule.slots.size() - 1);
  }

  void addTransfer(Transport transport, uint32_t source,
                   ArrayView<uint32_t> destinations) {
    Transfer transfer;
    transfer.transport = transport;
    transfer.instruction = flow.writer[source];
    transfer.source = source;
    transfer.firstDestination =
        static_cast<uint32_t>(schedule.destinations.size());
    transfer.destinationCount = static_cast<uint32_t>(destinations.size());
    schedule.destinations.insert(schedule.destinations.end(),
                                 destinations.begin(), destinations.end());
    schedule.transfers.push_back(transfer);
  }

  void redirect(const Read &read, uint32_t slot) {
    schedule.operands[read.operand].slot = slot;
    schedule.operands[read.operand].wait = true;
  }

  /// Reads sorted by lane: one run a receiving CTA.
  void sortByLane(std::vector<Read> &reads) const {
    std::sort(reads.begin(), reads.end(), [&](const Read &a, const Read &b) {
      return std::make_pair(flow.lane[a.instruction], a.operand) <
             std::make_pair(flow.lane[b.instruction], b.operand);
    });
  }

  void sendToPeers(uint32_t slot, std::vector<Read> &reads) {
    sortByLane(reads);
    for (size_t first = 0; first < reads.size();) {
      uint32_t lane = flow.lane[reads[first].instruction];
      size_t last = first;
      uint32_t begin = kNone, end = 0;
      for (; last < reads.size() && flow.lane[reads[last].instruction] == lane;
           ++last)
        neededSlices(slot, reads[last], begin, end);
      uint32_t destination = addSlot(slot, begin, end, Space::shared, lane);
      addTransfer(Transport::clusterShared, slot, {&destination, 1});
      for (; first < last; ++first)
        redirect(reads[first], destination);
    }
  }

  void multicast(uint32_t slot, std::vector<Read> &reads) {
    sortByLane(reads);
    uint32_t begin = kNone, end = 0;
    for (const Read &read : reads)
      neededSlices(slot, read, begin, end);
    std::vector<uint32_t> destinations;
    for (size_t r = 0; r < reads.size(); ++r) {
      uint32_t lane = flow.lane[reads[r].instruction];
      if (r == 0 || flow.lane[reads[r - 1].instruction] != lane)
        destinations.push_back(addSlot(slot, begin, end, Space::shared, lane));
      redirect(reads[r], destinations.back());
    }
    addTransfer(Transport::multicast, slot, destinations);
  }

  void publish(uint32_t slot, const std::vector<Read> &reads, bool inPlace) {
    uint32_t destination = slot;
    if (!inPlace) {
      const Slot &source = schedule.slots[slot];
      destination = addSlot(slot, source.sliceBegin, source.sliceEnd,
                            Space::global, source.cta);
    }
    addTransfer(Transport::global, slot, {&destination, 1});
    for (const Read &read : reads)
      redirect(read, destination);
  }
};

} // namespace

Status dfrt::selectTransports(const Problem &problem,
                              const ScheduleOptions &options,
                              Schedule &schedule, Decisions *decisions) {
  if (!schedule.transfers.empty())
    return invalidArgument("schedule has ", schedule.transfers.size(),
                           " transfers already");
  Expected<Flow> flow = analyseFlow(problem, schedule);
  if (!flow)
    return flow.status();
  Selector selector(problem, options, schedule, *flow);
  if (Status s = selector.run(); !s)
    return s;
  if (decisions)
    selector.explain(*decisions);
  return Status::success();
}
