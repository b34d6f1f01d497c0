// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of the job wait for, for whoever asks and for a job that has run out of time.
#include "launcher/why/why.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "launcher/supervise/supervisor.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/clock.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Says of a child of this process whether a signal has stopped it.
bool IsStopped(std::int64_t process) {
  if (process <= 0) return false;
  const std::optional<ProcessStat> stat = StatOf(process);
  return stat && stat->state == 'T';
}

}  // namespace

std::vector<RankView> Supervisor::Views() const {
  std::vector<RankView> views(running_.size());
  std::vector<LocksSeen> locks(running_.size());
  for (std::uint32_t rank = 0; rank < views.size(); ++rank) {
    RankView& view = views[rank];
    const LastSeen last = LastOf(rank);
    view.running = running_[rank];
    view.phase = last.phase;
    view.call = last.call;
    view.inside = last.inside;
    if (!view.running) continue;
    if (job_ != nullptr) view.stopped = IsStopped(job_->ProcessOf(rank));
    view.wait = rings_.WaitOf(rank, TraceOf(rank));
    locks[rank] = rings_.LocksOf(rank, TraceOf(rank));
  }
  for (const LockWait& wait : LockWaits(locks)) {
    views[wait.rank].lock_of = wait.lock.target;
    views[wait.rank].locks_all = wait.lock.kind == LockNote::kAll;
    if (wait.lock.holder > 0) views[wait.rank].lock_holder = wait.lock.holder - 1;
  }
  return views;
}

std::string Supervisor::AnswerWhy(bool queues) const {
  std::string answer;
  for (const std::string& line : ExplainWaits(Views(), RealMs(), queues))
    answer += "say " + line + "\n";
  return answer + "end\n";
}

// Ranks that never wait in MPI give no reason to say anything.
std::vector<std::string> Supervisor::WhyItHangs() const {
  const std::vector<RankView> views = Views();
  const bool any = std::ranges::any_of(views, [](const RankView& view) {
    return view.wait.state != WaitNote::kNone || view.lock_of.has_value();
  });
  if (!any) return {};
  std::vector<std::string> lines = ExplainWaits(views, RealMs(), false);
  if (lines.size() > kReasonsMax) {
    const std::size_t more = lines.size() - kReasonsMax;
    lines.resize(kReasonsMax);
    lines.push_back(Format("and %zu lines more", more));
  }
  return lines;
}

// It is said once, and again only after some rank has gone on in the meantime. Jobs that this one
// has spawned or met may well go on, so it is not ended while they run or it waits for them.
void Supervisor::LookForHang() {
  if (ended_ || verdict_.decided()) return;
  look_for_hang_->Set(kLookForHangMs);
  if (checkpoints_ != nullptr && checkpoints_->IsSaving()) return hang_watch_.Forget();
  const std::vector<RankView> views = Views();
  const HangWatch::Hang hang = hang_watch_.Look(MonotonicMs(), views);
  if (hang == HangWatch::Hang::kNot) {
    hang_said_ = false;
    return;
  }
  const bool ends = plan_.options.hang_ends && hang == HangWatch::Hang::kSurely &&
                    further_->empty() && !AnyAwaitsAnotherJob(views);
  if (!ends && std::exchange(hang_said_, true)) return;
  const std::vector<std::string> lines = WhyItHangs();
  progress_->Wipe();
  if (ends)
    React(verdict_.Hung());
  else
    streams_->Say(Format("no rank has gone on for %g s (--hang-after):",
                         static_cast<double>(plan_.options.hang_ms) / 1000));
  for (const std::string& line : lines) streams_->Say("  " + line);
}

}  // namespace lamina::launcher
