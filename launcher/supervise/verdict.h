// SPDX-License-Identifier: BSD-3-Clause
// Decides what a rank's end means for the job: what is said, whether the others may go on, and what
// mpiexec returns. The first failure decides; what follows from it is not reported again.
//
// Pure: it is fed with events and returns words and decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/event_ring.h"

namespace lamina::launcher {

// What a rank did last, from its event ring.
struct LastSeen {
  Phase phase = Phase::kStarted;
  std::string call;     // "MPI_Recv"; "" when it has made none
  bool inside = false;  // within that call
};

// What a job was lost by, if neither its program nor its user has wished for that end.
struct Loss {
  bool any = false;
  bool not_started = false;  // a host could not be reached, or its ranks not be started
  // It was not lost at all, but saved, to go on with other hosts in the place of these.
  struct Move {
    std::string from, to;
  };
  std::optional<Move> move;
  std::vector<std::string> hosts;  // that are gone or could not be reached
};

struct Reaction {
  std::string message;   // for standard error, without "mpiexec: "; "" for none
  bool end_job = false;  // the ranks that still run have to go
};

class Verdict {
 public:
  // `spawned`: ranks of another job have started this one, and messages say so.
  explicit Verdict(const Plan& plan, bool spawned = false) : plan_(plan), spawned_(spawned) {}

  // `others` is the number of ranks that still run.
  Reaction Ended(const RankEvent& event, const LastSeen& last, std::size_t others);
  // The host of rank `rank` is gone; every rank there had ended before.
  void HostLost(std::uint32_t rank);
  // Rank `rank` asked for the end of the job.
  Reaction Aborted(std::uint32_t rank, int code, const std::string& message, const LastSeen& last);
  // `running` lists the ranks that have not ended, with the call each is in. So many ranks of jobs
  // that this one has spawned run beside them; `starting`: such a job is being started.
  Reaction TimedOut(const std::vector<std::pair<std::uint32_t, LastSeen>>& running,
                    std::size_t spawned, bool starting = false);
  // No rank has gone on for as long as the user allowed.
  Reaction Hung();
  // The rank ended well, but never called MPI_Init, for which the others and their parents wait.
  Reaction NeverCame(std::uint32_t rank);
  // A rank is gone that had not called MPI_Finalize and whose spawned job is ended.
  Reaction Abandoned();
  // The job has been saved and is ended, as somebody has asked. Says so with status 85.
  Reaction SavedToEnd(const std::string& message);
  // Something failed in the launcher itself.
  Reaction Failed(const std::string& message);
  // A job that shares this one's fate has ended with that status, and has said why.
  Reaction Linked(int status);
  // The same, but its ranks had finalized, so it takes nobody along.
  void LinkedLate(int status);
  // The process that has spawned this job has died, of which its own launcher tells.
  Reaction Orphaned() { return Linked(1); }
  // The user's signal was passed on to the ranks, so their death by it is no surprise.
  void PassedOn(int signal);
  // Nobody reads our output any more, so a death by SIGPIPE is no surprise.
  void OutputGone() { output_gone_ = true; }

  int status() const { return status_; }
  Loss loss() const;
  bool decided() const { return decided_; }
  // The last rank to end has not called MPI_Finalize, which is nobody's business but that of jobs
  // which were spawned.
  bool left_early() const { return left_early_.has_value(); }

 private:
  void Decide(int status);
  bool Expected(int signal) const;
  Reaction Killed(const RankEvent& event, const LastSeen& last, std::size_t others);
  Reaction Exited(const RankEvent& event, const LastSeen& last, std::size_t others);
  std::string Name(std::uint32_t rank) const;
  void LoseHostOf(std::uint32_t rank);

  const Plan& plan_;
  const bool spawned_;
  Loss loss_;
  std::vector<int> passed_on_;
  bool output_gone_ = false;
  bool decided_ = false;
  bool abandoned_ = false;
  std::optional<std::uint32_t> left_early_;  // the last rank to end, without MPI_Finalize
  int status_ = 0;
};

// "signal 11 (SIGSEGV, segmentation fault)"
std::string SignalText(int signal);

}  // namespace lamina::launcher
