// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/device.h"

#include <mpi.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/datatype/runs.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/request.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"

namespace lamina::rma {

using core::Request;

namespace {

const datatype::Datatype* Bytes() { return datatype::FindDatatype(MPI_BYTE); }

// Where the goal's data begins, seen from its address, if it is in one piece.
std::optional<std::int64_t> OnePiece(const Goal& goal) {
  std::optional<std::int64_t> begin;
  const bool whole = datatype::ForEachRun(goal.count, *goal.type, [&](const datatype::Run& run) {
    if (begin || run.count != 1) return false;
    begin = run.offset;
    return true;
  });
  return whole ? begin : std::nullopt;
}

}  // namespace

// What is under way. It deletes itself at its end.
struct Device::Move : transport::Completion {
  Target* target = nullptr;
  std::vector<std::byte> staging;
  Buffer into;  // of a get; otherwise it has no type
  Request* owner = nullptr;
};

void Device::Ended(transport::Completion* completion, Code code) {
  const std::unique_ptr<Move> move(static_cast<Move*>(completion));
  Target* const target = move->target;
  --target->pending;
  const int error = code == Code::kOk ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED;
  if (error != MPI_SUCCESS && target->error == MPI_SUCCESS) target->error = error;
  if (move->into.type != nullptr) {
    if (error == MPI_SUCCESS && !move->into.contiguous())
      datatype::Unpack(move->staging, 0, move->into);
    datatype::Release(const_cast<datatype::Datatype*>(move->into.type));
  }
  if (move->owner != nullptr) core::Finish(move->owner, error);
  p2p::Disturb();
}

Device::~Device() {
  for (auto& [rank, target] : targets_) {
    if (target.answer == nullptr) continue;
    if (!target.answer->complete && !p2p::Cancel(target.answer)) p2p::Wait(target.answer);
    core::FreeRequest(target.answer);
  }
}

Device::Target* Device::Reach(const Goal& goal, std::int64_t* offset, bool* must_ask) {
  *must_ask = false;
  const std::optional<std::int64_t> begin = OnePiece(goal);
  if (!begin) return nullptr;
  Target& target = targets_[goal.target];
  if (target.state == Target::State::kUnknown) {
    const bool reaches = p2p::OneSidedTo(messages_->comm()->peers[goal.target]) != nullptr;
    target.state = reaches ? Target::State::kAsked : Target::State::kNot;
    *must_ask = reaches;
  } else if (target.state == Target::State::kAsked && target.answer->complete) {
    TakeDescription(&target);
  }
  if (target.state != Target::State::kReached) return nullptr;
  // What is out of range is for the target to say, as where it is reached by messages.
  if (__builtin_mul_overflow(goal.displacement, target.disp_unit, offset) ||
      __builtin_add_overflow(*offset, *begin, offset) || *offset < 0 || *offset > target.size ||
      goal.bytes() > target.size - *offset)
    return nullptr;
  return target.remote || Open(&target, goal.target) ? &target : nullptr;
}

[[gnu::cold]] void Device::AwaitDescription(Rank rank, int tag) {
  Target& target = targets_[rank];
  target.description.resize(kDescriptionBytesMax);
  target.answer = core::NewRequest(messages_->comm());
  p2p::PrepareReceive(
      target.answer, messages_->At(rank, tag),
      {target.description.data(), static_cast<std::int64_t>(kDescriptionBytesMax), Bytes()});
  p2p::Start(target.answer);
}

// An empty description says that there is no way.
[[gnu::cold]] void Device::TakeDescription(Target* target) {
  Description head;
  const Request& answer = *target->answer;
  const bool has_one =
      answer.error == MPI_SUCCESS && answer.bytes >= static_cast<std::int64_t>(sizeof head);
  target->description.resize(has_one ? static_cast<std::size_t>(answer.bytes) : 0);
  target->state = has_one ? Target::State::kReached : Target::State::kNot;
  core::FreeRequest(std::exchange(target->answer, nullptr));
  if (!has_one) return;
  std::memcpy(&head, target->description.data(), sizeof head);
  target->size = head.size;
  target->disp_unit = head.disp_unit;
}

// Only an access opens, and it is waited for. A connection that nobody waits for may still be
// under way when the processes end, and UCX 1.13 then aborts the one that was connected to.
[[gnu::cold]] bool Device::Open(Target* target, Rank rank) {
  const std::vector<std::byte> description = std::exchange(target->description, {});
  target->state = Target::State::kNot;
  transport::OneSided* const device = p2p::OneSidedTo(messages_->comm()->peers[rank]);
  if (device == nullptr) return false;
  auto remote = device->Open(std::span(description).subspan(sizeof(Description)));
  if (!remote.ok() || static_cast<std::uint64_t>(target->size) > (*remote)->bytes()) {
    Log(Level::kInfo, "rma", "memory of rank %d of a window is reached by messages: %s", rank,
        remote.ok() ? "its key is of less memory" : std::string(remote.status().message()).c_str());
    return false;
  }
  target->remote = *std::move(remote);
  target->state = Target::State::kReached;
  return true;
}

template <class Begin>
int Device::Start(Target* target, Move* move, const Begin& begin) {
  move->done = Ended;
  move->target = target;
  target->touched = true;
  ++target->pending;
  Code code;
  while ((code = begin()) == Code::kAgain) p2p::Progress();
  if (code == Code::kOk) return MPI_SUCCESS;
  // The request of a get that failed is its caller's.
  move->owner = nullptr;
  Ended(move, code);
  return MPI_ERR_PROC_ABORTED;
}

int Device::Put(Target* target, std::int64_t offset, const Buffer& from, bool stays) {
  auto* const move = new Move;
  std::span<const std::byte> data;
  if (stays && from.contiguous()) {
    data = {from.data(), static_cast<std::size_t>(from.bytes())};
  } else {
    move->staging.resize(static_cast<std::size_t>(from.bytes()));
    datatype::Pack(from, 0, move->staging);
    data = move->staging;
  }
  trace::Count(trace::Counter::kDeviceAccesses);
  trace::Count(trace::Counter::kDeviceBytes, data.size());
  return Start(target, move,
               [&] { return target->remote->Put(static_cast<std::uint64_t>(offset), data, move); });
}

int Device::Get(Target* target, std::int64_t offset, const Buffer& into, Request* owner) {
  auto* const move = new Move;
  std::span<std::byte> data(into.contiguous() ? into.data() : nullptr,
                            into.contiguous() ? static_cast<std::size_t>(into.bytes()) : 0);
  if (!into.contiguous()) {
    move->staging.resize(static_cast<std::size_t>(into.bytes()));
    data = move->staging;
  }
  move->into = into;
  move->owner = owner;
  datatype::Retain(const_cast<datatype::Datatype*>(into.type));
  trace::Count(trace::Counter::kDeviceAccesses);
  trace::Count(trace::Counter::kDeviceBytes, data.size());
  return Start(target, move,
               [&] { return target->remote->Get(static_cast<std::uint64_t>(offset), data, move); });
}

template <class Visit>
void Device::Each(Rank target, const Visit& visit) {
  if (target == kEveryone) {
    for (auto& [rank, each] : targets_) visit(&each);
  } else if (const auto found = targets_.find(target); found != targets_.end()) {
    visit(&found->second);
  }
}

int Device::WaitFor(Rank target) {
  struct Wait {
    Device* self;
    Rank target;
  } wait{this, target};
  const auto over = [](void* argument) {
    const auto* it = static_cast<Wait*>(argument);
    bool all = true;
    it->self->Each(it->target, [&](Target* each) { all = all && each->pending == 0; });
    return all;
  };
  if (!over(&wait)) p2p::WaitUntil(over, &wait);
  int error = MPI_SUCCESS;
  Each(target, [&](Target* each) {
    if (error == MPI_SUCCESS) error = each->error;
    each->error = MPI_SUCCESS;
  });
  return error;
}

// Another thread's flush that is under way may have begun before this thread's last access.
int Device::FlushNow(Rank target) {
  std::vector<Target*> flushed;
  Each(target, [&](Target* each) {
    if (std::exchange(each->touched, false) || each->flushing != 0) flushed.push_back(each);
  });
  for (Target* const each : flushed) {
    ++each->flushing;
    auto* const move = new Move;
    static_cast<void>(Start(each, move, [&] { return each->remote->Flush(move); }));
    each->touched = false;
  }
  const int error = WaitFor(target);
  for (Target* const each : flushed) --each->flushing;
  return error;
}

}  // namespace lamina::rma
