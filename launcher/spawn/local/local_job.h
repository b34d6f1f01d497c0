// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are children of this process.
//
// This process is their subreaper: whatever a rank leaves behind becomes our child and is found by
// Sweep(). All children are reaped here, so nobody else in the launcher may wait for one. Ranks in
// a ProcessSpace are the exception: what they leave behind ends with the space, and they alone are
// reaped here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "launcher/plan/control_group.h"
#include "launcher/spawn/local/guard.h"
#include "launcher/spawn/process_space.h"
#include "launcher/spawn/spawner.h"

namespace lamina::launcher::local {

class LocalJob final : public Job {
 public:
  static Result<std::unique_ptr<Job>> Start(std::span<const RankStart> starts);
  ~LocalJob() override;

  int ReadyFd() const override { return child_fd_; }
  std::optional<RankEvent> Next() override;
  void Signal(std::uint32_t rank, int signal) override;
  std::int64_t ProcessOf(std::uint32_t rank) const override;
  std::int64_t ProcessThere(std::uint32_t rank) const override { return ProcessOf(rank); }
  void Sweep() override;
  const RankTrace* TraceOf(std::uint32_t) const override { return nullptr; }
  bool Settled() const override { return true; }
  std::vector<HostState> Hosts(Ping) override { return {}; }

 private:
  explicit LocalJob(ProcessSpace* space) : space_(space) {}
  Status Prepare(std::size_t ranks);
  void Adopt(const RankStart& start);
  void Keep(std::uint32_t rank, pid_t process);
  void StartAll(std::span<const RankStart> starts);
  Status PostGuard(std::span<const RankStart> starts);
  void Reap();
  void Reaped(pid_t process, int status);
  bool KillLeftovers();

  ProcessSpace* const space_;                         // null: ranks are in this process's
  int child_fd_ = -1;                                 // signalfd of SIGCHLD
  std::unordered_map<std::uint32_t, pid_t> running_;  // by rank
  std::unordered_map<pid_t, std::uint32_t> rank_of_;
  std::deque<RankEvent> events_;
  // Children from before the job: a shell makes `mpiexec > >(tee log)` their parent.
  std::vector<pid_t> strangers_;
  std::unique_ptr<Guard> guard_;
  ControlGroups groups_;
};

}  // namespace lamina::launcher::local
