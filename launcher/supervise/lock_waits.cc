// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/lock_waits.h"

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

const char* NameOf(LockNote::Kind kind) {
  switch (kind) {
    case LockNote::kNone:
      break;
    case LockNote::kShared:
      return "shared";
    case LockNote::kExclusive:
      return "exclusive";
    case LockNote::kAll:
      return "all";
  }
  return "?";
}

}  // namespace

std::vector<LockWait> LockWaits(std::span<const LocksSeen> seen) {
  std::vector<LockWait> waits;
  for (std::uint32_t rank = 0; rank < seen.size(); ++rank) {
    LockSeen lock = seen[rank].waits;
    if (lock.kind == LockNote::kNone) continue;
    if (lock.holder == 0 && lock.sharers == 0 && lock.target < seen.size()) {
      const LockSeen& queued = seen[lock.target].queued;
      if (queued.kind != LockNote::kNone && queued.window == lock.window) {
        lock.holder = queued.holder;
        lock.sharers = queued.sharers;
      }
    }
    waits.push_back({rank, lock});
  }
  return waits;
}

std::string Describe(std::span<const LockWait> waits) {
  std::string text;
  for (const LockWait& wait : waits) {
    const LockSeen& lock = wait.lock;
    const std::string holder = lock.holder == 0 ? "-" : std::to_string(lock.holder - 1);
    text += Format("lock %u %s %llu %u %s %u\n", wait.rank, NameOf(lock.kind),
                   static_cast<unsigned long long>(lock.window), lock.target, holder.c_str(),
                   lock.sharers);
  }
  return text;
}

}  // namespace lamina::launcher
