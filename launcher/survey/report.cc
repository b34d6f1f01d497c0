// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "launcher/cli/installation.h"
#include "launcher/cli/library.h"
#include "launcher/cli/program_path.h"
#include "launcher/plan/machine.h"
#include "launcher/survey/abilities.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/environment.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kBegin = "lamina report";
constexpr std::string_view kEnd = "end of report";

std::vector<std::string> Components(const Installation& installation) {
  std::vector<std::string> components;
  const param::Settings none;
  const Result<std::string> text = DescribeLibrary(installation, none, "versions");
  if (!text.ok()) return components;
  for (const std::string_view line : Split(*text, '\n'))
    if (!line.empty()) components.emplace_back(line);
  std::sort(components.begin(), components.end());
  return components;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Returns what is in `one` and not in `other`, both sorted.
std::vector<std::string> Missing(const std::vector<std::string>& one,
                                 const std::vector<std::string>& other) {
  std::vector<std::string> missing;
  std::set_difference(one.begin(), one.end(), other.begin(), other.end(),
                      std::back_inserter(missing));
  return missing;
}

}  // namespace

std::int64_t WallClockUs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

HostReport ReportHere(const std::string& program) {
  const Installation installation = ThisInstallation();
  HostReport report;
  report.version = kVersion;
  report.prefix = installation.prefix;
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  if (bytes > 0) report.program.assign(path, static_cast<std::size_t>(bytes));
  report.library = installation.library;
  report.components = Components(installation);
  utsname machine{};
  if (uname(&machine) == 0) report.machine = machine.machine;
  report.cpus = ThisMachine(false).cpus;
  report.remarks = Remarks(AbilitiesHere());
  if (!program.empty()) {
    const Environment own = Environment::OfThisProcess();
    const std::string where = own.Get("PATH").value_or(std::string(kDefaultPath));
    report.program_problem = CheckProgram(program, "", where).message;
  }
  report.clock_us = WallClockUs();
  return report;
}

std::string Encode(const HostReport& report) {
  std::string text = std::string(kBegin) + "\n";
  text += "version " + report.version + "\nprefix " + report.prefix + "\nprogram " +
          report.program + "\nlibrary " + report.library + "\n";
  for (const std::string& component : report.components) text += "component " + component + "\n";
  for (const std::string& remark : report.remarks) text += "remark " + remark + "\n";
  text += "machine " + report.machine + "\n";
  text += Format("cpus %u\nclock_us %lld\n", report.cpus, static_cast<long long>(report.clock_us));
  if (!report.program_problem.empty()) text += "problem " + report.program_problem + "\n";
  return text + std::string(kEnd) + "\n";
}

std::optional<HostReport> DecodeReport(std::string_view text) {
  HostReport report;
  bool begun = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (line == kBegin) begun = true;
    if (!begun) continue;
    if (line == kEnd) return report;
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view name = line.substr(0, blank);
    const std::string value(line.substr(std::min(blank + 1, line.size())));
    if (name == "version") report.version = value;
    if (name == "prefix") report.prefix = value;
    if (name == "program") report.program = value;
    if (name == "library") report.library = value;
    if (name == "component") report.components.push_back(value);
    if (name == "remark") report.remarks.push_back(value);
    if (name == "machine") report.machine = value;
    if (name == "cpus") report.cpus = static_cast<std::uint32_t>(ParseInteger(value).value_or(0));
    if (name == "clock_us") report.clock_us = ParseInteger(value).value_or(0);
    if (name == "problem") report.program_problem = value;
  }
  return std::nullopt;
}

std::vector<std::string> Differences(const HostReport& here, const HostReport& there,
                                     std::int64_t asked_us, std::int64_t answered_us) {
  std::vector<std::string> problems;
  if (there.version != here.version)
    problems.push_back(
        Format("Lamina %s is there, %s here", there.version.c_str(), here.version.c_str()));
  if (there.machine != here.machine)
    problems.push_back(Format("it is %s, this is %s", there.machine.c_str(), here.machine.c_str()));
  if (there.library.empty() && !here.library.empty()) {
    problems.push_back("no libmpi_abi.so.1 beside " + there.program);
  } else {
    const auto absent = Missing(here.components, there.components);
    const auto extra = Missing(there.components, here.components);
    if (!absent.empty()) problems.push_back("components only here: " + Joined(absent));
    if (!extra.empty()) problems.push_back("components only there: " + Joined(extra));
  }
  if (!there.program_problem.empty()) problems.push_back(there.program_problem);
  const std::int64_t behind = asked_us - there.clock_us;
  const std::int64_t ahead = there.clock_us - answered_us;
  if (const std::int64_t off = std::max(behind, ahead); off > kClockUsMax)
    problems.push_back(Format("its clock is %.1f s %s", static_cast<double>(off) / 1e6,
                              behind > ahead ? "behind" : "ahead"));
  return problems;
}

}  // namespace lamina::launcher
