// SPDX-License-Identifier: BSD-3-Clause
// Carries what guests at the door of a shepherd say to the launcher, and the answers. Each end has
// a socket for each guest: the shepherd that of the guest, and the launcher one to its own door.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "launcher/shepherd/poller.h"
#include "launcher/wire/messages.h"
#include "runtime/base/descriptor.h"

namespace lamina::launcher {

class Visitors {
 public:
  // `send` takes what the other end is to hear.
  Visitors(Poller* poller, std::function<void(const wire::Visit&)> send)
      : poller_(poller), send_(std::move(send)) {}
  // Shows everybody out.
  ~Visitors();
  Visitors(const Visitors&) = delete;
  Visitors& operator=(const Visitors&) = delete;

  // `socket` does not block.
  void Add(std::uint32_t host, std::uint64_t guest, Descriptor socket);
  bool Knows(const wire::Visit& visit) const;
  // The other end says this to a guest.
  void Hear(const wire::Visit& visit);
  // Shows those of a host out.
  void Forget(std::uint32_t host);

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct Guest {
    Descriptor socket;
    std::string unsent = {};
    bool ending = false;
  };
  void OnReady(Key key);
  // False: the guest has gone.
  static bool Write(Guest* guest);
  bool Read(Key key, const Guest& guest);
  void Leave(Key key);

  Poller* const poller_;
  const std::function<void(const wire::Visit&)> send_;
  std::map<Key, Guest> guests_;
};

}  // namespace lamina::launcher
