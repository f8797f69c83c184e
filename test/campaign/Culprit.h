//===- Culprit.h - Does a message name what was broken? ------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A refusal has to lead to the mistake. `namesCulprit` reads the objects out of
// a verifier's message ("slot 12", "stage "merge", task 3") and asks whether
// one of them is what a mutation changed or what that is directly tied to: a
// wait to its slot, a slot to who writes and reads it, a transfer to its slots.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_CAMPAIGN_CULPRIT_H
#define DATAFLOW_TEST_CAMPAIGN_CULPRIT_H

#include "dataflow/Schedule/Schedule.h"

#include <string>

namespace dfrt::test {

/// `what`: Mutation::what, e.g. "sender of release 3".
bool namesCulprit(const Problem &problem, const Schedule &legal,
                  const Schedule &mutant, const std::string &what,
                  const std::string &message);

} // namespace dfrt::test

#endif // DATAFLOW_TEST_CAMPAIGN_CULPRIT_H
