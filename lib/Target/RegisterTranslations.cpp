//===- RegisterTranslations.cpp - The translations of df-translate --------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line a translation.
//
//===----------------------------------------------------------------------===//

#include "dataflow/InitAll.h"
#include "dataflow/Target/Artifact.h"
#include "dataflow/Target/ArtifactInfo.h"
#include "dataflow/Target/PTX.h"
#include "dataflow/Target/Plan.h"

void mlir::df::registerAllTranslations(
    std::function<std::string()> scheduleName,
    std::function<DeviceTranslationOptions()> device) {
  registerArtifactInfoTranslations();
  registerToArtifactTranslation(device);
  registerScheduleViewTranslations(scheduleName);
  registerToPlanTranslation(std::move(scheduleName));
  registerFromPlanTranslation();
  registerDeviceTranslations(std::move(device));
}
