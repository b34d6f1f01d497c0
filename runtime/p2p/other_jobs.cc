// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/other_jobs.h"

#include <utility>

#include "runtime/core/group.h"
#include "runtime/core/process.h"
#include "runtime/p2p/engine.h"

namespace lamina::p2p {
namespace {

// Groups come and go also while MPI is taken down.
bool HasEngine() { return core::process != nullptr && core::process->engine != nullptr; }

void OnMembers(const std::vector<PeerId>& members, bool held) {
  if (!HasEngine()) return;
  Engine& engine = TheEngine();
  for (const PeerId peer : members) {
    if (!engine.peers().IsOfOtherJob(peer)) continue;
    if (held) {
      engine.peers().Retain(peer);
      engine.lanes().Keep(peer);
    } else if (engine.peers().Release(peer)) {
      engine.lanes().LetGo(peer);
    }
  }
}

}  // namespace

void OpenToOtherJobs() {
  TheEngine().peers().Open();
  TheEngine().contexts().SpanJobs();
  core::on_members = OnMembers;
}

bool IsOpenToOtherJobs() { return TheEngine().peers().is_open(); }

bool IsOfOtherJob(PeerId peer) { return TheEngine().peers().IsOfOtherJob(peer); }

Result<Introduction> Introduce(PeerId peer) {
  Result<std::vector<std::byte>> card = TheEngine().cards().BytesOf(peer);
  if (!card.ok()) return std::move(card).status();
  return Introduction{TheEngine().peers().NameOf(peer), *std::move(card)};
}

Result<PeerId> Meet(Introduction introduction) {
  Engine& engine = TheEngine();
  const bool of_other_job = !engine.peers().IsOfThisJob(introduction.name);
  if (Result<bootstrap::Card> card = engine.cards().Read(introduction.card, of_other_job);
      !card.ok())
    return std::move(card).status();
  const PeerId peer = engine.Number(introduction.name);
  if (peer == kNoPeer)
    return Error(Code::kInvalid, "a rank of its job has a number that this job does not have");
  if (of_other_job) engine.peers().SetCard(peer, std::move(introduction.card));
  return peer;
}

// A frame over a network tells the other one that this process has connected.
void Attend(const std::vector<PeerId>& from, const std::vector<PeerId>& to) {
  if (!IsOpenToOtherJobs()) return;
  Engine& engine = TheEngine();
  for (const PeerId peer : engine.peers().Attendants(core::process->self, from, to)) {
    if (engine.peers().IsAttended(peer)) continue;
    engine.peers().Attend(peer);
    if (engine.lanes().To(peer).farewell) engine.lanes().Nudge(peer);
  }
}

bool HasGroupWith(std::uint32_t job_hash, std::span<const PeerId> beside) {
  return TheEngine().peers().Holds(job_hash, beside);
}

std::uint32_t OwnJobHash() { return PeerTable::JobOf(TheEngine().peers().NameOf(PeerId{0})); }

void Part() { TheEngine().Part(); }

}  // namespace lamina::p2p
