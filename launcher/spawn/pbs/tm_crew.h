// SPDX-License-Identifier: BSD-3-Clause
// The crew of shepherds that pbs_mom has started for us, all of them asked for at once.
//
// Ownership: of the connection; tasks that still run are killed by the destructor, which waits for
// them, two seconds at most (pbs_mom kills the rest when the job's script ends).
// Threads:   one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/pbs/tm_session.h"

namespace lamina::launcher::pbs {

class TmCrew final : public ShepherdCrew {
 public:
  struct Start {
    std::uint32_t host = 0;  // index in the plan
    std::int64_t line = 0;   // of PBS_NODEFILE
    std::vector<std::string> argv;
    std::vector<std::string> environment;
  };
  static Result<std::unique_ptr<ShepherdCrew>> StartAll(const Environment& environment,
                                                        std::span<const Start> starts);
  ~TmCrew() override;

  int ReadyFd() const override { return connection_; }
  std::optional<Event> Next() override;
  std::string Words() override { return {}; }

 private:
  struct Task {
    std::uint32_t host = 0;
    std::int64_t node = 0;
    std::int64_t task = 0;
    bool running = false;
  };

  TmCrew(TmSession session, int connection)
      : session_(std::move(session)), connection_(connection) {}
  Status Send(const std::string& bytes);
  // Takes what is there, after waiting for it for at most `timeout_ms`.
  void Receive(int timeout_ms);
  void Take(const TmReply& reply);
  void Lose(const std::string& why);
  bool AnyRunning() const;

  TmSession session_;
  int connection_;
  std::vector<std::int64_t> nodes_;
  std::map<std::int64_t, std::size_t> by_event_;  // -> tasks_
  std::vector<Task> tasks_;
  std::deque<Event> events_;
  bool lost_ = false;
};

}  // namespace lamina::launcher::pbs
