// SPDX-License-Identifier: BSD-3-Clause
// Processes of other jobs: how this process learns of them, and how it parts with them.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "transports/transport.h"

namespace lamina::p2p {

// What a process has to know of another one to speak to it.
struct Introduction {
  transport::ProcessName name{};
  std::vector<std::byte> card;
};

// From now on, processes of other jobs may speak to this one. Precedes telling anybody its card.
void OpenToOtherJobs();
bool IsOpenToOtherJobs();
bool IsOfOtherJob(PeerId peer);
// Returns what others need to speak to `peer`, which is of any job.
Result<Introduction> Introduce(PeerId peer);
// Makes the acquaintance of a process of any job. The error kInvalid says why it does not fit.
Result<PeerId> Meet(Introduction introduction);
// Connects this process, which is in one of the groups, so that every member of `from` hears of the
// end of every job that has members in `to`, even if nothing is sent. All members of both call it.
void Attend(const std::vector<PeerId>& from, const std::vector<PeerId>& to);
// True if a group here has a member of that job, beside one group whose members are `beside`.
bool HasGroupWith(std::uint32_t job_hash, std::span<const PeerId> beside);
std::uint32_t OwnJobHash();
// Parts with the processes that no group has any more: what was sent to them leaves, and their
// endpoints end. Bounded by p2p.engine.goodbye_timeout_ms.
void Part();

}  // namespace lamina::p2p
