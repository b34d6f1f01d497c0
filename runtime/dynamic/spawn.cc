// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/spawn.h"

#include <algorithm>
#include <utility>

#include "runtime/base/dynamic_words.h"
#include "runtime/base/environment.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/core/process.h"
#include "runtime/dynamic/await.h"
#include "runtime/dynamic/door.h"
#include "runtime/dynamic/names.h"
#include "runtime/dynamic/params.h"
#include "runtime/dynamic/port.h"
#include "runtime/dynamic/start_launcher.h"
#include "runtime/dynamic/tie.h"
#include "runtime/p2p/other_jobs.h"

namespace lamina::dynamic {
namespace {

// Children try this long to reach a parent that listens.
constexpr std::uint64_t kParentMs = 60'000;
// When children are lost in the middle of the meeting, their mpiexec says why within this time.
constexpr std::uint64_t kReasonMs = 2000;

Arrangement Refusal(int error_class, std::string why, int processes = 0) {
  Arrangement arrangement;
  arrangement.error_class = error_class;
  arrangement.why = std::move(why);
  arrangement.codes.assign(static_cast<std::size_t>(processes), error_class);
  return arrangement;
}
Arrangement Refusal(const Status& status, int processes = 0) {
  return Refusal(MPI_ERR_SPAWN, std::string(status.message()), processes);
}

int Processes(const std::vector<Program>& programs) {
  int processes = 0;
  for (const Program& program : programs) processes += program.processes;
  return processes;
}

// Asks the launcher of the children why they have gone. It says so on standard error if nobody
// asks.
std::string Reason(int tie, std::string otherwise) {
  TieWords words;
  const std::uint64_t until_ms = MomentIn(kReasonMs);
  pollfd ready{tie, POLLIN, 0};
  while (words.why.empty() && AwaitReady({&ready, 1}, until_ms) && HearTie(tie, &words)) continue;
  return words.why.empty() ? otherwise : words.why;
}

// A program with a soft number may have less processes than were asked for. Their launcher has said
// how many before any of them could come.
std::vector<int> Codes(int tie, TieWords* words, const std::vector<Program>& programs) {
  const std::uint64_t until_ms = MomentIn(kReasonMs);
  pollfd ready{tie, POLLIN, 0};
  while (words->ranks.empty() && AwaitReady({&ready, 1}, until_ms) && HearTie(tie, words)) continue;
  std::vector<int> codes;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const bool is_told = words->ranks.size() == programs.size();
    const int there = is_told ? words->ranks[i] : programs[i].processes;
    for (int process = 0; process < programs[i].processes; ++process)
      codes.push_back(process < there ? MPI_SUCCESS : MPI_ERR_SPAWN);
  }
  return codes;
}

// Waits for the children, or for the news that they cannot come.
Arrangement AwaitChildren(Port* port, const Order& order, const std::vector<Program>& programs,
                          Descriptor* tie) {
  TieWords words;
  for (;;) {
    if (order.is_mpi) {
      Result<Stream> stream = port->Accept(kForEver, tie->value());
      if (stream.ok()) {
        Arrangement arrangement;
        arrangement.stream = *std::move(stream);
        arrangement.explain = [tie = tie->value()](std::string why) {
          return Reason(tie, std::move(why));
        };
        arrangement.codes = Codes(tie->value(), &words, programs);
        return arrangement;
      }
      if (stream.status().code() != Code::kAgain) return Refusal(stream.status(), order.processes);
    } else {
      pollfd ready{tie->value(), POLLIN, 0};
      AwaitReady({&ready, 1}, kForEver);
    }
    if (HearTie(tie->value(), &words)) continue;
    if (words.why.empty() && !order.is_mpi) break;
    return Refusal(
        MPI_ERR_SPAWN,
        words.why.empty() ? "the processes have ended and have not called MPI_Init" : words.why,
        order.processes);
  }
  Arrangement arrangement;
  arrangement.meets = false;
  arrangement.codes = Codes(tie->value(), &words, programs);
  return arrangement;
}

// Has the launcher that looks after this process start another one, or starts one itself. Returns
// this end of the tie.
Result<Descriptor> Commission(const Params& params, const Order& order) {
  const Environment& environment = core::process->environment;
  if (params.launcher == "never")
    return Error(Code::kUnsupported, "dynamic.spawn.launcher=never forbids to start an mpiexec");
  if (const std::string door = OwnDoor(environment); !door.empty()) {
    std::string question = "spawn";
    for (const std::string& word : order.words) question += " " + HexOf(word);
    return Knock(door, question);
  }
  if (core::process->identity.job_ranks > 1 && params.launcher == "auto")
    return Error(Code::kUnsupported,
                 "no mpiexec looks after this job, and what has started it cannot spawn; start it "
                 "by mpiexec inside the allocation, or let its ranks start one: "
                 "LAMINA_DYNAMIC_SPAWN_LAUNCHER=always");
  Result<std::string> launcher = FindLauncher(params.launcher, environment);
  if (!launcher.ok()) return std::move(launcher).status();
  return StartLauncher(*launcher, order.words, Environment::OfThisProcess());
}

// What the root does.
Arrangement Start(const Wish& wish, Descriptor* tie) {
  const std::vector<Program>& programs = wish.programs;
  const int processes = Processes(programs);
  if (wish.error_class != MPI_SUCCESS) return Refusal(wish.error_class, wish.why, processes);
  Params params;
  if (Status status = param::Load(core::process->settings, kFields, &params); !status.ok())
    return Refusal(status, processes);
  Result<Order> tried = OrderOf(programs, "");
  if (!tried.ok()) return Refusal(tried.status(), processes);
  // What starts the children of a process that is alone may find the hosts of a batch system.
  const bool is_here = IsRunHere() && !tried->elsewhere && !HasGrown();
  const Result<PortRange> range = ReadPortRange(params.range);
  if (!range.ok()) return Refusal(range.status(), processes);
  Result<std::unique_ptr<Port>> port = Port::Open(is_here ? "loopback" : "all", *range);
  if (!port.ok()) return Refusal(port.status(), processes);
  Result<Order> order = OrderOf(programs, (*port)->name());
  if (!order.ok()) return Refusal(order.status(), processes);
  Result<Descriptor> started = Commission(params, *order);
  if (!started.ok()) return Refusal(started.status(), processes);
  *tie = *std::move(started);
  return AwaitChildren(port->get(), *order, programs, tie);
}

std::uint32_t JobOf(const core::Group& group) {
  Result<p2p::Introduction> member = p2p::Introduce(group.peers.front());
  return member.ok() ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(member->name) >> 32)
                     : 0;
}

}  // namespace

Encounter Spawn(core::Comm* comm, int root, const Wish& wish) {
  Descriptor tie;
  Encounter encounter = Meet(comm, root, MPI_ERR_SPAWN, [&] { return Start(wish, &tie); });
  if (encounter.error_class != MPI_SUCCESS)
    std::fill(encounter.codes.begin(), encounter.codes.end(), encounter.error_class);
  if (encounter.made == nullptr) return encounter;
  if (tie.value() >= 0) KeepTie(std::move(tie), JobOf(*encounter.made->remote));
  return encounter;
}

Status MeetParents() {
  const auto name = core::process->environment.Get(kParentVariable);
  if (!name || core::process->bootstrap == nullptr) return {};
  const auto arrange = [&name] {
    Arrangement arrangement;
    Result<PortName> port = ReadPortName(*name);
    if (!port.ok()) return Refusal(port.status());
    Result<Stream> stream = KnockAt(*port, MomentIn(kParentMs));
    if (stream.ok()) {
      arrangement.stream = *std::move(stream);
      return arrangement;
    }
    // The parents have gone on, because another program of this rank's script has met them.
    arrangement.meets = false;
    Log(Level::kInfo, "spawn", "there are no parents any more: %s",
        std::string(stream.status().message()).c_str());
    return arrangement;
  };
  Encounter encounter = Meet(core::world, 0, MPI_ERR_SPAWN, arrange);
  if (encounter.error_class != MPI_SUCCESS)
    return Error(Code::kPeerLost, "cannot meet the processes that have spawned this job: %s",
                 encounter.why.c_str());
  if (encounter.made == nullptr) return {};
  core::parent = encounter.made;
  core::parent->name = "MPI_COMM_PARENT";
  return {};
}

void Finish() {
  CloseAllPorts();
  UnpublishAllNames();
  LeaveAllTies();
}

}  // namespace lamina::dynamic
