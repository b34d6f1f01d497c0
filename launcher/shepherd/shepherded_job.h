// SPDX-License-Identifier: BSD-3-Clause
// Starts ranks on any number of nodes through shepherds, and is the Job that results.
//
// A spawner that needs shepherds says only how they get started: it makes a ShepherdStarter and
// calls StartShepherds from its Start(). Everything else (the stream, orders, standard input and
// output, PMIx between nodes, exit records, loss of nodes, clean-up) is here.
//
// There are two ways to start them:
//   pipes      one command line per host; its standard input and output are the stream (ssh, exec)
//   dial-back  the manager starts them all at once and gives no pipe (srun, TM, BProc): they call
//              us, knowing where and with which secret from their environment
// A host that is this machine is started directly, through pipes, without the starter.
//
// Ownership: the starter becomes the Job's. `plan` and `starts` are not kept.
// Threads:   the event loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// The reason is one that passes (an sshd that has too many guests): the command ended with `status`
// and said one of `signs` on standard error. No signs: never.
struct RetryRule {
  std::uint32_t status = 0;
  std::vector<std::string> signs;
};

class ShepherdStarter {
 public:
  // What a shepherd that dials back must find in its environment. Contains a secret: it goes by
  // environment or standard input, never on a command line.
  struct DialBack {
    std::vector<std::string> environment;  // "NAME=value"
  };
  virtual ~ShepherdStarter() = default;
  // Do shepherds dial back? Then StartAll is called, otherwise CommandFor.
  virtual bool dials_back() const = 0;
  // Pipes: the command for one host; run by us with both standard streams as pipes, in a process
  // group of its own. `shepherd` is what has to run over there, one word an element.
  virtual CommandLine CommandFor(const Host& host, std::span<const std::string> shepherd) const = 0;
  // Pipes: when a command that ended before any greeting is worth another attempt.
  virtual RetryRule retry() const = 0;
  // Pipes: do the commands work on the hosts themselves, too? Then many hosts are reached through
  // each other.
  virtual bool works_everywhere() const = 0;
  // Dial-back: starts `shepherd` once on each of `hosts` (indices into plan.hosts), in any order. A
  // shepherd tells which host it is by its host name or, where that says nothing, by the variable
  // LAMINA_SHEPHERD_HOST (the index as a number) or SLURM_NODEID (position in `hosts`).
  // An error means that none was started.
  virtual Result<std::unique_ptr<ShepherdCrew>> StartAll(const Plan& plan,
                                                         std::span<const std::uint32_t> hosts,
                                                         std::span<const std::string> shepherd,
                                                         const DialBack& dial_back) = 0;
};

// Of every spawner that uses StartShepherds.
inline constexpr SpawnerCaps kShepherdedCaps{
    .takes_descriptors = false, .own_pmix = true, .keeps_rings = true};

// A crew that is one command of a manager's (srun): tells its end with its last words on standard
// error. `environment`: of the command, "NAME=value", complete.
Result<std::unique_ptr<ShepherdCrew>> RunCrewCommand(const CommandLine& command,
                                                     const std::vector<std::string>& environment);

// `context.settings` holds launcher.shepherd.*; `starter` is only asked for hosts that are not this
// machine. An error means that nothing was started; a host that cannot be reached is the
// kStartFailed of its ranks.
Result<std::unique_ptr<Job>> StartShepherds(const Plan& plan, std::span<const RankStart> starts,
                                            std::unique_ptr<ShepherdStarter> starter,
                                            const SpawnContext& context);

// The table of launcher.shepherd.* with current values.
std::vector<param::Row> ShepherdParameters(const param::Settings& settings);

}  // namespace lamina::launcher
