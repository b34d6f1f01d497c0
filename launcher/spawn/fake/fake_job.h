// SPDX-License-Identifier: BSD-3-Clause
// A FakeJob has processes that are only numbers and times.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::fake {

// What happens to one rank.
struct Fate {
  std::uint32_t at_ms = 0;  // after the start
  int code = 0;             // exits with it,
  int signal = 0;           // unless this is set: killed by it,
  std::string failure;      // unless this is set: cannot be started
  bool deaf = false;        // only SIGKILL ends it early
  std::string call;         // MPI function it is in, from the start on
  std::uint32_t phase = 0;  // as in the event ring
};

// A Script gives fates by rank, or for all others (*), like
// "3:kill=11,at=20,in=MPI_Recv;*:exit=0,at=5". The actions are exit=CODE, kill=SIGNAL, fail=TEXT,
// at=MS, deaf, in=CALL, phase=NUMBER.
class Script {
 public:
  static Result<Script> Parse(std::string_view text);
  Fate Of(std::uint32_t rank) const;

 private:
  std::map<std::uint32_t, Fate> by_rank_;
  Fate others_;
};

class FakeJob final : public Job {
 public:
  static Result<std::unique_ptr<Job>> Start(const Script& script,
                                            std::span<const RankStart> starts);
  ~FakeJob() override;

  int ReadyFd() const override { return timer_fd_; }
  std::optional<RankEvent> Next() override;
  void Signal(std::uint32_t rank, int signal) override;
  std::int64_t ProcessOf(std::uint32_t) const override { return 0; }
  std::int64_t ProcessThere(std::uint32_t) const override { return 0; }
  void Sweep() override {}
  const RankTrace* TraceOf(std::uint32_t) const override { return nullptr; }
  bool Settled() const override { return true; }
  std::vector<HostState> Hosts(Ping) override { return {}; }

 private:
  FakeJob() = default;
  void Arm();

  int timer_fd_ = -1;
  std::uint64_t start_ms_ = 0;
  std::map<std::uint32_t, Fate> running_;
  std::deque<RankEvent> events_;
};

}  // namespace lamina::launcher::fake
