// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/settings.h"

#include <unistd.h>

#include <tuple>
#include <utility>

#include "launcher/cli/library.h"
#include "launcher/supervise/run.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

const std::tuple kFields{
    param::Describe("launcher.spawner.use", &LaunchParams::spawner, "",
                    "Spawner that starts the ranks; empty: the best that can run here."),
};

void AddLines(const std::string& text, std::vector<std::string>* lines) {
  for (const std::string_view line : Split(text, '\n'))
    if (!Trim(line).empty()) lines->emplace_back(Trim(line));
}

}  // namespace

Result<param::Settings> ReadSettings(const std::vector<std::string>& command_line,
                                     const Environment& environment,
                                     const Installation& installation) {
  param::Settings settings = param::Settings::FromEnvironment(environment);
  for (const std::string& assignment : command_line)
    if (Status status = settings.AddCommandLine(assignment); !status.ok()) return status;
  for (const std::string& file : ParameterFiles(installation, environment)) {
    if (access(file.c_str(), F_OK) != 0) continue;
    if (Status status = settings.AddFile(file); !status.ok()) return status;
  }
  return settings;
}

Result<LaunchParams> LoadLaunchParams(const param::Settings& settings) {
  LaunchParams params;
  if (Status status = param::Load(settings, kFields, &params); !status.ok()) return status;
  return params;
}

std::vector<param::Row> LauncherOwnRows(const param::Settings& settings) {
  std::vector<param::Row> rows = param::Rows<LaunchParams>(settings, kFields);
  for (param::Row& row : SuperviseParameters(settings)) rows.push_back(std::move(row));
  return rows;
}

std::vector<param::Row> LauncherRows(const param::Settings& settings,
                                     const CommandContext& context) {
  std::vector<param::Row> rows = LauncherOwnRows(settings);
  const auto add = [&rows, &settings](const auto& components) {
    for (const auto& component : components)
      if (component.params != nullptr)
        for (param::Row& row : component.params(settings)) rows.push_back(std::move(row));
  };
  add(context.spawners.entries());
  if (context.engines != nullptr) add(context.engines->entries());
  return rows;
}

SettingsReport CheckSettings(const param::Settings& settings, const CommandContext& context,
                             const Installation& installation) {
  SettingsReport report;
  if (settings.Names().empty()) return report;
  std::vector<std::string> known;
  for (const param::Row& row : LauncherRows(settings, context)) {
    known.push_back(row.name);
    if (!row.problem.empty()) report.problems.push_back(row.problem);
  }
  if (param::UnknownNames(settings, known).empty()) return report;
  // The rest should be the library's; without it nobody can tell a wrong name from a right one.
  Result<std::string> names = DescribeLibrary(installation, settings, "names");
  if (!names.ok()) return report;
  AddLines(*names, &known);
  report.warnings = param::UnknownNames(settings, known);
  if (Result<std::string> problems = DescribeLibrary(installation, settings, "problems");
      problems.ok())
    AddLines(*problems, &report.problems);
  return report;
}

}  // namespace lamina::launcher
