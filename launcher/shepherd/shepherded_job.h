// SPDX-License-Identifier: BSD-3-Clause
// Starts ranks on any number of nodes through shepherds, and is the Job that results.
//
// A spawner that needs shepherds says only how they get started: in its Make() it fills in Pipes or
// a Manager and has a Spawner made of it. Everything else (the stream, orders, standard input and
// output, PMIx between nodes, exit records, loss of nodes, clean-up) is here.
//
// Shepherds are started in one of two ways:
//   Pipes      one command line per host; its standard input and output are the stream (ssh, exec)
//   Manager    starts them all at once and gives no pipe (srun, TM, BProc): they call us, knowing
//              where and with which secret from their environment
// A host that is this machine is started directly, through pipes, whatever the way.
//
// Threads:   the event loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// A ShepherdCrew is what a manager has started for us on all hosts together.
class ShepherdCrew {
 public:
  struct Event {
    std::optional<std::uint32_t> host;  // index into Plan::hosts; none: all of them
    std::string why;  // "srun ended with status 1: Invalid node name", "tm_spawn: no such node"
  };
  virtual ~ShepherdCrew() = default;  // kills what still runs, and waits for it
  // A descriptor that is readable whenever Next() may have something; -1 if there never is
  // anything.
  virtual int ReadyFd() const = 0;
  // Returns a shepherd that could not be started or has ended, in any manner. Never blocks. The
  // caller ignores ends after a shepherd's goodbye, so they may be told.
  virtual std::optional<Event> Next() = 0;
  // Returns what the manager's command has said until now; "" if there is none.
  virtual std::string Words() = 0;
  // Returns whether such a command still runs, so that there may be more to come.
  virtual bool MaySayMore() { return false; }
};

struct Pipes {
  // Returns the command for one host, which we run with both standard streams as pipes in a process
  // group of its own. `shepherd` is what has to run over there, one word an element.
  std::function<CommandLine(const Host& host, std::span<const std::string> shepherd)> command;
  // A command that ended before any greeting and has said one of these on standard error is tried
  // again, because the reason passes (an sshd that has too many guests).
  std::vector<std::string> passing_signs;
  // The same holds for these unless the command took its time: then whoever it asked does not
  // answer, and will not.
  std::vector<std::string> quick_signs;
  // Do the commands work on the hosts themselves, too? If so, many hosts are reached through each
  // other.
  bool works_everywhere = false;
};

struct Manager {
  // A shepherd that calls us must find these in its environment, as "NAME=value". They contain a
  // secret, so they go by environment or standard input, never on a command line.
  using Calling = std::vector<std::string>;
  // This is Spawner::Query.
  std::function<Result<Allocation>(const Environment&)> query;
  // Returns what will be run, for `--display plan`; `shepherd` is a word or two that stand for it.
  // Pure.
  std::function<CommandLine(const Plan& plan, std::span<const std::string> shepherd)> render;
  // Starts `shepherd` once on each of `hosts` (indices into plan.hosts), in any order. A shepherd
  // tells which host it is by its host name or, where that says nothing, by the variable
  // LAMINA_SHEPHERD_HOST (the index as a number) or SLURM_NODEID (position in `hosts`).
  // An error means that none was started.
  std::function<Result<std::unique_ptr<ShepherdCrew>>(
      const Plan& plan, std::span<const std::uint32_t> hosts, std::span<const std::string> shepherd,
      const Calling& calling)>
      start;
  // This command asks for the state of the job before a host is called lost or a rank killed;
  // empty: nobody can be asked. `understand` reads its answer; it is pure.
  CommandLine question = {};
  std::function<ManagerState(std::string_view answer)> understand = {};
};

using ShepherdStarter = std::variant<Pipes, Manager>;

// Reads launcher.shepherd.* in `context.settings`. What `context` refers to must outlive it.
std::unique_ptr<Spawner> MakeShepherdSpawner(ShepherdStarter starter, const SpawnContext& context);

// Makes a crew that is one command of a manager's (srun). It tells its end with its last words on
// standard error. `environment` is the command's, complete, as "NAME=value".
Result<std::unique_ptr<ShepherdCrew>> RunCrewCommand(const CommandLine& command,
                                                     const std::vector<std::string>& environment);

// Returns the table of launcher.shepherd.* with current values.
std::vector<param::Row> ShepherdParameters(const param::Settings& settings);

}  // namespace lamina::launcher
