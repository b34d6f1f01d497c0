// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/hosts_of.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "launcher/cli/command_line.h"

namespace lamina::launcher {
namespace {

// This stands in for a program if none was named.
constexpr const char* kNoProgram = "/proc/self/exe";

}  // namespace

Result<HostsOf> FindHosts(const HostsAsked& asked, const CommandContext& context) {
  const auto say = [&asked](const std::string& text) {
    fprintf(stderr, "%s: %s\n", asked.tool, text.c_str());
  };
  std::vector<std::string> words(asked.words.begin(), asked.words.end());
  words.emplace_back(kNoProgram);
  Result<Invocation> line = ParseCommandLine(words, ReadWholeFile);
  if (line.ok() && line->action != Invocation::Action::kRun) {
    fputs(asked.usage, stdout);
    return Status(Code::kCancelled, "");
  }
  if (!line.ok()) {
    say(std::string(line.status().message()));
    return std::move(line).status();
  }
  HostsOf made;
  const std::string& program = line->request.programs.front().argv.front();
  if (program != kNoProgram) made.program = program;
  std::vector<std::string> warnings;
  Result<Preparation> preparation = Prepare(*std::move(line), context, &warnings);
  for (const std::string& warning : warnings) say("warning: " + warning);
  if (!preparation.ok()) {
    say(std::string(preparation.status().message()));
    return std::move(preparation).status();
  }
  made.preparation = *std::move(preparation);
  return made;
}

}  // namespace lamina::launcher
