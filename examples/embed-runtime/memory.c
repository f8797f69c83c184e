/*===- memory.c - Memory that the host and a device can address ---*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The driver is found at run time, as the runtime finds it, so that the same
|* binary runs where there is none.
|*
\*===----------------------------------------------------------------------===*/

#include "memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAttachGlobal = 1 };

/* The functions of the driver that are used; 0 is success. */
struct driver {
  int (*init)(unsigned flags);
  int (*retain)(void **context, int device);
  int (*enter)(void *context);
  int (*allocate)(unsigned long long *address, size_t bytes, unsigned flags);
};

/* Enters the context that dfrt_device_open("cuda") works in. */
static const struct driver *openDriver(void) {
  static struct driver driver;
  if (driver.allocate)
    return &driver;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return NULL;
  *(void **)&driver.init = dlsym(library, "cuInit");
  *(void **)&driver.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&driver.enter = dlsym(library, "cuCtxSetCurrent");
  void *context = NULL;
  if (!driver.init || !driver.retain || !driver.enter || driver.init(0) ||
      driver.retain(&context, 0) || driver.enter(context))
    return NULL;
  *(void **)&driver.allocate = dlsym(library, "cuMemAllocManaged");
  return driver.allocate ? &driver : NULL;
}

void *allocate(const char *device, size_t bytes) {
  bytes = bytes ? bytes : 1;
  void *memory = NULL;
  if (strcmp(device, "cpu") == 0) {
    memory = calloc(1, bytes);
  } else {
    const struct driver *driver = openDriver();
    unsigned long long address = 0;
    if (driver && !driver->allocate(&address, bytes, kAttachGlobal)) {
      memory = (void *)(size_t)address;
      memset(memory, 0, bytes);
    }
  }
  if (!memory)
    fprintf(stderr, "embed-runtime: no %zu bytes of memory for %s\n", bytes,
            device);
  return memory;
}
