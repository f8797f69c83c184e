//===- ScratchFolder.h - A folder for one test ------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of one binary run at the same time, in processes of their own; a folder
// that no other test has keeps them apart.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_TEST_UNIT_SCRATCHFOLDER_H
#define DATAFLOW_TEST_UNIT_SCRATCHFOLDER_H

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <string>

/// A new, empty folder; removed with all it holds at the end.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name =
        (std::filesystem::path(testing::TempDir()) / "dataflow-XXXXXX")
            .string();
    if (mkdtemp(name.data()))
      folder = name;
    else
      ADD_FAILURE() << "no scratch folder at " << name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

#endif // DATAFLOW_TEST_UNIT_SCRATCHFOLDER_H
