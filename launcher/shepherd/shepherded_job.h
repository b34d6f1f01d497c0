// SPDX-License-Identifier: BSD-3-Clause
// Starts ranks on any number of nodes through shepherds, and is the Job that results.
//
// A spawner that needs shepherds says only how they get started: in its Make() it fills in Pipes or
// a Manager and has a Spawner made of it. Everything else (the stream, orders, standard input and
// output, PMIx between nodes, exit records, loss of nodes, clean-up) is here.
//
// There are two ways to start them:
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

// What a manager has started for us, all hosts together.
class ShepherdCrew {
 public:
  struct Event {
    std::optional<std::uint32_t> host;  // index into Plan::hosts; none: all of them
    std::string why;  // "srun ended with status 1: Invalid node name", "tm_spawn: no such node"
  };
  virtual ~ShepherdCrew() = default;  // kills what still runs, and waits for it
  // Readable whenever Next() may have something; -1: never.
  virtual int ReadyFd() const = 0;
  // A shepherd that could not be started or has ended, in any manner. Never blocks. Ends after the
  // shepherd said goodbye are ignored by the caller, so they may be told.
  virtual std::optional<Event> Next() = 0;
};

struct Pipes {
  // The command for one host; run by us with both standard streams as pipes, in a process group of
  // its own. `shepherd` is what has to run over there, one word an element.
  std::function<CommandLine(const Host& host, std::span<const std::string> shepherd)> command;
  // One that ended before any greeting and has said one of these on standard error is tried again:
  // the reason passes (an sshd that has too many guests).
  std::vector<std::string> passing_signs;
  // The same, but not of one that took its time: whom it asked does not answer, and will not.
  std::vector<std::string> quick_signs;
  // Do the commands work on the hosts themselves, too? Then many are reached through each other.
  bool works_everywhere = false;
};

struct Manager {
  // What a shepherd that calls us must find in its environment, "NAME=value". Contains a secret: it
  // goes by environment or standard input, never on a command line.
  using Calling = std::vector<std::string>;
  // Of Spawner.
  std::function<Result<Allocation>(const Environment&)> query;
  // What will be run, for `--display plan`; pure. `shepherd`: a word or two that stand for it.
  std::function<CommandLine(const Plan& plan, std::span<const std::string> shepherd)> render;
  // Starts `shepherd` once on each of `hosts` (indices into plan.hosts), in any order. A shepherd
  // tells which host it is by its host name or, where that says nothing, by the variable
  // LAMINA_SHEPHERD_HOST (the index as a number) or SLURM_NODEID (position in `hosts`).
  // An error means that none was started.
  std::function<Result<std::unique_ptr<ShepherdCrew>>(
      const Plan& plan, std::span<const std::uint32_t> hosts, std::span<const std::string> shepherd,
      const Calling& calling)>
      start;
};

using ShepherdStarter = std::variant<Pipes, Manager>;

// Reads launcher.shepherd.* in `context.settings`. What `context` refers to must outlive it.
std::unique_ptr<Spawner> MakeShepherdSpawner(ShepherdStarter starter, const SpawnContext& context);

// A crew that is one command of a manager's (srun): tells its end with its last words on standard
// error. `environment`: of the command, "NAME=value", complete.
Result<std::unique_ptr<ShepherdCrew>> RunCrewCommand(const CommandLine& command,
                                                     const std::vector<std::string>& environment);

// The table of launcher.shepherd.* with current values.
std::vector<param::Row> ShepherdParameters(const param::Settings& settings);

}  // namespace lamina::launcher
