//===- Completion.cpp - Completion of command lines by a shell ------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options come from the parser itself, so that no list has to be kept. An
// option takes a file if the name of its value says so (FILE, DIR).
//
//===----------------------------------------------------------------------===//

#include "Completion.h"

#include <fmt/format.h>

using namespace dfrt;

std::string dfrt::completionScript(const CLI::App &app,
                                   const CompletionWords &words,
                                   const std::string &shell) {
  std::vector<std::string> names, cases;
  for (const CLI::Option *option : app.get_options()) {
    std::vector<std::string> spellings;
    for (const std::string &name : option->get_lnames())
      spellings.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      spellings.push_back("-" + name);
    if (spellings.empty())
      continue;
    names.insert(names.end(), spellings.begin(), spellings.end());
    if (option->get_items_expected_max() == 0)
      continue;
    const std::string type = option->get_type_name();
    auto known = words.find(spellings.front());
    std::string action;
    if (known != words.end())
      action = fmt::format(R"(COMPREPLY=($(compgen -W "{}" -- "$word")))",
                           fmt::join(known->second, " "));
    if (type.find("FILE") != std::string::npos ||
        type.find("DIR") != std::string::npos)
      action += fmt::format(R"({}COMPREPLY+=($(compgen -f -- "$word")))",
                            action.empty() ? "" : "; ");
    cases.push_back(fmt::format("    {}) {}{}return ;;",
                                fmt::join(spellings, "|"), action,
                                action.empty() ? "" : "; "));
  }
  std::string name = app.get_name();
  std::string function = "_" + name;
  for (char &c : function)
    if (c == '-')
      c = '_';
  return fmt::format(
      R"(# Completion of {name} for {shell}, written by {name} --completion {shell}.
{prologue}{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  case $before in
{cases}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "{names}" -- "$word"))
  else
    COMPREPLY=($(compgen -f -X '!*.dfa' -- "$word") $(compgen -d -- "$word"))
  fi
}}
complete -o filenames -F {function} {name}
)",
      fmt::arg("name", name), fmt::arg("shell", shell),
      fmt::arg("prologue", shell == "zsh" ? "autoload -U +X bashcompinit && "
                                            "bashcompinit\n"
                                          : ""),
      fmt::arg("function", function), fmt::arg("cases", fmt::join(cases, "\n")),
      fmt::arg("names", fmt::join(names, " ")));
}
