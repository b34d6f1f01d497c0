// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/fake/fake_job.h"

#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "runtime/base/call_names.h"
#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/text.h"

namespace lamina::launcher::fake {
namespace {

Status ParseAction(std::string_view action, Fate* fate) {
  const std::size_t equals = action.find('=');
  const std::string_view word = Trim(action.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : Trim(action.substr(equals + 1));
  if (word == "deaf") {
    fate->deaf = true;
    return {};
  }
  if (word == "fail" || word == "in") {
    (word == "in" ? fate->call : fate->failure) = std::string(value);
    return {};
  }
  const auto number = ParseInteger(value);
  const bool known = word == "exit" || word == "kill" || word == "at" || word == "phase";
  if (!known || !number.has_value() || *number < 0 || *number > 86'400'000)
    return Error(Code::kInvalid, "spawner.fake.script: cannot understand \"%s\"",
                 std::string(action).c_str());
  if (word == "exit") fate->code = static_cast<int>(*number);
  if (word == "kill") fate->signal = static_cast<int>(*number);
  if (word == "at") fate->at_ms = static_cast<std::uint32_t>(*number);
  if (word == "phase") fate->phase = static_cast<std::uint32_t>(*number);
  return {};
}

std::uint32_t NumberOf(std::string_view call) {
  for (std::uint32_t number = 1; number < static_cast<std::uint32_t>(Call::kCount); ++number)
    if (call == NameOf(static_cast<Call>(number))) return number;
  return 0;
}

// Notes what a real rank would have noted.
void WriteRing(int fd, const Fate& fate) {
  if (fd < 0 || (fate.call.empty() && fate.phase == 0)) return;
  void* memory = mmap(nullptr, kEventRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return;
  auto* ring = static_cast<EventRing*>(memory);
  ring->magic = EventRing::kMagic;
  ring->call = NumberOf(fate.call);
  ring->inside = fate.call.empty() ? 0 : 1;
  ring->phase = fate.phase;
  munmap(memory, kEventRingBytes);
}

}  // namespace

Result<Script> Script::Parse(std::string_view text) {
  Script script;
  for (const std::string_view entry : Split(text, ';')) {
    if (Trim(entry).empty()) continue;
    const std::size_t colon = entry.find(':');
    const std::string_view whom = Trim(entry.substr(0, colon));
    const auto rank = ParseInteger(whom);
    if (colon == std::string_view::npos || (whom != "*" && (!rank.has_value() || *rank < 0)))
      return Error(Code::kInvalid, "spawner.fake.script: \"%s\" does not begin with RANK: or *:",
                   std::string(entry).c_str());
    Fate fate;
    for (const std::string_view action : Split(entry.substr(colon + 1), ','))
      if (Status status = ParseAction(Trim(action), &fate); !status.ok()) return status;
    if (whom == "*")
      script.others_ = fate;
    else
      script.by_rank_[static_cast<std::uint32_t>(*rank)] = fate;
  }
  return script;
}

Fate Script::Of(std::uint32_t rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? others_ : found->second;
}

Result<std::unique_ptr<Job>> FakeJob::Start(const Script& script,
                                            std::span<const RankStart> starts) {
  std::unique_ptr<FakeJob> job(new FakeJob);
  job->timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (job->timer_fd_ < 0) return SystemError(Code::kResource, errno, "cannot make a timer");
  job->start_ms_ = MonotonicMs();
  for (const RankStart& start : starts) {
    Fate fate = script.Of(start.rank);
    if (fate.failure.empty()) {
      WriteRing(start.event_fd, fate);
      job->running_.emplace(start.rank, std::move(fate));
      continue;
    }
    RankEvent event;
    event.kind = RankEvent::Kind::kStartFailed;
    event.rank = start.rank;
    event.code = 127;
    event.why = Format("cannot run %s on %s: %s", start.argv.front().c_str(),
                       std::string(start.host).c_str(), fate.failure.c_str());
    job->events_.push_back(std::move(event));
  }
  job->Arm();
  return std::unique_ptr<Job>(std::move(job));
}

FakeJob::~FakeJob() {
  if (timer_fd_ >= 0) close(timer_fd_);
}

// Sets the timer to when the next thing happens, which may be now.
void FakeJob::Arm() {
  itimerspec time{};
  if (!events_.empty()) {
    time.it_value.tv_nsec = 1;
  } else if (!running_.empty()) {
    std::uint64_t next = UINT64_MAX;
    for (const auto& [rank, fate] : running_) next = std::min<std::uint64_t>(next, fate.at_ms);
    const std::uint64_t passed = MonotonicMs() - start_ms_;
    const std::uint64_t left = next > passed ? next - passed : 0;
    time.it_value.tv_sec = static_cast<time_t>(left / 1000);
    time.it_value.tv_nsec = static_cast<long>(left % 1000 * 1'000'000 + 1);
  }
  timerfd_settime(timer_fd_, 0, &time, nullptr);
}

std::optional<RankEvent> FakeJob::Next() {
  std::uint64_t unused;
  while (read(timer_fd_, &unused, sizeof unused) > 0) continue;
  if (events_.empty()) {
    const std::uint64_t passed = MonotonicMs() - start_ms_;
    for (auto entry = running_.begin(); entry != running_.end();) {
      const Fate& fate = entry->second;
      if (fate.at_ms > passed) {
        ++entry;
        continue;
      }
      RankEvent event;
      event.kind = fate.signal != 0 ? RankEvent::Kind::kKilled : RankEvent::Kind::kExited;
      event.rank = entry->first;
      event.code = fate.code;
      event.signal = fate.signal;
      events_.push_back(std::move(event));
      entry = running_.erase(entry);
    }
  }
  std::optional<RankEvent> event;
  if (!events_.empty()) {
    event = std::move(events_.front());
    events_.pop_front();
  }
  Arm();
  return event;
}

void FakeJob::Signal(std::uint32_t rank, int signal) {
  const auto found = running_.find(rank);
  if (found == running_.end()) return;
  const bool ends = signal == SIGKILL ||
                    (!found->second.deaf && signal != SIGCONT && signal != SIGTSTP && signal != 0);
  if (!ends) return;
  RankEvent event;
  event.kind = RankEvent::Kind::kKilled;
  event.rank = rank;
  event.signal = signal;
  events_.push_back(std::move(event));
  running_.erase(found);
  Arm();
}

}  // namespace lamina::launcher::fake
