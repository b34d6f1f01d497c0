// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/info.h"

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/library.h"
#include "launcher/cli/settings.h"
#include "launcher/cli/subcommands.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"
#include "runtime/component/listing.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kColumnsMax = 100;

int Refuse(const std::string& message) {
  fprintf(stderr, "lamina info: %s\n", message.c_str());
  return 2;
}
int Refuse(const Status& status) { return Refuse(std::string(status.message())); }

struct InfoRequest {
  bool help = false;
  bool params = false;
  bool collectives = false;
  std::string ranks = "2";  // of --collectives
  std::string per_node;     // likewise; empty: all on one node
  bool names = false;
  bool network = false;
  std::vector<std::string> settings;
  std::vector<std::string> words;  // framework, component
};

Result<InfoRequest> ParseInfo(std::span<const std::string> arguments) {
  InfoRequest request;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--params" || word == "-params" || word == "--all" || word == "-a") {
      request.params = true;
    } else if (word == "--network") {
      request.network = true;
    } else if (word == "--names") {
      request.names = true;
    } else if (word == "--spawners" && request.words.empty()) {
      request.words.push_back("spawner");
    } else if (word == "--collectives") {
      request.collectives = true;
    } else if (word == "-n" || word == "--ppn") {
      if (i + 1 == arguments.size() || !ParseInteger(arguments[i + 1]))
        return Error(Code::kInvalid, "%s needs a number", word.c_str());
      (word == "-n" ? request.ranks : request.per_node) = arguments[++i];
    } else if (word == "--help" || word == "-h") {
      request.help = true;
    } else if (word == "--param") {
      if (i + 1 == arguments.size())
        return Error(Code::kInvalid, "--param needs a value: --param NAME=VALUE");
      request.settings.push_back(arguments[++i]);
    } else if (word.starts_with("--param=")) {
      request.settings.push_back(word.substr(8));
    } else if (word.starts_with('-')) {
      const std::string near =
          Nearest(word, {"--params", "--param", "--names", "--spawners", "--collectives",
                         "--network", "--ppn", "--help", "--all"});
      return Error(Code::kInvalid, "unknown option %s%s%s%s", word.c_str(),
                   near.empty() ? "" : "; did you mean ", near.c_str(), near.empty() ? "" : "?");
    } else if (request.words.size() == 2) {
      return Error(Code::kInvalid, "too many words: FRAMEWORK and COMPONENT are all");
    } else {
      request.words.push_back(word);
    }
  }
  return request;
}

std::string OwnPart(const InfoRequest& request,
                    std::vector<component::ListedFramework> frameworks) {
  const std::string wanted = request.words.empty() ? "" : request.words[0];
  const std::string component = request.words.size() < 2 ? "" : request.words[1];
  Result<std::vector<component::ListedFramework>> listed =
      component::Filter(std::move(frameworks), wanted, component);
  if (!listed.ok()) return {};
  component::PrintOptions options;
  options.params = request.params;
  options.columns_max = kColumnsMax;
  return component::Print(*listed, options);
}

// Prints, for completion, the names of the launcher, its spawners and, if it is there, the library.
int PrintNames(const param::Settings& settings, const CommandContext& context,
               const Installation& installation) {
  for (const param::Row& row : LauncherRows(settings, context)) printf("%s\n", row.name.c_str());
  if (Result<std::string> names = DescribeLibrary(installation, settings, "names"); names.ok())
    fputs(names->c_str(), stdout);
  return 0;
}

std::string LibraryFilter(const InfoRequest& request) {
  std::string filter = request.params ? "params" : "";
  for (const std::string& word : request.words) filter += (filter.empty() ? "" : " ") + word;
  return filter;
}

// Says on standard error what is wrong with the settings, and returns the exit status.
int SayProblems(const param::Settings& settings, const CommandContext& context,
                const Installation& installation) {
  const SettingsReport report = CheckSettings(settings, context, installation);
  for (const std::string& warning : report.warnings)
    fprintf(stderr, "lamina info: warning: %s\n", warning.c_str());
  for (const std::string& problem : report.problems) Refuse(problem);
  return report.problems.empty() ? 0 : 2;
}

// Returns what is wrong with a request for --collectives, or "".
std::string WrongIn(const InfoRequest& request, std::int64_t ranks, std::int64_t per_node) {
  if (!request.words.empty()) return "--collectives takes no word \"" + request.words[0] + "\"";
  if (ranks < 2 || ranks > INT32_MAX)
    return "-n is " + request.ranks + ", must be 2.." + std::to_string(INT32_MAX);
  if (per_node < 1 || per_node > ranks)
    return "--ppn is " + request.per_node + ", must be 1.." + request.ranks;
  return {};
}

int PrintAlgorithms(const InfoRequest& request, const Installation& installation,
                    const param::Settings& settings) {
  const std::string& per_node = request.per_node.empty() ? request.ranks : request.per_node;
  const std::string wrong =
      WrongIn(request, ParseInteger(request.ranks).value_or(0), ParseInteger(per_node).value_or(0));
  if (!wrong.empty()) return Refuse(wrong);
  Result<std::string> text =
      DescribeLibrary(installation, settings, "collectives " + request.ranks + " " + per_node);
  if (!text.ok()) return Refuse(text.status());
  fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

int Info(std::span<const std::string> arguments, const CommandContext& context) {
  Result<InfoRequest> request = ParseInfo(arguments);
  if (!request.ok()) return Refuse(request.status());
  if (request->help) {
    fputs(UsageOf("info"), stdout);
    return 0;
  }
  const Installation installation = ThisInstallation();
  Result<param::Settings> settings =
      ReadSettings(request->settings, context.environment, installation);
  if (!settings.ok()) return Refuse(settings.status());

  if (request->names) return PrintNames(*settings, context, installation);
  if (request->collectives) {
    const int status = SayProblems(*settings, context, installation);
    return status != 0 ? status : PrintAlgorithms(*request, installation, *settings);
  }

  if (request->network) {
    const Result<std::string> text = DescribeLibrary(installation, *settings, "network");
    if (!text.ok()) return Refuse(text.status());
    fputs(text->c_str(), stdout);
    return SayProblems(*settings, context, installation);
  }

  component::ListedFramework framework = component::List(
      "spawner", context.spawners, SpawnContext{context.environment, *settings}, *settings);
  framework.params = LauncherOwnRows(*settings);
  const std::string own =
      OwnPart(*request,
              {framework, component::List("checkpoint", *context.engines,
                                          checkpoint::EngineContext{context.environment, *settings},
                                          *settings)});
  Result<std::string> library = DescribeLibrary(installation, *settings, LibraryFilter(*request));

  if (own.empty() && !library.ok()) return Refuse(library.status());
  if (request->words.empty()) {
    printf("Lamina %s\n", kVersion);
    printf("  prefix   %s\n",
           installation.prefix.empty() ? "none (a build tree)" : installation.prefix.c_str());
    printf("  library  %s\n\n",
           installation.library.empty() ? "not found" : installation.library.c_str());
  }
  fputs(own.c_str(), stdout);
  if (library.ok()) {
    if (!own.empty() && !library->empty()) fputs("\n", stdout);
    fputs(library->c_str(), stdout);
  } else if (request->words.empty()) {
    printf("\ntransports, collectives: %s\n", std::string(library.status().message()).c_str());
  }
  // Values that would be refused are shown as such, and told by the exit status too.
  return SayProblems(*settings, context, installation);
}

}  // namespace lamina::launcher
