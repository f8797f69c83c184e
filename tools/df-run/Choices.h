//===- Choices.h - The planner's choice against all others ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures a launch with every combination of solver, way to combine, transport
// and cluster size that the options leave open: how far the planner's choice is
// from the best of them.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_CHOICES_H
#define DF_RUN_CHOICES_H

#include "Cuda.h"

namespace dfrt {

/// The options of all ways to plan: those given, then with each open choice
/// forced, then, where it was not asked for, batch-invariant.
std::vector<Options> choicesOf(const Options &options);

/// Plans and measures `tensors`, whose arguments are on the device, by each of
/// `choicesOf`. Choices with equal plans are measured once. Leaves the kernel
/// that `options` choose, and no plan.
Expected<std::vector<ChoiceTime>>
compareChoices(const LoadedArtifact &artifact, const Tensors &tensors,
               const Options &options, CudaRunner &cuda, Progress &progress);

} // namespace dfrt

#endif // DF_RUN_CHOICES_H
