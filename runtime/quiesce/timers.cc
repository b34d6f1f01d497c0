// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/timers.h"

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace lamina::quiesce {
namespace {

namespace fs = std::filesystem;

bool IsSet(const timespec& time) { return time.tv_sec != 0 || time.tv_nsec != 0; }

}  // namespace

void Timers::Note() {
  timers_.clear();
  std::error_code error;
  fs::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path(), gone) != "anon_inode:[timerfd]") continue;
    const std::string name = entry->path().filename();
    Timer timer{-1, {}};
    std::from_chars(name.data(), name.data() + name.size(), timer.fd);
    // Asking starts the next turn of one that has expired.
    if (timerfd_gettime(timer.fd, &timer.setting) == 0 && IsSet(timer.setting.it_interval) &&
        IsSet(timer.setting.it_value))
      timers_.push_back(timer);
  }
}

void Timers::Restore() {
  for (const Timer& timer : std::exchange(timers_, {})) {
    itimerspec now{};
    if (timerfd_gettime(timer.fd, &now) == 0 && !IsSet(now.it_value))
      timerfd_settime(timer.fd, 0, &timer.setting, nullptr);
  }
}

}  // namespace lamina::quiesce
