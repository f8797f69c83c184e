//===- PTXText.cpp - What is in a PTX text --------------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTXText.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

/// `text` with comments as spaces; strings do not matter to what is looked for.
static std::string withoutComments(StringRef text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text = end == StringRef::npos ? StringRef() : text.drop_front(end + 2);
      result += ' ';
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

static bool isWord(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '%';
}

std::vector<df::PTXFunction> df::scanPTX(StringRef text) {
  std::string bare = withoutComments(text);
  StringRef rest = bare;
  std::vector<PTXFunction> functions;
  unsigned depth = 0;
  bool external = false;
  bool inBody = false;
  // Of a function whose name is still to come: nesting of parentheses, as the
  // results stand before the name.
  bool expectName = false, kernel = false;
  unsigned parentheses = 0;
  while (!rest.empty()) {
    char c = rest.front();
    if (!isWord(c)) {
      rest = rest.drop_front();
      if (c == '{' && depth++ == 0)
        inBody = !functions.empty() && !expectName;
      else if (c == '}' && depth > 0)
        --depth;
      else if (c == '(')
        ++parentheses;
      else if (c == ')' && parentheses > 0)
        --parentheses;
      else if (c == ';' && depth == 0)
        external = false;
      continue;
    }
    StringRef word = rest.take_while(isWord);
    rest = rest.drop_front(word.size());
    if (depth > 0) {
      if (!inBody)
        continue;
      functions.back().traps |= word == "trap";
      functions.back().usesSetmaxnreg |= word.starts_with("setmaxnreg.");
      continue;
    }
    if (word == ".extern") {
      external = true;
    } else if (word == ".func" || word == ".entry") {
      expectName = true;
      kernel = word == ".entry";
    } else if (expectName && parentheses == 0 && word.front() != '.') {
      PTXFunction function;
      function.name = word.str();
      function.kernel = kernel;
      function.external = external;
      functions.push_back(std::move(function));
      expectName = false;
    } else if (word == ".visible" || word == ".weak") {
      external = false;
    }
  }
  return functions;
}

std::vector<std::string> df::kernelsWithSetmaxnreg(StringRef text) {
  std::vector<std::string> names;
  for (const PTXFunction &function : scanPTX(text))
    if (function.kernel && function.usesSetmaxnreg)
      names.push_back(function.name);
  return names;
}
