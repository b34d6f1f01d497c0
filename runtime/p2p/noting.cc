// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/noting.h"

#include <cstring>

#include "runtime/base/event_ring.h"
#include "runtime/base/text.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/note_word.h"
#include "runtime/p2p/partitioned.h"

namespace lamina::p2p {
namespace {

using core::Comm;
using core::Request;

constinit thread_local const Awaited* awaited_now = nullptr;
constinit thread_local std::uint64_t one_wait_since_ms = 0;  // 0: each wait is one

// Writes a note into the ring. A reader sees by `sequence` that it is not finished.
class Pen {
 public:
  Pen(WaitNote& note, const Request* awaited) : note_(note), awaited_(awaited) {
    note_.sequence.store(note_.sequence.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    note_.comms = note_.entries = note_.left_out = note_.members = 0;
  }
  void Finish(WaitNote::State state, std::uint64_t since_ms) {
    note_.since_ms = since_ms;
    note_.call = CurrentEventRing()->call.load(std::memory_order_relaxed);
    note_.state.store(state, std::memory_order_relaxed);
    note_.sequence.store(note_.sequence.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
  }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  void Add(const Awaited& awaited) {
    const bool probes = awaited.kind == Awaited::Kind::kProbe;
    NotedEntry* const entry =
        Next(probes ? NotedEntry::kProbe : NotedEntry::kBoard, awaited.comm, awaited.rank);
    if (entry == nullptr) return;
    if (!probes) entry->comm = FindBoard(awaited);
    entry->flags = NotedEntry::kAwaited;
    entry->plane = probes ? NotedEntry::kPointToPoint : NotedEntry::kCollective;
    entry->tag = probes && awaited.tag != MPI_ANY_TAG ? awaited.tag : NotedEntry::kAny;
    entry->number = awaited.number;
  }
  void Add(const Request* request) {
    const bool sends = request->type == Request::Type::kSend;
    NotedEntry* const entry =
        Next(sends ? NotedEntry::kSend : NotedEntry::kReceive, request->comm, request->peer);
    if (entry == nullptr) return;
    const bool part = awaited_ != nullptr && awaited_->activity != nullptr &&
                      request->comm == awaited_->comm && request->context != request->comm->context;
    if (request == awaited_ || part) entry->flags |= NotedEntry::kAwaited;
    if (request->asked_back) entry->flags |= NotedEntry::kAskedBack;
    entry->plane = static_cast<std::uint8_t>(Index(request->context) % kPlanes);
    entry->tag = request->match_tag == MPI_ANY_TAG ? NotedEntry::kAny : request->match_tag;
    entry->bytes = static_cast<std::uint64_t>(request->buffer.bytes());
  }
  // A partition of a send that nobody has marked ready.
  void AddNotReady(const Request* request, int partition) {
    NotedEntry* const entry = Next(NotedEntry::kSend, request->comm, request->peer);
    if (entry == nullptr) return;
    entry->flags = NotedEntry::kAwaited | NotedEntry::kNotReady;
    entry->plane = NotedEntry::kPartitioned;
    entry->tag = partition;
  }
  void Add(ContextId context, const Message& message) {
    NotedEntry* const entry = Next(NotedEntry::kUnexpected, nullptr, message.source);
    if (entry == nullptr) return;
    entry->plane = static_cast<std::uint8_t>(Index(context) % kPlanes);
    entry->peer = Index(message.from);
    entry->tag = message.tag;
    entry->bytes = message.bytes;
    // A message knows its context alone, of which something else may have named the communicator.
    entry->number = Index(context) - entry->plane;
  }

 private:
  NotedEntry* Next(NotedEntry::Kind kind, const Comm* comm, Rank rank) {
    if (note_.entries >= WaitNote::kEntries) {
      ++note_.left_out;
      return nullptr;
    }
    NotedEntry& entry = note_.entry[note_.entries++];
    entry = {};
    entry.kind = kind;
    entry.comm = comm != nullptr && kind != NotedEntry::kBoard ? Find(*comm) : NotedEntry::kNoComm;
    entry.rank = rank >= 0 ? rank : NotedEntry::kAny;
    const bool known = comm != nullptr && rank >= 0 && rank < comm->destinations;
    entry.peer = known ? Index(comm->peers[rank]) : NotedEntry::kNobody;
    return &entry;
  }
  // An operation between two groups waits for the members of the other one.
  std::uint8_t Find(const Comm& comm) {
    return Find(Index(comm.context), comm, static_cast<std::uint32_t>(comm.destinations),
                [&](std::uint32_t i) { return Index(comm.peers[i]); });
  }
  // Those at a board are a communicator of their own to whoever reads the note.
  std::uint8_t FindBoard(const Awaited& awaited) {
    return Find(Index(awaited.comm->CollectiveContext()), *awaited.comm,
                static_cast<std::uint32_t>(awaited.board.size()),
                [&](std::uint32_t i) { return Index(awaited.comm->peers[awaited.board[i]]); });
  }
  template <class PeerAt>
  std::uint8_t Find(std::uint64_t context, const Comm& comm, std::uint32_t size,
                    const PeerAt& peer_at) {
    for (std::uint32_t at = 0; at < note_.comms; ++at)
      if (note_.comm[at].context == context) return static_cast<std::uint8_t>(at);
    if (note_.comms >= WaitNote::kComms) return NotedEntry::kNoComm;
    NotedComm& noted = note_.comm[note_.comms];
    noted.context = context;
    noted.size = size;
    std::memset(noted.name, 0, sizeof noted.name);
    // The end of a file's name tells more than its folders.
    std::string_view name = comm.name;
    constexpr std::string_view kCut = "...";
    if (name.starts_with('/') && name.size() >= sizeof noted.name) {
      kCut.copy(noted.name, kCut.size());
      name.remove_prefix(name.size() - (sizeof noted.name - 1 - kCut.size()));
      while (!name.empty() && (name.front() & 0xc0) == 0x80) name.remove_prefix(1);
      name.copy(noted.name + kCut.size(), name.size());
    } else {
      WholeCharacters(name, sizeof noted.name - 1).copy(noted.name, sizeof noted.name - 1);
    }
    NoteMembers(&noted, peer_at);
    return static_cast<std::uint8_t>(note_.comms++);
  }
  template <class PeerAt>
  void NoteMembers(NotedComm* noted, const PeerAt& peer_at) {
    const std::uint32_t size = noted->size;
    noted->first = size == 0 ? 0 : peer_at(0);
    noted->stride = size < 2 ? 1 : peer_at(1) - peer_at(0);
    bool regular = noted->stride < NotedComm::kUnlisted;
    for (std::uint32_t i = 0; i < size && regular; ++i)
      regular = peer_at(i) == noted->first + i * noted->stride;
    if (regular) return;
    noted->stride = NotedComm::kUnlisted;
    if (size > WaitNote::kMembers - note_.members) return;
    noted->stride = NotedComm::kListed;
    noted->first = note_.members;
    for (std::uint32_t i = 0; i < size; ++i) note_.member[note_.members++] = peer_at(i);
  }

  WaitNote& note_;
  const Request* const awaited_;
};

}  // namespace

Awaiting::Awaiting(const Awaited& awaited) : before_(awaited_now) { awaited_now = &awaited; }
Awaiting::~Awaiting() { awaited_now = before_; }
const Awaited* AwaitedNow() { return awaited_now; }

OneWait::OneWait() : before_(one_wait_since_ms) { one_wait_since_ms = WaitingSinceMs(); }
OneWait::~OneWait() { one_wait_since_ms = before_; }
std::uint64_t WaitingSinceMs() {
  return one_wait_since_ms != 0 ? one_wait_since_ms : NoteClockMs();
}

// What is waited for comes first, then what waits for others, so that it is there if there is no
// room for all.
void NoteOpen(Engine& engine, WaitNote::State state, std::uint64_t since_ms,
              const Request* awaited) {
  if (awaited_now != nullptr && awaited_now->kind == Awaited::Kind::kNothing) return;
  Pen pen(CurrentEventRing()->wait, awaited);
  const auto add = [&](const Request* request) {
    if (request != awaited) pen.Add(request);
  };
  if (awaited_now != nullptr) pen.Add(*awaited_now);
  const bool plain = awaited != nullptr && (awaited->type == Request::Type::kSend ||
                                            awaited->type == Request::Type::kReceive);
  if (plain) pen.Add(awaited);
  const int partitions = awaited != nullptr ? SendPartitions(*awaited) : -1;
  for (int partition = 0; partition < partitions; ++partition)
    if (!IsReady(*awaited, partition)) {
      pen.AddNotReady(awaited, partition);
      break;
    }
  engine.EachOpenSend(add);
  engine.delivery().spaces().EachPosted(add);
  engine.delivery().spaces().EachUnexpected(
      [&](ContextId context, const Message& message) { pen.Add(context, message); });
  pen.Finish(state, since_ms);
}

}  // namespace lamina::p2p
