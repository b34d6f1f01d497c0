// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/further.h"

#include <event2/event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace lamina::launcher {

Further::~Further() {
  for (const Launcher& launcher : launchers_) event_free(launcher.ended);
}

void Further::Add(pid_t launcher) {
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, launcher, 0)));
  if (process.value() < 0) return;  // it has ended already
  Launcher& added = launchers_.emplace_back(Launcher{this, std::move(process)});
  added.ended = event_new(
      loop_, added.process.value(), EV_READ,
      [](int, short, void* self) {
        auto* const ended = static_cast<Launcher*>(self);
        ended->owner->OnEnd(ended);
      },
      &added);
  event_add(added.ended, nullptr);
}

void Further::Signal(int signal) const {
  for (const Launcher& launcher : launchers_)
    syscall(SYS_pidfd_send_signal, launcher.process.value(), signal, nullptr, 0);
}

void Further::OnEnd(Launcher* launcher) {
  event_free(launcher->ended);
  launchers_.remove_if([launcher](const Launcher& each) { return &each == launcher; });
  on_end_();
}

}  // namespace lamina::launcher
