// SPDX-License-Identifier: BSD-3-Clause
// The PMIx server of one job tells ranks who they are, keeps their cards and hears their abort.
//
// libpmix is started when the first rank knocks (gatekeeper.h), so a job without MPI never pays for
// it. Ranks still get their PMIX_* environment before that: it is written here as libpmix 4.2
// would, and compared with libpmix's own words once it runs. With another libpmix the server starts
// at once.
//
// Ownership: the loop and the plan must outlive it. libpmix knows one server per process and hands
//            its upcalls no context and is never stopped, so there is one Server in a process's
//            life.
// Threads:   the event loop's. Upcalls come on libpmix's own thread and are posted here (see
//            mailbox.h): answering them from that thread may deadlock in libpmix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "launcher/plan/plan.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"

struct event_base;

namespace lamina::launcher::pmix {

struct Params {
  std::string start = "auto";
  std::string roster = "auto";
  bool node_memory = true;  // The ranks inherit from this process. No user sets this.
};
inline constexpr std::tuple kFields{
    param::Describe("launcher.pmix.start", &Params::start, "auto|early|on_demand",
                    "When the PMIx server starts: before the ranks (early), or when the first rank "
                    "asks for it, which spares a job without MPI its cost (on_demand). auto looks "
                    "at the program and at the version of libpmix."),
    param::Describe(
        "launcher.pmix.roster", &Params::roster, "auto|no",
        "How ranks find each other when all are on one host: through memory that the launcher "
        "shares with them, which starts faster (auto); or through PMIx, as on several hosts (no)."),
};

// What the server has to tell the supervisor.
struct Hearings {
  // Rank `rank` asked for the end of the job. Without a hub of its own a server is silent here:
  // the launcher's hub hears it.
  std::function<void(std::uint32_t rank, int code, std::string message)> abort;
  // The server could not be started; ranks that need it will not get on.
  std::function<void(const Status& status)> failed;
};

// A Seat says which part of the job a server serves. The default is all of it, on one host.
struct Seat {
  std::string job;         // the namespace; "": a new, random one
  std::uint32_t host = 0;  // index into the plan's hosts
  // Sends letters to the hub in the launcher; null if the server has a hub of its own.
  std::function<void(const std::string& letter)> send;
};

class Server {
 public:
  // `topology` is a borrowed hwloc_topology_t, loaded without I/O objects; if it is null, one is
  // loaded when needed.
  static Result<std::unique_ptr<Server>> Make(event_base* loop, const Plan& plan,
                                              const Params& params, void* topology,
                                              Hearings hearings);
  // Makes one of several servers of a job, for the ranks on `seat.host`.
  static Result<std::unique_ptr<Server>> MakeAt(Seat seat, event_base* loop, const Plan& plan,
                                                const Params& params, Hearings hearings);
  virtual ~Server() = default;
  // The job's PMIx namespace: 128 random bits in hexadecimal.
  virtual const std::string& name() const = 0;
  // Returns the PMIX_* assignments for a rank, and those of the roster and of the node's memory if
  // there are any.
  virtual std::vector<std::string> EnvironmentOf(std::uint32_t rank) const = 0;
  // Returns a descriptor to be left open in the ranks (runtime/base/roster.h); -1 if they are on
  // several hosts.
  virtual int roster() const = 0;
  // The same of runtime/base/node_memory.h; -1 if there is one rank here, or none could be had.
  virtual int node_memory() const = 0;
  // Is libpmix running?
  virtual bool started() const = 0;
  // Starts libpmix ahead of the first knock. Nothing happens if it runs already.
  virtual Status Start() = 0;
  // Takes a letter from the hub. kInvalid means that it is none.
  virtual Status Receive(std::string_view letter) = 0;
};

}  // namespace lamina::launcher::pmix
