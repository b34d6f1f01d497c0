// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/timers.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

namespace lamina::quiesce {
namespace {

struct CloseList {
  void operator()(DIR* list) const { closedir(list); }
};

bool IsSet(const timespec& time) { return time.tv_sec != 0 || time.tv_nsec != 0; }

bool IsTimer(int folder, const char* name) {
  char link[32];
  const ssize_t bytes = readlinkat(folder, name, link, sizeof link);
  return bytes > 0 &&
         std::string_view(link, static_cast<std::size_t>(bytes)) == "anon_inode:[timerfd]";
}

}  // namespace

void Timers::Note() {
  timers_.clear();
  const std::unique_ptr<DIR, CloseList> list(opendir("/proc/self/fd"));
  while (const dirent* entry = list != nullptr ? readdir(list.get()) : nullptr) {
    if (!IsTimer(dirfd(list.get()), entry->d_name)) continue;
    const std::string_view name = entry->d_name;
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
