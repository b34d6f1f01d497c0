// SPDX-License-Identifier: BSD-3-Clause
// UCX once it is running: one context, one worker, and what is under way.
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

// One peer's UCP endpoint. The worker owns it, because UCX may report errors of it until it has
// been closed, which ends after our Endpoint has.
struct Line {
  Worker* worker;
  PeerId peer;
  std::string node;  // where the peer is, for messages
  ucp_ep_h handle = nullptr;
  std::vector<std::byte> address = {};  // until there is a handle
  bool lost = false;
  bool abandoned = false;      // our Endpoint is gone
  void* connecting = nullptr;  // ends when UCX has the connection
  std::chrono::steady_clock::time_point connecting_until{};
  void* closing = nullptr;  // what its end waits for: first a flush, then the close
};

class Worker {
 public:
  // Loads and starts UCX: 3 to 6 ms and 4 to 6 MB.
  static Result<std::unique_ptr<Worker>> Start(const Params& params,
                                               const transport::Context& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Result<std::vector<std::byte>> LocalAddress();
  std::uint32_t Progress(std::uint32_t events_max);
  int descriptor() const { return descriptor_; }
  Code Arm();
  void Signal() { library_.ucp_worker_signal(worker_); }
  // Everything handed to UCX has left. Starts a flush if need be; ask again after Progress().
  bool Drained();

  // For endpoints.
  const Params& params() const { return params_; }
  // True: the frame has left, or UCX has copied the rest. False: UCX would have to borrow it, now
  // or always, or the line is broken; nothing was sent.
  bool SendAtOnce(const Line& line, const transport::Frame& frame);
  // Hands `slot` and `payload` to UCX; `slot` comes back by itself unless kAgain or kPeerLost.
  Code Send(Line& line, Slot* slot, const transport::Header& header,
            std::span<const std::byte> payload, std::uint32_t flags);
  SlotPool& small() { return small_; }
  SlotPool& large() { return large_; }
  // kUnsupported: UCX finds no way to it. The line is the caller's until Abandon(). From inside the
  // Inbox the connection is begun when Progress() is done with UCX: see README.md, "Connections".
  Result<Line*> OpenLine(PeerId peer, const Address& remote);
  // False while UCX still makes the connection: what it were given now would leave when this
  // process progresses again, which may be late. True in any case connect_ms after it was begun.
  bool IsUp(Line& line) {
    return (line.connecting == nullptr && line.handle != nullptr) || HasComeUp(line);
  }
  // Sends what it still has to send, if it can, and closes it.
  void Abandon(Line* line);
  // Progress() tells the Inbox, once.
  void Lose(Line& line, const char* why);

 private:
  class Rendezvous;
  // Fetches after which a process that has sent nothing long meanwhile is one that only receives.
  static constexpr std::uint32_t kSendsToo = 8;
  struct Loss {
    PeerId peer;
    std::string why;
  };

  Worker(const Library& library, const Params& params, const transport::Context& context);
  Status Open(const transport::Context& context);
  Status Configure(const transport::Context& context, ucp_config_t* config);
  static ucs_status_t OnMessage(void* self, const void* header, std::size_t header_bytes,
                                void* data, std::size_t bytes, const ucp_am_recv_param_t* param);
  static void OnError(void* line, ucp_ep_h endpoint, ucs_status_t status);
  static void OnSent(void* request, ucs_status_t status, void* slot);
  ucs_status_t Receive(const WireHeader& wire, void* data, std::size_t bytes, bool rendezvous);
  PeerId PeerOf(transport::ProcessName name);
  void Sent(Slot* slot, ucs_status_t status);
  // Where this process sends long messages too, fetching what was announced some time ago waits for
  // the next of these, or for Progress(): see README.md, "Both ways".
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

  SlotPool small_;
  SlotPool large_;
  std::uint64_t under_way_ = 0;                        // slots that UCX holds
  std::uint64_t handled_ = 0;                          // frames delivered
  std::vector<Rendezvous*> fetches_;                   // put off
  std::vector<std::pair<Rendezvous*, Code>> fetched_;  // ended at once, which nobody was told
  std::uint32_t sends_too_ = 0;  // fetches to come for which it counts as one that sends
  bool in_progress_ = false;
  bool ending_ = false;  // whoever would be told of anything is ending as well
  bool dirty_ = false;   // something was sent since the last flush began
  void* flush_ = nullptr;
  std::vector<std::unique_ptr<Line>> lines_;
  bool put_off_ = false;         // some of them have been opened and not begun
  std::uint32_t abandoned_ = 0;  // of them, not yet closed

  transport::ProcessName last_name_{};
  PeerId last_peer_ = kNoPeer;
  std::unordered_map<std::uint64_t, PeerId> peers_;
  std::vector<Loss> losses_;  // not reported yet
  std::vector<PeerId> lost_;  // reported
};

}  // namespace lamina::ucx
