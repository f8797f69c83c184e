//===- ByteMutants.h - Ways to break the bytes of a plan -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class for each field of each record in ABI.h, one for the bytes that a
// plan does not use, and a few that a public report names. They write bytes
// and know neither the reader nor the verifier. The checksum is put right
// behind them, as a corrupt file would be found by it alone.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CAMPAIGN_BYTEMUTANTS_H
#define DATAFLOW_TEST_CAMPAIGN_BYTEMUTANTS_H

#include "dataflow/Schedule/Schedule.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace dfrt::test {

struct ByteMutantClass {
  std::string name; ///< e.g. "operands.phase"
  /// Changes the plan; says what, or "" where the plan has no such place.
  std::function<std::string(std::vector<uint8_t> &, std::mt19937_64 &)> apply;
};

const std::vector<ByteMutantClass> &byteMutantClasses();

/// True if `mutant` means what `legal` means, or asks for more care than it
/// needs: names, another variant that fits, lists that begin elsewhere and hold
/// the same, a wait more or one that its neighbour makes superfluous, an exit
/// barrier, arenas of another size.
bool isHarmless(const Problem &problem, const Schedule &legal,
                const Schedule &mutant);

} // namespace dfrt::test

#endif // DATAFLOW_TEST_CAMPAIGN_BYTEMUTANTS_H
