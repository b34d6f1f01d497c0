// SPDX-License-Identifier: BSD-3-Clause
// One job from its start to its end.
//
//   start -> running -> ending (SIGTERM, grace, SIGKILL) -> ended (all reaped) -> swept -> drained
//
// Ending is skipped when every rank returns 0. Swept: nothing that ranks have started is left.
// Drained: everything they wrote is written.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/control/door.h"
#include "launcher/pmix/server.h"
#include "launcher/supervise/params.h"
#include "launcher/supervise/run.h"
#include "launcher/supervise/signals.h"
#include "launcher/supervise/streams.h"
#include "launcher/supervise/verdict.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Supervisor {
 public:
  Supervisor(const Plan& plan, const RunContext& context);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // An error: the job could not be started, and nothing was said yet.
  Result<int> Run();
  // Did the user press ctrl-C?
  bool interrupted() const { return interrupts_ > 0; }

 private:
  struct Timer;

  Status Prepare();
  Status MakeRings();
  Status StartRanks(Spawner* spawner);
  void StartServerIfNeeded();
  std::vector<std::vector<std::string>> EnvironmentsOfApps() const;
  void OnSignal(int signal);
  void OnJob();
  void React(const Reaction& reaction);
  // To what a rank did. With -v also its last events are shown.
  void React(std::uint32_t rank, const Reaction& reaction);
  std::vector<std::string> LastEventsOf(std::uint32_t rank) const;
  void SayLastEvents(std::uint32_t rank) const;
  void SayCrowd(std::uint32_t rank, const std::string& cpus);
  void EndJob();
  void SignalAll(int signal);
  void AllEnded();
  void StopIfDone();
  bool Done() const;
  void Suspend();
  std::string Answer(std::string_view question);
  void ShowProgress();
  void WipeProgress();
  LastSeen LastOf(std::uint32_t rank) const;
  std::vector<std::pair<std::uint32_t, LastSeen>> Running() const;

  const Plan& plan_;
  const RunContext& context_;
  SuperviseParams params_;
  SpawnerCaps caps_;
  pmix::Params pmix_params_;
  event_base* loop_;
  Verdict verdict_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<pmix::Server> server_;
  std::unique_ptr<Streams> streams_;
  std::vector<int> rings_;  // by rank
  std::unique_ptr<Job> job_;
  std::unique_ptr<control::Door> door_;
  event* job_ready_ = nullptr;
  std::vector<std::unique_ptr<Timer>> timers_;
  Timer* grace_ = nullptr;
  Timer* hint_ = nullptr;
  Timer* limit_ = nullptr;
  Timer* drain_ = nullptr;
  Timer* progress_ = nullptr;
  bool progress_shown_ = false;
  std::uint64_t started_ms_ = 0;
  std::vector<bool> running_;  // by rank
  std::size_t running_count_ = 0;
  unsigned interrupts_ = 0;
  std::uint64_t told_to_end_ms_ = 0;  // when ranks were last passed a signal that should end them
  bool ending_ = false;
  bool ended_ = false;
  std::uint64_t open_files_max_ = 0;
};

}  // namespace lamina::launcher
