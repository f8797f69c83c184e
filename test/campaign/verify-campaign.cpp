//===- verify-campaign.cpp - No false alarm, no mutant that passes -------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legal plans of random programs by every solver, and mutants of them: of the
// schedule, which the verifier judges as it is and again as plan bytes, and of
// the bytes. Counts how many mutants of each class were refused and how many of
// the refusals name what was broken.
//
//   verify-campaign [--plans N] [--mutants N] [--seed S] [--table]
//
// Exit code 0 when every legal plan was accepted, every mutant refused, and
// every class and every clause met.
//
//===----------------------------------------------------------------------===//

#include "ByteMutants.h"
#include "Culprit.h"
#include "Schedule/RandomPrograms.h"
#include "Verify/Cases.h"
#include "Verify/Mutants.h"
#include "Verify/Shapes.h"

#include "dataflow/Schedule/Schedulers.h"
#include "dfrt/PlanImage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace dfrt;
using namespace dfrt::test;

namespace {

struct Options {
  uint64_t plans = 50000, mutants = 50000, seed = 1;
  bool table = false;
};

struct Tally {
  uint64_t made = 0, refused = 0, named = 0;
};

class Campaign {
public:
  explicit Campaign(const Options &options)
      : options(options), random(options.seed),
        schedules(mutantClasses().size()), bytes(byteMutantClasses().size()) {}

  int run();

private:
  void judge(const std::string &name, const Problem &problem,
             const Schedule &schedule);
  void mutate(const std::string &name, const Problem &problem,
              const Schedule &schedule, size_t kind, size_t most);
  void mutateBytes(const std::string &name, const Problem &problem,
                   const std::vector<uint8_t> &plan, size_t kind);
  void complain(const std::string &what) {
    if (++complaints <= 40)
      std::printf("FAIL %s\n", what.c_str());
  }
  /// The `count` classes that were met least.
  std::vector<size_t> scarce(const std::vector<Tally> &tallies, size_t count);
  void print(const char *title, const std::vector<Tally> &tallies,
             const std::function<std::string(size_t)> &nameOf);

  Options options;
  std::mt19937_64 random;
  uint64_t plans = 0, falseAlarms = 0, escaped = 0, mutants = 0,
           byteMutants = 0, packed = 0, complaints = 0;
  std::map<uint64_t, uint64_t> harmless; ///< [byte class]
  std::vector<Tally> schedules, bytes;
  std::map<std::string, uint64_t> clauses, disciplines;
};

std::vector<size_t> Campaign::scarce(const std::vector<Tally> &tallies,
                                     size_t count) {
  std::vector<size_t> order(tallies.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  auto half = order.begin() + std::ptrdiff_t(count / 2);
  std::partial_sort(order.begin(), half, order.end(), [&](size_t a, size_t b) {
    return tallies[a].made < tallies[b].made;
  });
  // The scarcest may not exist in most plans: half of the choice is by chance.
  std::shuffle(half, order.end(), random);
  order.resize(count);
  return order;
}

void Campaign::mutate(const std::string &name, const Problem &problem,
                      const Schedule &schedule, size_t kind, size_t most) {
  const MutantClass &which = mutantClasses()[kind];
  std::vector<Mutation> mutations;
  which.find(problem, schedule, mutations);
  for (size_t i = 0; i < most && !mutations.empty(); ++i) {
    std::swap(mutations[random() % mutations.size()], mutations.back());
    Mutation mutation = std::move(mutations.back());
    mutations.pop_back();
    Schedule mutant = schedule;
    mutation.apply(mutant);
    Status status = verify(problem, mutant);
    std::string where =
        std::string(which.name) + ", " + mutation.what + ", " + name;
    Tally &tally = schedules[kind];
    ++tally.made;
    ++mutants;
    if (status.code() != StatusCode::verificationFailed) {
      ++escaped;
      complain("not refused: " + where);
      continue;
    }
    ++tally.refused;
    ++clauses[status.message().substr(0, status.message().find(':'))];
    if (namesCulprit(problem, schedule, mutant, mutation.what,
                     status.message()))
      ++tally.named;
    else
      complain("does not name it: " + where + ": " + status.message());
    // The same mistake in bytes: the packer refuses, or the bytes do not pass.
    PlanImage image = makePlanImage(problem, mutant);
    Expected<std::vector<uint8_t>> plan = packPlan(image, exactMaxima(image));
    if (!plan)
      continue;
    ++packed;
    if (verifyPlan(problem, plan->data(), plan->size()).ok()) {
      ++escaped;
      complain("not refused as bytes: " + where);
    }
  }
}

void Campaign::mutateBytes(const std::string &name, const Problem &problem,
                           const std::vector<uint8_t> &plan, size_t kind) {
  const ByteMutantClass &which = byteMutantClasses()[kind];
  std::vector<uint8_t> mutant = plan;
  std::string what = which.apply(mutant, random);
  if (what.empty())
    return;
  ++byteMutants;
  Tally &tally = bytes[kind];
  ++tally.made;
  Status status = verifyPlan(problem, mutant.data(), mutant.size());
  if (!status.ok()) {
    ++tally.refused;
    tally.named += !status.message().empty();
    return;
  }
  Expected<PlanImage> legal = readPlan(plan.data(), plan.size());
  Expected<PlanImage> image = readPlan(mutant.data(), mutant.size());
  if (legal && image && isHarmless(problem, legal->schedule, image->schedule)) {
    ++harmless[kind];
    ++tally.refused;
    ++tally.named;
    return;
  }
  ++escaped;
  complain("bytes not refused: " + what + ", " + name);
}

void Campaign::judge(const std::string &name, const Problem &problem,
                     const Schedule &schedule) {
  ++plans;
  ++disciplines[schedule.discipline == Discipline::ticket ? "ticket"
                                                          : "static"];
  Status status = verify(problem, schedule);
  PlanImage image = makePlanImage(problem, schedule);
  PlanMaxima maxima = exactMaxima(image);
  if (plans % 4 == 0)
    for (uint32_t &capacity : maxima.capacity)
      capacity += 3;
  Expected<std::vector<uint8_t>> plan = packPlan(image, maxima);
  if (status.ok())
    status =
        plan ? verifyPlan(problem, plan->data(), plan->size()) : plan.status();
  if (!status.ok()) {
    ++falseAlarms;
    complain("false alarm: " + name + ": " + status.message());
    return;
  }
  if (plans <= allCases().size()) {
    // Written by hand so that every class finds a place.
    for (size_t kind = 0; kind < schedules.size(); ++kind)
      mutate(name, problem, schedule, kind, 1);
    for (size_t kind = 0; kind < bytes.size(); ++kind)
      mutateBytes(name, problem, *plan, kind);
    return;
  }
  for (size_t kind : scarce(schedules, 8))
    if (mutants * options.plans < plans * options.mutants)
      mutate(name, problem, schedule, kind, 2);
  for (size_t kind : scarce(bytes, 8))
    if (byteMutants * options.plans < plans * options.mutants)
      mutateBytes(name, problem, *plan, kind);
}

void Campaign::print(const char *title, const std::vector<Tally> &tallies,
                     const std::function<std::string(size_t)> &nameOf) {
  std::printf("%s\n", title);
  for (size_t i = 0; i < tallies.size(); ++i)
    std::printf("  %-34s %6llu made, %6llu refused, %6llu named\n",
                nameOf(i).c_str(), (unsigned long long)tallies[i].made,
                (unsigned long long)tallies[i].refused,
                (unsigned long long)tallies[i].named);
}

int Campaign::run() {
  for (const Case &one : allCases())
    judge(one.name, one.problem, one.schedule);
  for (uint64_t seed = options.seed; plans < options.plans; ++seed) {
    std::string name = "seed " + std::to_string(seed);
    Expected<Problem> problem = [&]() -> Expected<Problem> {
      if (seed % 2) {
        RandomLimits limits;
        limits.size = 1 + int(seed / 2 % 5);
        RandomCase one = randomCase(seed, limits);
        return instantiate(one.program, one.inputs, one.topology);
      }
      Shapes shapes{uint32_t(seed)};
      return shapedProblem(shapes, uint32_t(seed / 2 % Shapes::count), name);
    }();
    if (!problem) {
      complain(name + ": " + problem.status().message());
      break;
    }
    for (const Solver &solver : solvers())
      for (ScheduleOptions::Combine combine :
           {ScheduleOptions::Combine::automatic, ScheduleOptions::Combine::fold,
            ScheduleOptions::Combine::tree}) {
        if (plans >= options.plans)
          break;
        ScheduleOptions how;
        how.solver = solver.name;
        how.combine = combine;
        Expected<Schedule> schedule = makeSchedule(*problem, how);
        if (schedule)
          judge(std::string(solver.name) + ", combine " +
                    std::to_string(int(combine)) + ", " + name,
                *problem, *schedule);
      }
  }

  Tally all, allBytes;
  uint64_t unmet = 0, forgiven = 0;
  for (const Tally &tally : schedules) {
    all.refused += tally.refused;
    all.named += tally.named;
    unmet += tally.made == 0;
  }
  for (const Tally &tally : bytes) {
    allBytes.refused += tally.refused;
    unmet += tally.made == 0;
  }
  for (const auto &[kind, count] : harmless)
    forgiven += count;
  for (int clause = 1; clause <= 17; ++clause)
    if (!clauses["V" + std::to_string(clause)]) {
      ++unmet;
      std::printf("clause V%d was not met\n", clause);
    }
  if (options.table) {
    print("classes of schedules", schedules,
          [](size_t i) { return std::string(mutantClasses()[i].name); });
    print("classes of plan bytes", bytes,
          [](size_t i) { return byteMutantClasses()[i].name; });
    for (const auto &[clause, count] : clauses)
      std::printf("  clause %-4s %8llu\n", clause.c_str(),
                  (unsigned long long)count);
    for (const auto &[kind, count] : harmless)
      std::printf("  harmless: %-24s %8llu\n",
                  byteMutantClasses()[kind].name.c_str(),
                  (unsigned long long)count);
  }
  using ull = unsigned long long;
  std::printf("%llu legal plans (%llu static, %llu ticket), as schedules and "
              "as bytes: %llu false alarms\n",
              ull(plans), ull(disciplines["static"]),
              ull(disciplines["ticket"]), ull(falseAlarms));
  std::printf("%llu mutants of schedules in %zu classes: %llu refused, %llu "
              "with the culprit named; %llu of them packed, all judged again "
              "as bytes\n",
              ull(mutants), schedules.size(), ull(all.refused), ull(all.named),
              ull(packed));
  std::printf("%llu mutants of plan bytes in %zu classes: %llu refused, %llu "
              "harmless\n",
              ull(byteMutants), bytes.size(), ull(allBytes.refused - forgiven),
              ull(forgiven));
  std::printf("%llu escaped, %llu classes or clauses not met\n", ull(escaped),
              ull(unmet));
  return falseAlarms || escaped || unmet || complaints;
}

} // namespace

int main(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    uint64_t *value = word == "--plans"     ? &options.plans
                      : word == "--mutants" ? &options.mutants
                      : word == "--seed"    ? &options.seed
                                            : nullptr;
    if (word == "--table") {
      options.table = true;
    } else if (value && i + 1 < count) {
      *value = std::strtoull(words[++i], nullptr, 10);
    } else {
      std::fprintf(stderr, "usage: verify-campaign [--plans N] [--mutants N] "
                           "[--seed S] [--table]\n");
      return 2;
    }
  }
  if (!options.plans)
    return 2;
  return Campaign(options).run();
}
