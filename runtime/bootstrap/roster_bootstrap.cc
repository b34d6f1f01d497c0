// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bootstrap/roster_bootstrap.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"
#include "runtime/bootstrap/pmix_bootstrap.h"

namespace lamina::bootstrap {
namespace {

// The word is shared between processes, so FUTEX_PRIVATE_FLAG is not set.
long Futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* until) {
  return syscall(SYS_futex, word, operation, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

timespec At(std::uint64_t ms) {
  return {static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
}

bool Lives(std::int32_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

// While a card is waited for, the process looks from time to time whether the card's owner has
// ended. It does not look at once, because the owner's script may go on with another program, which
// makes the better message.
constexpr std::uint64_t kLookFirstMs = 2000, kLookAgainMs = 100;

class RosterBootstrap final : public Bootstrap {
 public:
  RosterBootstrap(const Environment& environment, Roster* roster, std::uint32_t rank)
      : environment_(environment), roster_(roster) {
    identity_.rank = rank;
    ReadIdentity();
  }

  // The error kExists says that another living process is this rank, our parent for instance.
  Status Enter() {
    std::atomic<std::int32_t>& process = Own().process;
    std::int32_t other = process.load();
    do {
      if (other != 0 && other != getpid() && Lives(other))
        return Error(Code::kExists,
                     "rank %u of this job is process %d already; a program that it starts is not "
                     "part of the job: start it with mpiexec, or alone with env -u %s "
                     "-u PMIX_NAMESPACE",
                     identity_.rank, other, kRosterVariable);
    } while (!process.compare_exchange_weak(other, getpid()));
    Own().left.store(0);
    return {};
  }

  const Identity& identity() const override { return identity_; }

  Status Publish(std::span<const std::byte> card) override {
    RosterEntry& own = Own();
    if (card.size() > sizeof own.card)
      return Error(Code::kResource,
                   "this rank's card has %zu bytes, but the roster has room for %zu; use mpiexec "
                   "--param launcher.pmix.roster=no",
                   card.size(), sizeof own.card);
    own.published.store(0, std::memory_order_relaxed);
    std::memcpy(own.card, card.data(), card.size());
    own.card_bytes = static_cast<std::uint32_t>(card.size());
    own.published.store(own.programs, std::memory_order_release);
    Futex(&own.published, FUTEX_WAKE_BITSET, INT_MAX, nullptr);
    return {};
  }

  // The n-th program of a rank belongs to the n-th programs of the others. A rank that took the
  // card of another program would wait for a process that is gone.
  Result<std::vector<std::byte>> Card(std::uint32_t rank) override {
    RosterEntry& peer = roster_->entries()[rank];
    const std::uint32_t own = Own().programs;
    const std::uint64_t began_ms = MonotonicMs(), limit_ms = began_ms + kCardTimeoutS * 1000;
    std::uint32_t program;
    while ((program = peer.published.load(std::memory_order_acquire)) != own) {
      if (program > own) return AnotherProgram(rank, program);
      const std::uint64_t now_ms = MonotonicMs();
      if (now_ms >= limit_ms && program != 0) return AnotherProgram(rank, program);
      if (now_ms >= limit_ms)
        return Error(Code::kTimeout, "rank %u has published no card for %d s", rank, kCardTimeoutS);
      // A rank that has left may come back with a session, unless its process has ended.
      const std::int32_t left = peer.programs == own && !identity_.apart ? peer.left.load() : 0;
      if (now_ms >= began_ms + kLookFirstMs && left != 0 && !Lives(left))
        return Error(Code::kPeerLost, "rank %u has finalized MPI and ended", rank);
      const timespec until = At(std::min(limit_ms, now_ms + kLookAgainMs));
      Futex(&peer.published, FUTEX_WAIT_BITSET, program, &until);
    }
    if (peer.card_bytes > sizeof peer.card)
      return Error(Code::kInvalid, "the card of rank %u is damaged", rank);
    return std::vector<std::byte>(peer.card, peer.card + peer.card_bytes);
  }

  Result<std::uint32_t> Node(std::uint32_t) override { return 0u; }

  const std::vector<ProcessSet>& ProcessSets() override {
    static const std::vector<ProcessSet> none;
    Bootstrap* pmix = Pmix();
    return pmix != nullptr ? pmix->ProcessSets() : none;
  }

  void Abort(int code, const char* why) override {
    if (Bootstrap* pmix = Pmix(); pmix != nullptr) pmix->Abort(code, why);
  }

  // Another program of this rank's script will have a card of its own.
  Status Leave() override {
    Own().published.store(0, std::memory_order_relaxed);
    Own().left.store(Own().process.exchange(0));
    return pmix_ != nullptr ? pmix_->Leave() : Status();
  }

  Status Return(std::uint32_t epoch) override {
    if (Status status = Enter(); !status.ok()) return status;
    return pmix_ != nullptr ? pmix_->Return(epoch) : Status();
  }

 private:
  void ReadIdentity() {
    identity_.job = roster_->job;
    identity_.job_ranks = roster_->ranks;
    identity_.universe_ranks = roster_->universe_ranks;
    identity_.app = Own().app;
    identity_.local_rank = identity_.rank;
    identity_.local_peers.resize(roster_->ranks);
    for (std::uint32_t peer = 0; peer < roster_->ranks; ++peer) identity_.local_peers[peer] = peer;
    identity_.node = roster_->node;
    const std::uint32_t own_namespace = OwnPidNamespace();
    identity_.apart = own_namespace != 0 && roster_->pid_namespace != 0 &&
                      own_namespace != roster_->pid_namespace;
  }

  RosterEntry& Own() { return roster_->entries()[identity_.rank]; }

  Status AnotherProgram(std::uint32_t rank, std::uint32_t program) {
    return Error(
        Code::kInvalid,
        "rank %u runs MPI program %u of its script, but this rank runs program %u; let all ranks "
        "run the same programs, and start what one rank alone needs with env -u %s -u "
        "PMIX_NAMESPACE",
        rank, program, Own().programs.load(), kRosterVariable);
  }

  // Returns null if PMIx cannot be had.
  Bootstrap* Pmix() {
    if (std::exchange(pmix_asked_, true)) return pmix_.get();
    Result<std::unique_ptr<Bootstrap>> pmix = ConnectPmix(environment_, 0);
    if (pmix.ok()) pmix_ = *std::move(pmix);
    return pmix_.get();
  }

  const Environment& environment_;
  Roster* const roster_;
  Identity identity_;
  bool pmix_asked_ = false;
  std::unique_ptr<Bootstrap> pmix_;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> ConnectRoster(const Environment& environment) {
  const std::string place = environment.Get(kRosterVariable).value_or("");
  Result<Roster*> roster = OpenRoster(place, environment.Get("PMIX_NAMESPACE").value_or(""));
  if (!roster.ok())
    return std::move(roster).status().Within(
        "the memory that mpiexec shares with its ranks cannot be reached (mpiexec --param "
        "launcher.pmix.roster=no does without)");
  const auto rank = ParseInteger(environment.Get("PMIX_RANK").value_or(""));
  if (!rank || *rank < 0 || *rank >= (*roster)->ranks)
    return Error(Code::kInvalid, "PMIX_RANK is \"%s\", but the job has %u ranks",
                 environment.Get("PMIX_RANK").value_or("").c_str(), (*roster)->ranks);
  auto bootstrap =
      std::make_unique<RosterBootstrap>(environment, *roster, static_cast<std::uint32_t>(*rank));
  if (Status status = bootstrap->Enter(); !status.ok()) return status;
  ++(*roster)->entries()[*rank].programs;
  return std::unique_ptr<Bootstrap>(std::move(bootstrap));
}

}  // namespace lamina::bootstrap
