// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/wait_note.h"

#include <unistd.h>

#include <cstring>
#include <memory>

#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

constexpr int kAttempts = 10;

// What precedes the lists of a copy.
struct Head {
  std::uint32_t state;
  std::uint32_t left_out;
  std::uint64_t since_ms;
  std::uint32_t comms;
  std::uint32_t entries;
  std::uint32_t members;
  std::uint32_t call;
};

bool Fits(std::uint32_t comms, std::uint32_t entries, std::uint32_t members) {
  return comms <= WaitNote::kComms && entries <= WaitNote::kEntries &&
         members <= WaitNote::kMembers;
}

template <class Item>
std::string_view Bytes(const Item* first, std::size_t count) {
  return {reinterpret_cast<const char*>(first), count * sizeof(Item)};
}

// Takes `count` items from the front of `copy`.
template <class Item>
void Take(std::string_view* copy, std::uint32_t count, std::vector<Item>* items) {
  items->resize(count);
  if (count > 0) std::memcpy(items->data(), copy->data(), count * sizeof(Item));
  copy->remove_prefix(count * sizeof(Item));
}

}  // namespace

std::string CopyWaitNote(int ring) {
  const auto note = std::make_unique<WaitNote>();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t after = 0;
    if (pread(ring, note.get(), sizeof *note, offsetof(EventRing, wait)) != sizeof *note ||
        pread(ring, &after, sizeof after, offsetof(EventRing, wait)) != sizeof after)
      return "";
    if (after != note->sequence || after % 2 != 0) continue;
    if (note->state == WaitNote::kNone || !Fits(note->comms, note->entries, note->members))
      return "";
    const Head head{note->state,   note->left_out, note->since_ms, note->comms,
                    note->entries, note->members,  note->call};
    std::string copy(Bytes(&head, 1));
    copy += Bytes(note->comm, note->comms);
    copy += Bytes(note->entry, note->entries);
    copy += Bytes(note->member, note->members);
    return copy;
  }
  return "";
}

WaitSeen DecodeWaitNote(std::string_view copy) {
  Head head;
  if (copy.size() < sizeof head) return {};
  std::memcpy(&head, copy.data(), sizeof head);
  copy.remove_prefix(sizeof head);
  if (!Fits(head.comms, head.entries, head.members) || head.state > WaitNote::kTests ||
      copy.size() != head.comms * sizeof(NotedComm) + head.entries * sizeof(NotedEntry) +
                         head.members * sizeof(std::uint32_t))
    return {};
  WaitSeen seen;
  seen.state = static_cast<WaitNote::State>(head.state);
  seen.left_out = head.left_out;
  seen.call = head.call;
  seen.since_ms = head.since_ms;
  Take(&copy, head.comms, &seen.comms);
  Take(&copy, head.entries, &seen.entries);
  Take(&copy, head.members, &seen.members);
  for (NotedComm& comm : seen.comms) comm.name[sizeof comm.name - 1] = '\0';
  for (NotedEntry& entry : seen.entries)
    if (entry.comm >= seen.comms.size()) entry.comm = NotedEntry::kNoComm;
  return seen;
}

std::vector<std::uint32_t> WaitSeen::MembersOf(const NotedComm& comm) const {
  std::vector<std::uint32_t> all;
  if (comm.stride == NotedComm::kUnlisted) return all;
  const bool listed = comm.stride == NotedComm::kListed;
  if (listed && (comm.first > members.size() || comm.size > members.size() - comm.first))
    return all;
  // No job has more processes than this.
  constexpr std::uint32_t kSizeMax = 1u << 20;
  for (std::uint32_t i = 0; i < comm.size && i < kSizeMax; ++i)
    all.push_back(listed ? members[comm.first + i] : comm.first + i * comm.stride);
  return all;
}

}  // namespace lamina
