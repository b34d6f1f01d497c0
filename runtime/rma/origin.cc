// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/origin.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/p2p/awaited.h"
#include "runtime/rma/lock_note.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"

namespace lamina::rma {

using core::Request;
using datatype::Run;

namespace {

const Datatype* Bytes() { return datatype::FindDatatype(MPI_BYTE); }

void CountFramed(const Goal& goal) {
  trace::Count(trace::Counter::kFramedAccesses);
  trace::Count(trace::Counter::kFramedBytes, static_cast<std::uint64_t>(goal.bytes()));
}

// Cuts the runs of a goal into requests of at most `bytes_max` bytes and about kRequestRunsMax
// runs, each of whole elements of `grain` bytes. An element has at most two runs.
template <class Emit>
class Cutter {
 public:
  Cutter(std::int64_t bytes_max, std::int64_t grain, const Emit& emit)
      : bytes_max_(bytes_max / grain * grain), grain_(grain), emit_(emit) {}

  void Add(Run run) {
    while (run.count > 0) {
      const std::int64_t whole = std::min((bytes_max_ - bytes_) / run.bytes, run.count);
      if (whole > 0) {
        Append({run.offset, run.bytes, run.stride, whole});
        run.offset += whole * run.stride;
        run.count -= whole;
        continue;
      }
      AddLong(run.offset, run.bytes);
      run.offset += run.stride;
      --run.count;
    }
  }
  void Finish() {
    if (bytes_ == 0) return;
    emit_(std::span<const Run>(runs_), bytes_);
    runs_.clear();
    bytes_ = 0;
  }

 private:
  // One piece that does not fit the request that is being made.
  void AddLong(std::int64_t offset, std::int64_t bytes) {
    while (bytes > 0) {
      const std::int64_t here = std::min(bytes_max_ - bytes_, bytes);
      Append({offset, here, 0, 1});
      offset += here;
      bytes -= here;
    }
  }
  void Append(const Run& run) {
    runs_.push_back(run);
    bytes_ += run.bytes * run.count;
    if (bytes_ == bytes_max_ || (runs_.size() >= kRequestRunsMax - 1 && bytes_ % grain_ == 0))
      Finish();
  }

  const std::int64_t bytes_max_;
  const std::int64_t grain_;
  const Emit& emit_;
  std::vector<Run> runs_;
  std::int64_t bytes_ = 0;
};

template <class Emit>
void Cut(const Goal& goal, std::int64_t bytes_max, std::int64_t grain, const Emit& emit) {
  Cutter<Emit> cutter(bytes_max, grain, emit);
  datatype::ForEachRun(goal.count, *goal.type, [&cutter](const Run& run) {
    cutter.Add(run);
    return true;
  });
  cutter.Finish();
}

}  // namespace

Fetch::Fetch(Messages* messages, Rank target, const Buffer& into, Request* owner)
    : messages_(messages), target_(target), into_(into), owner_(owner) {
  datatype::Retain(const_cast<Datatype*>(into_.type));
}

Fetch::~Fetch() { datatype::Release(const_cast<Datatype*>(into_.type)); }

void Fetch::Expect(int tag, std::int64_t bytes) {
  Answer& answer = answers_.emplace_back();
  answer.position = expected_;
  answer.bytes = bytes;
  expected_ += bytes;
  std::byte* data = nullptr;
  if (into_.contiguous()) {
    data = into_.data() + answer.position;
  } else {
    answer.staging.resize(static_cast<std::size_t>(bytes));
    data = answer.staging.data();
  }
  answer.request = core::NewRequest(messages_->comm());
  answer.request->watcher = this;
  p2p::PrepareReceive(answer.request, messages_->At(target_, tag), {data, bytes, Bytes()});
  p2p::Start(answer.request);
}

void Fetch::Seal() {
  sealed_ = true;
  Advance();
}

// A target that refuses sends an answer without data.
void Fetch::Advance() {
  for (auto answer = answers_.begin(); answer != answers_.end();) {
    Request* const request = answer->request;
    if (!request->complete) {
      ++answer;
      continue;
    }
    if (error_ == MPI_SUCCESS)
      error_ = request->error != MPI_SUCCESS     ? request->error
               : request->bytes != answer->bytes ? static_cast<int>(MPI_ERR_RMA_RANGE)
                                                 : static_cast<int>(MPI_SUCCESS);
    if (error_ == MPI_SUCCESS) datatype::Unpack(answer->staging, answer->position, into_);
    core::FreeRequest(request);
    answer = answers_.erase(answer);
  }
  if (!sealed_ || !answers_.empty() || done_) return;
  done_ = true;
  if (owner_ != nullptr) core::Finish(owner_, error_);
  p2p::Disturb();
}

void Origin::Touch(Rank target) {
  if (std::find(touched_.begin(), touched_.end(), target) == touched_.end())
    touched_.push_back(target);
}

// Sends a request with `bytes` packed bytes from `position` on of each buffer in `data`.
void Origin::Ask(Rank target, RequestHeader header, std::span<const Run> runs,
                 std::span<const Buffer> data, std::int64_t position, std::int64_t bytes) {
  header.runs = static_cast<std::uint32_t>(runs.size());
  header.bytes = static_cast<std::uint64_t>(bytes) * data.size();
  std::vector<std::byte> message(sizeof header + runs.size_bytes() + header.bytes);
  std::byte* at = message.data();
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  if (!runs.empty()) std::memcpy(at, runs.data(), runs.size_bytes());
  at += runs.size_bytes();
  for (const Buffer& buffer : data) {
    datatype::Pack(buffer, position, {at, static_cast<std::size_t>(bytes)});
    at += bytes;
  }
  messages_->WaitForRoom(kRequestsUnderWayMax);
  messages_->Send(target, kRequestTag, std::move(message));
}

// Asks the target for the key of its memory if nobody has.
Device::Target* Origin::ReachByDevice(const Goal& goal, std::int64_t* offset) {
  bool must_ask = false;
  Device::Target* const target = device_.Reach(goal, offset, &must_ask);
  if (!must_ask) return target;
  RequestHeader header;
  header.kind = Kind::kDescribe;
  header.answer_tag = NextTag();
  device_.AwaitDescription(goal.target, header.answer_tag);
  Touch(goal.target);
  Ask(goal.target, header, {}, {}, 0, 0);
  return nullptr;
}

int Origin::Put(const Goal& goal, const Buffer& from, bool stays) {
  std::int64_t offset = 0;
  if (uses_device_)
    if (Device::Target* const target = ReachByDevice(goal, &offset); target != nullptr)
      return device_.Put(target, offset, from, stays);
  CountFramed(goal);
  Touch(goal.target);
  RequestHeader header;
  header.kind = Kind::kPut;
  header.displacement = goal.displacement;
  std::int64_t position = 0;
  Cut(goal, kRequestDataBytesMax, 1, [&](std::span<const Run> runs, std::int64_t bytes) {
    Ask(goal.target, header, runs, {&from, 1}, position, bytes);
    position += bytes;
  });
  return MPI_SUCCESS;
}

Fetch* Origin::NewFetch(Rank target, const Buffer& into, Request* owner) {
  fetches_.push_back(std::make_unique<Fetch>(messages_, target, into, owner));
  return fetches_.back().get();
}

// Data that lies in one piece at the target comes in one answer of any length.
int Origin::Get(const Goal& goal, const Buffer& into, Request* owner) {
  std::int64_t offset = 0;
  if (uses_device_ && goal.bytes() != 0)
    if (Device::Target* const target = ReachByDevice(goal, &offset); target != nullptr)
      return device_.Get(target, offset, into, owner);
  CountFramed(goal);
  Touch(goal.target);
  RequestHeader header;
  header.kind = Kind::kGet;
  header.displacement = goal.displacement;
  Fetch* const fetch = NewFetch(goal.target, into, owner);
  const std::int64_t bytes_max = goal.type->contiguous ? goal.bytes() : kAnswerBytesMax;
  Cut(goal, bytes_max, 1, [&](std::span<const Run> runs, std::int64_t bytes) {
    header.answer_tag = NextTag();
    fetch->Expect(header.answer_tag, bytes);
    Ask(goal.target, header, runs, {}, 0, 0);
  });
  fetch->Seal();
  return MPI_SUCCESS;
}

int Origin::Accumulate(const Goal& goal, const Accumulation& it, Request* owner) {
  CountFramed(goal);
  Touch(goal.target);
  RequestHeader header;
  header.kind = Kind::kAccumulate;
  header.displacement = goal.displacement;
  header.op = static_cast<std::uint8_t>(it.op->predefined_handle);
  header.basic = static_cast<std::uint8_t>(it.basic->basic);
  header.value = static_cast<std::uint8_t>(it.basic->value);
  header.index = static_cast<std::uint8_t>(it.basic->index);
  const bool sends = datatype::HandleOf(it.op) != MPI_NO_OP;
  Fetch* const fetch =
      it.result.type != nullptr ? NewFetch(goal.target, it.result, owner) : nullptr;
  std::int64_t position = 0;
  Cut(goal, kRequestDataBytesMax, it.basic->size,
      [&](std::span<const Run> runs, std::int64_t bytes) {
        header.answer_tag = fetch != nullptr ? NextTag() : 0;
        if (fetch != nullptr) fetch->Expect(header.answer_tag, bytes);
        Ask(goal.target, header, runs, {&it.operand, sends ? std::size_t{1} : 0}, position,
            sends ? bytes : 0);
        position += bytes;
      });
  if (fetch != nullptr) fetch->Seal();
  return MPI_SUCCESS;
}

int Origin::CompareAndSwap(const Goal& goal, const Swap& it) {
  CountFramed(goal);
  Touch(goal.target);
  RequestHeader header;
  header.kind = Kind::kSwap;
  header.displacement = goal.displacement;
  header.answer_tag = NextTag();
  const auto bytes = static_cast<std::int64_t>(it.bytes);
  const Buffer elements[] = {{const_cast<void*>(it.expected), bytes, Bytes()},
                             {const_cast<void*>(it.desired), bytes, Bytes()}};
  const Run run{0, bytes, 0, 1};
  Fetch* const fetch = NewFetch(goal.target, {it.result, bytes, Bytes()}, nullptr);
  fetch->Expect(header.answer_tag, bytes);
  fetch->Seal();
  Ask(goal.target, header, {&run, 1}, elements, 0, bytes);
  return MPI_SUCCESS;
}

int Origin::WaitForFetches(Rank target) {
  const int moved = device_.FlushLocal(target);
  struct Wait {
    Origin* self;
    Rank target;
  } wait{this, target};
  const auto all_done = [](void* argument) {
    const auto* it = static_cast<Wait*>(argument);
    return std::all_of(it->self->fetches_.begin(), it->self->fetches_.end(),
                       [it](const std::unique_ptr<Fetch>& fetch) {
                         return fetch->done() ||
                                (it->target != kEveryone && fetch->target() != it->target);
                       });
  };
  if (!all_done(&wait)) p2p::WaitUntil(all_done, &wait);
  int error = moved;
  for (auto fetch = fetches_.begin(); fetch != fetches_.end();) {
    if (!(*fetch)->done()) {
      ++fetch;
      continue;
    }
    if (error == MPI_SUCCESS) error = (*fetch)->error();
    fetch = fetches_.erase(fetch);
  }
  return error;
}

// Nobody answers puts, so it is for their messages to say that a target is gone.
int Origin::FlushTouched(Rank target) {
  const int error = WaitForFetches(target);
  if (error != MPI_SUCCESS || !messages_->any_lost()) return error;
  const bool gone = std::any_of(touched_.begin(), touched_.end(), [&](Rank each) {
    return (target == kEveryone || each == target) && messages_->IsGone(each);
  });
  return gone ? static_cast<int>(MPI_ERR_PROC_ABORTED) : error;
}

// Asks something that is answered by a verdict.
Request* Origin::Question(Kind kind, Rank target, int lock_type, bool nested, Verdict* verdict) {
  RequestHeader header;
  header.kind = kind;
  header.answer_tag = NextTag();
  header.lock_type = lock_type;
  header.nested = nested ? 1 : 0;
  Request* const answer = core::NewRequest(messages_->comm());
  p2p::PrepareReceive(answer, messages_->At(target, header.answer_tag),
                      {verdict, sizeof *verdict, Bytes()});
  p2p::Start(answer);
  Ask(target, header, {}, {}, 0, 0);
  return answer;
}

void Origin::ReleaseLock(Rank target) {
  RequestHeader header;
  header.kind = Kind::kUnlock;
  Ask(target, header, {}, {}, 0, 0);
}

// Asks all targets first and then waits for them all, so that it takes one round trip.
int Origin::AskAndWait(Kind kind, std::span<const Rank> targets) {
  struct Answer {
    Request* request;
    Verdict verdict;
  };
  std::list<Answer> answers;
  for (const Rank target : targets) {
    Answer& answer = answers.emplace_back();
    answer.request = Question(kind, target, 0, false, &answer.verdict);
  }
  int error = MPI_SUCCESS;
  for (Answer& answer : answers) {
    p2p::Wait(answer.request);
    if (error == MPI_SUCCESS) error = answer.request->error;
    if (error == MPI_SUCCESS) error = answer.verdict.error_class;
    core::FreeRequest(answer.request);
  }
  return error;
}

void Origin::AskToLookAround(Rank target) {
  RequestHeader header;
  header.kind = Kind::kLookAround;
  header.nested = 1;
  Ask(target, header, {}, {}, 0, 0);
}

int Origin::Lock(Rank target, int type, bool nested) {
  Verdict verdict;
  struct Wait {
    Request* request;
    std::uint64_t until_ms;
  } wait{AskForLock(target, type, nested, &verdict), 0};
  const auto is_over = [](void* argument) {
    const auto* it = static_cast<Wait*>(argument);
    return it->request->complete || MonotonicMs() >= it->until_ms;
  };
  LockNote* const note = &CurrentEventRing()->waits;
  const p2p::OneWait one_wait;
  while (!wait.request->complete) {
    if (wait.until_ms != 0) {
      Note(note, *messages_->comm(), type, target, {});
      AskToLookAround(target);
    }
    wait.until_ms = MonotonicMs() + kAskAroundMs;
    p2p::WaitUntil(is_over, &wait);
  }
  Forget(note, *messages_->comm());
  int error = wait.request->error;
  if (error == MPI_SUCCESS) error = verdict.error_class;
  core::FreeRequest(wait.request);
  return error;
}

// Another thread's flush that is under way may have begun before this thread's last access.
bool Origin::MustFlush(Rank target) {
  return std::erase(touched_, target) != 0 ||
         std::find(flushing_.begin(), flushing_.end(), target) != flushing_.end();
}

// The targets are noted while it lasts.
int Origin::AskForFlush(std::span<const Rank> targets) {
  flushing_.insert(flushing_.end(), targets.begin(), targets.end());
  const int error = AskAndWait(Kind::kFlush, targets);
  for (const Rank target : targets)
    flushing_.erase(std::find(flushing_.begin(), flushing_.end(), target));
  return error;
}

int Origin::Unlock(Rank target) {
  int fetched = device_.Flush(target);
  const int answered = WaitForFetches(target);
  if (fetched == MPI_SUCCESS) fetched = answered;
  std::erase(touched_, target);
  const int error = AskAndWait(Kind::kUnlock, {&target, 1});
  return error != MPI_SUCCESS ? error : fetched;
}

int Origin::Flush(Rank target) {
  const int moved = device_.Flush(target);
  if (!MustFlush(target)) {
    const int fetched = WaitForFetches(target);
    return moved != MPI_SUCCESS ? moved : fetched;
  }
  int error = AskForFlush({&target, 1});
  if (error == MPI_SUCCESS) error = moved;
  const int fetched = WaitForFetches(target);
  return error != MPI_SUCCESS ? error : fetched;
}

int Origin::FlushAll() {
  const int moved = device_.Flush(kEveryone);
  std::vector<Rank> targets = std::exchange(touched_, {});
  for (const Rank target : flushing_)
    if (std::find(targets.begin(), targets.end(), target) == targets.end())
      targets.push_back(target);
  int error = AskForFlush(targets);
  if (error == MPI_SUCCESS) error = moved;
  const int fetched = WaitForFetches(kEveryone);
  return error != MPI_SUCCESS ? error : fetched;
}

}  // namespace lamina::rma
