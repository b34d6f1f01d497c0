// SPDX-License-Identifier: BSD-3-Clause
// The door of a shepherd: an abstract socket of its machine, at which its ranks ask what ranks on
// the launcher's machine ask at the launcher's (launcher/control/README.md). All that is said there
// is passed on.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/visitors.h"
#include "launcher/wire/messages.h"
#include "runtime/base/descriptor.h"

namespace lamina::launcher {

class Door {
 public:
  // Returns null if there can be none, because the name is taken or descriptors are used up; ranks
  // do without then.
  static std::unique_ptr<Door> Open(Poller* poller, std::uint32_t host,
                                    std::function<void(const wire::Visit&)> send);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  const std::string& name() const { return name_; }
  void Hear(const wire::Visit& visit) { visitors_.Hear(visit); }

 private:
  Door(Poller* poller, std::uint32_t host, std::function<void(const wire::Visit&)> send)
      : poller_(poller), host_(host), visitors_(poller, std::move(send)) {}
  void OnGuest();

  Poller* const poller_;
  const std::uint32_t host_;
  std::string name_;
  Descriptor socket_;
  std::uint64_t guests_ = 0;  // so far
  Visitors visitors_;
};

}  // namespace lamina::launcher
