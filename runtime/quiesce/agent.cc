// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/agent.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/base/quiet_thread.h"
#include "runtime/base/text.h"
#include "runtime/quiesce/pipe.h"
#include "runtime/quiesce/tuning.h"

namespace lamina::quiesce {

AgentPipes AgentPipes::Find(const Environment& environment) {
  const std::string value = environment.Get(kAgentVariable).value_or("");
  const std::size_t colon = value.find(':');
  if (colon == value.npos) return {};
  const std::string_view text = value;
  return {static_cast<int>(ParseInteger(text.substr(0, colon)).value_or(-1)),
          static_cast<int>(ParseInteger(text.substr(colon + 1)).value_or(-1))};
}

Agent::Agent(AgentPipes pipes, std::unique_ptr<Library> library)
    : pipes_(pipes), library_(std::move(library)) {}

Status Agent::Start(AgentPipes pipes, std::unique_ptr<Library> library) {
  auto* const agent = new Agent(pipes, std::move(library));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kAgentStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const SignalsBlocked blocked;
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void* self) -> void* {
        static_cast<Agent*>(self)->Run();
        return nullptr;
      },
      agent);
  pthread_attr_destroy(&attributes);
  if (error == 0) return {};
  delete agent;
  return SystemError(Code::kResource, error, "cannot make the thread that checkpoints need");
}

void Agent::SayGone(AgentPipes pipes) {
  const AgentWord word{AgentWord::kGone, 0, 0};
  static_cast<void>(
      WriteToPipe(pipes.reports, {reinterpret_cast<const char*>(&word), sizeof word}));
}

void Agent::Run() {
  Report(AgentWord::kHere, 0, static_cast<std::uint64_t>(getpid()));
  AgentWord order;
  while (Receive(&order)) {
    if (order.kind != AgentWord::kStop) continue;
    Cut cut{order.epoch, {}};
    if (!ReceiveEnded(order.number, &cut.ended)) return;
    Round(cut);
  }
}

void Agent::Round(const Cut& cut) {
  const std::uint32_t epoch = cut.epoch;
  library_->Enter();
  const std::string why_not = library_->WhyNot();
  AgentWord order;
  if (!why_not.empty()) {
    ReportOutcome(AgentWord::kStopped, epoch, Error(Code::kUnsupported, "%s", why_not.c_str()));
    while (Receive(&order) && order.kind != AgentWord::kGoOn) continue;
  } else if (SettleUntil(cut, &order)) {
    while (order.kind != AgentWord::kGoOn) {
      if (order.kind == AgentWord::kLetGo)
        ReportOutcome(AgentWord::kBare, epoch, library_->LetGo());
      if (!Receive(&order)) break;
    }
  }
  std::vector<std::string> changes;
  if (order.kind == AgentWord::kGoOn && !ReceiveChanges(order.number, &changes)) return;
  const Status going = why_not.empty() ? library_->TakeUp(changes) : Status();
  library_->Leave();
  ReportOutcome(AgentWord::kGoing, epoch, going);
}

bool Agent::SettleUntil(const Cut& cut, AgentWord* order) {
  bool told_sent = false;
  std::uint64_t told_received = 0;
  while (!HasOrder(0)) {
    const Library::Sums sums = library_->Settle(cut);
    const bool news = sums.received != told_received || (sums.all_sent && !told_sent);
    if (sums.all_sent && !std::exchange(told_sent, true))
      Report(AgentWord::kStopped, cut.epoch, sums.sent);
    if (sums.received != std::exchange(told_received, sums.received))
      Report(AgentWord::kReceived, cut.epoch, sums.received);
    if (!news && HasOrder(kSettleMs)) break;
  }
  return Receive(order);
}

bool Agent::Receive(AgentWord* order) const {
  return ReadFromPipe(pipes_.orders, order, sizeof *order).ok();
}

bool Agent::ReceiveEnded(std::uint64_t count, std::vector<std::uint32_t>* ended) const {
  ended->resize(count);
  return count == 0 ||
         ReadFromPipe(pipes_.orders, ended->data(), count * sizeof ended->front()).ok();
}

bool Agent::ReceiveChanges(std::uint64_t bytes, std::vector<std::string>* changes) const {
  if (bytes == 0) return true;
  if (bytes > kChangesBytesMax) return false;
  std::string text(bytes, '\0');
  if (!ReadFromPipe(pipes_.orders, text.data(), bytes).ok()) return false;
  for (const std::string_view change : Split(text, '\0'))
    if (!change.empty()) changes->emplace_back(change);
  return true;
}

bool Agent::HasOrder(int wait_ms) const {
  pollfd ready{pipes_.orders, POLLIN, 0};
  return poll(&ready, 1, wait_ms) > 0;
}

void Agent::Report(std::uint32_t kind, std::uint32_t epoch, std::uint64_t number) const {
  const AgentWord word{kind, epoch, number};
  static_cast<void>(
      WriteToPipe(pipes_.reports, {reinterpret_cast<const char*>(&word), sizeof word}));
}

// A failure is told as a text, and both words leave at once.
void Agent::ReportOutcome(std::uint32_t kind, std::uint32_t epoch, const Status& status) const {
  if (status.ok()) return Report(kind, epoch, 0);
  const std::string_view text = status.message().substr(0, kTroubleBytesMax);
  const AgentWord word{AgentWord::kTrouble, epoch, text.size()};
  std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  bytes += text;
  static_cast<void>(WriteToPipe(pipes_.reports, bytes));
}

}  // namespace lamina::quiesce
