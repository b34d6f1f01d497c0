// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <string>
#include <vector>

#include "launcher/cli/help.h"
#include "launcher/cli/info.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/tune/tune.h"
#include "runtime/base/version.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

struct Command {
  const char* name;
  const char* help;
  int (*run)(std::span<const std::string> arguments, const CommandContext& context);
};

int HelpCommand(std::span<const std::string> arguments, const CommandContext& context);

int VersionCommand(std::span<const std::string>, const CommandContext&) {
  printf("Lamina %s\n", kVersion);
  return 0;
}

int TuneCommand(std::span<const std::string> arguments, const CommandContext& context) {
  const Installation installation = ThisInstallation();
  return Tune(arguments, installation.program,
              ParameterFiles(installation, context.environment));
}

constexpr Command kCommands[] = {
    {"run", "start a job; the same as mpiexec", Mpiexec},
    {"info", "components, versions, priorities, parameters", Info},
    {"tune", "measure what collective algorithms are chosen by", TuneCommand},
    {"version", "the version", VersionCommand},
    {"help", "this, or all about a topic of mpiexec", HelpCommand},
};

std::string Usage() {
  std::string text = "usage: lamina COMMAND [arguments]\n\n";
  for (const Command& command : kCommands)
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
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(arguments.subspan(1), context);
    names.emplace_back(command.name);
  }
  const std::string near = Nearest(name, names);
  if (near.empty())
    fprintf(stderr, "lamina: unknown command \"%s\"; `lamina help` lists them\n", name.c_str());
  else
    fprintf(stderr, "lamina: unknown command \"%s\"; did you mean \"%s\"?\n", name.c_str(),
            near.c_str());
  return 2;
}

}  // namespace lamina::launcher
