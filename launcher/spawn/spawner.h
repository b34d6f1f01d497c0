// SPDX-License-Identifier: BSD-3-Clause
// A Spawner is one way to make processes start: fork on this node, a resource manager, an agent
// such as ssh.
//
// It answers where ranks may run (Query), shows what it would do (Render) and does it (Start). What
// runs is a Job: it is signalled, and it tells what happened, one RankEvent at a time.
//
// Ownership: a Job may outlive its Spawner. Its destructor kills what still runs and reaps it.
// Threads:   everything here is called from the launcher's event loop thread.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/usage/usage.h"
#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/component.h"

namespace lamina::launcher {

// Where ranks may run, before placement.
struct Allocation {
  std::vector<Host> hosts;
  std::string source;  // for people: "this host, 8 CPUs allowed"
  // True for hosts of a resource manager: those that the user names must be among them, and the
  // numbers of slots are defaults. `cpus_per_rank` is how many threads a rank has unless the user
  // says otherwise (0: not said).
  bool managed = false;
  std::uint32_t cpus_per_rank = 0;
  // The hosts are managed, but nobody was given these in particular: a user who names none of them
  // means others.
  bool open_to_all = false;
  bool in_sequence = false;  // one entry a rank, in this order, unless the user maps otherwise
  bool all_here = false;     // its one host is this one: ranks may be children of this process
};

using CommandLine = std::vector<std::string>;

class ProcessSpace;

// Takes what ranks write, where the Job carries it itself (SpawnerCaps::takes_descriptors false).
//
// Ownership: the launcher's; outlives the Job.
class OutputPort {
 public:
  static constexpr std::uint32_t kGone = 0xffffffff;
  // Tells that `bytes` more of a stream have gone on their way, or (kGone) that nobody takes any
  // more of it.
  using Granted = std::function<void(std::uint32_t rank, std::uint8_t stream, std::uint32_t bytes)>;
  virtual ~OutputPort() = default;
  // Sets whom to tell, before the first Take(); an empty function ends the telling.
  virtual void Tell(Granted granted) = 0;
  // Takes a piece of standard output (stream 1) or error (2); an empty piece is its end.
  virtual void Take(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) = 0;
};

namespace wire {
struct SavingOrders;
struct SavingWord;
}  // namespace wire

// What is said between the launcher and the nodes of a job that is saved from outside, where the
// Job carries it.
//
// Ownership: the launcher's; outlives the Job.
class SavingPort {
 public:
  using Send = std::function<void(const wire::SavingWord& word)>;
  virtual ~SavingPort() = default;
  // What every node is told before it starts its ranks.
  virtual const wire::SavingOrders& orders() const = 0;
  // Sets by what the node of a word's rank is told.
  virtual void Tell(Send send) = 0;
  // Takes what a node says.
  virtual void Take(const wire::SavingWord& word) = 0;
};

// What a rank noted in its event ring, if the Job keeps that (SpawnerCaps::keeps_rings). The bytes
// lie as in runtime/base/event_ring.h, and those of the profile as CopyProfile() returns them.
struct RankTrace {
  std::string head;                 // the first kEventRingHeadBytes; "": nothing
  std::vector<std::string> events;  // slots, oldest first
  std::string profile;              // once it has ended; "": nothing
  std::string timeline;             // once it has ended, as Encode(TraceCopy) returns it
  RankUsage usage;                  // as its host last told; taken_ns 0: not yet
};

// One rank, ready to start. Everything is borrowed until Start() returns.
struct RankStart {
  std::uint32_t rank = 0;
  std::string_view host;
  std::span<const std::string> argv;
  std::span<const std::string> environment;  // "NAME=value", shared by the ranks of one app
  std::vector<std::string> own_environment;  // of this rank alone; names not in `environment`
  std::string_view wdir;                     // "": the launcher's
  std::string_view path;                     // directories searched before PATH
  std::string_view cpuset;                   // hwloc list form; "": unbound
  std::array<int, 3> stdio = {-1, -1, -1};   // becomes 0, 1, 2; -1: the launcher's own
  OutputPort* output = nullptr;              // takes 1 and 2 where these are -1 and not handed over
  // These stay open in the rank under the same numbers; -1: none.
  int event_fd = -1;
  int roster_fd = -1;
  int node_memory_fd = -1;
  std::array<int, 2> checkpoint_fds = {-1, -1};
  SavingPort* saving = nullptr;      // where others are to see to it that the rank can be saved
  bool held = false;                 // it stops before its first instruction, until SIGCONT
  std::uint64_t open_files_max = 0;  // soft limit (RLIMIT_NOFILE); 0: the launcher's
  // The rank is born in that space, as the leader of a session; null: in the launcher's.
  ProcessSpace* space = nullptr;
  bool without_rights = false;  // it keeps one capability alone, to look into /proc of others
  // A child of this process that is the rank already; 0: it is to be started.
  static constexpr std::int64_t kHadEnded = -1;  // and had returned 0, when its job was saved
  std::int64_t revived = 0;
};

// Something that happened to one rank.
struct RankEvent {
  enum class Kind : std::uint8_t {
    kStartFailed,  // it never ran: `why` says what could not be done and the errno text; empty:
                   // not tried, because an earlier one had failed. `code`: 127 not found, 126 else
    kExited,       // `code`
    kKilled,  // by `signal`; `why`: what it lacked, "the memory limit of ...", where that was it
    kLost,    // nobody knows: its node is gone. `why` says how that was noticed; empty: said
    // Not an end:
    kTrouble,     // something of its was lost on the way: `why`
    kHostLost,    // its host is gone, on which every rank had ended before; `why` as for kLost
    kSharesCpus,  // its host turns out to have fewer CPUs than ranks; `why`: the CPUs there
    kAborted,  // it asked for the end of the job with `code`, saying `why` (where caps().own_pmix)
  };
  Kind kind = Kind::kExited;
  std::uint32_t rank = 0;
  int code = 0;
  int signal = 0;
  std::string why;
  std::int64_t process = 0;  // process id on its host; 0: unknown
};

// What a Job knows of a host on which others look after the ranks.
struct HostState {
  enum class Kind : std::uint8_t { kStarting, kUp, kDone, kLost };
  std::uint32_t host = 0;  // index into Plan::hosts
  Kind kind = Kind::kStarting;
  std::uint64_t silent_ms = 0;                 // up: since it was last heard of
  std::optional<std::uint64_t> round_trip_us;  // of the last ping; none: not answered yet
  // How far its clock is ahead of ours, and how wrong that may be, by the quickest of all answers.
  std::optional<std::int64_t> clock_ahead_ns;
  std::uint64_t clock_error_ns = 0;
};

// Whether hosts are asked for a sign of life, and for what their ranks use before it.
enum class Ping : std::uint8_t { kNo, kYes, kWithUsage };

// Does `signal` end a process, and the job if all ranks get it?
inline bool EndsProcesses(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

class Job {
 public:
  virtual ~Job() = default;
  // Readable whenever Next() may have something. The Job owns it.
  virtual int ReadyFd() const = 0;
  // Returns the next event, or nothing for now. Never blocks. Every rank ends with exactly one of
  // kStartFailed, kExited, kKilled, kLost.
  virtual std::optional<RankEvent> Next() = 0;
  // Signals the rank and everything in its process group. Ranks that have ended are skipped
  // silently.
  virtual void Signal(std::uint32_t rank, int signal) = 0;
  // The process id of a rank that is a child of this process and runs; 0 for any other.
  virtual std::int64_t ProcessOf(std::uint32_t rank) const = 0;
  // The process id of a rank on its host; 0: it is not known.
  virtual std::int64_t ProcessThere(std::uint32_t rank) const = 0;
  // Kills whatever ranks have left behind, processes that moved to another session included.
  // Called once all ranks have ended; returns when nothing is left that can be found on this host,
  // and has told the others.
  virtual void Sweep() = 0;
  // Returns what the rank noted last, valid until Next(); null if the Job does not keep the rings.
  virtual const RankTrace* TraceOf(std::uint32_t rank) const = 0;
  // After Sweep(): is that done everywhere, and is everything that ranks wrote in the launcher's
  // hands?
  virtual bool Settled() const = 0;
  // Returns the hosts that somebody else looks after for us; none if ranks are our own children.
  // With a ping each is asked for an answer, which later calls tell.
  virtual std::vector<HostState> Hosts(Ping ping) = 0;
};

// How a spawner's ranks differ from children of this process.
struct SpawnerCaps {
  // Ranks can be given the launcher's own standard streams as they are; otherwise each gets pipes.
  bool takes_descriptors = true;
  // Ranks have other PMIx servers than the one in this process, which need not start.
  bool own_pmix = false;
  // Job::TraceOf tells what ranks note; RankStart::event_fd is not used.
  bool keeps_rings = false;
};

// What a manager does with the job it has given us the hosts for.
struct ManagerState {
  enum class Kind { kGoesOn, kSuspended, kCancelled };
  Kind kind = Kind::kGoesOn;
  std::string why;  // cancelled: "the job was cancelled by Slurm (time limit)"
};

class Spawner {
 public:
  virtual ~Spawner() = default;
  virtual SpawnerCaps caps() const = 0;
  virtual Result<Allocation> Query(const Environment& environment) = 0;
  // Returns what will be run, for `--display plan`; it is empty if nothing but the ranks is run.
  // Pure.
  virtual Result<CommandLine> Render(const Plan& plan) const = 0;
  // Starts all of `starts`. An error means that nothing was started; a single rank's failure is
  // a RankEvent.
  virtual Result<std::unique_ptr<Job>> Start(const Plan& plan,
                                             std::span<const RankStart> starts) = 0;
  // Asks the manager, if there is one, what it does with the job we are in. It may take seconds.
  virtual ManagerState AskState() = 0;
};

// What a spawner component may look at.
struct SpawnContext {
  const Environment& environment;
  const param::Settings& settings;
};

using SpawnerRegistry = component::Registry<Spawner, SpawnContext>;
using SpawnerComponent = component::Component<Spawner, SpawnContext>;

}  // namespace lamina::launcher
