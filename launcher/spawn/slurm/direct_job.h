// SPDX-License-Identifier: BSD-3-Clause
// A DirectJob is one srun: the ranks are Slurm's own tasks, served by Slurm's PMIx, and no process
// of ours is on any node. What is known of them is what srun's end says.
//
// Ownership: of the srun process. Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::slurm {

class DirectJob final : public Job {
 public:
  // `environment` is srun's and the ranks' alike, and `rank_hosts` has a line for each rank.
  // `input` is the descriptor that becomes srun's standard input; -1 stands for the launcher's own.
  static Result<std::unique_ptr<Job>> Start(const CommandLine& command,
                                            std::vector<std::string> environment,
                                            const std::string& rank_hosts, std::uint32_t ranks,
                                            int input);
  ~DirectJob() override;

  int ReadyFd() const override { return handle_; }
  std::optional<RankEvent> Next() override;
  void Signal(std::uint32_t rank, int signal) override;
  std::int64_t ProcessOf(std::uint32_t) const override { return 0; }
  std::int64_t ProcessThere(std::uint32_t) const override { return 0; }
  void Sweep() override {}  // Slurm ends what its step has left
  const RankTrace* TraceOf(std::uint32_t) const override { return nullptr; }
  bool Settled() const override { return true; }
  std::vector<HostState> Hosts(Ping) override { return {}; }

 private:
  DirectJob() = default;

  pid_t process_ = 0;  // 0: it has ended
  int handle_ = -1;    // pidfd
  std::uint32_t ranks_ = 0;
  std::deque<RankEvent> events_;
};

}  // namespace lamina::launcher::slurm
