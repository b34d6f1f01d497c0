// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/checkpoint.h"
#include "launcher/cli/grow.h"
#include "launcher/cli/help.h"
#include "launcher/cli/info.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/cli/restart.h"
#include "launcher/cli/subcommands.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

int VersionCommand(std::span<const std::string>, const CommandContext&) {
  printf("Lamina %s\n", kVersion);
  return 0;
}

std::string Usage() {
  std::string text = "usage: lamina COMMAND [arguments]\n\n";
  for (const Subcommand& command : Subcommands())
    text += Format("  %-12s%s\n", command.name, command.help);
  text += "\n`lamina help TOPIC`, with TOPIC one of these commands or of:";
  for (const std::string& topic : HelpTopics()) text += " " + topic;
  return text + "\n";
}

int HelpCommand(std::span<const std::string> arguments, const CommandContext&) {
  if (arguments.empty()) {
    fputs(Usage().c_str(), stdout);
    return 0;
  }
  for (const Subcommand& command : Subcommands())
    if (command.name == arguments.front()) {
      fputs(UsageOf(command.name), stdout);
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

constexpr Command kOwn[] = {
    {"run", Mpiexec}, {"info", Info},     {"checkpoint", Checkpoint}, {"restart", Restart},
    {"grow", Grow},   {"shrink", Shrink}, {"help", HelpCommand},      {"version", VersionCommand}};

const Command* Find(std::span<const Command> commands, std::string_view name) {
  for (const Command& command : commands)
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace

int Lamina(std::span<const std::string> arguments, const CommandContext& context,
           std::span<const Command> others) {
  if (arguments.empty()) {
    fputs(Usage().c_str(), stderr);
    return 2;
  }
  std::string name = arguments.front();
  if (name == "--version" || name == "-V") name = "version";
  if (name == "--help" || name == "-h") name = "help";
  for (const auto commands : {std::span<const Command>(kOwn), others})
    if (const Command* command = Find(commands, name))
      return command->run(arguments.subspan(1), context);
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
