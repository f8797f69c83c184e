//===- Staging.cpp - Ring of pinned staging buffers -----------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingState.h"

using namespace dfrt;
using namespace dfrt::cuda;

using Contents = RingState::Contents;
using Lock = std::lock_guard<std::mutex>;

Status RingState::checkStage(uint32_t stage) const {
  if (stage < stages.size())
    return Status::success();
  return failure(StatusCode::invalidArgument, name, ": there is no stage ",
                 stage, ", the ring has ", stages.size());
}

Status RingState::readersDone(Stage &stage) {
  while (!stage.readers.empty()) {
    DFRT_TRY(stage.readers.back().passed.query());
    stage.readers.pop_back();
  }
  return Status::success();
}

Status RingState::readable(const Stage &stage) const {
  if (stage.contents == Contents::published)
    return Status::success();
  if (stage.contents == Contents::writing)
    return failure(StatusCode::busy, name, ": stage '", stage.name,
                   "' is being written; publish it first");
  return failure(StatusCode::invalidArgument, name, ": stage '", stage.name,
                 "' holds nothing; acquire, write and publish it first");
}

Status RingState::addReader(Stage &stage, const Stream &stream) {
  for (const Reader &reader : stage.readers)
    if (reader.stream.handle() == stream.handle())
      return Status::success();
  Expected<Event> event = Event::create(owner, false, stage.name);
  if (!event)
    return event.status();
  stage.readers.push_back({stream, *event});
  return Status::success();
}

Status RingState::noteRead(Stage &stage, const Stream &stream) {
  DFRT_TRY(addReader(stage, stream));
  stage.read = true;
  for (const Reader &reader : stage.readers)
    if (reader.stream.handle() == stream.handle())
      return reader.passed.record(stream);
  return Status::success();
}

Expected<StagingRing> StagingRing::create(const Device &device,
                                          const std::vector<std::string> &names,
                                          uint64_t bytesPerStage) {
  DFRT_TRY(requireHandle(device.shared().get(), "device"));
  auto state = std::make_shared<RingState>(device.shared(), "staging ring");
  if (names.empty() || !bytesPerStage)
    return failure(StatusCode::invalidArgument, state->name, ": ", names.size(),
                   " stages of ", bytesPerStage,
                   " bytes; at least one of one byte is needed");
  state->owner = device;
  state->bytesPerStage = bytesPerStage;
  for (const std::string &name : names) {
    for (const RingState::Stage &other : state->stages)
      if (other.name == name)
        return failure(StatusCode::invalidArgument, state->name,
                       ": two stages have the name '", name, "'");
    Expected<PinnedBuffer> memory =
        PinnedBuffer::allocate(device, bytesPerStage, name);
    if (!memory)
      return memory.status();
    RingState::Stage stage;
    stage.name = name;
    stage.memory = *memory;
    state->stages.push_back(std::move(stage));
  }
  StagingRing ring;
  ring.state = std::move(state);
  return ring;
}

uint32_t StagingRing::size() const {
  return state ? uint32_t(state->stages.size()) : 0;
}
uint64_t StagingRing::bytesPerStage() const {
  return state ? state->bytesPerStage : 0;
}
const std::string &StagingRing::name(uint32_t stage) const {
  return state->stages[stage].name;
}

Expected<uint32_t> StagingRing::acquire() const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  DFRT_TRY(state->usable());
  Lock lock(state->mutex);
  std::string reasons;
  uint32_t count = uint32_t(state->stages.size());
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t index = (state->next + i) % count;
    RingState::Stage &stage = state->stages[index];
    const char *reason = nullptr;
    if (stage.contents == Contents::writing) {
      reason = "is being written";
    } else if (stage.holds) {
      reason = "is held by a graph";
    } else if (stage.contents == Contents::published && !stage.read) {
      reason = "is published and was not copied";
    } else {
      Status done = state->readersDone(stage);
      if (done.ok()) {
        stage.contents = Contents::writing;
        stage.bytes = 0;
        stage.read = false;
        state->next = (index + 1) % count;
        return index;
      }
      if (done.code() != StatusCode::busy)
        return done;
      reason = "is read by a copy that has not ended";
    }
    reasons +=
        textOf(reasons.empty() ? "" : ", ", "'", stage.name, "' ", reason);
  }
  return failure(StatusCode::busy, state->name, ": all ", count,
                 " stages are in use: ", reasons,
                 "; try again later, or make the ring larger");
}

Expected<uint32_t> StagingRing::acquire(const std::string &name) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  DFRT_TRY(state->usable());
  Lock lock(state->mutex);
  for (uint32_t index = 0; index < state->stages.size(); ++index) {
    RingState::Stage &stage = state->stages[index];
    if (stage.name != name)
      continue;
    if (stage.contents == Contents::writing)
      return failure(StatusCode::busy, state->name, ": stage '", name,
                     "' is being written already; try again later");
    Status done = state->readersDone(stage);
    if (done.code() == StatusCode::busy)
      return failure(StatusCode::busy, state->name, ": stage '", name,
                     "' is read by a copy that has not ended; try again later");
    DFRT_TRY(done);
    stage.contents = Contents::writing;
    stage.bytes = 0;
    stage.read = false;
    return index;
  }
  return failure(StatusCode::invalidArgument, state->name,
                 ": there is no stage '", name, "'");
}

uint8_t *StagingRing::data(uint32_t stage) const {
  if (!state || stage >= state->stages.size())
    return nullptr;
  Lock lock(state->mutex);
  if (state->stages[stage].contents != Contents::writing)
    return nullptr;
  return state->stages[stage].memory.data();
}

Status StagingRing::publish(uint32_t stage, uint64_t bytes) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  RingState::Stage &entry = state->stages[stage];
  if (entry.contents != Contents::writing)
    return failure(StatusCode::invalidArgument, state->name, ": stage '",
                   entry.name, "' was not acquired");
  if (!bytes || bytes > state->bytesPerStage)
    return failure(StatusCode::resourceExhausted, state->name, ": ", bytes,
                   " bytes do not fit stage '", entry.name, "', which has ",
                   state->bytesPerStage, " bytes");
  entry.contents = Contents::published;
  entry.bytes = bytes;
  return Status::success();
}

Status StagingRing::abandon(uint32_t stage) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  RingState::Stage &entry = state->stages[stage];
  bool unread =
      entry.contents == Contents::published && !entry.read && !entry.holds;
  if (entry.contents != Contents::writing && !unread)
    return failure(StatusCode::invalidArgument, state->name, ": stage '",
                   entry.name, "' was not acquired");
  entry.contents = Contents::none;
  return Status::success();
}

uint64_t StagingRing::publishedBytes(uint32_t stage) const {
  if (!state || stage >= state->stages.size())
    return 0;
  Lock lock(state->mutex);
  return state->stages[stage].bytes;
}

Status StagingRing::copy(uint32_t stage, const Buffer &target,
                         const Stream &stream, uint64_t offset) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  DFRT_TRY(state->usable());
  DFRT_TRY(usableStream(stream, *state->device));
  Expected<bool> capturing = stream.capturing();
  if (!capturing)
    return capturing.status();
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  RingState::Stage &entry = state->stages[stage];
  DFRT_TRY(state->readable(entry));
  if (!*capturing)
    DFRT_TRY(state->addReader(entry, stream));
  DFRT_TRY(target.upload(entry.memory.data(), entry.bytes, stream, offset));
  if (!*capturing)
    return state->noteRead(entry, stream);
  ++entry.holds;
  state->captured.push_back({stream.handle(), stage, target.address() + offset,
                             target.bytes() - offset, state->capturedCount++});
  return Status::success();
}

Status StagingRing::noteRead(uint32_t stage, const Stream &stream) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  DFRT_TRY(state->usable());
  DFRT_TRY(usableStream(stream, *state->device));
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  return state->noteRead(state->stages[stage], stream);
}

Status StagingRing::hold(uint32_t stage) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  ++state->stages[stage].holds;
  return Status::success();
}

Status StagingRing::release(uint32_t stage) const {
  DFRT_TRY(requireHandle(state.get(), "staging ring"));
  Lock lock(state->mutex);
  DFRT_TRY(state->checkStage(stage));
  RingState::Stage &entry = state->stages[stage];
  if (!entry.holds)
    return failure(StatusCode::invalidArgument, state->name, ": stage '",
                   entry.name, "' is not held");
  --entry.holds;
  entry.read = true;
  return Status::success();
}
