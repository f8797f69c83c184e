//===- MakeCorpus.cpp - Writes the first files of the binary corpora -----===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fuzz-make-corpus FOLDER
//
// Plans and artifacts of the test programs, small. What the fuzzers found is
// beside them in the repository; run this again when a format changes.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Runtime/TestPrograms.h"

#include <fstream>

using namespace dfrt;
using namespace dfrt::test;
using fuzz::expect;

static void write(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             std::streamsize(bytes.size()));
  expect(bool(file), "cannot write " + path);
}

int main(int count, char **words) {
  expect(count == 2, "usage: fuzz-make-corpus FOLDER");
  std::string folder = words[1];
  TestCase cases[] = {raggedCase({8, 8}), spreadCase({9, 0, 5}),
                      routeCase(3, {0, 1, 2, 0, 1, 0, -1, 2})};
  for (TestCase &test : cases) {
    const std::string &name = test.program().name;
    for (const Solver &solver : solvers())
      for (uint32_t cluster : {1u, 2u}) {
        Topology topology;
        topology.ctas = 4;
        topology.clusterSize = cluster;
        ScheduleOptions options;
        options.solver = solver.name;
        Problem problem = test.problem(topology);
        Expected<Schedule> schedule = makeSchedule(problem, options);
        expect(bool(schedule), "no schedule");
        PlanImage image = makePlanImage(problem, *schedule);
        Expected<std::vector<uint8_t>> bytes =
            packPlan(image, exactMaxima(image));
        expect(bool(bytes), "no plan");
        write(folder + "/plan/" + name + "-" + solver.name + "-" +
                  std::to_string(cluster),
              *bytes);
      }
    // The reader looks at the symbols of code, not into it.
    for (CodeBlob &blob : test.artifact.code)
      blob.bytes.resize(16);
    Expected<std::vector<uint8_t>> bytes = writeArtifact(test.artifact);
    expect(bool(bytes), "no artifact");
    write(folder + "/artifact/" + name, *bytes);
  }
  return 0;
}
