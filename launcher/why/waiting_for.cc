// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/why/waiting_for.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/base/call_names.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// So many messages are named of those that a rank waits for.
constexpr std::size_t kNamedMax = 3;

// Functions that return at once, whatever they find.
bool Tests(std::string_view call) {
  return call.starts_with("MPI_Test") || call == "MPI_Iprobe" || call == "MPI_Improbe" ||
         call == "MPI_Win_test" || call == "MPI_Parrived" ||
         call.starts_with("MPI_Request_get_status");
}

const NotedComm* CommOf(const WaitSeen& wait, const NotedEntry& entry) {
  return entry.comm < wait.comms.size() ? &wait.comms[entry.comm] : nullptr;
}

// True if the rank waits in operation `number` of the board that `context` names.
bool IsAtBoard(const WaitSeen& wait, std::uint64_t context, std::uint64_t number) {
  return wait.state == WaitNote::kWaits &&
         std::ranges::any_of(wait.entries, [&](const NotedEntry& entry) {
           const NotedComm* comm = CommOf(wait, entry);
           return entry.kind == NotedEntry::kBoard && comm != nullptr && comm->context == context &&
                  entry.number == number;
         });
}

// Those for whom an entry waits, who may be processes of other jobs.
std::vector<std::uint32_t> PeersOf(std::span<const RankView> ranks, std::uint32_t self,
                                   const NotedEntry& entry) {
  const WaitSeen& wait = ranks[self].wait;
  if ((entry.flags & NotedEntry::kNotReady) != 0) return {};  // this rank itself is to go on
  if (entry.peer != NotedEntry::kNobody) return {entry.peer};
  const NotedComm* comm = CommOf(wait, entry);
  if (comm == nullptr) return {};
  std::vector<std::uint32_t> peers = wait.MembersOf(*comm);
  std::erase_if(peers, [&](std::uint32_t peer) {
    return peer == self || (entry.kind == NotedEntry::kBoard && peer < ranks.size() &&
                            IsAtBoard(ranks[peer].wait, comm->context, entry.number));
  });
  return peers;
}

std::string MessageWords(const WaitSeen& wait, const std::vector<const NotedEntry*>& awaited,
                         std::size_t ranks) {
  std::string text;
  const char* before = " for ";
  for (std::size_t i = 0; i < awaited.size() && i < kNamedMax; ++i) {
    const NotedEntry& entry = *awaited[i];
    text += before;
    before = ", ";
    if ((entry.flags & NotedEntry::kNotReady) != 0)
      text +=
          Format("its own MPI_Pready of partition %d, which is missing for the send ", entry.tag) +
          EntryWords(wait, entry, ranks);
    else if (entry.kind == NotedEntry::kSend)
      text += std::string("the end of a send ") + EntryWords(wait, entry, ranks);
    else
      text += "a message " + EntryWords(wait, entry, ranks);
  }
  if (awaited.size() > kNamedMax) text += Format(" and %zu more", awaited.size() - kNamedMax);
  return text;
}

// Functions whose messages are the library's own: the program has neither sent nor tagged them.
bool SendsItsOwn(std::string_view call) {
  static constexpr std::string_view kBeginnings[] = {
      "MPI_Win_",         "MPI_File_", "MPI_Put",  "MPI_Get",         "MPI_Accumulate",
      "MPI_Fetch_and_op", "MPI_Rput",  "MPI_Rget", "MPI_Raccumulate", "MPI_Compare_and_swap"};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return call.starts_with(begin); });
}

// The ranks for which such a function waits.
std::string OwnWords(const std::vector<const NotedEntry*>& awaited, std::size_t ranks) {
  std::vector<std::uint32_t> peers;
  for (const NotedEntry* entry : awaited)
    if (entry->peer < ranks) peers.push_back(entry->peer);
  std::ranges::sort(peers);
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers.empty() ? "" : " for " + RankWords(peers);
}

std::string LockWords(const RankView& view) {
  std::string text = view.locks_all ? " for the locks of all ranks"
                                    : Format(" for a lock of rank %u", *view.lock_of);
  if (view.lock_holder)
    text += Format(", %swhich rank %u holds", view.locks_all ? "one of " : "", *view.lock_holder);
  return text;
}

// Finds those for whom a collective that goes by messages waits. A member that is in it as well
// waits only for others, so the walk goes on from there.
class Collective {
 public:
  Collective(std::span<const RankView> ranks, std::uint32_t self, const NotedEntry& entry)
      : ranks_(ranks) {
    const NotedComm* comm = CommOf(ranks[self].wait, entry);
    if (comm == nullptr) return;
    context_ = comm->context;
    number_ = entry.tag;
    std::vector<bool> met(ranks.size(), false);
    std::vector<std::uint32_t> pending = {self};
    met[self] = true;
    for (std::size_t at = 0; at < pending.size(); ++at)
      for (const std::uint32_t peer : AwaitedBy(pending[at])) {
        if (peer < ranks.size() && met[peer]) continue;
        if (peer < ranks.size()) met[peer] = true;
        (peer < ranks.size() && Includes(peer) ? pending : outside_).push_back(peer);
      }
  }
  const std::vector<std::uint32_t>& outside() const { return outside_; }
  // Is the rank in this collective?
  bool Includes(std::uint32_t rank) const {
    const RankView& view = ranks_[rank];
    return view.running && view.wait.state == WaitNote::kWaits &&
           std::ranges::any_of(view.wait.entries,
                               [&](const NotedEntry& entry) { return IsOfIt(view.wait, entry); });
  }

 private:
  bool IsOfIt(const WaitSeen& wait, const NotedEntry& entry) const {
    const NotedComm* comm = CommOf(wait, entry);
    return entry.plane == NotedEntry::kCollective && entry.kind <= NotedEntry::kSend &&
           comm != nullptr && comm->context == context_ && entry.tag == number_;
  }
  // Those for whom a rank waits in this collective; none if it is not in it.
  std::vector<std::uint32_t> AwaitedBy(std::uint32_t rank) const {
    std::vector<std::uint32_t> peers;
    const WaitSeen& wait = ranks_[rank].wait;
    if (!Includes(rank)) return peers;
    for (const NotedEntry& entry : wait.entries)
      if (IsOfIt(wait, entry)) peers.push_back(entry.peer);
    return peers;
  }

  const std::span<const RankView> ranks_;
  std::uint64_t context_ = 0;
  std::int32_t number_ = 0;
  std::vector<std::uint32_t> outside_;
};

// Functions that no member leaves before all have come.
bool NeedsAll(std::string_view call) {
  return call == "MPI_Barrier" || call.starts_with("MPI_All") || call == "MPI_Reduce_scatter_block";
}

// Adds to those that an entry of a collective names those that are not in it. Returns whether these
// stand for all entries of the collective.
bool AddThoseOutside(std::span<const RankView> ranks, std::uint32_t self, const NotedEntry& entry,
                     std::string_view call, std::vector<std::uint32_t>* peers) {
  const Collective collective(ranks, self, entry);
  const bool all = !collective.outside().empty();
  if (all) *peers = collective.outside();
  const NotedComm* comm = CommOf(ranks[self].wait, entry);
  if (!NeedsAll(call) || comm == nullptr) return all;
  for (const std::uint32_t member : ranks[self].wait.MembersOf(*comm))
    if (member < ranks.size() && !collective.Includes(member)) peers->push_back(member);
  return all;
}

// Adds for whom the entries wait.
void AddPeers(std::span<const RankView> ranks, std::uint32_t self, std::string_view call,
              const std::vector<const NotedEntry*>& awaited, WaitingFor* it) {
  // By communicator and number of a collective that was looked at: are all its entries done with?
  std::map<std::pair<std::uint8_t, std::int32_t>, bool> collectives;
  for (const NotedEntry* entry : awaited) {
    const bool collective =
        entry->plane == NotedEntry::kCollective && entry->kind <= NotedEntry::kSend;
    const auto known = collectives.find({entry->comm, entry->tag});
    if (collective && known != collectives.end() && known->second) continue;
    std::vector<std::uint32_t> peers = PeersOf(ranks, self, *entry);
    if (collective && known == collectives.end())
      collectives[{entry->comm, entry->tag}] = AddThoseOutside(ranks, self, *entry, call, &peers);
    const bool receives = entry->kind == NotedEntry::kReceive || entry->kind == NotedEntry::kProbe;
    if (receives && entry->peer == NotedEntry::kNobody) it->any = true;
    for (const std::uint32_t peer : peers)
      if (peer >= ranks.size())
        it->others = true;
      else
        it->ranks.push_back(peer);
  }
  std::ranges::sort(it->ranks);
  it->ranks.erase(std::unique(it->ranks.begin(), it->ranks.end()), it->ranks.end());
}

std::string CallOf(const RankView& view) {
  const std::uint32_t call = view.wait.call;
  const bool known = call > 0 && call < static_cast<std::uint32_t>(Call::kCount);
  return known ? NameOf(static_cast<Call>(call)) : view.call;
}

// What a rank that waits does, without those for whom it waits. `ranks`: how many the job has.
WaitingFor WaitWords(const RankView& view, std::size_t ranks, bool tests) {
  const WaitSeen& wait = view.wait;
  const std::string call = CallOf(view);
  WaitingFor it;
  it.waits = true;
  it.does = tests ? "calls " + call + " again and again" : "waits in " + call;
  if (view.lock_of) {
    it.does += LockWords(view);
    return it;
  }
  const std::vector<const NotedEntry*> awaited = AwaitedOf(wait);
  it.any = call.ends_with("any") || call.ends_with("some");
  const auto collective = std::ranges::find_if(awaited, [](const NotedEntry* entry) {
    return entry->plane == NotedEntry::kCollective || entry->plane == NotedEntry::kMaking;
  });
  if (collective != awaited.end()) {
    it.collective = true;
    if (const NotedComm* comm = CommOf(wait, **collective); comm != nullptr) {
      it.context = comm->context & ~std::uint64_t{3};
      it.comm = CommWords(wait, *comm);
    }
    if (call.starts_with("MPI_Wait")) it.does += " for a collective operation";
    if (!it.comm.empty()) it.does += " of " + it.comm;
  } else {
    it.own = SendsItsOwn(call);
    it.does += it.own ? OwnWords(awaited, ranks) : MessageWords(wait, awaited, ranks);
  }
  return it;
}

bool WaitsInMpi(const RankView& view) {
  return view.wait.state == WaitNote::kWaits || view.lock_of.has_value();
}

bool TestsInVain(const RankView& view) {
  return view.wait.state == WaitNote::kTests && Tests(view.call);
}

}  // namespace

std::string OfSeveral(const std::string& does) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"waits ", "wait "},
      {"calls ", "call "},
      {"has ", "have "},
      {"is ", "are "},
      {"computes; its last", "compute; their last"}};
  for (const auto& [one, several] : kWords)
    if (does.starts_with(one)) return std::string(several) + does.substr(one.size());
  return does;
}

std::string CommWords(const WaitSeen& wait, const NotedComm& comm) {
  const std::string_view name = comm.name;
  if (name.starts_with("MPI_COMM_")) return std::string(name);
  if (!name.empty()) return "\"" + std::string(name) + "\"";
  const std::vector<std::uint32_t> members = wait.MembersOf(comm);
  if (members.empty()) return Format("a communicator of %u ranks", comm.size);
  return "a communicator of " + RankWords(members);
}

std::string EntryWords(const WaitSeen& wait, const NotedEntry& entry, std::size_t ranks) {
  const bool sends = entry.kind == NotedEntry::kSend;
  std::string text = sends ? "to " : "from ";
  if (entry.peer == NotedEntry::kNobody)
    text += "any rank";
  else
    text += entry.peer < ranks ? Format("rank %u", entry.peer) : "a process of another job";
  const bool is_message = (entry.flags & NotedEntry::kNotReady) == 0;
  if (is_message)
    text += entry.tag == NotedEntry::kAny ? " with any tag" : Format(" with tag %d", entry.tag);
  if (sends && is_message)
    text += Format(", %llu bytes", static_cast<unsigned long long>(entry.bytes));
  const NotedComm* comm = CommOf(wait, entry);
  if (comm != nullptr && std::string_view(comm->name) != "MPI_COMM_WORLD")
    text += " in " + CommWords(wait, *comm);
  if ((entry.flags & NotedEntry::kAskedBack) != 0) text += ", which was cancelled";
  return text;
}

std::vector<const NotedEntry*> AwaitedOf(const WaitSeen& wait) {
  std::vector<const NotedEntry*> awaited;
  const bool told = std::ranges::any_of(
      wait.entries, [](const auto& entry) { return (entry.flags & NotedEntry::kAwaited) != 0; });
  for (const NotedEntry& entry : wait.entries)
    if (told ? (entry.flags & NotedEntry::kAwaited) != 0 : entry.kind != NotedEntry::kUnexpected)
      awaited.push_back(&entry);
  return awaited;
}

WaitingFor WordsFor(const RankView& view, std::size_t ranks) {
  WaitingFor it;
  if (!view.running) {
    it.does = "has ended";
  } else if (view.stopped) {
    it.does = "is stopped by a signal";
  } else if (WaitsInMpi(view) || TestsInVain(view)) {
    return WaitWords(view, ranks, !WaitsInMpi(view));
  } else if (view.inside) {
    it.does = "is in " + view.call;
  } else if (view.phase == Phase::kFinalized) {
    it.does = "has finalized MPI";
  } else if (view.call.empty()) {
    it.does = "has called no function of MPI";
  } else {
    it.does = "computes; its last call was " + view.call;
  }
  return it;
}

WaitingFor WhatDoes(std::span<const RankView> ranks, std::uint32_t self) {
  const RankView& view = ranks[self];
  WaitingFor it = WordsFor(view, ranks.size());
  if (!it.waits) return it;
  if (view.lock_of) {
    if (view.lock_holder && *view.lock_holder < ranks.size()) it.ranks = {*view.lock_holder};
    it.others = it.ranks.empty();
  } else {
    AddPeers(ranks, self, CallOf(view), AwaitedOf(view.wait), &it);
  }
  return it;
}

}  // namespace lamina::launcher
