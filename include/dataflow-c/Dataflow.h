/*===- Dataflow.h - The dialect and its passes in C --------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* For compilers that use MLIR through its C API. Everything else (parsing, pass
|* managers, textual pipelines) is MLIR's own C API: the passes and pipelines of
|* this project are reached by name, e.g. "builtin.module(dataflow-plan{...})".
|* The runtime has a C API of its own, dfrt.h.
|*
\*===----------------------------------------------------------------------===*/

#ifndef DATAFLOW_C_DATAFLOW_H
#define DATAFLOW_C_DATAFLOW_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mlirGetDialectHandle__dataflow__() */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Dataflow, dataflow);

/* Adds the dialect and the upstream dialects of bodies to `registry`. */
MLIR_CAPI_EXPORTED void
mlirDataflowRegisterDialects(MlirDialectRegistry registry);

/* Makes passes and pipelines known by name; once per process. */
MLIR_CAPI_EXPORTED void mlirDataflowRegisterPasses(void);

#ifdef __cplusplus
}
#endif

#endif /* DATAFLOW_C_DATAFLOW_H */
