// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/bell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <string>

#include "runtime/base/anonymous_file.h"

namespace lamina::shm {

bool RegisterForFences() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool FenceAll() { return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void WakeOwner(Doorbell& bell, std::int32_t owner_pid, int* pipe) {
  // If several ring at once, one of them wins and the others need no system call.
  const std::uint32_t how = bell.sleeping.exchange(kAwake);
  if (how == kAwake) return;
  bell.word.fetch_add(1);
  if (how == kOnWord) {
    syscall(SYS_futex, &bell.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return;
  }
  if (*pipe < 0 && owner_pid != 0) {
    const std::string path =
        memory::DescriptorPath(owner_pid, bell.pipe.load(std::memory_order_acquire));
    *pipe = OutOfTheWay(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  // This sleep goes on to its end, but the owner will not sleep on its pipe again.
  if (*pipe < 0) bell.pipe_is_hidden.store(1);
  const char ring = 1;
  // A full pipe wakes as well; any other failure means that nobody is there to be woken.
  [[maybe_unused]] const ssize_t written = write(*pipe, &ring, 1);
}

}  // namespace lamina::shm
