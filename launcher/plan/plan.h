// SPDX-License-Identifier: BSD-3-Clause
// A Plan is what one mpiexec will do, as a value: every decision is taken before anything is
// started.
//
// The command line, the host list and the machine's topology go in; a Plan comes out. It is pure
// data: `--display plan` prints it, tests compare it, and supervise carries it out word for word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plan/mapping.h"
#include "runtime/base/ids.h"
#include "runtime/base/sharing.h"

namespace lamina::launcher {

struct Host {
  std::string name;             // as the user or the resource manager wrote it, never shortened
  std::uint32_t slots = 1;      // places to run one rank each
  std::uint32_t slots_max = 0;  // never more than this, oversubscribed or not; 0: no limit
  std::string user;             // "": the caller's
  std::uint16_t port = 0;       // 0: the mechanism's own
  std::string prefix;           // where Lamina lives on that host; "": as here
  bool schedulable = true;      // false: known, but placement skips it
  std::uint32_t cpus = 0;       // the job may use there; 0: unknown
  bool promised = false;        // the user wrote the number of slots
  std::uint32_t taken = 0;      // ranks of other jobs of this run that are there already

  friend bool operator==(const Host&, const Host&) = default;
};

// One part of the job, or the whole of it: a piece between `:` on the command line.
struct App {
  std::vector<std::string> argv;         // argv[0] is looked up in PATH when it has no slash
  std::vector<std::string> environment;  // "NAME=value", on top of Plan::environment
  std::string wdir;                      // "": the launcher's
  std::string path;                      // directories searched before PATH, with ':' between
  std::uint32_t ranks = 1;

  friend bool operator==(const App&, const App&) = default;
};

struct RankPlan {
  std::uint32_t rank = 0;
  std::uint32_t app = 0;   // index into Plan::apps
  std::uint32_t host = 0;  // index into Plan::hosts
  std::uint32_t local_rank = 0;
  std::string cpuset;  // hwloc list form, "0-3,8"; "": unbound
  std::string place;   // from a rank file, "1:0-3"; its host makes a cpuset of it. "": none
  Sharing sharing = Sharing::kExclusive;  // kShared: its host has more ranks than CPUs

  friend bool operator==(const RankPlan&, const RankPlan&) = default;
};

enum class StdinTo : std::uint8_t { kNone, kRank, kAll };

// Where the state of the job is saved, and how.
struct CheckpointOptions {
  std::string directory;           // "": nowhere
  bool outside = false;            // its processes are saved, whatever the program
  bool required = false;           // a job that nobody here can save is not started
  std::uint64_t every_ms = 0;      // so often, beside what is asked for; 0: not
  int signal = 0;                  // has the job saved instead of being passed on; 0: none
  bool signal_ends = false;        // and ended
  bool resume = false;             // from what is there, if there is something
  std::uint32_t restarts = 0;      // so often it goes on by itself after a loss
  Epoch restored{};                // the job goes on from this generation; 0: from none
  std::string restored_in;         // which lies in this directory
  Epoch since{};                   // and the first state of that job
  std::vector<std::string> words;  // of mpiexec, by which a restart starts the job again

  friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

struct RunOptions {
  StdinTo stdin_to = StdinTo::kRank;
  std::uint32_t stdin_rank = 0;   // with kRank
  bool tag_output = false;        // "[rank 3] " at line starts
  bool timestamp_output = false;  // "12:34:56.789 " at line starts
  // Files for what ranks write, named as output_pattern.h says; "": to our own output.
  std::string out_pattern;
  std::string err_pattern;
  bool merge_errors = false;       // standard error goes where standard output goes
  std::uint64_t timeout_ms = 0;    // end the job with status 124 after this; 0: never
  bool events_at_timeout = false;  // and say what each rank did last
  std::uint64_t hang_ms = 0;       // say why, if all ranks wait for so long; 0: never
  bool hang_ends = false;          // and end the job with the same status
  // This rank runs under a debugger, which has the terminal; -1: none. The words come before those
  // of its program.
  std::int32_t debugged_rank = -1;
  std::vector<std::string> debugger;
  bool profiled = false;            // the ranks count what they do in MPI
  std::string profile_file;         // the page to write, with or without .html; "": named after it
  bool reports_transports = false;  // the first rank of each host says what reaches the others
  bool traced = false;              // the ranks record when they are in MPI
  std::string trace_file;           // the timeline to write; "": named after the program
  std::uint64_t trace_bytes = std::uint64_t{16} << 20;  // for records of each rank
  bool trace_keeps_first = false;                       // of which the last are kept otherwise
  std::uint32_t verbosity = 0;                          // 0: nothing on a healthy job
  bool quiet = false;                                   // neither warnings nor hints
  std::string spawner;  // the component chosen: "local", "fake", ...
  // The spawner of the manager that gave us this host, though ranks are started locally; "": none.
  std::string manager;
  std::string allocation;  // what has given the hosts, "Slurm job 77"; "": others may be added
  CheckpointOptions checkpoint;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

struct Plan {
  std::vector<Host> hosts;  // those that were offered, whether they got ranks or not
  std::vector<App> apps;
  std::vector<RankPlan> ranks;       // ascending; ranks[i].rank == i
  Mapping mapping;                   // what each host needs to bind its ranks, see bind.h
  std::uint32_t universe_slots = 0;  // MPI_UNIVERSE_SIZE, at least the job's own ranks

  // Every rank gets these, as "NAME=value". The launcher's own environment is the weakest,
  // param::Settings::Export() replaces it, and App::environment replaces both. supervise adds
  // PMIX_*, LAMINA_EVENT_FD, LAMINA_NODE_MEMORY, LAMINA_ROSTER on one host, the variables of
  // rank_variables.h and, unless they are here already, those of sharing_words.h.
  std::vector<std::string> environment;
  RunOptions options;

  // These say why the plan came out like this, one sentence each, for `--display plan` and -v.
  std::vector<std::string> notes;
  // These say what the user will hardly have meant, one sentence each, once before the start.
  std::vector<std::string> warnings;

  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace lamina::launcher
