// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/hub.h"

#include <algorithm>
#include <utility>

#include "launcher/wire/bytes.h"

namespace lamina::launcher::pmix {
namespace {

Status Senseless(const char* what) {
  return Error(Code::kInvalid, "a PMIx server's %s makes no sense", what);
}

Result<std::vector<std::string>> NamesOf(const Letter& letter) {
  wire::Reader reader(letter.body);
  std::vector<std::string> names;
  const std::uint32_t count = reader.Count(4);
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) names.emplace_back(reader.Text());
  if (!reader.complete()) return Senseless("list of names");
  return names;
}

}  // namespace

Hub::Hub(const Plan& plan, Outlets outlets) : plan_(plan), outlets_(std::move(outlets)) {
  for (const RankPlan& rank : plan.ranks) hosts_.insert(rank.host);
}

Status Hub::Receive(std::uint32_t host, std::string_view bytes) {
  const Result<Letter> letter = DecodeLetter(bytes);
  if (!letter.ok()) return Status(letter.status().code(), std::string(letter.status().message()));
  switch (letter->subject) {
    case Subject::kFence:
      return Fence(host, *letter);
    case Subject::kModex:
      return Modex(host, *letter);
    case Subject::kPublish:
      return Publish(host, *letter);
    case Subject::kLookup:
      return Lookup(host, *letter);
    case Subject::kUnpublish:
      return Unpublish(host, *letter);
    case Subject::kAbort:
      if (letter->rank >= plan_.ranks.size()) return Senseless("abort");
      outlets_.abort(letter->rank, static_cast<int>(letter->id), letter->body);
      return {};
    case Subject::kAnswer:
      return Answer(host, *letter);
  }
  return Senseless("letter");
}

void Hub::Reply(std::uint32_t host, std::uint32_t id, bool good, std::string body) {
  outlets_.send(host, Encode(Letter{Subject::kAnswer, good, id, 0, std::move(body)}));
}

// A node contributes once to each fence, so its n-th contribution to a set of participants belongs
// to their n-th fence, whatever the others are doing.
Status Hub::Fence(std::uint32_t host, const Letter& letter) {
  wire::Reader reader(letter.body);
  std::vector<std::uint32_t> participants(reader.Count(4));
  for (std::uint32_t& rank : participants) rank = reader.U32();
  const std::string_view contribution = reader.Rest();
  std::sort(participants.begin(), participants.end());
  std::set<std::uint32_t> hosts;
  for (const std::uint32_t rank : participants) {
    if (rank >= plan_.ranks.size()) return Senseless("fence");
    hosts.insert(plan_.ranks[rank].host);
  }
  if (participants.empty()) hosts = hosts_;
  if (!reader.ok() || !hosts.contains(host)) return Senseless("fence");

  std::deque<Round>& rounds = fences_[participants];
  auto round = std::find_if(rounds.begin(), rounds.end(),
                            [host](const Round& r) { return !r.ids.contains(host); });
  if (round == rounds.end()) round = rounds.emplace(rounds.end());
  round->ids.emplace(host, letter.id);
  round->contributions += contribution;
  if (round->ids.size() < hosts.size()) return {};
  const Round complete = std::move(*round);
  rounds.erase(round);
  if (rounds.empty()) fences_.erase(participants);
  for (const auto& [member, id] : complete.ids) Reply(member, id, true, complete.contributions);
  return {};
}

Status Hub::Modex(std::uint32_t host, const Letter& letter) {
  if (letter.rank >= plan_.ranks.size()) return Senseless("question");
  const std::uint32_t question = next_question_++;
  questions_.emplace(question, Question{host, letter.id});
  outlets_.send(plan_.ranks[letter.rank].host,
                Encode(Letter{Subject::kModex, true, question, letter.rank, ""}));
  return {};
}

Status Hub::Answer(std::uint32_t, const Letter& letter) {
  const auto found = questions_.find(letter.id);
  if (found == questions_.end()) return Senseless("answer");
  const Question question = found->second;
  questions_.erase(found);
  Reply(question.host, question.id, letter.good, letter.body);
  return {};
}

Status Hub::Publish(std::uint32_t host, const Letter& letter) {
  wire::Reader reader(letter.body);
  const bool read_once = reader.U8() != 0;
  const std::uint32_t count = reader.Count(8);
  std::vector<std::pair<std::string, Notice>> notices;
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string name(reader.Text());
    const std::string_view value = reader.Text();
    notices.emplace_back(std::move(name),
                         Notice{letter.rank, {value.begin(), value.end()}, read_once});
  }
  if (!reader.complete()) return Senseless("publication");
  bool good = true;
  for (auto& [name, notice] : notices) good = board_.Publish(name, std::move(notice)) && good;
  Reply(host, letter.id, good, "");
  return {};
}

Status Hub::Lookup(std::uint32_t host, const Letter& letter) {
  Result<std::vector<std::string>> names = NamesOf(letter);
  if (!names.ok()) return std::move(names).status();
  wire::Writer entries;
  std::uint32_t count = 0;
  for (const std::string& name : *names) {
    const auto notice = board_.Lookup(name);
    if (!notice.has_value()) continue;
    ++count;
    entries.Text(name).U32(notice->owner).Text({notice->packed.data(), notice->packed.size()});
  }
  Reply(host, letter.id, count > 0, wire::Writer().U32(count).Raw(entries.bytes()).Take());
  return {};
}

Status Hub::Unpublish(std::uint32_t host, const Letter& letter) {
  Result<std::vector<std::string>> names = NamesOf(letter);
  if (!names.ok()) return std::move(names).status();
  bool good = true;
  for (const std::string& name : *names) good = board_.Unpublish(name, letter.rank) && good;
  if (names->empty()) board_.UnpublishAllOf(letter.rank);
  Reply(host, letter.id, good, "");
  return {};
}

}  // namespace lamina::launcher::pmix
