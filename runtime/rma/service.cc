// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/service.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/rma/lock_note.h"
#include "runtime/rma/locks.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"

namespace lamina::rma {

using datatype::Run;

namespace {

template <class Value>
std::vector<std::byte> BytesOf(const Value& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {bytes, bytes + sizeof value};
}

const Datatype* Bytes() { return datatype::FindDatatype(MPI_BYTE); }

// How many bytes the runs have, or -1 if they make no sense. A run has at most kRequestDataBytesMax
// bytes unless it is answered, so sums of them cannot overflow once each was looked at.
std::int64_t TotalOf(std::span<const Run> runs) {
  std::int64_t total = 0;
  for (const Run& run : runs) {
    std::int64_t bytes = 0;
    if (run.bytes <= 0 || run.count <= 0 || __builtin_mul_overflow(run.bytes, run.count, &bytes) ||
        __builtin_add_overflow(total, bytes, &total))
      return -1;
  }
  return total;
}

}  // namespace

Service::Service(Messages* messages, Locks* locks, Block* block, std::size_t self,
                 const Served& served)
    : messages_(messages),
      locks_(locks),
      block_(block),
      self_(self),
      served_(served),
      buffer_(kRequestBytesMax) {
  Listen();
}

Service::~Service() {
  listening_->watcher = nullptr;
  if (!listening_->complete && !p2p::Cancel(listening_)) p2p::Wait(listening_);
  core::FreeRequest(listening_);
}

void Service::Listen() {
  listening_ = core::NewRequest(messages_->comm());
  listening_->watcher = this;
  p2p::PrepareReceive(listening_, messages_->At(MPI_ANY_SOURCE, kRequestTag),
                      {buffer_.data(), static_cast<std::int64_t>(buffer_.size()), Bytes()});
  p2p::Start(listening_);
}

// The next request is listened for when this one is done with, so requests keep their order.
void Service::Advance() {
  while (listening_->complete) {
    const Rank origin = listening_->source;
    const int error = listening_->error;
    const auto bytes = static_cast<std::size_t>(listening_->bytes);
    core::FreeRequest(listening_);
    if (error == MPI_SUCCESS) Serve(origin, {buffer_.data(), bytes});
    Listen();
  }
}

void Service::Serve(Rank origin, std::span<std::byte> message) {
  Parsed request;
  if (message.size() < sizeof request.header)
    return Log(Level::kWarn, "rma", "dropped a request of %zu bytes from rank %d", message.size(),
               origin);
  std::memcpy(&request.header, message.data(), sizeof request.header);
  const std::size_t run_bytes = request.header.runs * sizeof(Run);
  message = message.subspan(sizeof request.header);
  if (request.header.runs > kRequestRunsMax || run_bytes > message.size() ||
      request.header.bytes != message.size() - run_bytes)
    return Log(Level::kWarn, "rma", "dropped a request that is cut short from rank %d", origin);
  request.runs.resize(request.header.runs);
  if (run_bytes != 0) std::memcpy(request.runs.data(), message.data(), run_bytes);
  request.data = message.subspan(run_bytes);
  trace::Count(trace::Counter::kRequestsServed);
  const int error = CarryOut(origin, &request);
  if (error != MPI_SUCCESS) errors_.try_emplace(origin, error);
}

int Service::CarryOut(Rank origin, Parsed* request) {
  const RequestHeader& header = request->header;
  switch (header.kind) {
    case Kind::kLock:
      AskForLock(origin, header);
      return MPI_SUCCESS;
    case Kind::kUnlock:
    case Kind::kFlush: {
      int error = header.kind == Kind::kUnlock ? Unlock(origin) : static_cast<int>(MPI_SUCCESS);
      if (header.answer_tag == 0) return MPI_SUCCESS;
      if (const auto first = errors_.find(origin); first != errors_.end()) {
        error = first->second;
        errors_.erase(first);
      }
      Answer(origin, header.answer_tag, error);
      return MPI_SUCCESS;
    }
    case Kind::kLooseLocks:
      TryLocks();
      return MPI_SUCCESS;
    case Kind::kLookAround:
      if (header.nested != 0)
        locks_->LookAround();
      else
        LookAround();
      return MPI_SUCCESS;
    case Kind::kDescribe:
      Describe(origin, header.answer_tag);
      return MPI_SUCCESS;
    case Kind::kPut:
    case Kind::kGet:
    case Kind::kAccumulate:
    case Kind::kSwap:
      break;
    default:
      Log(Level::kWarn, "rma", "dropped a request of no known kind from rank %d", origin);
      return MPI_SUCCESS;
  }
  Place place;
  int error = Find(*request, &place);
  if (error == MPI_SUCCESS && !Allows(*request, place)) error = MPI_ERR_RMA_RANGE;
  if (error == MPI_SUCCESS) {
    if (header.kind == Kind::kGet) return ServeGet(origin, *request, place);
    if (header.kind == Kind::kAccumulate) error = ServeAccumulate(origin, *request, place);
    if (header.kind == Kind::kSwap) error = ServeSwap(origin, *request, place);
    if (header.kind == Kind::kPut &&
        TotalOf(request->runs) != static_cast<std::int64_t>(request->data.size()))
      error = MPI_ERR_INTERN;
    else if (header.kind == Kind::kPut)
      error = Put(place, {0, nullptr, request->runs},
                  {request->data.data(), static_cast<std::int64_t>(request->data.size()), Bytes()});
  }
  // An origin that waits for an answer gets an empty one, and the error with its next flush.
  if (error != MPI_SUCCESS && header.answer_tag != 0)
    messages_->Send(origin, header.answer_tag, {});
  return error;
}

// Every byte of the runs must lie within the window, or within what was attached.
int Service::Find(const Parsed& request, Place* place) const {
  const std::int64_t total = TotalOf(request.runs);
  const bool in_one_piece = request.runs.size() == 1 && request.runs[0].count == 1;
  if (total < 0 || (total > kAnswerBytesMax && !in_one_piece)) return MPI_ERR_INTERN;
  std::int64_t start = 0;
  if (__builtin_mul_overflow(request.header.displacement, served_.disp_unit, &start))
    return MPI_ERR_RMA_RANGE;
  for (const Run& run : request.runs)
    for (const std::int64_t piece : {std::int64_t{0}, run.count - 1}) {
      std::int64_t begin = 0, end = 0;
      if (__builtin_mul_overflow(piece, run.stride, &begin) ||
          __builtin_add_overflow(begin, run.offset, &begin) ||
          __builtin_add_overflow(begin, start, &begin) ||
          __builtin_add_overflow(begin, run.bytes, &end))
        return MPI_ERR_RMA_RANGE;
      if (served_.attached == nullptr && (begin < 0 || end > served_.size))
        return MPI_ERR_RMA_RANGE;
    }
  if (served_.attached != nullptr)
    for (const Run& run : request.runs)
      for (std::int64_t i = 0; i < run.count; ++i)
        if (!served_.attached->Holds(
                static_cast<std::uint64_t>(start + run.offset + i * run.stride),
                static_cast<std::uint64_t>(run.bytes)))
          return MPI_ERR_RMA_RANGE;
  place->memory = datatype::At(served_.base, start);
  place->offset = static_cast<std::uint64_t>(start);
  return MPI_SUCCESS;
}

// The application's memory may be read only, or no memory at all.
bool Service::Allows(const Parsed& request, const Place& place) {
  if (served_.is_ours) return true;
  const RequestHeader& header = request.header;
  const bool reads =
      header.kind == Kind::kGet ||
      (header.kind == Kind::kAccumulate &&
       header.op == static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(MPI_NO_OP)));
  const Right right = reads ? Right::kRead : Right::kWrite;
  return std::ranges::all_of(request.runs, [&](const Run& run) {
    // Pieces that do not run backwards are first taken for one, with what is between them.
    const std::int64_t last = (run.count - 1) * run.stride;
    if (last >= 0 && served_.attached == nullptr)
      return guard_.Allows(datatype::At(place.memory, run.offset),
                           static_cast<std::size_t>(last + run.bytes), right);
    for (std::int64_t i = 0; i < run.count; ++i)
      if (!guard_.Allows(datatype::At(place.memory, run.offset + i * run.stride),
                         static_cast<std::size_t>(run.bytes), right))
        return false;
    return true;
  });
}

// A device does not ask whether memory may be written, so all of the window must be.
[[gnu::cold]] void Service::Describe(Rank origin, int tag) {
  const std::span<std::byte> memory(served_.base, static_cast<std::size_t>(served_.size));
  const bool writable =
      served_.is_ours || guard_.Allows(memory.data(), memory.size(), Right::kWrite);
  transport::OneSided* const device = p2p::OneSidedTo(messages_->comm()->peers[origin]);
  if (!std::exchange(was_asked_, true) && device != nullptr && writable && !memory.empty() &&
      served_.attached == nullptr) {
    auto exposed = device->Expose(memory);
    if (exposed.ok())
      exposed_ = *std::move(exposed);
    else
      Log(Level::kInfo, "rma", "a window is reached by messages: %s",
          std::string(exposed.status().message()).c_str());
  }
  std::vector<std::byte> answer;
  if (exposed_ != nullptr) {
    answer = BytesOf(Description{served_.size, served_.disp_unit});
    const std::span<const std::byte> key = exposed_->key();
    answer.insert(answer.end(), key.begin(), key.end());
  }
  if (answer.size() > kDescriptionBytesMax) answer.clear();
  messages_->Send(origin, tag, std::move(answer));
}

// Data that lies in one piece is sent from where it is.
int Service::ServeGet(Rank origin, const Parsed& request, const Place& place) {
  const std::int64_t bytes = TotalOf(request.runs);
  if (request.runs.size() == 1 && request.runs[0].count == 1) {
    messages_->SendLent(
        origin, request.header.answer_tag,
        {datatype::At(place.memory, request.runs[0].offset), static_cast<std::size_t>(bytes)});
    return MPI_SUCCESS;
  }
  std::vector<std::byte> answer(static_cast<std::size_t>(bytes));
  const int error = Get(place, {0, nullptr, request.runs}, {answer.data(), bytes, Bytes()});
  messages_->Send(origin, request.header.answer_tag, std::move(answer));
  return error;
}

int Service::ServeAccumulate(Rank origin, const Parsed& request, const Place& place) {
  const RequestHeader& header = request.header;
  const datatype::Op* const op =
      datatype::FindOp(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(header.op)));
  const Datatype* const basic = datatype::FindBasic(static_cast<datatype::Basic>(header.basic),
                                                    static_cast<datatype::Basic>(header.value),
                                                    static_cast<datatype::Basic>(header.index));
  if (op == nullptr || basic == nullptr) return MPI_ERR_INTERN;
  const bool is_no_op = datatype::HandleOf(op) == MPI_NO_OP;
  const bool combines = !is_no_op && datatype::HandleOf(op) != MPI_REPLACE;
  const std::int64_t bytes = TotalOf(request.runs);
  if ((combines && !datatype::Fits(*op, *basic)) || bytes % basic->size != 0 ||
      bytes > static_cast<std::int64_t>(kRequestDataBytesMax) ||
      (!is_no_op && bytes != static_cast<std::int64_t>(request.data.size())))
    return MPI_ERR_INTERN;
  Accumulation it{op, basic, {request.data.data(), bytes, Bytes()}, {}};
  std::vector<std::byte> old;
  if (header.answer_tag != 0) {
    old.resize(static_cast<std::size_t>(bytes));
    it.result = {old.data(), bytes, Bytes()};
  }
  const int error = Accumulate(place, {0, nullptr, request.runs}, it, Zones());
  if (error == MPI_SUCCESS && header.answer_tag != 0)
    messages_->Send(origin, header.answer_tag, std::move(old));
  return error;
}

int Service::ServeSwap(Rank origin, const Parsed& request, const Place& place) {
  const std::size_t bytes = request.data.size() / 2;
  if (request.runs.size() != 1 || TotalOf(request.runs) != static_cast<std::int64_t>(bytes))
    return MPI_ERR_INTERN;
  Place element = place;
  element.memory = datatype::At(place.memory, request.runs[0].offset);
  element.offset += static_cast<std::uint64_t>(request.runs[0].offset);
  std::vector<std::byte> old(bytes);
  const int error = CompareAndSwap(
      element, {request.data.data(), request.data.data() + bytes, old.data(), bytes}, Zones());
  if (error == MPI_SUCCESS) messages_->Send(origin, request.header.answer_tag, std::move(old));
  return error;
}

// An origin has one lock at a time, since what it gives back has no name but its own.
void Service::AskForLock(Rank origin, const RequestHeader& header) {
  const int type = header.lock_type;
  const bool known =
      type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED || type == kLockAllOfNode;
  if (!known || held_.contains(origin) ||
      std::ranges::find(asked_, origin, &Asked::origin) != asked_.end()) {
    Log(Level::kWarn, "rma", "dropped a request for a lock from rank %d: %s", origin,
        known ? "it has asked before" : "it is of no known type");
    return Answer(origin, header.answer_tag, MPI_ERR_RMA_SYNC);
  }
  Asked asked{origin, header.answer_tag, type, 0, 0, Asked::Stage::kHasTicket};
  NodeWord& word = locks_->header().word;
  const bool nested = header.nested != 0;
  if (asked.type == kLockAllOfNode) {
    asked.stage = word.Enter(Side::kAll, nested, &asked.phase) ? Asked::Stage::kEntered
                                                               : Asked::Stage::kEnters;
  } else if (asked.type == MPI_LOCK_EXCLUSIVE &&
             !word.Enter(Side::kExclusive, nested, &asked.phase)) {
    asked.stage = Asked::Stage::kEnters;
  } else {
    asked.ticket = locks_->lock(self_).Draw();
  }
  asked_.push_back(asked);
  TryLocks();
}

// True: the lock is held.
bool Service::TryLock(Asked* asked) {
  if (asked->stage == Asked::Stage::kEnters) {
    if (!locks_->header().word.HasCome(asked->phase)) return false;
    asked->stage = Asked::Stage::kEntered;
    if (asked->type != kLockAllOfNode) {
      asked->ticket = locks_->lock(self_).Draw();
      asked->stage = Asked::Stage::kHasTicket;
    }
  }
  if (asked->type == kLockAllOfNode) return true;
  return asked->type == MPI_LOCK_EXCLUSIVE ? locks_->lock(self_).TryExclusive(asked->ticket)
                                           : locks_->lock(self_).TryShared(asked->ticket);
}

// Each lock that is held may be what the next one waits for.
void Service::TryLocks() {
  if (!asked_.empty()) locks_->SetFarWaits(true);
  bool shared = false;
  for (bool moved = true; moved;) {
    moved = false;
    for (auto asked = asked_.begin(); asked != asked_.end();) {
      if (!TryLock(&*asked)) {
        ++asked;
        continue;
      }
      held_[asked->origin] = asked->type;
      if (asked->type == MPI_LOCK_EXCLUSIVE) locks_->SetHolder(self_, asked->origin);
      shared = shared || asked->type == MPI_LOCK_SHARED;
      Answer(asked->origin, asked->answer_tag, MPI_SUCCESS);
      asked = asked_.erase(asked);
      moved = true;
    }
  }
  if (locks_->IsBroken()) {
    for (const Asked& asked : asked_) Answer(asked.origin, asked.answer_tag, MPI_ERR_PROC_ABORTED);
    asked_.clear();
  }
  if (asked_.empty()) {
    locks_->SetFarWaits(false);
    if (std::exchange(noted_, false)) Forget(&CurrentEventRing()->queued, *messages_->comm());
  }
  if (shared) locks_->Announce();
}

void Service::LookAround() {
  if (!asked_.empty()) {
    const int type = asked_.front().type;
    Note(&CurrentEventRing()->queued, *messages_->comm(), type, messages_->comm()->rank,
         locks_->KeeperOf(self_, type));
    noted_ = true;
  }
  const bool gone = std::any_of(held_.begin(), held_.end(),
                                [&](const auto& held) { return messages_->IsGone(held.first); }) ||
                    std::any_of(asked_.begin(), asked_.end(), [&](const Asked& asked) {
                      return messages_->IsGone(asked.origin);
                    });
  if (gone) locks_->Break();
}

int Service::Unlock(Rank origin) {
  const auto held = held_.find(origin);
  if (held == held_.end()) return MPI_ERR_RMA_SYNC;
  const int type = held->second;
  held_.erase(held);
  if (type == kLockAllOfNode)
    locks_->LeaveNode();
  else
    locks_->Unlock(self_, type);
  return MPI_SUCCESS;
}

void Service::Answer(Rank origin, int tag, int error_class) {
  messages_->Send(origin, tag, BytesOf(Verdict{error_class}));
}

}  // namespace lamina::rma
