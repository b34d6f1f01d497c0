// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/grow.h"

#include <cstdio>
#include <string_view>
#include <utility>

#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr int kAnswerMs = 2000;

// Tells a job `verb` and the last of the words. Returns the exit status.
int Tell(const char* verb, std::span<const std::string> words) {
  const auto complain = [verb](std::string_view why) {
    fprintf(stderr, "lamina %s: %s\n", verb, std::string(why).c_str());
  };
  for (const std::string& word : words)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf(verb), stdout);
      return 0;
    }
  if (words.empty() || words.size() > 2 || words.back().starts_with('-')) {
    complain("it takes a job and its hosts; --help tells more");
    return 2;
  }
  if (words.size() == 1 && ParseInteger(words.front())) {
    complain("say which hosts, behind the job: lamina " + std::string(verb) + " " + words.front() +
             " node7");
    return 2;
  }
  Result<control::Launcher> job = FindJob(words.size() == 2 ? words.front() : "");
  if (!job.ok()) {
    complain(job.status().message());
    return 2;
  }
  Result<std::string> answer =
      control::Ask(*job, std::string(verb) + " " + words.back(), kAnswerMs);
  if (!answer.ok()) {
    complain(answer.status().message());
    return 1;
  }
  const std::string_view line = Split(*answer, '\n').front();
  if (line == "done") return 0;
  complain(line.substr(line.find(' ') + 1));
  return 1;
}

}  // namespace

int Grow(std::span<const std::string> arguments, const CommandContext&) {
  return Tell("grow", arguments);
}

int Shrink(std::span<const std::string> arguments, const CommandContext&) {
  return Tell("shrink", arguments);
}

}  // namespace lamina::launcher
