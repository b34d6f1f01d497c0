// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/local.h"
#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

namespace store = lamina::checkpoint;

// A job answers when it has been saved, which takes as long as its memory takes to be written.
constexpr int kCheckpointAnswerMs = 3'600'000;

int Refuse(const std::string& message) {
  fprintf(stderr, "lamina checkpoint: %s\n", message.c_str());
  return 2;
}

// Returns "8.2 GB".
std::string BytesText(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < std::size(kUnits); ++unit) amount /= 1000;
  return Format(unit == 0 || amount >= 9.95 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
}

void Show(const store::Manifest& manifest, const char* state) {
  printf("generation %u: %zu %s, %s, by %s %s, taken %s%s%s\n", Index(manifest.epoch),
         manifest.ranks.size(), manifest.ranks.size() == 1 ? "rank" : "ranks",
         BytesText(manifest.Bytes()).c_str(), manifest.engine.c_str(),
         manifest.engine_version.c_str(), store::TimeText(manifest.taken_s).c_str(),
         manifest.apart ? ", with several hosts" : "", state);
}

// Shows every generation of the directory but those in `passed_over`, to which it adds them, and
// verifies its checksums if `verify` says so. Returns the exit status.
int ShowThose(int directory, const std::string& where, bool verify, std::set<Epoch>* passed_over) {
  const Result<store::Names> names = store::NamesOfGenerations(directory);
  if (!names.ok()) return Refuse(std::string(names.status().message()));
  int status = 0;
  for (const Epoch epoch : names->complete) {
    if (!passed_over->insert(epoch).second) continue;
    const Result<store::Opened> opened = store::OpenGeneration(directory, epoch);
    const Status damage = opened.ok() && verify ? store::Verify(*opened) : Status();
    if (opened.ok() && damage.ok()) {
      Show(opened->manifest, ((verify ? ", whole" : "") + where).c_str());
      continue;
    }
    printf("%s%s\n", std::string((opened.ok() ? damage : opened.status()).message()).c_str(),
           where.c_str());
    status = 1;
  }
  for (const std::string& name : names->unfinished)
    printf("%s: not complete%s\n", name.c_str(), where.c_str());
  return status;
}

// Shows those of the local folder that are not in the directory, too.
int ShowAll(const std::string& path, bool verify) {
  Result<Descriptor> directory = store::OpenStore(path);
  if (!directory.ok()) return Refuse(std::string(directory.status().message()));
  std::set<Epoch> shown;
  int status = ShowThose(directory->value(), "", verify, &shown);
  const std::string local = store::LocalOf(directory->value());
  if (const Result<Descriptor> fast = store::OpenStore(local); fast.ok() && status < 2)
    status = std::max(status, ShowThose(fast->value(), ", in " + local, verify, &shown));
  if (!shown.empty() || status > 1) return status;
  fprintf(stderr, "lamina checkpoint: there is no generation in %s\n", path.c_str());
  return 1;
}

// Has the job saved, and says what has become of that. Returns the exit status. `question` says
// what comes then.
int SaveJob(const std::string& word, const std::string& question) {
  Result<control::Launcher> job = FindJob(word);
  if (!job.ok()) return Refuse(std::string(job.status().message()));
  // It would answer when it is continued, which nobody may know of.
  if (const auto stat = StatOf(job->process); stat && stat->state == 'T')
    return Refuse(
        Format("mpiexec %d is suspended, so it cannot save its job; continue it first "
               "(kill -CONT %d, or fg in its shell)",
               job->process, job->process));
  Result<std::string> answer = control::Ask(*job, question, kCheckpointAnswerMs);
  bool saved = false;
  std::string sentence =
      answer.ok() ? "the answer makes no sense" : std::string(answer.status().message());
  if (answer.ok())
    for (const std::string_view line : Split(*answer, '\n')) {
      saved = saved || line == "saved yes";
      if (line.starts_with("sentence ")) sentence = line.substr(line.find(' ') + 1);
    }
  if (saved)
    printf("%s\n", sentence.c_str());
  else
    fprintf(stderr, "lamina checkpoint: %s\n", sentence.c_str());
  return saved ? 0 : 1;
}

// What the words ask for.
struct Asked {
  std::string saving;             // --end, --move, or "" where neither is there
  std::string move;               // the two hosts behind --move, as in "node7=node9"
  std::string showing;            // --verify, which does what --list does, or --list, or ""
  std::vector<std::string> rest;  // a job or a directory
};

std::string Unknown(const std::string& word) {
  const std::string near = Nearest(word, {"--list", "--verify", "--end", "--move"});
  return "unknown word \"" + word + "\"" +
         (near.empty() ? "; --help tells more" : "; did you mean " + near + "?");
}

// Takes the words in any order.
Result<Asked> Parse(std::span<const std::string> words) {
  Asked asked;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--end" || word == "--move") {
      if (word == "--move" && !asked.move.empty())
        return Error(Code::kInvalid, "--move can be given only once");
      if (!asked.saving.empty() && asked.saving != word)
        return Error(Code::kInvalid, "--end and --move exclude each other");
      asked.saving = word;
      if (word == "--move" && ++at < words.size()) asked.move = words[at];
    } else if (word == "--list" || word == "--verify") {
      if (asked.showing != "--verify") asked.showing = word;
    } else if (word.starts_with('-')) {
      return Error(Code::kInvalid, "%s", Unknown(word).c_str());
    } else {
      asked.rest.push_back(word);
    }
  }
  return asked;
}

// Refuses words that do not go together.
Status Check(const Asked& asked) {
  const std::size_t equals = asked.move.find('=');
  if (!asked.saving.empty() && !asked.showing.empty())
    return Error(Code::kInvalid, "%s and %s exclude each other", asked.showing.c_str(),
                 asked.saving.c_str());
  if (asked.saving == "--move" &&
      (equals == std::string::npos || equals == 0 || equals + 1 == asked.move.size() ||
       asked.move.find(' ') != std::string::npos))
    return Error(Code::kInvalid, "--move needs two hosts behind it, as in node7=node9");
  if (!asked.showing.empty() && asked.rest.size() != 1)
    return Error(Code::kInvalid, "%s needs one directory", asked.showing.c_str());
  if (asked.rest.size() < 2) return {};
  for (const std::string& word : asked.rest)
    if (!ParseInteger(word)) return Error(Code::kInvalid, "%s", Unknown(word).c_str());
  return Error(Code::kInvalid, "one job can be saved at a time, and here are %zu",
               asked.rest.size());
}

}  // namespace

int Checkpoint(std::span<const std::string> arguments, const CommandContext&) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("checkpoint"), stdout);
      return 0;
    }
  const Result<Asked> asked = Parse(arguments);
  if (!asked.ok()) return Refuse(std::string(asked.status().message()));
  if (const Status status = Check(*asked); !status.ok())
    return Refuse(std::string(status.message()));
  if (!asked->showing.empty()) return ShowAll(asked->rest.front(), asked->showing == "--verify");
  const std::string job = asked->rest.empty() ? "" : asked->rest.front();
  const std::size_t equals = asked->move.find('=');
  if (asked->saving == "--move")
    return SaveJob(job, "checkpoint move " + asked->move.substr(0, equals) + " " +
                            asked->move.substr(equals + 1));
  return SaveJob(job, asked->saving == "--end" ? "checkpoint end" : "checkpoint");
}

}  // namespace lamina::launcher
