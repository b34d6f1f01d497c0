// SPDX-License-Identifier: BSD-3-Clause
// Gathers what the ranks of a profiled job have counted, and writes it when the job has ended.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/plan/plan.h"
#include "launcher/profile/profile.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class Profiling {
 public:
  // Fails if the page could not be written.
  static Result<std::unique_ptr<Profiling>> Make(const Plan& plan);
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  // Takes what a rank has counted until its end; "" if there is nothing.
  void Take(std::uint32_t rank, std::string_view copy) { DecodeRank(copy, &profile_.ranks[rank]); }
  // So many jobs have been spawned until now.
  void SetSpawned(std::uint32_t jobs) { profile_.spawned_jobs = jobs; }
  // Writes the page and the file beside it, to `file` or, if that is "", where the user has said.
  // `end` says how the job ended. Returns the line that tells the user of it.
  Result<std::string> Write(const std::string& file, std::string end, std::uint64_t wall_ms);

 private:
  explicit Profiling(const Plan& plan);
  // Returns where the page goes, without its suffix.
  std::string NameOf(const std::string& file) const;

  const Plan& plan_;
  JobProfile profile_;
};

}  // namespace lamina::launcher
