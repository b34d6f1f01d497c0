// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina profile: it has a running job write what its ranks have counted until now.
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

int WriteProfile(std::span<const std::string> arguments, const CommandContext&) {
  const auto fail = [](std::string_view why, int status) {
    fprintf(stderr, "lamina profile: %s\n", std::string(why).c_str());
    return status;
  };
  std::string file;
  std::string word;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      fputs(UsageOf("profile"), stdout);
      return 0;
    } else if (arguments[i] == "-o" && i + 1 < arguments.size()) {
      file = arguments[++i];
    } else if (!word.empty() || arguments[i].starts_with('-')) {
      return fail("\"" + arguments[i] + "\" does not belong here; --help tells more", 2);
    } else {
      word = arguments[i];
    }
  const Result<control::Launcher> job = FindJob(word);
  if (!job.ok()) return fail(job.status().message(), 2);
  // The answers of the hosts bring what their ranks have counted.
  const Result<JobAnswer> hosts = AwaitPings(*job);
  if (!hosts.ok()) return fail(hosts.status().message(), 2);
  // mpiexec may be in another directory.
  std::error_code error;
  if (!file.empty()) file = std::filesystem::absolute(file, error).string();
  const Result<std::string> answer =
      control::Ask(*job, file.empty() ? "profile" : "profile " + HexOf(file), kAnswerMs);
  if (!answer.ok()) return fail(answer.status().message(), 1);
  const std::string_view line = Split(*answer, '\n').front();
  const std::string said(line.substr(std::min(line.size(), line.find(' ') + 1)));
  if (!line.starts_with("say ")) return fail(said, 1);
  printf("%s\n", said.c_str());
  if (AllAnswered(*hosts)) return 0;
  return fail("a host did not answer, so what its ranks have counted may be old", 1);
}

}  // namespace lamina::launcher
