/*===- memory.h - Memory that the host and a device can address ---*- C -*-===*\
|*
|* Part of the dataflow project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The runtime allocates no tensors: it takes pointers. An engine has its own
|* allocator; this one is for a program without any. On a GPU it is CUDA's
|* managed memory, so that one pointer serves planning and launch.
|*
\*===----------------------------------------------------------------------===*/

#ifndef EMBED_RUNTIME_MEMORY_H
#define EMBED_RUNTIME_MEMORY_H

#include <stddef.h>

/* Zeroed memory for the device "cpu" or "cuda"; null, after a line on stderr,
 * when there is none. It lives as long as the process. */
void *allocate(const char *device, size_t bytes);

#endif /* EMBED_RUNTIME_MEMORY_H */
