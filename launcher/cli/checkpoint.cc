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

// The words are those behind --move.
int MoveJob(std::span<const std::string> words) {
  const std::size_t equals = words.empty() ? std::string::npos : words.front().find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == words.front().size() ||
      words.size() > 2 || words.front().find(' ') != std::string::npos)
    return Refuse("--move needs two hosts, as in node7=node9, and may have a job behind them");
  return SaveJob(words.size() == 2 ? words[1] : "", "checkpoint move " +
                                                        words.front().substr(0, equals) + " " +
                                                        words.front().substr(equals + 1));
}

}  // namespace

int Checkpoint(std::span<const std::string> arguments, const CommandContext&) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("checkpoint"), stdout);
      return 0;
    }
  if (arguments.empty()) return SaveJob("", "checkpoint");
  const std::string& what = arguments.front();
  if (!what.starts_with('-') && arguments.size() == 1) return SaveJob(what, "checkpoint");
  if (what == "--end" && arguments.size() <= 2)
    return SaveJob(arguments.size() == 2 ? arguments[1] : "", "checkpoint end");
  if (what == "--move") return MoveJob(arguments.subspan(1));
  if (what != "--list" && what != "--verify") {
    const std::string near = Nearest(what, {"--list", "--verify", "--end", "--move"});
    return Refuse("unknown word \"" + what + "\"" +
                  (near.empty() ? "; --help tells more" : "; did you mean " + near + "?"));
  }
  if (arguments.size() != 2) return Refuse(what + " needs one directory");
  return ShowAll(arguments[1], what == "--verify");
}

}  // namespace lamina::launcher
