//===- Tensors.cpp - The arguments of a program in memory -----------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Tensors.h.
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/stat.h>

using namespace dfrt;

Expected<Bytes> Bytes::allocate(uint64_t size) {
  Bytes bytes;
  uint64_t rounded = (size + 127) / 64 * 64;
  bytes.memory.reset(static_cast<uint8_t *>(std::aligned_alloc(64, rounded)));
  if (!bytes.memory)
    return Status(StatusCode::resourceExhausted,
                  fmt::format("cannot allocate {} bytes", size));
  bytes.count = size;
  return bytes;
}

// Gives argument `i` its memory and, unless it is an output, its values.
static Status fillArgument(Tensors &tensors, size_t i, uint64_t seed,
                           unsigned threads) {
  const BoundArgument &argument = tensors.arguments[i];
  Expected<Bytes> bytes = Bytes::allocate(argument.bytes());
  if (!bytes)
    return Status(bytes.status().code(),
                  fmt::format("argument \"{}\": {}", argument.name,
                              bytes.status().message()));
  tensors.storage[i] = std::move(*bytes);
  tensors.views[i].data = tensors.storage[i].data();
  if (!argument.output)
    runFill(argument.fill, argument.element, argument.shape, seed, threads,
            tensors.views[i].data);
  return Status::success();
}

Expected<Tensors> dfrt::planTensors(std::vector<BoundArgument> arguments,
                                    const Program &program, uint64_t seed) {
  Tensors tensors;
  tensors.arguments = std::move(arguments);
  tensors.storage.resize(tensors.arguments.size());
  std::vector<bool> planned = plannedArguments(program);
  for (const BoundArgument &argument : tensors.arguments)
    tensors.views.push_back({nullptr, argument.shape.data(),
                             static_cast<uint32_t>(argument.shape.size()),
                             static_cast<uint32_t>(argument.element)});
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (planned[i])
      if (Status s = fillArgument(tensors, i, seed, 1); !s)
        return s;
  return tensors;
}

Status dfrt::fillTensors(Tensors &tensors, uint64_t seed, unsigned threads) {
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (!tensors.views[i].data)
      if (Status s = fillArgument(tensors, i, seed, threads); !s)
        return s;
  return Status::success();
}

void dfrt::poisonOutputs(Tensors &tensors) {
  for (size_t i = 0; i < tensors.arguments.size(); ++i)
    if (tensors.arguments[i].output)
      poison(tensors.arguments[i].element, tensors.arguments[i].elements(),
             tensors.views[i].data);
}

Status dfrt::writeFile(const std::string &path, const void *bytes,
                       uint64_t size) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written =
      file && (size == 0 || std::fwrite(bytes, 1, size, file) == size);
  int reason = errno;
  if (file && std::fclose(file) != 0 && written) {
    written = false;
    reason = errno;
  }
  if (written)
    return Status::success();
  return Status(
      StatusCode::invalidFile,
      fmt::format("cannot write '{}': {}", path, std::strerror(reason)));
}

Status dfrt::saveTensors(const Tensors &tensors, const std::string &folder) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return Status(StatusCode::invalidFile,
                  fmt::format("cannot create folder '{}': {}", folder,
                              std::strerror(errno)));
  Json index = Json::array();
  for (size_t i = 0; i < tensors.arguments.size(); ++i) {
    const BoundArgument &argument = tensors.arguments[i];
    if (argument.name.find('/') != std::string::npos)
      return Status(StatusCode::invalidFile,
                    fmt::format("argument '{}' cannot be saved: its name is no "
                                "name of a file",
                                argument.name));
    std::string file = argument.name + ".bin";
    if (Status s = writeFile(folder + "/" + file, tensors.views[i].data,
                             argument.bytes());
        !s)
      return s;
    index.push_back({{"name", argument.name},
                     {"element", elementName(argument.element)},
                     {"shape", argument.shape},
                     {"output", argument.output},
                     {"file", file}});
  }
  std::string text = jsonText(index) + "\n";
  return writeFile(folder + "/tensors.json", text.data(), text.size());
}
