// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/run.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "launcher/supervise/supervisor.h"
#include "launcher/supervise/tie.h"

namespace lamina::launcher {
namespace {

constexpr int kBadInput = 2;

void SayFailure(const Status& status, Tie* tie) {
  if (tie != nullptr && tie->SayWhy(status.message())) return;
  const std::string line = "mpiexec: " + std::string(status.message()) + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody left to tell
}

// The manager that gave us this host may have ended the job, which the ranks' ends do not tell.
// Returns whether it has.
bool SayCancelled(const Plan& plan, const RunContext& context, int status) {
  if (status != 128 + SIGTERM && status != 128 + SIGKILL && status != 128 + SIGHUP) return false;
  const SpawnerComponent* manager = context.spawners.Find(plan.options.manager);
  if (manager == nullptr) return false;
  auto spawner = manager->make(SpawnContext{context.environment, context.settings});
  if (!spawner.ok()) return false;
  const ManagerState state = (*spawner)->AskState();
  if (state.kind != ManagerState::Kind::kCancelled) return false;
  SayFailure(Error(Code::kCancelled, "%s", state.why.c_str()), context.tie);
  return true;
}

// Whatever it does, the job has been saved, and may go on at once.
void RunEndCommand(const RunContext& context) {
  if (context.claim != nullptr) context.claim->Release();
  CheckpointParams params;
  if (Status status = param::Load(context.settings, kCheckpointFields, &params); !status.ok())
    return;
  if (!params.end_command.empty() && std::system(params.end_command.c_str()) != 0)
    SayFailure(
        Error(Code::kInvalid, "checkpoint.end_command has failed: %s", params.end_command.c_str()),
        context.tie);
}

}  // namespace

int RunPlan(const Plan& plan, const RunContext& context) {
  int status = 1;
  bool interrupted = false;
  bool saved_to_end = false;
  Loss loss;
  {
    Supervisor supervisor(plan, context);
    const Result<int> result = supervisor.Run();
    if (result.ok()) {
      status = *result;
      loss = supervisor.loss();
    } else {
      SayFailure(result.status(), context.tie);
      if (supervisor.unfit()) status = kBadInput;
    }
    interrupted = supervisor.interrupted();
    saved_to_end = supervisor.saved_to_end();
  }
  if (saved_to_end) RunEndCommand(context);
  if (!SayCancelled(plan, context, status) && context.loss != nullptr)
    *context.loss = std::move(loss);
  if (interrupted && status == 128 + SIGINT) DieBy(SIGINT);
  return status;
}

std::vector<param::Row> SuperviseParameters(const param::Settings& settings) {
  std::vector<param::Row> rows = param::Rows<SuperviseParams>(settings, kSuperviseFields);
  for (param::Row& row : param::Rows<CheckpointParams>(settings, kCheckpointFields))
    rows.push_back(std::move(row));
  for (param::Row& row : param::Rows<pmix::Params>(settings, pmix::kFields))
    rows.push_back(std::move(row));
  return rows;
}

}  // namespace lamina::launcher
