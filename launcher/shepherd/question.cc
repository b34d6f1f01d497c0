// SPDX-License-Identifier: BSD-3-Clause
// Asks the manager what it does with the job: a rank that was killed, or a node that has fallen
// silent, may be its doing, and then it is the manager that has to be named. The question is a
// command of the manager's that runs beside everything else, for a bounded time.
#include <csignal>
#include <utility>

#include "launcher/shepherd/job.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/clock.h"

namespace lamina::launcher {

void ShepherdedJob::AskManager() {
  const auto* manager = std::get_if<Manager>(&starter_);
  if (manager == nullptr || manager->question.empty() || question_ != nullptr) return;
  Result<std::unique_ptr<Agent>> agent = Agent::Start(manager->question, nullptr, false);
  if (!agent.ok()) return;  // without the command there is no answer
  question_ = *std::move(agent);
  question_until_ms_ = MonotonicMs() + kQuestionMs;
  heartbeat_.Hurry(kQuestionMs + 1);
  poller_->Add(question_->words_fd(), Poller::kRead, [this] { OnAnswer(); });
}

void ShepherdedJob::OnAnswer() {
  if (question_ != nullptr) {
    if (question_->Listen() && MonotonicMs() < question_until_ms_) return;
    poller_->Remove(question_->words_fd());
    answer_ = question_->heard();
    question_.reset();
  }
  Judge();
}

// squeue knows nothing of a step, so only srun tells that one was cancelled, and perhaps later than
// squeue answers.
void ShepherdedJob::Judge() {
  const bool more = words_follow_ && crew_ != nullptr && crew_->MaySayMore();
  const std::string words = crew_ != nullptr ? crew_->Words() : std::string();
  ManagerState state = std::get<Manager>(starter_).understand(answer_ + "\n" + words);
  const std::uint64_t now_ms = MonotonicMs();
  if (state.kind == ManagerState::Kind::kGoesOn && holding_ && more && now_ms < question_until_ms_)
    return heartbeat_.Hurry(question_until_ms_ - now_ms + 1);
  holding_ = false;
  heartbeat_.Hurry(1);  // somebody has to fetch the news
  if (state.kind == ManagerState::Kind::kSuspended) shepherds_->ForgetSilence();
  if (state.kind != ManagerState::Kind::kCancelled) return;
  RankEvent event;
  event.kind = RankEvent::Kind::kTrouble;
  event.why = std::move(state.why);
  events_.push_front(std::move(event));
}

// The first failure is held back until it is known whether the manager is behind it.
void ShepherdedJob::Suspect(bool words_follow) {
  words_follow_ = words_follow_ || words_follow;
  if (std::exchange(alarmed_, true) || shepherds_->sweeping()) return;
  AskManager();
  holding_ = question_ != nullptr;
}

// A rank that ends by such a signal, or by the status that a shell makes of it, may have been
// cancelled. One that fails in another way has done so by itself. A manager's SIGKILL also takes
// the shepherd, while one that only a rank gets is seldom the manager's and is told at once.
void ShepherdedJob::Suspect(const wire::Ended& ended) {
  const auto kind = static_cast<RankEvent::Kind>(ended.kind);
  if (kind == RankEvent::Kind::kExited && ended.code == 0) return;
  const int signal = kind == RankEvent::Kind::kKilled   ? ended.signal
                     : kind == RankEvent::Kind::kExited ? ended.code - 128
                                                        : 0;
  if ((signal == SIGTERM || signal == SIGKILL || signal == SIGHUP) && ended.why.empty())
    Suspect(signal != SIGKILL);
  else
    alarmed_ = true;
}

// A suspended job is silent, and nobody is lost.
bool ShepherdedJob::IsSilenceExcused() {
  if (question_ != nullptr) return true;
  const std::uint64_t now_ms = MonotonicMs();
  // It has been asked about this silence, and the job is not suspended.
  if (silence_asked_ms_ != 0 && now_ms - silence_asked_ms_ < params_.silence_ms) return false;
  silence_asked_ms_ = now_ms;
  AskManager();
  return question_ != nullptr;
}

}  // namespace lamina::launcher
