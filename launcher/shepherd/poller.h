// SPDX-License-Identifier: BSD-3-Clause
// A Poller calls a function when a descriptor is ready. It is an epoll set that can itself be
// waited for, so that a Job or a shepherd has one descriptor to show for all of its own.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

class Poller {
 public:
  enum : std::uint32_t { kRead = 1, kWrite = 2 };
  using Action = std::function<void()>;

  static Result<std::unique_ptr<Poller>> Open();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Readable when Turn() has something to do.
  int fd() const { return epoll_; }
  // `action` is called when `fd` is ready for what Watch() was told, and when its other end has
  // gone. `fd` stays the caller's, who removes it before closing it.
  void Add(int fd, std::uint32_t wanted, Action action);
  void Watch(int fd, std::uint32_t wanted);
  void Remove(int fd);
  // Calls the actions of what is ready now, each once. Actions may add and remove anything.
  void Turn();

 private:
  Poller() = default;
  struct Entry {
    int fd;
    std::uint32_t wanted;
    Action action;
    bool removed = false;
  };
  void Control(int operation, Entry* entry);

  int epoll_ = -1;
  std::unordered_map<int, std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Entry>> removed_;  // while turning
  bool turning_ = false;
};

}  // namespace lamina::launcher
