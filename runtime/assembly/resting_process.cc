// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/resting_process.h"

#include <fcntl.h>

#include <cstdlib>
#include <utility>

#include "runtime/base/event_ring.h"
#include "runtime/base/text.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/p2p/lifetime.h"

namespace lamina::assembly {

RestingProcess::RestingProcess(core::Process* process, TransportsStart transports,
                               const bool* has_left)
    : process_(process),
      transports_(std::move(transports)),
      has_left_(has_left),
      rest_(process, process->engine) {}

std::string RestingProcess::WhyNot() {
  if (process_->engine == nullptr) return "it is ending";
  if (process_->unsaved_count == 0) return "";
  return Format("it has used %s, and what that has made cannot be saved yet",
                process_->unsaved_call);
}

quiesce::Library::Sums RestingProcess::Settle(const quiesce::Cut& cut) {
  epoch_ = cut.epoch;
  if (!std::exchange(still_, true)) rest_.Begin(cut.epoch, cut.ended);
  const p2p::Rest::Sums sums = rest_.Settle();
  return {sums.all_sent, sums.sent, sums.received};
}

// Cards of processes that have let go must not be read any more, so the bootstrap is left as well.
Status RestingProcess::LetGo() {
  let_go_ = true;
  timers_.Note();
  rest_.LetGo();
  process_->node_memory.reset();
  return process_->bootstrap != nullptr && !*has_left_ ? process_->bootstrap->Leave() : Status();
}

// libpmix reads the environment itself. Variables that are there already are exchanged by one store
// of the C library, which harms no thread that reads them; others are for this library alone, but
// for those of libpmix. A name without a value stands for a variable that is not wanted any more.
void RestingProcess::Change(std::span<const std::string> changes) {
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals == change.npos) {
      process_->environment.Unset(change);
      continue;
    }
    const std::string name = change.substr(0, equals), value = change.substr(equals + 1);
    if (process_->environment.Get(name) || name.starts_with("PMIX_"))
      setenv(name.c_str(), value.c_str(), 1);
    process_->environment.Set(name, value);
    if (name == kMovedEventRingVariable) MoveEventRing(open(value.c_str(), O_RDWR | O_CLOEXEC));
  }
}

Status RestingProcess::TakeUp(std::span<const std::string> changes) {
  Change(changes);
  if (!changes.empty()) timers_.Restore();  // it was revived
  if (std::exchange(let_go_, false)) {
    const bool takes_part = process_->bootstrap != nullptr && !*has_left_;
    if (takes_part)
      if (Status status = process_->bootstrap->Return(epoch_); !status.ok()) return status;
    if (process_->bootstrap != nullptr) process_->identity = process_->bootstrap->identity();
    if (Status status = StartTransports(transports_, process_, process_->engine); !status.ok())
      return status;
    if (takes_part && process_->identity.job_ranks > 1)
      if (Status status = p2p::PublishCard(process_->engine); !status.ok()) return status;
  }
  if (std::exchange(still_, false)) rest_.End();
  return {};
}

}  // namespace lamina::assembly
