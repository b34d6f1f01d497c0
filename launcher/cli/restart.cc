// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/restart.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "checkpoint/store/claim.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/generation.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/local.h"
#include "launcher/cli/options.h"
#include "launcher/cli/subcommands.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

namespace store = lamina::checkpoint;

int Refuse(const std::string& message) {
  fprintf(stderr, "lamina restart: %s\n", message.c_str());
  return 2;
}

struct Wanted {
  std::string directory;
  Epoch epoch{};
  std::vector<std::string> places;  // options of mpiexec that say where
  std::vector<std::string> avoided;
  std::string moved_from;
  std::optional<std::uint32_t> restarts;
  std::optional<std::uint32_t> claim;  // the descriptor that the launcher before has passed on
};

// Returns the number behind an option; none: there is none within these limits.
std::optional<std::uint32_t> NumberAt(std::span<const std::string> arguments, std::size_t at,
                                      std::int64_t least) {
  const auto number = ParseInteger(at < arguments.size() ? arguments[at] : "");
  if (!number || *number < least || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// Takes an option of mpiexec that says where ranks run, or a parameter. Returns how many words that
// are, 0 if it is none.
std::size_t TakePlace(std::span<const std::string> words, std::vector<std::string>* places) {
  const std::string name = words.front().substr(0, words.front().find('='));
  const Option* option = FindOption(name);
  if (option == nullptr || (option->topic != Topic::kHosts && name != "--param")) return 0;
  const bool has_value = *option->argument != 0 && name == words.front();
  const std::size_t count = std::min<std::size_t>(has_value ? 2 : 1, words.size());
  places->insert(places->end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

Result<Wanted> Parse(std::span<const std::string> arguments) {
  Wanted wanted;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--generation") {
      const auto number = NumberAt(arguments, ++at, 1);
      if (!number) return Error(Code::kInvalid, "--generation needs the number of one");
      wanted.epoch = Epoch{*number};
    } else if (word == "--restarts") {
      wanted.restarts = NumberAt(arguments, ++at, 0);
      if (!wanted.restarts) return Error(Code::kInvalid, "--restarts needs a number");
    } else if (word == "--moved-from") {
      wanted.moved_from = ++at < arguments.size() ? arguments[at] : "";
    } else if (word == "--claim") {
      wanted.claim = NumberAt(arguments, ++at, 0);
    } else if (word == "--without") {
      if (++at >= arguments.size() || arguments[at].empty())
        return Error(Code::kInvalid, "--without needs the name of a host");
      wanted.avoided.push_back(arguments[at]);
    } else if (const std::size_t taken = TakePlace(arguments.subspan(at), &wanted.places);
               taken > 0) {
      at += taken - 1;
    } else if (word.starts_with('-')) {
      return Error(Code::kInvalid, "unknown option %s; --help tells more", word.c_str());
    } else if (!wanted.directory.empty()) {
      return Error(Code::kInvalid, "one directory is enough: %s, %s", wanted.directory.c_str(),
                   word.c_str());
    } else {
      wanted.directory = word;
    }
  }
  if (wanted.directory.empty()) return Error(Code::kInvalid, "say which directory");
  return wanted;
}

// The program reads what it wrote as it lies in memory, so the machine must be of the same kind.
Status CheckFits(const store::Manifest& manifest) {
  if (manifest.engine == "pretend")
    return Error(Code::kUnsupported,
                 "generation %u was saved by the engine pretend, which saves nothing that could be "
                 "restarted",
                 Index(manifest.epoch));
  utsname system;
  if (uname(&system) == 0 && manifest.machine != system.machine)
    return Error(Code::kUnsupported, "generation %u was saved on %s, and this machine is %s",
                 Index(manifest.epoch), manifest.machine.c_str(), system.machine);
  return {};
}

// Opens the generation and verifies every checksum of it. `local` is -1 if there is no such folder.
Result<store::Opened> Open(int directory, int local, Epoch epoch,
                           std::vector<std::string>* damaged) {
  std::vector<int> directories = {directory};
  if (local >= 0) directories.push_back(local);
  if (Index(epoch) == 0) return store::OpenNewest(directories, damaged);
  Result<store::Opened> opened = store::OpenWhole(directory, epoch);
  if (opened.ok() || local < 0) return opened;
  Result<store::Opened> other = store::OpenWhole(local, epoch);
  if (!other.ok()) return opened;
  other->directory = 1;
  return other;
}

}  // namespace

Result<SavedJob> FindSavedJob(const std::string& directory, Epoch epoch,
                              std::vector<std::string>* damaged) {
  Result<Descriptor> opened = store::OpenStore(directory);
  if (!opened.ok()) return std::move(opened).status();
  const std::string local = store::LocalOf(opened->value());
  const Result<Descriptor> local_opened = store::OpenStore(local);
  Result<store::Opened> generation =
      Open(opened->value(), local_opened.ok() ? local_opened->value() : -1, epoch, damaged);
  if (!generation.ok()) return std::move(generation).status().Within(directory);
  const store::Manifest& manifest = generation->manifest;
  if (Status status = CheckFits(manifest); !status.ok()) return status;
  Result<std::string> plan =
      store::ReadFile(generation->folder.value(), store::kPlanName, manifest.plan_bytes);
  if (!plan.ok()) return std::move(plan).status().Within(directory);
  std::vector<std::string_view> pieces = Split(*plan, '\0');
  pieces.pop_back();  // behind the last zero byte
  if (pieces.empty()) return Error(Code::kInvalid, "%s: the plan is empty", directory.c_str());
  std::error_code error;
  SavedJob job;
  job.directory = std::filesystem::absolute(directory, error).lexically_normal().string();
  job.found_in = generation->directory == 0 ? job.directory : local;
  job.epoch = manifest.epoch;
  job.since = manifest.since;
  job.engine = manifest.engine;
  job.ranks = manifest.ranks.size();
  job.working_directory = pieces.front();
  job.words.assign(pieces.begin() + 1, pieces.end());
  job.damaged = std::exchange(*damaged, {});
  job.kernel = manifest.kernel;
  for (const store::Manifest::Rank& rank : manifest.ranks)
    job.hosts.push_back(
        rank.ended || rank.node >= manifest.nodes.size() ? "" : manifest.nodes[rank.node].name);
  return job;
}

std::vector<std::string> Differences(const SavedJob& saved, const Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> moved;
  for (const RankPlan& rank : plan.ranks) {
    const std::string& before = rank.rank < saved.hosts.size() ? saved.hosts[rank.rank] : "";
    const std::string& now = plan.hosts[rank.host].name;
    if (!before.empty() && before != now) moved[{before, now}].push_back(rank.rank);
  }
  std::vector<std::string> sentences;
  for (const auto& [hosts, ranks] : moved)
    sentences.push_back(RankWords(ranks) + (ranks.size() == 1 ? " is" : " are") + " on " +
                        hosts.second + " now instead of " + hosts.first);
  utsname system;
  if (uname(&system) == 0 && !saved.kernel.empty() && saved.kernel != system.release)
    sentences.push_back(Format("the job was saved on kernel %s, and the kernel here is %s",
                               saved.kernel.c_str(), system.release));
  return sentences;
}

int Restart(std::span<const std::string> arguments, const CommandContext& context) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("restart"), stdout);
      return 0;
    }
  const Result<Wanted> wanted = Parse(arguments);
  if (!wanted.ok()) return Refuse(std::string(wanted.status().message()));
  store::Claim claim;
  if (wanted->claim) claim.TakeOver(static_cast<int>(*wanted->claim), wanted->directory);
  // A folder in which no job has saved its states may be anything, and is left as it is.
  if (Status status = claim.Take(wanted->directory, store::kClaimMs, store::Claim::Lock::kFound);
      !status.ok()) {
    Refuse(std::string(status.message()));
    return 1;
  }
  std::vector<std::string> damaged;
  Result<SavedJob> job = FindSavedJob(wanted->directory, wanted->epoch, &damaged);
  for (const std::string& sentence : damaged)
    fprintf(stderr, "lamina restart: warning: %s\n", sentence.c_str());
  if (!job.ok()) return Refuse(std::string(job.status().message()));
  if (chdir(job->working_directory.c_str()) != 0)
    return Refuse(std::string(
        SystemError(Code::kNotFound, errno, "cannot go back to %s", job->working_directory.c_str())
            .message()));
  job->places = wanted->places;
  job->avoided = wanted->avoided;
  job->moved_from = wanted->moved_from;
  job->restarts = wanted->restarts;
  return MpiexecFrom(*job, &claim, context);
}

}  // namespace lamina::launcher
