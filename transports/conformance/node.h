// SPDX-License-Identifier: BSD-3-Clause
// One process of a test: a transport, its endpoints, and an Inbox that checks what arrives.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/node_memory.h"
#include "transports/conformance/configurations.h"
#include "transports/transport.h"

namespace lamina::conformance {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Longest a test waits for something that must happen.
inline constexpr milliseconds kPatience{20000};

// Test frames: header word 0 is the frame's number between the two, from 1; word 1 its bytes; the
// payload follows from both.
std::vector<std::byte> PatternOf(std::uint64_t number, std::size_t bytes);

// Frames must come from each peer in order, whole and unchanged; everything else is written down.
class CheckingInbox final : public transport::Inbox {
 public:
  PeerId Identify(transport::ProcessName name) override;
  void Arrived(PeerId from, const transport::Header& header,
               std::span<const std::byte> payload) override;
  void Offered(PeerId from, const transport::Header& header, std::size_t bytes,
               transport::Parcel* parcel) override;
  void Lost(PeerId peer, Status why) override;
  // Fetches what was offered first and kept.
  void AcceptKept();
  void DropKept();

  std::map<PeerId, std::uint64_t> arrived;  // frames from each peer
  std::map<PeerId, std::string> lost;       // and what was said
  std::function<void(PeerId)> on_arrival;   // may send
  bool keep = false;                        // what is offered waits for AcceptKept() or DropKept()
  std::uint64_t offered = 0;
  std::uint64_t fetched = 0;
  std::uint64_t failed = 0;  // was to be fetched, and the peer was lost
  std::uint64_t identified = 0;

 private:
  struct Kept : transport::Completion {
    CheckingInbox* inbox;
    transport::Parcel* parcel;
    std::uint64_t number;
    std::vector<std::byte> place;
  };
  static void Fetched(transport::Completion* kept, Code code);

  std::list<Kept> kept_;
  std::list<Kept> fetching_;
};

class Node {
 public:
  // The process with this PeerId; its name is the same number plus 1000.
  Node(const Configuration& configuration, std::uint32_t id, std::uint32_t nodes);

  bool ok() const { return transport_ != nullptr; }
  transport::Transport& transport() { return *transport_; }
  CheckingInbox& inbox() { return inbox_; }
  transport::Endpoint& to(std::uint32_t id) { return *endpoints_.at(id); }
  std::vector<std::byte> Address();
  Status Connect(std::uint32_t id, std::span<const std::byte> address);
  void Disconnect(std::uint32_t id) { endpoints_.erase(id); }
  // Nothing but the inbox is left.
  void End() {
    endpoints_.clear();
    transport_.reset();
  }

  // The payload of the next frame to `id`, for those who send it themselves.
  std::vector<std::byte> Next(std::uint32_t id, std::size_t bytes) {
    return PatternOf(++sent_[id], bytes);
  }
  std::uint64_t sent(std::uint32_t id) { return sent_[id]; }
  // The next frame to `id`, as the inbox there expects it. Tries once.
  Code TrySend(std::uint32_t id, std::size_t bytes);
  // Until it is accepted; `meanwhile` runs after each refusal.
  Code Send(std::uint32_t id, std::size_t bytes, const std::function<void()>& meanwhile = {});
  // Progresses and sleeps on the bell until `done`; false when patience runs out. A wake that was
  // lost shows as a sleep that lasted: `longest_sleep`.
  bool SleepUntil(const std::function<bool()>& done, milliseconds patience = kPatience);
  bool PollUntil(const std::function<bool()>& done, milliseconds patience = kPatience);
  // Arms, sleeps at most `limit`, disarms. False: it was told not to sleep.
  bool SleepOnce(milliseconds limit);

  // Sleeps on an armed bell; false: it did not ring within `limit`.
  bool WaitFor(const transport::Bell& bell, milliseconds limit);

  milliseconds longest_sleep{0};

 private:
  const Configuration configuration_;
  Environment environment_;
  param::Settings settings_;
  std::unique_ptr<NodeMemory> node_memory_;
  CheckingInbox inbox_;
  std::unique_ptr<transport::Transport> transport_;
  std::map<std::uint32_t, std::unique_ptr<transport::Endpoint>> endpoints_;
  std::map<std::uint32_t, std::uint64_t> sent_;
};

// Runs `body`, unless the configuration says that the running test is unsupported. If it says that
// the test fails, a pass is the failure.
void RunUnderExceptions(const Configuration& configuration, const std::function<void()>& body);

}  // namespace lamina::conformance
