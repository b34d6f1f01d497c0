// SPDX-License-Identifier: BSD-3-Clause
// UCX once it runs: one context, one worker, and everything that is under way.
//
// Threads: one at a time; Signal() alone may come from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "transports/transport.h"
#include "transports/ucx/address.h"
#include "transports/ucx/library.h"
#include "transports/ucx/params.h"
#include "transports/ucx/slots.h"

namespace lamina::ucx {

// The devices that UCX may use, with their addresses, for people.
std::string DeviceWords(const Params& params);

// One peer's UCP endpoint. The worker owns it, because UCX may report its errors until it has been
// closed, and it is closed after the transport's Endpoint has died.
struct Line {
  Worker* worker;
  PeerId peer;
  std::string node;      // where the peer is, for messages
  std::uint64_t secret;  // what the peer takes frames by
  ucp_ep_h handle = nullptr;
  std::vector<std::byte> address = {};  // empty once there is a handle
  bool lost = false;
  bool abandoned = false;      // its Endpoint is gone
  void* connecting = nullptr;  // ends when UCX has the connection
  std::chrono::steady_clock::time_point connecting_until{};
  void* closing = nullptr;  // its end waits for this, first a flush, then the close
};

class Worker {
 public:
  // Loads and starts UCX, which takes milliseconds and megabytes.
  static Result<std::unique_ptr<Worker>> Start(const Params& params,
                                               const transport::Context& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Result<std::vector<std::byte>> LocalAddress();
  // Frames that do not bear this number are dropped.
  std::uint64_t secret() const { return secret_; }
  std::uint32_t Progress(std::uint32_t events_max);
  int descriptor() const { return descriptor_; }
  Code Arm();
  void Signal() { library_.ucp_worker_signal(worker_); }
  // True if everything handed to UCX has left. Starts a flush if need be; ask again after
  // Progress().
  bool Drained();

  // Turns parameters into settings of UCX, except those that the user has set for UCX itself.
  static Status Configure(const Library& library, const Params& params,
                          const transport::Context& context, ucp_config_t* config);

  // Endpoints call what follows.
  const Params& params() const { return params_; }
  // True: the frame has left, or UCX has copied the rest. False: nothing was sent, because UCX
  // would have to borrow the frame or the line is broken.
  bool SendAtOnce(const Line& line, const transport::Frame& frame);
  // Hands `slot` and `payload` to UCX; `slot` comes back by itself unless kAgain or kPeerLost.
  Code Send(Line& line, Slot* slot, const transport::Header& header,
            std::span<const std::byte> payload, std::uint32_t flags);
  SlotPool& small() { return small_; }
  SlotPool& large() { return large_; }
  // kUnsupported: UCX finds no way to that peer. The line is the caller's until Abandon(). If the
  // Inbox calls this, the connection is begun when Progress() is done with UCX; see README.md.
  Result<Line*> OpenLine(PeerId peer, const Address& remote);
  // False while UCX still makes the connection, because a frame given to it now would leave only
  // when this process progresses again, which may be late. True in any case after connect_ms.
  bool IsUp(Line& line) {
    return (line.connecting == nullptr && line.handle != nullptr) || HasComeUp(line);
  }
  // Sends what the line still has to send, if it can, and closes it.
  void Abandon(Line* line);
  // Progress() tells the Inbox, once.
  void Lose(Line& line, const char* why);

 private:
  class Rendezvous;
  struct Loss {
    PeerId peer;
    std::string why;
  };

  Worker(const Library& library, const Params& params, const transport::Context& context);
  Status Open(const transport::Context& context);
  static ucs_status_t OnMessage(void* self, const void* header, std::size_t header_bytes,
                                void* data, std::size_t bytes, const ucp_am_recv_param_t* param);
  static void OnError(void* line, ucp_ep_h endpoint, ucs_status_t status);
  static void OnSent(void* request, ucs_status_t status, void* slot);
  ucs_status_t Receive(const WireHeader& wire, void* data, std::size_t bytes, bool rendezvous);
  PeerId PeerOf(transport::ProcessName name);
  void Sent(Slot* slot, ucs_status_t status);
  void SayStranger();
  // True if this process has lately sent long messages too. Then a fetch of a message that was
  // announced earlier waits for the next send, or for Progress(); see README.md, "Both ways".
  bool SendsToo();
  void PutOff(Rendezvous* fetch);
  void BeginFetches();
  std::uint32_t ReportLosses();
  bool Finished(void* request);
  Status Begin(Line& line);
  void BeginAll();
  bool HasComeUp(Line& line);
  void Close(Line& line);
  void ProgressClosing(bool at_once);

  const Library& library_;
  const Params params_;
  const transport::ProcessName self_;
  transport::Inbox* const inbox_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::uint64_t secret_ = 0;
  bool said_stranger_ = false;

  SlotPool small_;
  SlotPool large_;
  std::uint64_t under_way_ = 0;                        // slots that UCX holds
  std::uint64_t handled_ = 0;                          // frames delivered
  std::vector<Rendezvous*> fetches_;                   // those put off
  std::vector<std::pair<Rendezvous*, Code>> fetched_;  // ended at once, to be reported
  std::uint32_t sends_too_ = 0;  // counts down the fetches for which SendsToo() is true
  bool in_progress_ = false;
  bool ending_ = false;  // nobody is told anything, because the receivers are ending as well
  bool dirty_ = false;   // something was sent since the last flush began
  void* flush_ = nullptr;
  std::vector<std::unique_ptr<Line>> lines_;
  bool put_off_ = false;         // some lines have been opened and not begun
  std::uint32_t abandoned_ = 0;  // how many lines are abandoned and not yet closed

  transport::ProcessName last_name_{};
  PeerId last_peer_ = kNoPeer;
  std::unordered_map<std::uint64_t, PeerId> peers_;
  std::vector<Loss> losses_;  // losses to be reported
  std::vector<PeerId> lost_;  // peers whose loss was reported
};

}  // namespace lamina::ucx
