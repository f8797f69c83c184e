//===- RandomTest.cpp - Every solver on random programs -------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever the program, the batch and the launch shape: every solver with every
// option gives a schedule that the verifier accepts and the simulator finishes,
// or refuses a forced choice with a message.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"

#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/Schedule/Simulator.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

using namespace dfrt;
using namespace dfrt::test;

namespace {

const ScheduleOptions::Combine kCombines[] = {
    ScheduleOptions::Combine::automatic, ScheduleOptions::Combine::scatter,
    ScheduleOptions::Combine::fold, ScheduleOptions::Combine::tree};
const Transport kTransports[] = {Transport::automatic, Transport::local,
                                 Transport::clusterShared, Transport::global,
                                 Transport::multicast};

/// A failure that a forced choice may have.
bool isRefusal(const Status &status) {
  return status.code() == StatusCode::invalidArgument ||
         status.code() == StatusCode::resourceExhausted ||
         status.code() == StatusCode::unsupported;
}

Problem problemOf(const RandomCase &c) {
  Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
  if (!problem)
    RC_FAIL("instantiate: " + problem.status().message());
  return *problem;
}

void plan(const Problem &problem, const ScheduleOptions &options,
          bool mayRefuse) {
  Decisions decisions;
  Expected<Schedule> schedule = makeSchedule(problem, options, &decisions);
  if (!schedule) {
    if (!mayRefuse || !isRefusal(schedule.status()))
      RC_FAIL(options.solver + ": " + schedule.status().message());
    RC_ASSERT(!schedule.status().message().empty());
    return;
  }
  Status verified = verify(problem, *schedule);
  if (!verified)
    RC_FAIL(options.solver + ": " + verified.message());
  Expected<SimulationResult> simulated = simulate(problem, *schedule);
  if (!simulated)
    RC_FAIL(options.solver + ": " + simulated.status().message());
  RC_ASSERT(simulated->spans.size() == schedule->instructions.size());
  // The lists are stored in the order of their owners, as in a plan.
  uint32_t operands = 0, outputs = 0, destinations = 0;
  for (const Instruction &i : schedule->instructions) {
    RC_ASSERT(i.firstOperand == operands);
    RC_ASSERT(i.firstOutput == outputs);
    operands += i.operandCount;
    outputs += i.outputCount;
  }
  for (const Transfer &t : schedule->transfers) {
    RC_ASSERT(t.firstDestination == destinations);
    destinations += t.destinationCount;
  }
  Expected<Schedule> again = makeSchedule(problem, options);
  RC_ASSERT(bool(again));
  RC_ASSERT(*again == *schedule);
}

RandomLimits limitsFor(uint64_t seed, bool requests) {
  RandomLimits limits;
  limits.size = 1 + static_cast<int>(seed % 6);
  limits.requests = requests;
  return limits;
}

TEST(Random, HalfOfThePrograms) {
  int involved = 0;
  for (uint64_t seed = 0; seed < 200; ++seed)
    involved += isInvolved(randomCase(seed, limitsFor(seed, false)).program);
  EXPECT_GE(involved, 100);
}

TEST(Random, EverySolverPlansEveryProgram) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Problem problem = problemOf(randomCase(seed, limitsFor(seed, false)));
    for (const Solver &solver : solvers()) {
      ScheduleOptions options;
      options.solver = solver.name;
      plan(problem, options, false);
    }
  }));
}

TEST(Random, EveryOptionIsObeyedOrRefused) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    Problem problem = problemOf(randomCase(seed, limitsFor(seed, false)));
    for (const Solver &solver : solvers())
      for (ScheduleOptions::Combine combine : kCombines)
        for (Transport transport : kTransports) {
          ScheduleOptions options;
          options.solver = solver.name;
          options.combine = combine;
          options.transport = transport;
          bool forced = combine == ScheduleOptions::Combine::scatter ||
                        (transport != Transport::automatic &&
                         transport != Transport::global);
          plan(problem, options, forced);
        }
  }));
}

TEST(Random, RequestsAreObeyedOrRefused) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    RandomCase c = randomCase(seed, limitsFor(seed, true));
    Expected<Problem> problem = instantiate(c.program, c.inputs, c.topology);
    if (!problem) { // two requests contradict each other
      RC_ASSERT(problem.status().message().find(" request") !=
                std::string::npos);
      return;
    }
    for (const Solver &solver : solvers()) {
      ScheduleOptions options;
      options.solver = solver.name;
      plan(*problem, options, true);
    }
  }));
}

} // namespace
