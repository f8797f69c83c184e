//===- TraceJson.cpp - Trace events in JSON -------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An event a line. Times are microseconds.
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "TraceSink.h"

#include <fmt/format.h>

#include <iterator>

using namespace dfrt;

namespace {
class JsonSink : public TraceSink {
public:
  void process(uint32_t number, const std::string &name) override {
    event(
        R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":{1}}}}})",
        number, quoted(name));
    event(
        R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        number);
  }
  void track(uint32_t process, uint32_t number,
             const std::string &name) override {
    event(
        R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
        process, number, quoted(name));
    event(
        R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
        process, number);
  }
  void slice(uint32_t process, uint32_t track, double begin, double end,
             const std::string &name, const char *category,
             const std::vector<TraceArgument> &arguments,
             const std::vector<TraceFlow> &flows) override {
    std::string facts;
    for (const TraceArgument &argument : arguments)
      facts += fmt::format("{}\"{}\":{}", facts.empty() ? "" : ",",
                           argument.name, argument.value);
    event(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"{}","args":{{{}}}}})",
        process, track, begin / 1e3, (end - begin) / 1e3, quoted(name),
        category, facts);
    for (const TraceFlow &flow : flows)
      event(
          R"({{"ph":"{}",{}"pid":{},"tid":{},"ts":{:.3f},"id":{},"name":"transfer","cat":"transfer"}})",
          flow.begins ? "s" : "f", flow.begins ? "" : R"("bp":"e",)", process,
          track, flow.at / 1e3, flow.number);
  }
  std::string finish(const std::string &title) override {
    return fmt::format(
        R"({{"displayTimeUnit":"ns","otherData":{{"title":{}}},"traceEvents":[{}
]}}
)",
        quoted(title), out);
  }

private:
  static std::string quoted(const std::string &text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  template <typename... T>
  void event(fmt::format_string<T...> format, T &&...values) {
    out += out.empty() ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  }

  std::string out;
};
} // namespace

std::unique_ptr<TraceSink> dfrt::makeJsonSink() {
  return std::make_unique<JsonSink>();
}
