//===- Tensors.h - The arguments of a program in memory ---------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DF_RUN_TENSORS_H
#define DF_RUN_TENSORS_H

#include "Workload.h"

#include "dfrt/dfrt.h"

#include <cstdlib>
#include <memory>

namespace dfrt {

/// Uninitialised bytes, aligned to a cache line.
class Bytes {
public:
  /// Fails when there is not enough memory.
  static Expected<Bytes> allocate(uint64_t size);

  uint8_t *data() const { return memory.get(); }
  uint64_t size() const { return count; }

private:
  struct Free {
    void operator()(uint8_t *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<uint8_t, Free> memory;
  uint64_t count = 0;
};

/// The arguments of one point. `views` refers to the other members, so an
/// object of this class is moved, not copied.
struct Tensors {
  std::vector<BoundArgument> arguments;
  std::vector<Bytes> storage; ///< of size 0 where not allocated
  std::vector<dfrt_tensor> views;
};

/// Shapes of all arguments, and values of those that plans depend on.
Expected<Tensors> planTensors(std::vector<BoundArgument> arguments,
                              const Program &program, uint64_t seed);
/// Allocates and fills what `planTensors` left out.
Status fillTensors(Tensors &tensors, uint64_t seed, unsigned threads);
/// Overwrites all outputs with NaNs.
void poisonOutputs(Tensors &tensors);
/// Writes all arguments to `folder`, which is created: NAME.bin and
/// tensors.json.
Status saveTensors(const Tensors &tensors, const std::string &folder);
/// Writes a whole file.
Status writeFile(const std::string &path, const void *bytes, uint64_t size);

} // namespace dfrt

#endif // DF_RUN_TENSORS_H
