// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/hub.h"

#include <algorithm>
#include <utility>

#include "launcher/wire/bytes.h"

namespace lamina::launcher::pmix {
namespace {

constexpr std::size_t kHostsNamed = 4;

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

Hub::Hub(const Plan& plan, std::vector<Edge> edges, bool top, Outlets outlets)
    : plan_(plan), edges_(std::move(edges)), top_(top), outlets_(std::move(outlets)) {}

void Hub::Move(std::uint32_t host, Edge edge) {
  edges_[host] = edge;
  std::vector<Participants> waiting;
  for (const auto& [participants, rounds] : fences_) waiting.push_back(participants);
  for (const Participants& participants : waiting)
    while (CompleteRound(participants)) continue;
}

Status Hub::Receive(Edge edge, std::string_view bytes) {
  const Result<Letter> letter = DecodeLetter(bytes);
  if (!letter.ok()) return Status(letter.status().code(), std::string(letter.status().message()));
  switch (letter->subject) {
    case Subject::kFence:
      return Fence(edge, *letter);
    case Subject::kModex:
      return Modex(edge, *letter);
    case Subject::kAnswer:
      return Answer(*letter);
    default:
      break;
  }
  if (edge == kUp) return Senseless("letter");
  if (letter->subject == Subject::kAbort) {
    if (letter->rank >= plan_.ranks.size()) return Senseless("abort");
    if (top_)
      outlets_.abort(letter->rank, static_cast<int>(letter->id), letter->body);
    else
      outlets_.send(kUp, std::string(bytes));
    return {};
  }
  if (!top_) {
    Ask(kUp, {{edge, letter->id}}, *letter);
    return {};
  }
  switch (letter->subject) {
    case Subject::kPublish:
      return Publish(edge, *letter);
    case Subject::kLookup:
      return Lookup(edge, *letter);
    default:
      return Unpublish(edge, *letter);
  }
}

// Asks under an id of ours; the answer goes to `askers`.
void Hub::Ask(Edge edge, Askers askers, Letter letter) {
  letter.id = next_question_++;
  questions_.emplace(letter.id, Question{std::move(askers), letter.subject, letter.rank});
  outlets_.send(edge, Encode(letter));
}

void Hub::Reply(const Askers& askers, bool good, const std::string& body) {
  for (const auto& [edge, id] : askers)
    outlets_.send(edge, Encode(Letter{Subject::kAnswer, good, id, 0, body}));
}

std::set<Hub::Edge> Hub::EdgesOf(const Participants& participants) const {
  std::set<Edge> edges;
  for (const std::uint32_t rank : participants) edges.insert(edges_[plan_.ranks[rank].host]);
  if (participants.empty())
    for (const RankPlan& rank : plan_.ranks) edges.insert(edges_[rank.host]);
  return edges;
}

// An edge contributes once to each fence, so its n-th contribution to a set of participants belongs
// to their n-th fence, whatever the others are doing.
Status Hub::Fence(Edge edge, const Letter& letter) {
  wire::Reader reader(letter.body);
  Participants participants(reader.Count(4));
  for (std::uint32_t& rank : participants) rank = reader.U32();
  const std::string_view contribution = reader.Rest();
  std::sort(participants.begin(), participants.end());
  const bool known = participants.empty() || participants.back() < plan_.ranks.size();
  if (!reader.ok() || edge == kUp || !known || !EdgesOf(participants).contains(edge))
    return Senseless("fence");
  std::deque<Round>& rounds = fences_[participants];
  auto round = std::find_if(rounds.begin(), rounds.end(),
                            [edge](const Round& r) { return !r.ids.contains(edge); });
  if (round == rounds.end()) round = rounds.emplace(rounds.end());
  round->ids.emplace(edge, letter.id);
  round->contributions += contribution;
  CompleteRound(participants);
  return {};
}

// Returns false if somebody is missing in the first of their rounds.
bool Hub::CompleteRound(const Participants& participants) {
  const auto found = fences_.find(participants);
  if (found == fences_.end()) return false;
  const std::set<Edge> edges = EdgesOf(participants);
  for (const Edge edge : edges)
    if (edge != kUp && !found->second.front().ids.contains(edge)) return false;
  const Round round = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) fences_.erase(found);
  if (!edges.contains(kUp)) {
    Reply(round.ids, true, round.contributions);
    return true;
  }
  wire::Writer body;
  body.U32(static_cast<std::uint32_t>(participants.size()));
  for (const std::uint32_t rank : participants) body.U32(rank);
  body.Raw(round.contributions);
  Ask(kUp, round.ids, Letter{Subject::kFence, true, 0, 0, body.Take()});
  return true;
}

std::string Hub::MissingIn(const Participants& participants, const Round& round) const {
  std::set<std::uint32_t> hosts;
  const auto look = [&](const RankPlan& rank) {
    if (!round.ids.contains(edges_[rank.host])) hosts.insert(rank.host);
  };
  for (const std::uint32_t rank : participants) look(plan_.ranks[rank]);
  if (participants.empty()) std::for_each(plan_.ranks.begin(), plan_.ranks.end(), look);
  std::string words;
  std::size_t named = 0;
  for (const std::uint32_t host : hosts) {
    if (named == kHostsNamed) break;
    words += named == 0 ? "" : named + 1 == hosts.size() ? " and " : ", ";
    words += plan_.hosts[host].name;
    ++named;
  }
  if (named < hosts.size()) words += " and " + std::to_string(hosts.size() - named) + " more hosts";
  return words;
}

std::optional<Hub::Wait> Hub::LongestWait(std::uint64_t now_ms) {
  std::optional<Wait> longest;
  const auto look = [&](std::uint64_t* since_ms, const auto& words) {
    if (*since_ms == 0) *since_ms = now_ms;
    const std::uint64_t ms = now_ms - *since_ms;
    if (!longest.has_value() || ms > longest->ms) longest = Wait{ms, words()};
  };
  for (auto& [participants, rounds] : fences_)
    for (Round& round : rounds)
      look(&round.since_ms, [&, &who = participants] {
        return "a fence (MPI_Init) waits for ranks on " + MissingIn(who, round);
      });
  for (auto& [id, question] : questions_)
    look(&question.since_ms, [&, &question = question] {
      if (question.subject == Subject::kFence) return std::string("a fence waits for other hosts");
      if (question.subject != Subject::kModex) return std::string("a published name is waited for");
      return "the address of rank " + std::to_string(question.rank) + " on " +
             plan_.hosts[plan_.ranks[question.rank].host].name + " is waited for";
    });
  return longest;
}

Status Hub::Modex(Edge edge, const Letter& letter) {
  if (letter.rank >= plan_.ranks.size()) return Senseless("question");
  const Edge towards = edges_[plan_.ranks[letter.rank].host];
  if (towards == kUp && edge == kUp) return Senseless("question");
  Ask(towards, {{edge, letter.id}}, letter);
  return {};
}

Status Hub::Answer(const Letter& letter) {
  const auto found = questions_.find(letter.id);
  if (found == questions_.end()) return Senseless("answer");
  const Askers askers = std::move(found->second.askers);
  questions_.erase(found);
  Reply(askers, letter.good, letter.body);
  return {};
}

Status Hub::Publish(Edge edge, const Letter& letter) {
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
  Reply({{edge, letter.id}}, good, "");
  return {};
}

Status Hub::Lookup(Edge edge, const Letter& letter) {
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
  Reply({{edge, letter.id}}, count > 0, wire::Writer().U32(count).Raw(entries.bytes()).Take());
  return {};
}

Status Hub::Unpublish(Edge edge, const Letter& letter) {
  Result<std::vector<std::string>> names = NamesOf(letter);
  if (!names.ok()) return std::move(names).status();
  bool good = true;
  for (const std::string& name : *names) good = board_.Unpublish(name, letter.rank) && good;
  if (names->empty()) board_.UnpublishAllOf(letter.rank);
  Reply({{edge, letter.id}}, good, "");
  return {};
}

}  // namespace lamina::launcher::pmix
