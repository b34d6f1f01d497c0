// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/checkpoint.h"

#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "launcher/cli/subcommands.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

namespace store = lamina::checkpoint;

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
  printf("generation %u: %zu %s, %s, by %s %s, taken %s%s\n", Index(manifest.epoch),
         manifest.ranks.size(), manifest.ranks.size() == 1 ? "rank" : "ranks",
         BytesText(manifest.Bytes()).c_str(), manifest.engine.c_str(),
         manifest.engine_version.c_str(), store::TimeText(manifest.taken_s).c_str(), state);
}

// Shows every generation, and verifies its checksums if `verify` says so. Returns the exit status.
int ShowAll(const std::string& path, bool verify) {
  Result<Descriptor> directory = store::OpenStore(path);
  if (!directory.ok()) return Refuse(std::string(directory.status().message()));
  const Result<store::Names> names = store::NamesOfGenerations(directory->value());
  if (!names.ok()) return Refuse(std::string(names.status().message()));
  int status = 0;
  for (const Epoch epoch : names->complete) {
    Result<store::Opened> opened = store::OpenGeneration(directory->value(), epoch);
    Status whole = !opened.ok() ? std::move(opened).status()
                   : verify     ? store::Verify(*opened)
                                : Status();
    if (whole.ok()) {
      Show(opened->manifest, verify ? ", whole" : "");
      continue;
    }
    printf("%s\n", std::string(whole.message()).c_str());
    status = 1;
  }
  for (const std::string& name : names->unfinished) printf("%s: not complete\n", name.c_str());
  if (!names->complete.empty()) return status;
  fprintf(stderr, "lamina checkpoint: there is no generation in %s\n", path.c_str());
  return 1;
}

}  // namespace

int Checkpoint(std::span<const std::string> arguments, const CommandContext&) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("checkpoint"), stdout);
      return 0;
    }
  if (arguments.empty()) return Refuse("say --list or --verify; --help tells more");
  const std::string& what = arguments.front();
  if (what != "--list" && what != "--verify") {
    const std::string near = Nearest(what, {"--list", "--verify"});
    return Refuse("unknown word \"" + what + "\"" +
                  (near.empty() ? "; --help tells more" : "; did you mean " + near + "?"));
  }
  if (arguments.size() != 2) return Refuse(what + " needs one directory");
  return ShowAll(arguments[1], what == "--verify");
}

}  // namespace lamina::launcher
