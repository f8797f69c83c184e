//===- PtxasLog.cpp - What ptxas -v prints --------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Cubin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

using Level = df::PtxasRemark::Level;

/// Remarks that mean lost performance on kernels which use wgmma and setmaxnreg
/// (C7602: no code at all).
static constexpr StringRef kStrict[] = {"C7508", "C7510", "C7511", "C7512",
                                        "C7514", "C7515", "C7517", "C7518",
                                        "C7520", "C7602"};
static constexpr StringRef kMaxnregIgnored = "C7508";

/// The number before `unit` in "Used 12 registers, used 3 barriers".
static uint64_t number(StringRef line, StringRef unit) {
  llvm::SmallVector<StringRef> parts;
  line.split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    if (!part.consume_front("Used "))
      part.consume_front("used ");
    uint64_t value;
    if (!part.consumeInteger(10, value) && part.trim() == unit)
      return value;
  }
  return 0;
}

/// The first name in single quotes.
static StringRef quoted(StringRef text) {
  return text.split('\'').second.split('\'').first;
}

/// The function in "... in function 'k'" or "... in function k. Try ...".
static StringRef functionIn(StringRef text) {
  size_t at = text.rfind("function ");
  if (at == StringRef::npos)
    return "";
  StringRef rest = text.substr(at + strlen("function ")).trim();
  rest.consume_front("'");
  return rest.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
}

/// Splits "ptxas info    : text", "ptxas /tmp/x.ptx, line 3; error   : text".
/// `place` becomes "line 3" of the PTX text, if there is one.
static bool splitLine(StringRef line, Level &level, StringRef &place,
                      StringRef &text) {
  if (!line.consume_front("ptxas "))
    return false;
  static const std::pair<StringRef, Level> levels[] = {
      {"info", Level::info},
      {"warning", Level::warning},
      {"error", Level::error},
      {"fatal", Level::fatal}};
  size_t semicolon = line.find("; ");
  if (line.starts_with("/") && semicolon != StringRef::npos) {
    place = line.take_front(semicolon).rsplit(", ").second;
    line = line.drop_front(semicolon + 2);
  }
  for (auto [word, value] : levels) {
    StringRef rest = line;
    if (!rest.consume_front_insensitive(word))
      continue;
    rest = rest.ltrim();
    if (!rest.consume_front(":"))
      continue;
    level = value;
    text = rest.trim();
    return true;
  }
  return false;
}

df::PtxasReport
df::parsePtxasLog(StringRef log,
                  llvm::ArrayRef<std::string> kernelsWithMaxnreg) {
  PtxasReport report;
  size_t current = SIZE_MAX;
  auto enter = [&](StringRef name) -> PtxasFunction & {
    current = llvm::find_if(report.functions,
                            [&](const PtxasFunction &function) {
                              return function.name == name;
                            }) -
              report.functions.begin();
    if (current == report.functions.size()) {
      report.functions.emplace_back();
      report.functions.back().name = name.str();
    }
    return report.functions[current];
  };

  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    Level level = Level::info;
    StringRef place, text = line;
    bool own = splitLine(line, level, place, text);
    if (text.empty())
      continue;
    PtxasFunction *function = current < report.functions.size()
                                  ? &report.functions[current]
                                  : nullptr;
    if (level == Level::info) {
      if (text.starts_with("Compiling entry function ")) {
        enter(quoted(text)).kernel = true;
        continue;
      }
      if (text.consume_front("Function properties for ")) {
        enter(text.trim().trim('\''));
        continue;
      }
      if (function && text.contains("bytes stack frame")) {
        function->stackBytes = number(text, "bytes stack frame");
        function->spillStoreBytes = number(text, "bytes spill stores");
        function->spillLoadBytes = number(text, "bytes spill loads");
        continue;
      }
      if (function && text.starts_with("Used ") && text.contains("registers")) {
        function->registers = number(text, "registers");
        function->barriers = number(text, "barriers");
        function->sharedBytes = number(text, "bytes smem");
        function->localBytes = number(text, "bytes lmem");
        function->constantBytes = number(text, "bytes cmem[0]");
        continue;
      }
      if (text.starts_with("Compile time = ") || text.contains("bytes gmem") ||
          text.starts_with("Overriding "))
        continue;
    }
    PtxasRemark remark;
    remark.level = level;
    if (own && text.starts_with("(C")) {
      StringRef code =
          text.drop_front().take_until([](char c) { return c == ')'; });
      remark.code = code.str();
      text = text.drop_front(code.size() + 1);
      text.consume_front(")");
      text = text.trim();
    }
    remark.text = (place.empty() ? "" : place.str() + ": ") + text.str();
    remark.function = functionIn(text).str();
    if (remark.function.empty() && remark.code == kMaxnregIgnored &&
        kernelsWithMaxnreg.size() == 1)
      remark.function = kernelsWithMaxnreg.front();
    report.remarks.push_back(std::move(remark));
  }
  return report;
}

std::vector<df::StrictFinding> df::strictFindings(const PtxasReport &report) {
  std::vector<StrictFinding> findings;
  for (const PtxasRemark &remark : report.remarks)
    if (llvm::is_contained(kStrict, StringRef(remark.code)) ||
        StringRef(remark.text).contains("'setmaxnreg' ignored"))
      findings.push_back(
          {remark.function,
           (remark.code.empty() ? "" : remark.code + ": ") + remark.text});
  for (const PtxasFunction &function : report.functions) {
    if (function.spillStoreBytes || function.spillLoadBytes)
      findings.push_back(
          {function.name,
           "spills registers: " + std::to_string(function.spillStoreBytes) +
               " bytes stored, " + std::to_string(function.spillLoadBytes) +
               " bytes loaded"});
    else if (uint64_t bytes = function.stackBytes + function.localBytes)
      findings.push_back(
          {function.name,
           "uses local memory: " + std::to_string(bytes) + " bytes a thread"});
  }
  return findings;
}
