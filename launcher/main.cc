// SPDX-License-Identifier: BSD-3-Clause
// This is one program under three names: mpiexec, mpirun and lamina. This is the only place of the
// launcher that names concrete spawners and checkpoint engines, and the tools that lamina has
// besides mpiexec.

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/criu/criu.h"
#include "checkpoint/none/none.h"
#include "checkpoint/pretend/pretend.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/cli/subcommands.h"
#include "launcher/shepherd/shepherd.h"
#include "launcher/shepherd/shepherd_word.h"
#include "launcher/spawn/bproc/bproc.h"
#include "launcher/spawn/exec/exec.h"
#include "launcher/spawn/fake/fake.h"
#include "launcher/spawn/local/local.h"
#include "launcher/spawn/pbs/pbs.h"
#include "launcher/spawn/slurm/slurm.h"
#include "launcher/spawn/ssh/ssh.h"
#include "launcher/survey/node_word.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/trace.h"
#include "launcher/top/top.h"
#include "launcher/tune/tune.h"
#include "runtime/base/check.h"

namespace {

namespace launcher = lamina::launcher;

launcher::SpawnerRegistry ShippedSpawners() {
  launcher::SpawnerRegistry spawners;
  for (const auto describe :
       {launcher::slurm::Describe, launcher::pbs::Describe, launcher::bproc::Describe,
        launcher::local::Describe, launcher::ssh::Describe, launcher::exec::Describe,
        launcher::fake::Describe})
    CHECK(spawners.Add(describe()).ok());
  return spawners;
}

lamina::checkpoint::EngineRegistry ShippedEngines() {
  lamina::checkpoint::EngineRegistry engines;
  for (const auto describe :
       {lamina::checkpoint::criu::Describe, lamina::checkpoint::none::Describe,
        lamina::checkpoint::pretend::Describe})
    CHECK(engines.Add(describe()).ok());
  return engines;
}

int Tune(std::span<const std::string> arguments, const launcher::CommandContext& context) {
  const launcher::Installation installation = launcher::ThisInstallation();
  return launcher::Tune(arguments, launcher::UsageOf("tune"), installation.program,
                        launcher::ParameterFiles(installation, context.environment));
}

constexpr launcher::Command kTools[] = {{"ps", launcher::Ps},
                                        {"check", launcher::Check},
                                        {"clean", launcher::Clean},
                                        {"stack", launcher::ShowStacks},
                                        {"why", launcher::Why},
                                        {"profile", launcher::WriteProfile},
                                        {"top", launcher::Top},
                                        {"trace", launcher::Trace},
                                        {"tune", Tune}};

// libpmix, in this program and in the ranks, dies of a user who has neither HOME nor an entry in
// the user database, as in containers that run under any number.
lamina::Environment OwnEnvironment() {
  lamina::Environment environment = lamina::Environment::OfThisProcess();
  if (!environment.Get("HOME") && getpwuid(geteuid()) == nullptr) {
    setenv("HOME", "/", 1);
    environment.Set("HOME", "/");
  }
  return environment;
}

std::string_view FileName(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// Returns `status`, unless what was printed did not go out (a full disk).
int Written(const char* program, int status) {
  errno = 0;
  if (fflush(stdout) == 0 && ferror(stdout) == 0) return status;
  fprintf(stderr, "%s: cannot write standard output%s%s\n", program, errno != 0 ? ": " : "",
          errno != 0 ? strerror(errno) : "");  // 0: an earlier write failed
  return status != 0 ? status : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const lamina::Environment environment = OwnEnvironment();
  const launcher::SpawnerRegistry spawners = ShippedSpawners();
  const lamina::checkpoint::EngineRegistry engines = ShippedEngines();
  const launcher::CommandContext context{environment, spawners, "local", "ssh", "exec", &engines};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!arguments.empty() && arguments.front() == launcher::kShepherdWord)
    return launcher::RunShepherd({environment, spawners, context.local_spawner, engines});
  if (!arguments.empty() && arguments.front() == launcher::kNodeWord)
    return launcher::RunNodeErrand(std::span(arguments).subspan(1));
  if (!arguments.empty() && arguments.front() == launcher::kTuneWord)
    return launcher::RunTuneRank(launcher::ThisInstallation().library);
  const std::string_view name = argc > 0 ? FileName(argv[0]) : "mpiexec";
  return name == "lamina" ? Written("lamina", launcher::Lamina(arguments, context, kTools))
                          : Written("mpiexec", launcher::Mpiexec(arguments, context));
}
