// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of its launcher's part in saving the job, and rank 0's line to it
// (runtime/base/checkpoint_word.h).
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::quiesce {

class LauncherLine {
 public:
  // Returns nothing if the job was not prepared for being saved.
  static std::optional<LauncherLine> Find(const Environment& environment);

  // Returns the folder that the job was restarted from; "" if it was not.
  const std::string& restored() const { return restored_; }

  // Rank 0 says that all ranks have come together, and waits until the launcher tells where to save
  // them. kUnsupported: the launcher refuses, and has said why. kAborted: it is gone.
  Result<std::string> AskForFolder();
  // Rank 0 says whether all ranks have saved themselves there.
  Status Tell(bool all_saved);

 private:
  Status Receive(void* data, std::size_t bytes);

  int orders_ = -1;
  int reports_ = -1;
  std::string restored_;
  std::uint32_t epoch_ = 0;
};

}  // namespace lamina::quiesce
