// SPDX-License-Identifier: BSD-3-Clause
// Other threads hand work to the event loop here, which does it in the order it came.
//
// Threads: Post() from any; everything else, and the work itself, on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher::pmix {

class Mailbox {
 public:
  static Result<std::unique_ptr<Mailbox>> Open(event_base* loop);
  // Drops work that is not done yet.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void Post(std::function<void()> work);

 private:
  Mailbox() = default;
  static void OnBell(int fd, short what, void* mailbox);

  int bell_ = -1;
  event* ringing_ = nullptr;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace lamina::launcher::pmix
