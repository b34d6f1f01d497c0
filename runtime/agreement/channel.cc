// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement/channel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/base/fnv.h"
#include "runtime/datatype/datatype.h"
#include "runtime/p2p/p2p.h"

namespace lamina::agreement {
namespace {

using core::Request;
using datatype::Buffer;

Buffer BytesAt(const void* address, std::size_t count) {
  return {const_cast<void*>(address), static_cast<std::int64_t>(count),
          datatype::FindDatatype(MPI_BYTE)};
}

// A stray is a sealed message that arrived at a process that waits for another text with the same
// tag.
struct Stray {
  Rank from;
  int tag;
  std::vector<std::byte> sealed;
};
std::vector<Stray>& Strays() {
  static std::vector<Stray>* const strays = new std::vector<Stray>;
  return *strays;
}

// True if the message is about this text.
bool HasSeal(std::span<const std::byte> bytes, std::string_view key) {
  std::uint32_t length;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length == key.size() && bytes.size() >= sizeof length + key.size() &&
         std::memcmp(bytes.data() + sizeof length, key.data(), key.size()) == 0;
}

void TakeSealOff(std::string_view key, std::vector<std::byte>* bytes) {
  const std::size_t seal = sizeof(std::uint32_t) + key.size();
  bytes->erase(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(seal));
}

bool IsFor(const Stray& stray, const p2p::Envelope& from, std::string_view key) {
  return stray.from == from.peer && stray.tag == from.tag && HasSeal(stray.sealed, key);
}

bool TakeStray(const p2p::Envelope& from, std::string_view key, std::vector<std::byte>* bytes) {
  std::vector<Stray>& strays = Strays();
  const auto stray = std::find_if(strays.begin(), strays.end(),
                                  [&](const Stray& at) { return IsFor(at, from, key); });
  if (stray == strays.end()) return false;
  *bytes = std::move(stray->sealed);
  strays.erase(stray);
  TakeSealOff(key, bytes);
  return true;
}

struct Search {
  p2p::Envelope from;
  std::string_view key;
};

// True if something is there that may be the message, or if none will come. It is quick and has no
// effect; see p2p::WaitUntil.
bool MayBeThere(void* argument) {
  const Search& search = *static_cast<Search*>(argument);
  if (!search.key.empty())
    for (const Stray& stray : Strays())
      if (IsFor(stray, search.from, search.key)) return true;
  return p2p::IsThere(search.from) || p2p::IsGone(search.from);
}

int ReceiveRaw(const p2p::Envelope& from, p2p::Message* message, const MPI_Status& status,
               std::vector<std::byte>* bytes) {
  const auto count = static_cast<std::size_t>(core::StatusBytes(status));
  bytes->resize(count);
  Request* request = core::NewRequest(from.comm);
  p2p::StartMatchedReceive(request, message, BytesAt(bytes->data(), count));
  p2p::Wait(request);
  const int error = request->error;
  core::FreeRequest(request);
  return error;
}

}  // namespace

Channel::Channel(std::string key)
    : comm_(core::everybody),
      context_(core::everybody->MakingContext()),
      tag_(static_cast<int>(Fnv64(key) & 0x7fffffffu)),
      key_(std::move(key)) {}

std::vector<std::byte> Channel::Sealed(std::span<const std::byte> bytes) const {
  std::vector<std::byte> sealed;
  if (!key_.empty()) {
    const auto length = static_cast<std::uint32_t>(key_.size());
    const auto* at = reinterpret_cast<const std::byte*>(&length);
    sealed.insert(sealed.end(), at, at + sizeof length);
    at = reinterpret_cast<const std::byte*>(key_.data());
    sealed.insert(sealed.end(), at, at + key_.size());
  }
  sealed.insert(sealed.end(), bytes.begin(), bytes.end());
  return sealed;
}

int Channel::Send(Rank to, std::span<const std::byte> bytes) const {
  const std::vector<std::byte> sealed = Sealed(bytes);
  return p2p::Send({comm_, context_, to, tag_}, BytesAt(sealed.data(), sealed.size()),
                   Request::Mode::kStandard);
}

int Channel::Receive(Rank from, std::vector<std::byte>* bytes) const {
  Search search{{comm_, context_, from, tag_}, key_};
  for (;;) {
    p2p::WaitUntil(MayBeThere, &search);
    if (!key_.empty() && TakeStray(search.from, key_, bytes)) return MPI_SUCCESS;
    MPI_Status status;
    p2p::Message* message = p2p::Probe(search.from, true, &status);
    if (message == nullptr && p2p::IsGone(search.from)) return MPI_ERR_PROC_ABORTED;
    if (message == nullptr) continue;  // another thread was quicker
    const int error = ReceiveRaw(search.from, message, status, bytes);
    if (error != MPI_SUCCESS || key_.empty()) return error;
    if (HasSeal(*bytes, key_)) {
      TakeSealOff(key_, bytes);
      return MPI_SUCCESS;
    }
    Strays().push_back({from, tag_, std::move(*bytes)});
    p2p::Disturb();  // another thread may wait for it
    bytes->clear();
  }
}

int Channel::Swap(Rank with, std::span<const std::byte> mine,
                  std::vector<std::byte>* theirs) const {
  const std::vector<std::byte> sealed = Sealed(mine);
  Request* sending = core::NewRequest(comm_);
  p2p::PrepareSend(sending, {comm_, context_, with, tag_}, BytesAt(sealed.data(), sealed.size()),
                   Request::Mode::kStandard);
  p2p::Start(sending);
  const int error = Receive(with, theirs);
  p2p::Wait(sending);
  const int sent = sending->error;
  core::FreeRequest(sending);
  return error != MPI_SUCCESS ? error : sent;
}

Members Everyone(const core::Comm& comm) {
  return {comm.size, comm.rank, [](int member) { return member; }};
}

Members MembersOf(const core::Group& group) {
  return {group.size(), group.self,
          [&group](int member) { return static_cast<Rank>(Index(group.peers[member])); }};
}

Members MembersOf(const core::Group& group, const core::Comm& parent) {
  return {group.size(), group.self, [&group, &parent](int member) {
            const auto& peers = parent.group->peers;
            return static_cast<Rank>(std::find(peers.begin(), peers.end(), group.peers[member]) -
                                     peers.begin());
          }};
}

// Whoever does not hear says so by an empty message, so that all go on who wait below it.
int Spread(const Channel& channel, const Members& members, int root,
           std::vector<std::byte>* bytes) {
  const int position = (members.self - root + members.count) % members.count;
  const auto rank_at = [&](int at) { return members.rank_of((at + root) % members.count); };
  int mask = 1;
  while (mask < members.count && (position & mask) == 0) mask <<= 1;
  int error = MPI_SUCCESS;
  if (position != 0) error = channel.Receive(rank_at(position - mask), bytes);
  if (error != MPI_SUCCESS) bytes->clear();
  if (error == MPI_SUCCESS && bytes->empty()) error = MPI_ERR_PROC_ABORTED;
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (position + mask >= members.count) continue;
    const int sent = channel.Send(rank_at(position + mask), *bytes);
    if (error == MPI_SUCCESS) error = sent;
  }
  return error;
}

int AgreeContext(const Channel& channel, const Members& members, ContextId* context) {
  std::vector<std::byte> told(sizeof *context);
  if (members.self == 0) {
    const ContextId made = p2p::NewContext();
    std::memcpy(told.data(), &made, sizeof made);
  }
  const int error = Spread(channel, members, 0, &told);
  if (error != MPI_SUCCESS) return error;
  if (told.size() != sizeof *context) return MPI_ERR_INTERN;
  std::memcpy(context, told.data(), sizeof *context);
  return MPI_SUCCESS;
}

std::string KeyOf(std::string_view tag, const core::Group& group) {
  const std::string_view members(reinterpret_cast<const char*>(group.peers.data()),
                                 group.peers.size() * sizeof group.peers[0]);
  return std::string(tag) + '\0' + std::to_string(Fnv64(members));
}

}  // namespace lamina::agreement
