// SPDX-License-Identifier: BSD-3-Clause
// Long buffers of the application in huge pages (MADV_COLLAPSE, Linux 6.1), where they are moved
// again and again: whatever the kernel copies from process to process costs it something for every
// page. Two processes, 64 KiB to each other: 5.3 us in pages of 4 KiB, 4.4 in huge ones.
//
// For the application nothing changes but the time. Nor does it need more memory, but for pages it
// has only ever read, which were one page of zeros: a huge page is made of what was given to a
// call, and of memory beside it only if all of that is there already. The kernel copies it once:
// 0.5 ms for 2 MiB, 1 to 3 where many processes do so at once. Where huge pages are switched off
// (/sys/kernel/mm/transparent_hugepage/enabled), or cannot be had, nothing is done.
//
// Threads: one at a time. Allocation: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lamina {

class HugePages {
 public:
  // Not `allowed`: makes none.
  explicit HugePages(bool allowed) : allowed_(allowed) {}

  static constexpr std::int64_t kBytesMin = 64 << 10;
  // How much is moved within each huge page before it is made: by then it would have saved about
  // what it costs. It is made once more after 8 times as much, then 64 times, because the
  // application may have given the memory back; after as much if somebody was reading it just then.
  static constexpr std::int64_t kMovedBefore = 64 << 20;

  // `bytes` at `data`, all of which the application uses, are moved once more.
  void Moved(const void* data, std::int64_t bytes) {
    if (bytes >= kBytesMin && allowed_) Count(reinterpret_cast<std::uintptr_t>(data), bytes);
  }

 private:
  struct Buffer {
    std::uintptr_t begin = 0;
    std::int64_t bytes = 0;
    std::int64_t left = 0;  // to be moved before its huge pages are made
    std::int64_t wait = 0;  // how much that was at first
  };

  void Count(std::uintptr_t begin, std::int64_t bytes);
  int Make(const Buffer& buffer);  // 0 or an errno value

  bool allowed_;
  std::array<Buffer, 64> known_{};
};

}  // namespace lamina
