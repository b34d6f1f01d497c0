// SPDX-License-Identifier: BSD-3-Clause
// The target's side of access by messages: carries out what others ask for, whenever this process
// progresses. Nothing that a message says is believed before it was checked against the window.
//
// It listens with one receive from anybody. Locks that are not free queue here on behalf of their
// origins, with a ticket like everybody's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/core/activity.h"
#include "runtime/core/request.h"
#include "runtime/rma/block.h"
#include "runtime/rma/guard.h"
#include "runtime/rma/messages.h"
#include "runtime/rma/place.h"
#include "runtime/rma/request.h"
#include "transports/one_sided.h"

namespace lamina::rma {

class Locks;

// What the service has to know of the window of its process.
struct Served {
  std::byte* base = nullptr;
  std::int64_t size = 0;
  std::int64_t disp_unit = 1;
  const AttachTable* attached = nullptr;  // of a dynamic window; otherwise null
  bool is_ours = false;                   // MPI allocated it, so all of it can be written
};

class Service final : public core::Activity {
 public:
  Service(Messages* messages, Locks* locks, Block* block, std::size_t self, const Served& served);
  ~Service() override;

  void Advance() override;
  // Asks for the locks that queue here once more, because one was released.
  void TryLocks();
  // Looks whether the processes live for which it keeps locks, or places in queues, and notes that
  // they wait.
  void LookAround();
  // The application has taken memory out of a dynamic window.
  void Detached() { guard_.Forget(); }

 private:
  // A lock that an origin has asked for.
  struct Asked {
    enum class Stage : std::uint8_t { kEnters, kEntered, kHasTicket };
    Rank origin;
    int answer_tag;
    int type;
    std::uint16_t phase;  // of the node's word, while it enters
    std::uint32_t ticket;
    Stage stage;
  };
  struct Parsed {
    RequestHeader header;
    std::vector<datatype::Run> runs;
    std::span<std::byte> data;
  };

  void Listen();
  void Serve(Rank origin, std::span<std::byte> message);
  int CarryOut(Rank origin, Parsed* request);
  int Find(const Parsed& request, Place* place) const;
  bool Allows(const Parsed& request, const Place& place);
  int ServeGet(Rank origin, const Parsed& request, const Place& place);
  int ServeAccumulate(Rank origin, const Parsed& request, const Place& place);
  int ServeSwap(Rank origin, const Parsed& request, const Place& place);
  void AskForLock(Rank origin, const RequestHeader& header);
  void Describe(Rank origin, int tag);
  bool TryLock(Asked* asked);
  int Unlock(Rank origin);
  void Answer(Rank origin, int tag, int error_class);
  Exclusion Zones() { return {block_, self_, self_}; }

  Messages* const messages_;
  Locks* const locks_;
  Block* const block_;
  const std::size_t self_;
  const Served served_;
  Guard guard_;
  bool was_asked_ = false;                       // how a device reaches the window
  std::unique_ptr<transport::Exposed> exposed_;  // null: none does
  std::vector<std::byte> buffer_;
  core::Request* listening_ = nullptr;
  std::list<Asked> asked_;
  bool noted_ = false;                    // that somebody waits
  std::unordered_map<Rank, int> held_;    // by origin: the type of its lock
  std::unordered_map<Rank, int> errors_;  // by origin: the first one that it has not been told
};

}  // namespace lamina::rma
