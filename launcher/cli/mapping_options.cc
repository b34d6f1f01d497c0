// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/mapping_options.h"

#include <optional>
#include <string>
#include <vector>

#include "launcher/plan/machine.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

template <class Enum>
struct Word {
  const char* word;
  Enum value;
};

template <class Enum, std::size_t count>
Status Choose(const Word<Enum> (&words)[count], std::string_view value, Enum* chosen) {
  std::string known;
  std::vector<std::string> candidates;
  for (const Word<Enum>& word : words) {
    if (value == word.word) {
      *chosen = word.value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(word.word);
    candidates.emplace_back(word.word);
  }
  const std::string near = Nearest(value, candidates);
  if (!near.empty())
    return Error(Code::kInvalid, "did you mean \"%s\"? One of: %s", near.c_str(), known.c_str());
  return Error(Code::kInvalid, "not one of: %s", known.c_str());
}

constexpr Word<MapBy> kMapWords[] = {
    {"slot", MapBy::kSlot},       {"node", MapBy::kNode}, {"numa", MapBy::kNuma},
    {"socket", MapBy::kSocket},   {"core", MapBy::kCore}, {"hwthread", MapBy::kHwthread},
    {"l3cache", MapBy::kL3cache}, {"seq", MapBy::kSeq},   {"host", MapBy::kNode},
    {"package", MapBy::kSocket},
};
constexpr Word<MapBy> kObjectWords[] = {
    {"node", MapBy::kNode},       {"numa", MapBy::kNuma}, {"socket", MapBy::kSocket},
    {"l3cache", MapBy::kL3cache}, {"core", MapBy::kCore}, {"hwthread", MapBy::kHwthread},
    {"package", MapBy::kSocket},
};
constexpr Word<MapBy> kRankWords[] = {
    {"slot", MapBy::kSlot},         {"node", MapBy::kNode},       {"numa", MapBy::kNuma},
    {"socket", MapBy::kSocket},     {"l3cache", MapBy::kL3cache}, {"core", MapBy::kCore},
    {"hwthread", MapBy::kHwthread}, {"fill", MapBy::kSlot},       {"package", MapBy::kSocket},
};
constexpr Word<BindTo> kBindWords[] = {
    {"none", BindTo::kNone},      {"core", BindTo::kCore},       {"socket", BindTo::kSocket},
    {"numa", BindTo::kNuma},      {"l3cache", BindTo::kL3cache}, {"hwthread", BindTo::kHwthread},
    {"package", BindTo::kSocket}, {"default", BindTo::kDefault},
};

}  // namespace

Status RankFile(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  if (!draft.line.rank_file_path.empty())
    return Error(Code::kInvalid, "a rank file was given before (%s)",
                 draft.line.rank_file_path.c_str());
  draft.line.rank_file_path = value;
  draft.line.request.mapping.map_by = MapBy::kRankfile;
  return {};
}

Status CpusPerRank(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> cpus = ParseInteger(value);
  if (!cpus || *cpus < 1 || *cpus > kSlotsMax)
    return Error(Code::kInvalid, "not a number of CPUs for each rank (1 to %u)", kSlotsMax);
  draft.line.request.mapping.cpus_per_rank = static_cast<std::uint32_t>(*cpus);
  return {};
}

namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

// Takes "N:OBJECT" of ppr:N:OBJECT.
Status MapPerObject(Draft& draft, std::string_view number, std::string_view object) {
  const std::optional<std::int64_t> ranks = ParseInteger(number);
  if (!ranks || *ranks < 1 || *ranks > kSlotsMax)
    return Error(Code::kInvalid, "expected ppr:N:OBJECT, N ranks for each OBJECT of a host");
  MapBy map_by = MapBy::kNode;
  if (Status status = Choose(kObjectWords, object, &map_by); !status.ok()) return status;
  Mapping& mapping = draft.line.request.mapping;
  mapping.map_by = map_by;
  mapping.ranks_per_object = static_cast<std::uint32_t>(*ranks);
  return {};
}

// Takes what may follow after a colon, as other launchers have it.
Status MapModifier(Draft& draft, std::string_view modifier) {
  const std::string word = LowerCase(modifier);
  if (word == "oversubscribe") return Oversubscribe(draft, "");
  if (word == "nooversubscribe") return NeverOversubscribe(draft, "");
  if (word == "hwtcpus") return HwthreadsAreCpus(draft, "");
  if (word.starts_with("pe=")) return CpusPerRank(draft, modifier.substr(3));
  return Error(Code::kInvalid, "\"%s\" is none of pe=N, oversubscribe, nooversubscribe, hwtcpus",
               word.c_str());
}

}  // namespace

Status Map(Draft& draft, std::string_view value) {
  if (value.starts_with("rankfile=")) return RankFile(draft, value.substr(9));
  if (value.starts_with("rankfile:file=")) return RankFile(draft, value.substr(14));
  if (value.empty()) return Error(Code::kInvalid, "no order named");
  std::vector<std::string_view> words = Split(value, ':');
  std::size_t next = 1;
  Status status;
  if (words[0] == "ppr") {
    next = 3;
    status = words.size() < 3
                 ? Error(Code::kInvalid, "expected ppr:N:OBJECT, N ranks for each OBJECT of a host")
                 : MapPerObject(draft, words[1], words[2]);
  } else if (!words[0].empty()) {  // ":oversubscribe" leaves the order as it is
    status = Choose(kMapWords, words[0], &draft.line.request.mapping.map_by);
  }
  for (; status.ok() && next < words.size(); ++next) status = MapModifier(draft, words[next]);
  return status;
}

Status RankBy(Draft& draft, std::string_view value) {
  MapBy rank_by = MapBy::kSlot;
  Status status = Choose(kRankWords, value, &rank_by);
  if (status.ok()) draft.line.request.mapping.rank_by = rank_by;
  return status;
}

Status Bind(Draft& draft, std::string_view value) {
  const std::vector<std::string_view> words = Split(value, ':');
  for (std::size_t i = 1; i < words.size(); ++i)
    // Ranks share CPUs where there are too few, and are left unbound where there is nothing to bind
    // to, whether or not these words say so.
    if (const std::string word = LowerCase(words[i]);
        word != "overload-allowed" && word != "if-supported")
      return Error(Code::kInvalid, "\"%s\" is neither overload-allowed nor if-supported",
                   word.c_str());
  return Choose(kBindWords, words[0], &draft.line.request.mapping.bind_to);
}

Status Oversubscribe(Draft& draft, std::string_view) {
  draft.line.request.oversubscribe = true;
  draft.line.request.never_oversubscribe = false;
  return {};
}

Status NeverOversubscribe(Draft& draft, std::string_view) {
  draft.line.request.oversubscribe = false;
  draft.line.request.never_oversubscribe = true;
  return {};
}

Status HwthreadsAreCpus(Draft& draft, std::string_view) {
  draft.line.request.mapping.hwthreads_are_cpus = true;
  return {};
}

Status CpuSetOption(Draft& draft, std::string_view list) {
  if (CountOfList(list) == 0) return Error(Code::kInvalid, "not a list of CPUs like 0-3,8");
  draft.line.request.mapping.cpu_set = list;
  return {};
}

}  // namespace lamina::launcher
