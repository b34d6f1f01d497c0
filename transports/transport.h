// SPDX-License-Identifier: BSD-3-Clause
// One way for bytes to leave this process.
//
// A Transport is one device seen by one process; an Endpoint is one peer seen through it. It moves
// frames and nothing else: no communicators, no ranks, no tags, no datatypes. What a frame means is
// the business of runtime/p2p, which receives it through an Inbox.
//
// Ownership:  an Endpoint dies before its Transport.
// Threads:    one thread at a time per Transport; Wake() alone may come from any.
// Allocation: none after Connect() returns, except inside the device's own library.
// Progress:   caller-driven. Nothing arrives and no Completion runs unless Progress() is called,
//             and only from inside it (or from inside the call that was given the Completion).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/ids.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/param.h"
#include "runtime/base/sharing.h"
#include "runtime/base/status.h"
#include "runtime/component/component.h"

namespace lamina::transport {

class OneSided;  // one_sided.h

// The name of a process: its job namespace (hashed) in the high half, its PMIx rank in the low
// half. A frame's sender is known by this name until the Inbox has given it a PeerId.
enum class ProcessName : std::uint64_t {};

// Every frame starts with this, which transports do not interpret. It is short enough to share a
// cache line with the transport's own word and a short payload.
struct Header {
  std::uint64_t words[2];
};

struct Frame {
  Header header;
  std::span<const std::byte> payload;
};

// It is told once, when a borrowed buffer is free again or a transfer has ended. It is part of its
// owner.
struct Completion {
  // kOk, kPeerLost or kCancelled. May run inside the call that was given the completion.
  void (*done)(Completion* self, Code code) = nullptr;
};

// A frame of SendZeroCopy that was announced and still lies with its sender.
//
// Ownership: the Inbox that is offered one calls Accept() or Drop(), once, before the transport
// ends.
class Parcel {
 public:
  // Fetches all of it. `into` has as many bytes as were offered and belongs to the parcel until
  // `done`, which may run inside the call and is told kOk or kPeerLost.
  virtual void Accept(std::span<std::byte> into, Completion* done) = 0;
  // Says that nobody wants it. The sender is told that it is done.
  virtual void Drop() = 0;

 protected:
  ~Parcel() = default;
};

// The receiver of frames. Transport::Progress() alone calls it, and it may send in its turn.
class Inbox {
 public:
  virtual ~Inbox() = default;
  // Returns the peer with that name. It is asked once for each new incoming connection.
  virtual PeerId Identify(ProcessName name) = 0;
  // A frame has arrived; `payload` is valid during the call only.
  virtual void Arrived(PeerId from, const Header& header, std::span<const std::byte> payload) = 0;
  // A frame of `bytes` bytes was announced and can be delivered into place.
  virtual void Offered(PeerId from, const Header& header, std::size_t bytes, Parcel* parcel) = 0;
  // Nothing more will come from or go to `peer` through this transport. At most once per peer.
  virtual void Lost(PeerId peer, Status why) = 0;
  // `peer` has said that it reads nothing more (Transport::SetReading). At most once per peer.
  virtual void Left(PeerId peer) { static_cast<void>(peer); }
};

// What one endpoint can do. It is asked once after Connect() and copied; 0: the verb is absent.
struct EndpointCaps {
  std::uint32_t short_bytes_max = 0;      // SendShort payload limit, at least 256
  std::uint32_t eager_bytes_max = 0;      // up to here SendShort beats a rendezvous; <= the above
  std::uint64_t zero_copy_bytes_max = 0;  // SendZeroCopy payload limit
  std::uint64_t get_bytes_max = 0;        // Get limit
};

// Memory of a peer that may be fetched with Get.
struct Region {
  std::uint64_t address;
  std::uint64_t bytes;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual EndpointCaps caps() const = 0;
  // Copies `frame` before returning. kAgain: no room; call Progress() and retry. kPeerLost.
  // Frames sent to one peer arrive, or are offered, in the order of their acceptance.
  virtual Code SendShort(const Frame& frame) = 0;
  // Borrows `frame.payload`, which is not empty, until the peer has it; Inbox::Offered there.
  // kAgain: not accepted.
  virtual Code SendZeroCopy(const Frame& frame, Completion* done) = 0;
  // Fetches `into.size()` bytes starting `offset` bytes into `from`. kAgain: not accepted.
  // kDenied: the operating system forbids it (caps().get_bytes_max is 0 from now on).
  virtual Code Get(const Region& from, std::uint64_t offset, std::span<std::byte> into,
                   Completion* done) = 0;
  // How the peer's memory is reached without its processor, and this process's memory by the peer.
  // Null: not through this transport. The transport owns it.
  virtual OneSided* one_sided() = 0;
};

// How to sleep until something happens: until a word of shared memory changes (futex), or until a
// descriptor becomes readable.
struct Bell {
  const std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t value = 0;  // sleep while *word == value
  int descriptor = -1;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // The bytes that peers need to connect. They are published on this process's card, and only this
  // transport interprets them.
  virtual Result<std::vector<std::byte>> LocalAddress() = 0;
  // kUnsupported: that peer cannot be reached this way, because it is on another node for example;
  // the message says why.
  virtual Result<std::unique_ptr<Endpoint>> Connect(PeerId peer,
                                                    std::span<const std::byte> remote) = 0;
  // Handles at most `events_max` events, never blocks, returns how many it handled.
  virtual std::uint32_t Progress(std::uint32_t events_max) = 0;

  // Announces that the caller is about to sleep and fills `bell`. kAgain: something has arrived
  // meanwhile, call Progress() instead. `need_descriptor`: the caller waits on several transports,
  // so bell.descriptor must be filled; else bell.word suffices if the transport has one.
  virtual Code Arm(bool need_descriptor, Bell* bell) = 0;
  // The caller is awake again.
  virtual void Disarm() = 0;
  // Ends the sleep of the thread that armed. Any thread.
  virtual void Wake() = 0;
  // True when everything accepted so far has left this process, so that it may end. This must not
  // depend on the progress of a peer that has received all it was sent.
  virtual bool Drained() = 0;
  // This process will not call Progress() again, or does so once more after all. Where peers would
  // not see that, they are told.
  virtual void SetReading(bool reads) { static_cast<void>(reads); }
};

// What a transport component may look at when it is asked and made.
struct Context {
  const param::Settings* settings = nullptr;
  const Environment* environment = nullptr;
  ProcessName self{};
  std::string node;               // short host name
  std::uint32_t local_ranks = 1;  // processes of the job on this node
  std::uint32_t job_ranks = 1;
  Sharing sharing = Sharing::kExclusive;
  NodeMemory* node_memory = nullptr;  // null: there is none; outlives the transport
  Inbox* inbox = nullptr;             // outlives the transport
};

// How far away the peers may be that a transport reaches.
enum class Reach : std::uint8_t { kProcess, kNode, kNetwork };

// What is known of a transport before it is made. Assembly decides by it whether a job needs it.
struct Facts {
  Reach reach = Reach::kNetwork;
  bool costs_to_start = false;  // starting it takes so much that a job which can do without does
};

using Component = component::Component<Transport, Context, Facts>;
using Registry = component::Registry<Transport, Context, Facts>;

}  // namespace lamina::transport
