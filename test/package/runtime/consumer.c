/*===- consumer.c - A host program that links only the runtime ----*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* Links, opens the CPU device, and is told what is wrong with a foreign file.
|*
\*===----------------------------------------------------------------------===*/

#include "dfrt/dfrt.h"

#include <stdio.h>

int main(void) {
  if (dfrt_api_version() != DFRT_API_VERSION)
    return 1;
  dfrt_device *device = NULL;
  if (dfrt_device_open("cpu", &device) != DFRT_OK) {
    fprintf(stderr, "%s\n", dfrt_last_error());
    return 1;
  }
  dfrt_artifact *artifact = NULL;
  const char foreign[] = "this is no artifact, but long enough to be read";
  dfrt_status status =
      dfrt_artifact_load_memory(foreign, sizeof(foreign), &artifact);
  printf("%s: %s\n", dfrt_status_name(status), dfrt_last_error());
  dfrt_device_release(device);
  return status == DFRT_INVALID_FILE && artifact == NULL ? 0 : 1;
}
