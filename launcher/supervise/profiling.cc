// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/profiling.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "launcher/profile/lines.h"
#include "launcher/profile/report.h"
#include "launcher/supervise/answer.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/new_file.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kPageSuffix = ".html";

}  // namespace

Result<std::unique_ptr<Profiling>> Profiling::Make(const Plan& plan) {
  std::unique_ptr<Profiling> made(new Profiling(plan));
  NewFile page("the profile", made->NameOf("") + std::string(kPageSuffix));
  if (Status status = page.Open(); !status.ok()) return status;
  return made;
}

Profiling::Profiling(const Plan& plan) : plan_(plan) {
  profile_.command = CommandOf(plan);
  profile_.version = kVersion;
  for (const RankPlan& rank : plan.ranks) {
    RankProfile its;
    its.host = plan.hosts[rank.host].name;
    profile_.ranks.push_back(std::move(its));
  }
}

std::string Profiling::NameOf(const std::string& file) const {
  std::string name = file.empty() ? plan_.options.profile_file : file;
  if (name.empty())
    name = std::filesystem::path(plan_.apps.front().argv.front()).filename().string() +
           Format(".%d", static_cast<int>(getpid()));
  if (name.ends_with(kPageSuffix)) name.resize(name.size() - kPageSuffix.size());
  return name;
}

Result<std::string> Profiling::Write(const std::string& file, std::string end,
                                     std::uint64_t wall_ms) {
  profile_.end = std::move(end);
  profile_.wall_ms = wall_ms;
  profile_.lines = FindLines(profile_.Places(), kLinesLimit);
  const std::string name = NameOf(file);
  const std::string page = name + std::string(kPageSuffix);
  // The page comes last: if it is there, so are the others.
  for (const auto& [file_name, text] :
       {std::pair{name + ".csv", MatrixCsv(profile_)},
        std::pair{name + ".json", ProfileJson(profile_)}, std::pair{page, ProfilePage(profile_)}})
    if (Status written = WriteNewFile("the profile", file_name, text); !written.ok())
      return written;
  std::string line = "profile in " + page;
  for (const std::string& fact : TellingFacts(profile_)) line += "; " + fact;
  return line;
}

}  // namespace lamina::launcher
