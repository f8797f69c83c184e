//===- CacheTest.cpp - Cubins on disk -------------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CubinCache.h"

#include "ScratchFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace mlir::df;
namespace fs = std::filesystem;

namespace {

class Cache : public testing::Test {
protected:
  CubinCache::Entry entry(size_t bytes, uint8_t fill) {
    return {"log", std::vector<uint8_t>(bytes, fill)};
  }
  void age(const std::string &key, int minutes) {
    fs::last_write_time(folder / (key + ".cubin"),
                        fs::file_time_type::clock::now() -
                            std::chrono::minutes(minutes));
  }

  ScratchFolder scratch;
  fs::path folder = scratch.path() / "cache"; // made by the cache
};

} // namespace

TEST_F(Cache, KeysTellPartsApart) {
  EXPECT_NE(CubinCache::key({"ab", "c"}), CubinCache::key({"a", "bc"}));
  EXPECT_NE(CubinCache::key({"a"}), CubinCache::key({"a", ""}));
  EXPECT_EQ(CubinCache::key({"a", "b"}), CubinCache::key({"a", "b"}));
}

TEST_F(Cache, FindsWhatWasStored) {
  CubinCache cache(folder.string(), 1 << 20);
  EXPECT_FALSE(cache.find("k"));
  cache.store("k", entry(100, 7));
  auto found = cache.find("k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->log, "log");
  EXPECT_EQ(found->cubin, entry(100, 7).cubin);
  EXPECT_FALSE(cache.find("l"));
}

TEST_F(Cache, NoFolderKeepsNothing) {
  CubinCache cache("", 1 << 20);
  cache.store("k", entry(100, 7));
  EXPECT_FALSE(cache.find("k"));
}

TEST_F(Cache, UnwritableFolderIsNoError) {
  std::ofstream(folder.string()) << "a file";
  CubinCache cache(folder.string(), 1 << 20);
  cache.store("k", entry(100, 7));
  EXPECT_FALSE(cache.find("k"));
}

TEST_F(Cache, EveryDamagedByteIsNoticed) {
  CubinCache cache(folder.string(), 1 << 20);
  cache.store("k", entry(20, 7));
  fs::path file = folder / "k.cubin";
  std::ifstream in(file, std::ios::binary);
  std::string good((std::istreambuf_iterator<char>(in)), {});
  auto write = [&](const std::string &bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    write(bad);
    EXPECT_FALSE(cache.find("k")) << i;
    write(good.substr(0, i));
    EXPECT_FALSE(cache.find("k")) << i;
  }
  cache.store("k", entry(20, 8));
  ASSERT_TRUE(cache.find("k"));
  EXPECT_EQ(cache.find("k")->cubin[0], 8);
}

TEST_F(Cache, EvictsTheOldestFirst) {
  CubinCache cache(folder.string(), 3500);
  cache.store("a", entry(1000, 1));
  cache.store("b", entry(1000, 2));
  cache.store("c", entry(1000, 3));
  age("a", 30);
  age("b", 20);
  age("c", 10);
  EXPECT_TRUE(cache.find("a")) << "which marks it as used";
  cache.store("d", entry(1000, 4));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  EXPECT_TRUE(cache.find("d"));
}

TEST_F(Cache, WritersDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      CubinCache cache(folder.string(), 1 << 20);
      for (int i = 0; i < 50; ++i) {
        cache.store("same", entry(5000, uint8_t(t)));
        auto found = cache.find("same");
        if (found)
          EXPECT_EQ(found->cubin,
                    std::vector<uint8_t>(5000, found->cubin.front()));
        else
          ADD_FAILURE() << "an entry was half written";
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  size_t files = 0;
  for ([[maybe_unused]] auto &file : fs::directory_iterator(folder))
    ++files;
  EXPECT_EQ(files, 1u) << "a temporary file was left";
}
