// SPDX-License-Identifier: BSD-3-Clause
// An Outlet is a descriptor to write to that never blocks the event loop and never gathers without
// bound.
//
// Ownership: borrows the descriptor. Its flags are not changed, because the file description is
//            shared with other programs: a pipe or terminal is opened anew for ourselves.
// Threads:   the event loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

struct event;
struct event_base;

namespace lamina::launcher::stdio {

class Outlet {
 public:
  static constexpr std::size_t kHeldBytesMax = 1 << 20;

  // `on_change` is called when there is room again after full(), or when no more can be written
  // (broken()).
  Outlet(event_base* loop, int fd, std::function<void()> on_change);
  ~Outlet();
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  // Writes now, or holds the bytes until there is room. Take no more from the source once full().
  // Once broken() everything is dropped.
  void Write(std::string_view bytes);
  bool full() const { return held_.size() - done_ >= kHeldBytesMax; }
  bool empty() const { return held_.size() == done_; }
  bool broken() const { return error_ != 0; }
  int error() const { return error_; }  // why broken(), an errno

 private:
  enum class Kind { kFile, kOwn, kSocket, kShared };
  static void OnWritable(int fd, short what, void* outlet);
  std::size_t WriteSome(std::string_view bytes);
  void Drain();

  int fd_;
  Kind kind_ = Kind::kShared;
  std::function<void()> on_change_;
  event* writable_ = nullptr;
  std::string held_;
  std::size_t done_ = 0;  // of held_, from its start
  int error_ = 0;
};

}  // namespace lamina::launcher::stdio
