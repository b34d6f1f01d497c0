// SPDX-License-Identifier: BSD-3-Clause
// Implements `lamina restart` and `mpiexec --resume`: a job goes on from one of its saved states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/cli/mpiexec.h"
#include "launcher/plan/plan.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// A saved state that was looked at and is whole.
struct SavedJob {
  std::string directory;  // absolute
  std::string found_in;   // that, or its local folder (checkpoint/store/local.h)
  Epoch epoch{};
  Epoch since{};       // the first state of the job
  std::string engine;  // that saved it; "self": the program
  std::size_t ranks = 0;
  std::string working_directory;     // that its mpiexec was called in
  std::vector<std::string> words;    // of its mpiexec
  std::vector<std::string> places;   // options that say where it goes on; empty: where it was
  std::vector<std::string> avoided;  // hosts that it goes on without
  std::string moved_from;  // as behind -H: where it goes back if it cannot be moved; "": nowhere
  std::optional<std::uint32_t> restarts;  // instead of those that its words allow
  std::vector<std::string> damaged;       // a sentence for each newer state that is not whole
  std::vector<std::string> hosts;         // where each rank was; empty: it had ended
  std::string kernel;                     // of the launcher's host
};

// Returns what is other than it was when the job was saved, a sentence for each thing.
std::vector<std::string> Differences(const SavedJob& saved, const Plan& plan);

// Finds generation `epoch` of a directory or its local folder, or the newest whole one if `epoch`
// is 0, and verifies it. What is told of newer ones that are not whole goes to `damaged` too if
// none is found. kNotFound: the directory is not there, or no generation is whole.
Result<SavedJob> FindSavedJob(const std::string& directory, Epoch epoch,
                              std::vector<std::string>* damaged);

// Returns the exit status.
int Restart(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
