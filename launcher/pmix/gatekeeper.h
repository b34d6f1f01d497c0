// SPDX-License-Identifier: BSD-3-Clause
// The gatekeeper in front of libpmix, with the one TCP port on loopback that ranks connect to.
//
// libpmix reads a new connection's greeting with blocking calls on its only thread, so one silent
// connection would stall every rank of the job. And making a server costs several milliseconds that
// a job without MPI need not pay. The gatekeeper solves both: it listens from the start, lets a
// caller in only once its whole greeting has arrived and names our namespace (128 random bits,
// which strangers do not know), and says when the first one is waiting, so that the server can be
// made then.
//
// libpmix can only accept() from its own socket. This program therefore defines accept(), so that
// libpmix's calls arrive at PmixAccept() below. To hand one over, the gatekeeper queues it and
// knocks at libpmix's own port; the accept() that follows returns the queued connection instead of
// the knock. Strangers who find libpmix's own port are closed unread. (The standard's own way,
// `listener` in the server module, is never called by libpmix 4.2.)
//
// Threads: all of it on the event loop's thread, but for PmixAccept, which libpmix's listening
//          thread calls.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher::pmix {

class Gatekeeper {
 public:
  // Listens on a free port of 127.0.0.1. `guests` is how many are expected. `on_guest` is called
  // from the event loop for every caller that knows `name` and waits.
  static Result<std::unique_ptr<Gatekeeper>> Open(event_base* loop, std::string name,
                                                  std::size_t guests,
                                                  std::function<void()> on_guest);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

  std::uint16_t port() const { return port_; }
  // From now on guests, those that wait included, are handed to the server listening on `port`.
  void LeadTo(std::uint16_t port);
  // Callers that were turned away; for tests.
  std::size_t refused() const { return refused_; }

 private:
  struct Caller;
  Gatekeeper(event_base* loop, std::string name, std::size_t guests,
             std::function<void()> on_guest);
  static void OnCaller(int fd, short what, void* gatekeeper);
  static void OnGreeting(int fd, short what, void* caller);
  void Hear(Caller* caller, bool late);
  void Drop(int fd);
  void HandOver(int fd);
  void Knock();

  event_base* loop_;
  std::string name_;
  std::size_t callers_max_;  // beyond, one without a greeting has to go
  std::function<void()> on_guest_;
  int listen_fd_ = -1;
  std::uint16_t port_ = 0;
  std::uint16_t server_port_ = 0;  // 0: no server yet
  std::size_t refused_ = 0;
  event* listening_ = nullptr;
  std::map<int, std::unique_ptr<Caller>> callers_;  // not yet vetted, by descriptor
  std::map<int, int> waiting_;                      // vetted, no server yet
};

// Stands in for accept() when libpmix calls it for its own port `fd`, and returns the next guest. A
// stranger who has found that port gets a socket on which nothing ever arrives, so his bytes never
// reach libpmix.
int PmixAccept(int fd, sockaddr* address, socklen_t* address_bytes);

// Does `bytes`, the start of a connection, hold a whole PMIx greeting that names `name`?
enum class Greeting { kIncomplete, kWelcome, kStranger };
Greeting Judge(const void* bytes, std::size_t count, const std::string& name);

}  // namespace lamina::launcher::pmix
