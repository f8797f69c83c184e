//===- PlanReport.h - All about a plan, for programs ------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// df-run --report: the plan record by record, its decisions with where they
// come from, the target that they were made for, and the memory. The schema is
// docs/schema/report.schema.json, the manual docs/reports.md.
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_PLANREPORT_H
#define DF_RUN_PLANREPORT_H

#include "Options.h"
#include "Plan.h"
#include "Report.h"

namespace dfrt {

Json planReport(const Options &options, const Plan &plan, const Report &report);

} // namespace dfrt

#endif // DF_RUN_PLANREPORT_H
