// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/peer_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/check.h"

namespace lamina::p2p {

PeerId PeerTable::Identify(transport::ProcessName name) {
  const std::uint64_t word = static_cast<std::uint64_t>(name);
  if (IsOfThisJob(name)) {
    const auto rank = static_cast<std::uint32_t>(word);
    return rank < job_ranks_ ? PeerId{rank} : kNoPeer;
  }
  if (!open_) return kNoPeer;
  const auto [place, is_new] = by_name_.try_emplace(word, PeerId{end()});
  if (is_new) others_.push_back({name, 0, false, false, {}});
  return place->second;
}

transport::ProcessName PeerTable::NameOf(PeerId peer) const {
  if (IsOfOtherJob(peer)) return Of(peer).name;
  return transport::ProcessName{std::uint64_t{job_hash_} << 32 | Index(peer)};
}

void PeerTable::SetCard(PeerId peer, std::vector<std::byte> card) {
  Of(peer).card = std::move(card);
}

// Both look at the groups in the same order, and so find the same pairs.
std::vector<PeerId> PeerTable::Attendants(PeerId self, std::span<const PeerId> from,
                                          std::span<const PeerId> to) const {
  std::map<std::uint32_t, std::vector<PeerId>> jobs;
  for (const PeerId peer : to) jobs[JobOf(NameOf(peer))].push_back(peer);
  std::vector<PeerId> found;
  for (std::size_t rank = 0; rank < from.size(); ++rank)
    for (const auto& [job, members] : jobs) {
      if (job == JobOf(NameOf(from[rank]))) continue;
      const PeerId whom = members[rank % members.size()];
      if (from[rank] == self) found.push_back(whom);
      if (whom == self) found.push_back(from[rank]);
    }
  return found;
}

std::vector<PeerId> PeerTable::Awaited() const {
  std::vector<PeerId> awaited;
  for (std::uint32_t index = job_ranks_; index < end(); ++index)
    if (IsAttended(PeerId{index}) && !Of(PeerId{index}).heard) awaited.push_back(PeerId{index});
  return awaited;
}

bool PeerTable::Release(PeerId peer) {
  Other& other = Of(peer);
  CHECK(other.groups > 0);
  if (--other.groups > 0) return false;
  other.attended = false;
  std::vector<std::byte>().swap(other.card);  // an assignment would keep its memory
  return true;
}

bool PeerTable::Holds(std::uint32_t job_hash, std::span<const PeerId> beside) const {
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const PeerId peer{job_ranks_ + static_cast<std::uint32_t>(i)};
    const bool is_beside = std::find(beside.begin(), beside.end(), peer) != beside.end();
    if (others_[i].groups > (is_beside ? 1u : 0u) && JobOf(others_[i].name) == job_hash)
      return true;
  }
  return false;
}

}  // namespace lamina::p2p
