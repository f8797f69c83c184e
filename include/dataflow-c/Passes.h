/*===- Passes.h - Our passes in C --------------------------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* Written by tblgen from the Passes.td files: for each pass a function that
|* makes it, with its options at their defaults, and one that makes it known by
|* name; e.g. mlirCreateDataflowTransformsVerifySchedule(). Passes with other
|* options, and pipelines, are reached by name; see Dataflow.h.
|*
\*===----------------------------------------------------------------------===*/

#ifndef DATAFLOW_C_PASSES_H
#define DATAFLOW_C_PASSES_H

#include "dataflow/Conversion/Passes.capi.h.inc"
#include "dataflow/Transforms/Passes.capi.h.inc"

#endif /* DATAFLOW_C_PASSES_H */
