// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/verdict.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <map>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr int kSavedToEnd = 85;  // that of DMTCP and others for a job that is to be restarted
constexpr int kTimedOut = 124;   // the status that timeout(1) returns

std::string Where(const LastSeen& last) {
  return last.inside && !last.call.empty() ? " in " + last.call : "";
}

}  // namespace

std::string SignalText(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* description = sigdescr_np(signal);
  if (name == nullptr || description == nullptr) return Format("signal %d", signal);
  std::string words = description;
  words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  return Format("signal %d (SIG%s, %s)", signal, name, words.c_str());
}

std::string Verdict::Name(std::uint32_t rank) const {
  return Format("rank %u on %s%s", rank, plan_.hosts[plan_.ranks[rank].host].name.c_str(),
                spawned_ ? " (spawned)" : "");
}

void Verdict::Decide(int status) {
  if (decided_) return;
  decided_ = true;
  status_ = status;
}

bool Verdict::Expected(int signal) const {
  return std::find(passed_on_.begin(), passed_on_.end(), signal) != passed_on_.end() ||
         (signal == SIGPIPE && output_gone_);
}

void Verdict::PassedOn(int signal) { passed_on_.push_back(signal); }

void Verdict::LoseHostOf(std::uint32_t rank) {
  loss_.any = true;
  loss_.hosts.push_back(plan_.hosts[plan_.ranks[rank].host].name);
}

// A user who has told the job to end does not want it back.
Loss Verdict::loss() const {
  return std::any_of(passed_on_.begin(), passed_on_.end(), EndsProcesses) ? Loss() : loss_;
}

Reaction Verdict::Ended(const RankEvent& event, const LastSeen& last, std::size_t others) {
  // Others may learn of a lost host first, and die of that.
  if (decided_ && loss_.any && event.kind == RankEvent::Kind::kLost && !event.why.empty())
    LoseHostOf(event.rank);
  if (decided_) return {};
  switch (event.kind) {
    case RankEvent::Kind::kStartFailed:
      if (event.why.empty()) return {};
      Decide(event.code);
      // A job that goes on has run before, so it is not the program that cannot be started.
      if (Index(plan_.options.checkpoint.restored) != 0) LoseHostOf(event.rank);
      loss_.not_started = true;
      return {event.why, true};
    case RankEvent::Kind::kKilled:
      return Killed(event, last, others);
    case RankEvent::Kind::kExited:
      return Exited(event, last, others);
    case RankEvent::Kind::kLost:
      if (event.why.empty()) return {};
      Decide(1);
      LoseHostOf(event.rank);
      return {event.why + (others > 0 ? "; the job was ended" : ""), true};
    case RankEvent::Kind::kTrouble:
    case RankEvent::Kind::kHostLost:
    case RankEvent::Kind::kSharesCpus:
    case RankEvent::Kind::kAborted:
      break;  // not an end
  }
  return {};
}

// A host that dies may take its ranks along one by one, so that their ends are told first. A job
// that goes on must not be sent there again.
void Verdict::HostLost(std::uint32_t rank) {
  if (decided_ && loss_.any) LoseHostOf(rank);
}

Reaction Verdict::Killed(const RankEvent& event, const LastSeen& last, std::size_t others) {
  Decide(128 + event.signal);
  if (Expected(event.signal)) return {"", true};
  loss_.any = true;
  return {Name(event.rank) + " was killed by " +
              (event.why.empty() ? SignalText(event.signal) : event.why) + Where(last) +
              (others > 0 ? "; the job was ended" : ""),
          true};
}

Reaction Verdict::Exited(const RankEvent& event, const LastSeen& last, std::size_t others) {
  const char* ended = others > 0 ? "; the job was ended" : "";
  if (event.code != 0 && last.phase == Phase::kFinalized) {
    // Nobody waits for this rank any more, and others may still be busy after MPI_Finalize.
    LinkedLate(event.code);
    return {
        Format("%s exited with code %d after MPI_Finalize", Name(event.rank).c_str(), event.code),
        false};
  }
  if (event.code != 0) {
    Decide(event.code);
    return {Format("%s exited with code %d%s%s", Name(event.rank).c_str(), event.code,
                   Where(last).c_str(), ended),
            true};
  }
  if (last.phase != Phase::kInitialized) return {};
  if (others == 0) {
    left_early_ = event.rank;
    return abandoned_ ? Abandoned() : Reaction{};
  }
  Decide(1);
  return {Name(event.rank) + " exited without calling MPI_Finalize" + ended, true};
}

Reaction Verdict::Aborted(std::uint32_t rank, int code, const std::string& message,
                          const LastSeen& last) {
  if (decided_) return {};
  const int status = code & 0xff;
  Decide(status == 0 && code != 0 ? 1 : status);
  // Our library ends a job in the same way and gives the name of the call. It has said what was
  // wrong, which may be that another rank is lost.
  if (message.starts_with("MPI_") && message.find(' ') == std::string::npos) {
    loss_.any = true;
    return {Format("%s died of an MPI error in %s; the job was ended", Name(rank).c_str(),
                   message.c_str()),
            true};
  }
  // The last of these is the message that our library gives. It is needed because the rank's host
  // may not have told yet what the rank was in.
  const bool by_mpi = last.phase != Phase::kStarted || last.call == "MPI_Abort" ||
                      message == "MPI_Abort was called";
  return {Format("%s called %s with code %d%s%s; the job was ended", Name(rank).c_str(),
                 by_mpi ? "MPI_Abort" : "PMIx_Abort", code, message.empty() ? "" : ": ",
                 message.c_str()),
          true};
}

Reaction Verdict::NeverCame(std::uint32_t rank) {
  if (decided_) return {};
  Decide(1);
  return {Name(rank) + " exited without calling MPI_Init; the job was ended", true};
}

// Its end may be known later than that of the job which it has spawned.
Reaction Verdict::Abandoned() {
  abandoned_ = true;
  if (decided_ || !left_early_) return {};
  Decide(1);
  return {
      Name(*left_early_) + " exited without calling MPI_Finalize; what it has spawned was ended",
      true};
}

Reaction Verdict::TimedOut(const std::vector<std::pair<std::uint32_t, LastSeen>>& running,
                           std::size_t spawned, bool starting) {
  if (decided_) return {};
  Decide(kTimedOut);
  std::map<std::string, std::vector<std::uint32_t>> by_call;
  for (const auto& [rank, last] : running) by_call[Where(last)].push_back(rank);
  std::string where;
  for (const auto& [call, ranks] : by_call)
    where += (where.empty() ? "" : "; ") + RankWords(ranks) +
             (call.empty() ? by_call.size() > 1 ? " outside MPI" : "" : call);
  if (spawned > 0)
    where += Format("%s%zu rank%s of jobs that it has spawned", where.empty() ? "" : "; ", spawned,
                    spawned == 1 ? "" : "s");
  if (starting)
    where +=
        std::string(where.empty() ? "" : "; ") + "a job that it has spawned, which is starting";
  const auto seconds = static_cast<double>(plan_.options.timeout_ms) / 1000.0;
  return {
      Format("timeout after %g s, still running: %s; the job was ended", seconds, where.c_str()),
      true};
}

Reaction Verdict::Hung() {
  if (decided_) return {};
  Decide(kTimedOut);
  return {Format("no rank has gone on for %g s (--hang-after); the job was ended",
                 static_cast<double>(plan_.options.hang_ms) / 1000.0),
          true};
}

Reaction Verdict::SavedToEnd(const std::string& message) {
  if (decided_) return {};
  Decide(kSavedToEnd);
  return {message, true};
}

Reaction Verdict::Linked(int status) {
  if (decided_) return {};
  Decide(status);
  return {"", true};
}

void Verdict::LinkedLate(int status) {
  if (status_ == 0 && !decided_) status_ = status;
}

Reaction Verdict::Failed(const std::string& message) {
  if (decided_) return {};
  Decide(1);
  return {message, true};
}

}  // namespace lamina::launcher
