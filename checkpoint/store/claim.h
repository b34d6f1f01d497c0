// SPDX-License-Identifier: BSD-3-Clause
// A Claim keeps a directory of checkpoints for one job as long as it lives, because the states of
// two jobs would be mixed there.
//
// It is a lock on the file `lock` of the directory, which the kernel takes away from a process that
// dies, however it dies. The launcher holds it, because ranks and shepherds may live a little
// longer, and a shepherd holds that of a directory which only its host has. Where there can be no
// lock, the claim is had without one: on a file system that knows none, and where the directory
// cannot be written, so that nobody saves anything there. Whoever only reads a directory needs no
// claim.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/store/tuning.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint {

class Claim {
 public:
  Claim() = default;
  ~Claim() { Release(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  enum class Lock : std::uint8_t { kMade, kFound };
  // Claims the directory at `path`, or does nothing if that was done before. One who is about to
  // end is waited for. A directory that cannot be opened is left to whoever opens it next, who says
  // what is wrong, and one without a lock if that is not to be made. kExists: another job has
  // claimed it.
  Status Take(const std::string& path, std::uint64_t patience_ms = kClaimMs,
              Lock lock = Lock::kMade);
  void Release();

  // The program that this process is about to execute has the claim from now on, if it is told the
  // number that this returns. -1: there is no lock to pass on.
  int PassOn();
  // Takes over what the program before has passed on, if `descriptor` is that.
  void TakeOver(int descriptor, const std::string& path);

 private:
  Descriptor lock_;
};

}  // namespace lamina::checkpoint
