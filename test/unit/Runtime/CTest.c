/*===- CTest.c - The public headers as C --------------------------*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* ABI.h and dfrt.h must compile as C, and the API must be callable from it.
|* APITest.cpp calls this function.
|*
\*===----------------------------------------------------------------------===*/

#include "dfrt/ABI.h"
#include "dfrt/dfrt.h"

#include <stddef.h>

int dataflow_test_from_c(void) {
  dfrt_device *device = NULL;
  dfrt_plan_options options;
  dfrt_plan_options_init(&options);
  if (dfrt_api_version() != DFRT_API_VERSION || options.ctas != 132)
    return 1;
  if (dfrt_device_open("cpu", &device) != DFRT_OK)
    return 2;
  dfrt_device_release(device);
  return sizeof(dfrt_plan_header) == 384 ? 0 : 3;
}
