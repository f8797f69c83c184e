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

#include "PlanSteps.h"
#include "Requests.h"
#include "dataflow/Schedule/Message.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace dfrt;
using namespace dfrt::detail;

const char *dfrt::transportName(Transport transport) {
  static const char *const names[] = {"automatic", "local", "cluster_shared",
                                      "global", "multicast"};
  return names[static_cast<unsigned>(transport) % 5];
}

TransportSelector::TransportSelector(const Problem &problem, Schedule &schedule,
                                     Flow &flow)
    : problem(problem), program(problem.program), schedule(schedule),
      flow(flow) {
  uint32_t stages = static_cast<uint32_t>(program.stages.size());
  memory.reserve(stages);
  requested.reserve(size_t(stages) * stages);
  choices.resize(size_t(2) * stages * stages);
  for (uint32_t s = 0; s < stages; ++s) {
    memory.push_back(requestedMemory(program, s));
    for (uint32_t reader = 0; reader < stages; ++reader)
      requested.push_back(requestedTransport(program, reader, s));
  }
}

Status TransportSelector::run(const ScheduleOptions &with) {
  wanted = with.transport;
  chooseAll();
  std::fill_n(&numRecords[0][0], sizeof(numRecords) / sizeof(uint64_t), 0);
  uint32_t count = static_cast<uint32_t>(schedule.slots.size());
  reserve(schedule.transfers, count);
  reserve(schedule.destinations, count);
  for (uint32_t slot = 0; slot < count; ++slot) {
    flow.departureBegin[slot] =
        static_cast<uint32_t>(schedule.transfers.size());
    if (staysLocal(slot))
      continue;
    DFRT_TRY(select(slot));
  }
  uint32_t transfers = static_cast<uint32_t>(schedule.transfers.size());
  reserve(flow.departureBegin, schedule.slots.size() + 1);
  flow.departureBegin.resize(count);
  flow.departureBegin.resize(schedule.slots.size() + 1, transfers);
  setSize(flow.departureList, transfers);
  std::iota(flow.departureList.begin(), flow.departureList.end(), 0u);
  return Status::success();
}

void TransportSelector::explain(Decisions &decisions) const {
  auto add = [&](Transport transport, const char *why) {
    for (Decider by :
         {Decider::none, Decider::solver, Decider::option, Decider::request})
      if (uint64_t count = numRecords[size_t(transport)][size_t(by)])
        decisions.push_back({"transport", transportName(transport),
                             textOf(count, " records ", why), by});
  };
  add(Transport::local, "are read on the CTA that made them only");
  add(Transport::clusterShared,
      "go from shared memory to shared memory of a cluster peer");
  add(Transport::global,
      "are published in global memory for readers outside the cluster");
  add(Transport::multicast, "go to several peers at once, as requested");
}

std::string TransportSelector::edgeName(uint32_t slot, const Read &read) const {
  const char *place =
      schedule.discipline == Discipline::ticket ? " in draw " : " on CTA ";
  return textOf("edge from ",
                describeInstruction(problem, schedule, flow.writer[slot]),
                place, flow.lane[flow.writer[slot]], " to ",
                describeInstruction(problem, schedule, read.instruction), place,
                flow.lane[read.instruction]);
}

/// Of all pairs of stages, with readers in the same cluster and elsewhere; and
/// which lanes are in one cluster.
void TransportSelector::chooseAll() {
  uint32_t stages = static_cast<uint32_t>(memory.size());
  Choice *next = choices.data();
  for (bool sameCluster : {false, true})
    for (uint32_t source = 0; source < stages; ++source)
      for (uint32_t reader = 0; reader < stages; ++reader)
        *next++ = choose(source, reader, sameCluster);
  clusters.clear();
  uint32_t size = problem.topology.clusterSize;
  if (schedule.discipline == Discipline::ticket || size == 1)
    return;
  clusters.setSize(flow.lanes);
  for (uint32_t lane = 0; lane < flow.lanes; ++lane)
    clusters[lane] = lane / size;
}

TransportSelector::Choice TransportSelector::choose(uint32_t source,
                                                    uint32_t reader,
                                                    bool sameCluster) const {
  Transport choice = requested[source * memory.size() + reader];
  Decider by = Decider::request;
  if (choice == Transport::automatic) {
    choice = wanted;
    by = choice == Transport::automatic ? Decider::solver : Decider::option;
  }
  bool ticket = schedule.discipline == Discipline::ticket;
  const char *apart = ticket ? "draws are joined by global slots only"
                             : "the CTAs are in different clusters";
  switch (choice) {
  case Transport::automatic:
    if (sameCluster && memory[source] != Memory::global &&
        program.stages[source].record.bytes() <= problem.topology.slotBytes())
      return {Transport::clusterShared, by};
    return {Transport::global, by};
  case Transport::global:
    return {choice, by};
  case Transport::local:
    return {choice, by, ticket ? "the draws differ" : "the CTAs differ"};
  case Transport::clusterShared:
    if (!sameCluster)
      return {choice, by, apart};
    return {choice, by,
            memory[source] == Memory::global
                ? "the record is requested to be in global memory"
                : nullptr};
  case Transport::multicast:
    if (!sameCluster)
      return {choice, by, apart};
    return {choice, by,
            memory[source] == Memory::shared
                ? "the record is requested to be in shared memory"
                : nullptr};
  }
  return {choice, by, "there is no such transport"};
}

/// Slices of the record in `slot` that an operand needs.
void TransportSelector::neededSlices(uint32_t slot, const Read &read,
                                     uint32_t &begin, uint32_t &end) const {
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

/// True if nobody on another lane reads the slot, which is then dealt with.
bool TransportSelector::staysLocal(uint32_t slot) {
  uint32_t from = flow.lane[flow.writer[slot]];
  ArrayView<Read> reads = flow.readers(slot);
  for (const Read &read : reads)
    if (flow.lane[read.instruction] != from)
      return false;
  numRecords[size_t(Transport::local)][size_t(Decider::none)] += !reads.empty();
  if (memory[schedule.slots[slot].stage] == Memory::global)
    schedule.slots[slot].space = Space::global;
  return true;
}

Status TransportSelector::select(uint32_t slot) {
  uint32_t stage = schedule.slots[slot].stage;
  size_t stages = memory.size();
  const Choice *elsewhere = choices.data() + stage * stages;
  const Choice *inCluster = elsewhere + stages * stages;
  Memory request = memory[stage];
  uint32_t from = flow.lane[flow.writer[slot]];
  bool ticket = schedule.discipline == Discipline::ticket;
  ArrayView<Read> reads = flow.readers(slot);
  local.clear();
  peers.clear();
  outside.clear();
  receivers.clear();
  inPlaceReads.clear();
  Decider strongest[5] = {};
  for (const Read &read : reads) {
    uint32_t to = flow.lane[read.instruction];
    if (to == from) {
      local.push(read);
      inPlaceReads.push(read);
      continue;
    }
    bool sameCluster = !clusters.empty() && clusters[from] == clusters[to];
    auto [transport, by, limit] =
        (sameCluster
             ? inCluster
             : elsewhere)[schedule.instructions[read.instruction].stage];
    if (limit)
      return invalidArgument(edgeName(slot, read), ": transport ",
                             transportName(transport), " is requested, but ",
                             limit);
    strongest[size_t(transport)] = std::max(strongest[size_t(transport)], by);
    if (transport == Transport::clusterShared) {
      peers.push(read);
    } else if (transport == Transport::multicast) {
      receivers.push(read);
    } else {
      outside.push(read);
      inPlaceReads.push(read);
    }
  }
  for (size_t transport = 0; transport < 5; ++transport)
    if (Decider by = strongest[transport]; by != Decider::none)
      ++numRecords[transport][size_t(by)];
  bool inPlace = request == Memory::global || !receivers.empty() ||
                 (ticket && !outside.empty() && request != Memory::shared);
  if (inPlace)
    schedule.slots[slot].space = Space::global;
  if (inPlace && !peers.empty())
    return invalidArgument(
        edgeName(slot, peers[0]),
        ": transport cluster_shared needs a source in shared memory, but "
        "another reader needs it in global memory");
  // The reads of the slot and of its copies share the slot's place in the list.
  uint32_t at = flow.readBegin[slot];
  store(inPlace ? inPlaceReads : local, at);
  flow.readEnd[slot] = at;
  sortByLane(receivers);
  sortByLane(peers);
  if (!receivers.empty())
    multicast(slot, store(receivers, at));
  if (!peers.empty())
    sendToPeers(slot, store(peers, at));
  if (!outside.empty())
    publish(slot,
            inPlace ? ArrayView<Read>(outside.data(), outside.size())
                    : store(outside, at),
            inPlace);
  return Status::success();
}

/// Puts `reads` into the flow's list from `at` on.
ArrayView<Read> TransportSelector::store(const Table<Read> &reads,
                                         uint32_t &at) {
  Read *first = flow.readList.data() + at;
  std::copy(reads.begin(), reads.end(), first);
  at += static_cast<uint32_t>(reads.size());
  return {first, reads.size()};
}

/// A copy of `source` for `reads`, which lie in the flow's list.
uint32_t TransportSelector::addSlot(uint32_t source, uint32_t begin,
                                    uint32_t end, Space space, uint32_t cta,
                                    const ArrayView<Read> &reads) {
  Slot slot;
  slot.stage = schedule.slots[source].stage;
  slot.sliceBegin = begin;
  slot.sliceEnd = end;
  slot.space = space;
  slot.cta = cta;
  schedule.slots.push_back(slot);
  uint32_t first = static_cast<uint32_t>(reads.data() - flow.readList.data());
  flow.readBegin.push_back(first);
  flow.readEnd.push_back(first + static_cast<uint32_t>(reads.size()));
  flow.writer.push_back(flow.writer[source]);
  flow.arrival.push_back(kNone);
  flow.waiter.push_back(reads.front().instruction);
  return static_cast<uint32_t>(schedule.slots.size() - 1);
}

void TransportSelector::addTransfer(Transport transport, uint32_t source,
                                    ArrayView<uint32_t> destinations) {
  for (uint32_t slot : destinations)
    flow.arrival[slot] = static_cast<uint32_t>(schedule.transfers.size());
  Transfer transfer;
  transfer.transport = transport;
  transfer.instruction = flow.writer[source];
  transfer.source = source;
  transfer.firstDestination =
      static_cast<uint32_t>(schedule.destinations.size());
  transfer.destinationCount = static_cast<uint32_t>(destinations.size());
  for (uint32_t slot : destinations)
    schedule.destinations.push_back(slot);
  schedule.transfers.push_back(transfer);
}

void TransportSelector::redirect(const Read &read, uint32_t slot) {
  schedule.operands[read.operand].slot = slot;
  schedule.operands[read.operand].wait = true;
}

/// Reads sorted by lane: one run a receiving CTA, the first reader first.
void TransportSelector::sortByLane(Table<Read> &reads) const {
  if (reads.size() < 2)
    return;
  std::sort(reads.begin(), reads.end(), [&](const Read &a, const Read &b) {
    return std::make_tuple(flow.lane[a.instruction],
                           flow.position[a.instruction], a.operand) <
           std::make_tuple(flow.lane[b.instruction],
                           flow.position[b.instruction], b.operand);
  });
}

void TransportSelector::sendToPeers(uint32_t slot,
                                    const ArrayView<Read> &reads) {
  for (size_t first = 0; first < reads.size();) {
    uint32_t lane = flow.lane[reads[first].instruction];
    size_t last = first;
    uint32_t begin = kNone, end = 0;
    for (; last < reads.size() && flow.lane[reads[last].instruction] == lane;
         ++last)
      neededSlices(slot, reads[last], begin, end);
    uint32_t destination = addSlot(slot, begin, end, Space::shared, lane,
                                   {reads.data() + first, last - first});
    addTransfer(Transport::clusterShared, slot, {&destination, 1});
    for (; first < last; ++first)
      redirect(reads[first], destination);
  }
}

void TransportSelector::multicast(uint32_t slot, const ArrayView<Read> &reads) {
  uint32_t begin = kNone, end = 0;
  for (const Read &read : reads)
    neededSlices(slot, read, begin, end);
  copies.clear();
  for (size_t first = 0; first < reads.size();) {
    uint32_t lane = flow.lane[reads[first].instruction];
    size_t last = first + 1;
    while (last < reads.size() && flow.lane[reads[last].instruction] == lane)
      ++last;
    copies.push(addSlot(slot, begin, end, Space::shared, lane,
                        {reads.data() + first, last - first}));
    for (; first < last; ++first)
      redirect(reads[first], copies.back());
  }
  addTransfer(Transport::multicast, slot, copies);
}

void TransportSelector::publish(uint32_t slot, const ArrayView<Read> &reads,
                                bool inPlace) {
  uint32_t destination = slot;
  if (inPlace) {
    flow.waiter[slot] = reads.front().instruction;
  } else {
    const Slot &source = schedule.slots[slot];
    destination = addSlot(slot, source.sliceBegin, source.sliceEnd,
                          Space::global, source.cta, reads);
  }
  addTransfer(Transport::global, slot, {&destination, 1});
  for (const Read &read : reads)
    redirect(read, destination);
}

Status dfrt::selectTransports(const Problem &problem,
                              const ScheduleOptions &options,
                              Schedule &schedule, Decisions *decisions) {
  if (!schedule.transfers.empty())
    return invalidArgument("schedule has ", schedule.transfers.size(),
                           " transfers already");
  Flow flow;
  DFRT_TRY(analyseFlow(problem, schedule, flow));
  TransportSelector selector(problem, schedule, flow);
  DFRT_TRY(selector.run(options));
  if (decisions)
    selector.explain(*decisions);
  return Status::success();
}
