// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/help.h"
#include "launcher/cli/info.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/cli/subcommands.h"
#include "launcher/survey/survey.h"
#include "launcher/tune/tune.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

using Command = int (*)(std::span<const std::string> arguments, const CommandContext& context);

int HelpCommand(std::span<const std::string> arguments, const CommandContext& context);

int VersionCommand(std::span<const std::string>, const CommandContext&) {
  printf("Lamina %s\n", kVersion);
  return 0;
}

int TuneCommand(std::span<const std::string> arguments, const CommandContext& context) {
  const Installation installation = ThisInstallation();
  return Tune(arguments, UsageOf("tune"), installation.program,
              ParameterFiles(installation, context.environment));
}

Command CommandOf(std::string_view name) {
  constexpr std::pair<std::string_view, Command> kCommands[] = {
      {"run", Mpiexec},      {"ps", Ps},
      {"check", Check},      {"clean", Clean},
      {"info", Info},        {"tune", TuneCommand},
      {"help", HelpCommand}, {"version", VersionCommand},
  };
  for (const auto& [known, command] : kCommands)
    if (name == known) return command;
  return nullptr;
}

std::string Usage() {
  std::string text = "usage: lamina COMMAND [arguments]\n\n";
  for (const Subcommand& command : Subcommands())
    text += Format("  %-10s%s\n", command.name, command.help);
  text += "\n`lamina help TOPIC`, with TOPIC one of:";
  for (const std::string& topic : HelpTopics()) text += " " + topic;
  return text + "\n";
}

int HelpCommand(std::span<const std::string> arguments, const CommandContext&) {
  if (arguments.empty()) {
    fputs(Usage().c_str(), stdout);
    return 0;
  }
  Result<std::string> text = HelpText(arguments.front());
  if (!text.ok()) {
    fprintf(stderr, "lamina: %s\n", std::string(text.status().message()).c_str());
    return 2;
  }
  fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

int Lamina(std::span<const std::string> arguments, const CommandContext& context) {
  if (arguments.empty()) {
    fputs(Usage().c_str(), stderr);
    return 2;
  }
  std::string name = arguments.front();
  if (name == "--version" || name == "-V") name = "version";
  if (name == "--help" || name == "-h") name = "help";
  if (const Command command = CommandOf(name)) return command(arguments.subspan(1), context);
  std::vector<std::string> names;
  for (const Subcommand& command : Subcommands()) names.emplace_back(command.name);
  const std::string near = Nearest(name, names);
  if (near.empty())
    fprintf(stderr, "lamina: unknown command \"%s\"; `lamina help` lists them\n", name.c_str());
  else
    fprintf(stderr, "lamina: unknown command \"%s\"; did you mean \"%s\"?\n", name.c_str(),
            near.c_str());
  return 2;
}

}  // namespace lamina::launcher
