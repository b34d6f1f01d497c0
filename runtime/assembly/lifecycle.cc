// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/lifecycle.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "collectives/select/table.h"
#include "runtime/assembly/parameters.h"
#include "runtime/assembly/params.h"
#include "runtime/assembly/resting_process.h"
#include "runtime/assembly/shipped.h"
#include "runtime/assembly/transports.h"
#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/fnv.h"
#include "runtime/base/log.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"
#include "runtime/core/errors.h"
#include "runtime/core/group.h"
#include "runtime/core/process.h"
#include "runtime/core/request.h"
#include "runtime/core/win.h"
#include "runtime/dynamic/meeting.h"
#include "runtime/dynamic/spawn.h"
#include "runtime/p2p/buffered.h"
#include "runtime/p2p/lifetime.h"
#include "runtime/p2p/other_jobs.h"
#include "runtime/p2p/p2p.h"
#include "runtime/p2p/params.h"
#include "runtime/quiesce/agent.h"
#include "runtime/rma/agent.h"
#include "runtime/trace/profile.h"
#include "runtime/waiting/waiting.h"

namespace lamina::assembly {
namespace {

Level LevelOf(const std::string& word) {
  if (word == "error") return Level::kError;
  if (word == "info") return Level::kInfo;
  if (word == "debug") return Level::kDebug;
  return Level::kWarn;
}

// The settings by which ranks choose algorithms of collectives.
std::string CollectiveSettings(const param::Settings& settings) {
  std::string text;
  for (const std::string& assignment : settings.Export())  // in alphabetical order
    if (assignment.starts_with("LAMINA_COLLECTIVE_"))
      text += (text.empty() ? "" : " ") + assignment;
  return text;
}

core::Comm* MakeBuiltIn(core::Group* group, std::uint64_t context, MPI_Comm handle,
                        const char* name) {
  core::Comm* comm = core::MakeComm(group, ContextId{context * kPlanes}, nullptr);
  comm->handle = handle;
  comm->name = name;
  return comm;
}

void TakeDown(core::Comm* comm) {
  collective::Free(comm);
  delete comm->send_buffer;
  p2p::DropContext(comm->context);
}

// This lock guards the variables below.
constinit std::mutex order;
constinit unsigned users = 0;  // the world and the sessions
constinit bool had_session = false;
constinit bool has_left = false;  // this process has left the bootstrap
constinit core::Process* resting = nullptr;
constinit pid_t owner = 0;  // a forked child takes nothing down
constinit std::atomic<bool> has_agent{false};

Status LoadParams(core::Process* process, Params* params, p2p::Params* engine,
                  waiting::WaitParams* wait) {
  const Environment& environment = process->environment;
  process->settings = CurrentSettings(environment);
  if (Status status = param::Load(process->settings, kFields, params); !status.ok()) return status;
  core::ErrorParams errors;  // taken from the environment when an error needs them
  if (Status status = param::Load(process->settings, core::kErrorFields, &errors); !status.ok())
    return status;
  if (Status status = param::Load(process->settings, p2p::kFields, engine); !status.ok())
    return status;
  return param::Load(process->settings, waiting::kWaitFields, wait);
}

// False if this process leads a session and the kernel shares CPUs out among sessions (autogroup,
// see sched(7)): a yield lets in no process of another session then.
bool YieldsReachOthers() {
  return getsid(0) != getpid() ||
         !ReadFile("/proc/sys/kernel/sched_autogroup_enabled").value_or("").starts_with('1');
}

// It is never deleted; see core::shared_process.
core::Process* TheProcess() {
  static core::Process* const process = new core::Process;
  return process;
}

// The caller changes the life of this process, alone among threads. The agent of a checkpoint is
// one of them, and knows the library lock alone, so that is held too where there is an agent.
// Nobody waits for `order` with the library lock, because its holder may need that in the end of a
// wait.
class InOrder {
 public:
  InOrder() {
    core::LibraryLock& lock = TheProcess()->lock;
    if (has_agent) lock.Lock();
    while (!order.try_lock()) {
      const int depth = has_agent ? lock.ReleaseAll() : 0;
      order.lock();
      order.unlock();
      lock.RegainAll(depth);
    }
  }
  ~InOrder() {
    order.unlock();
    if (has_agent) TheProcess()->lock.Unlock();
  }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
};

void Clear(core::Process* process) {
  core::known_process = nullptr;
  process->settings = {};
  process->environment = Environment(std::vector<std::string>());
  process->identity = {};
  process->bootstrap.reset();
  process->node_memory.reset();
  process->engine = nullptr;
  process->thread_level = MPI_THREAD_SINGLE;
}

// Starts the agent if the job is saved from outside. From then on the library lock is taken.
Status StartAgent(core::Process* process, const TransportsStart& transports) {
  const quiesce::AgentPipes pipes = quiesce::AgentPipes::Find(process->environment);
  if (!pipes.exist()) return {};
  process->lock.Lock();
  has_agent = true;
  return quiesce::Agent::Start(pipes,
                               std::make_unique<RestingProcess>(process, transports, &has_left));
}

// A singleton's name has to differ from that of any other. The kernel places every process's stack
// at random.
std::uint32_t HashOfSingleton() {
  const int here = 0;
  return Fnv32(Format("%d %llu %p", static_cast<int>(getpid()),
                      static_cast<unsigned long long>(MonotonicNs()),
                      static_cast<const void*>(&here)));
}

TransportsStart StartOf(const Params& params, const core::Process& process, std::uint32_t job_hash,
                        Sharing sharing) {
  const std::uint64_t job = std::uint64_t{job_hash} << 32;
  return {params.transports, transport::ProcessName{job | process.identity.rank}, sharing};
}

// Makes the transports that processes of other jobs are reached by, unless they are there.
Status Widen(transport::Reach reach) {
  core::Process* const process = core::process;
  Params params;
  if (Status status = param::Load(process->settings, kFields, &params); !status.ok()) return status;
  const TransportsStart start = StartOf(params, *process, p2p::OwnJobHash(), p2p::Policy().sharing);
  if (Status status = WidenTransports(reach, start, process, process->engine); !status.ok())
    return status;
  p2p::SetAgreed(process->engine, collective::Installed()->outside(),
                 CollectiveSettings(process->settings));
  return {};
}

// Reads the parameters, then makes bootstrap, engine and transports, and publishes the card.
Status BringUp(core::Process* process) {
  process->environment = Environment::OfThisProcess();
  if (const auto fd = process->environment.Get("LAMINA_EVENT_FD"))
    AdoptEventRing(static_cast<int>(ParseInteger(*fd).value_or(-1)));
  CurrentEventRing()->counters.store(reinterpret_cast<std::uintptr_t>(&trace::numbers),
                                     std::memory_order_relaxed);
  trace::StartProfile();
  Result<std::unique_ptr<bootstrap::Bootstrap>> found = bootstrap::Find(process->environment);
  if (!found.ok()) return std::move(found).status();
  process->bootstrap = *std::move(found);
  if (process->bootstrap != nullptr) process->identity = process->bootstrap->identity();
  const bootstrap::Identity& identity = process->identity;
  SetLogIdentity(Format("rank %u", identity.rank),
                 std::string_view(identity.node).substr(0, identity.node.find('.')));

  Params params;
  p2p::Params engine_params;
  waiting::WaitParams wait_params;
  if (Status status = LoadParams(process, &params, &engine_params, &wait_params); !status.ok())
    return status;
  SetLogLevel(LevelOf(params.log_level));
  process->check_arguments = params.check_arguments;
  process->self = PeerId{identity.rank};

  const std::uint32_t local_ranks = static_cast<std::uint32_t>(identity.local_peers.size());
  const std::uint32_t job_hash =
      process->bootstrap != nullptr ? Fnv32(identity.job) : HashOfSingleton();
  waiting::WaitPolicy policy =
      waiting::MakePolicy(wait_params, waiting::AllowedCpus(), local_ranks);
  if (policy.sharing == Sharing::kShared && !YieldsReachOthers()) {
    if (process->settings.Find("p2p.wait.yield_polls") == nullptr) policy.yield_polls = 0;
    if (process->settings.Find("p2p.wait.awake_us") == nullptr) policy.awake_us = 0;
  }
  p2p::OwnedEngine engine =
      p2p::MakeEngine(engine_params, policy, {process->self, identity.job_ranks, job_hash},
                      process->bootstrap.get());
  const TransportsStart transports = StartOf(params, *process, job_hash, policy.sharing);
  if (Status status = StartTransports(transports, process, engine.get()); !status.ok())
    return status;
  std::vector<component::Refusal> refused;
  if (Status status = collective::Install(AllCollectives(&refused), process->settings);
      !status.ok())
    return status;
  // Rank 0 speaks for all. If ranks have different components, the check of cards says so.
  for (const component::Refusal& refusal : refused)
    if (identity.rank == 0 && !refusal.overridden)
      Log(Level::kWarn, "collective", "%s is not used: %s", refusal.path.c_str(),
          refusal.reason.c_str());
  if (identity.job_ranks > 1) {
    p2p::SetAgreed(engine.get(), collective::Installed()->outside(),
                   CollectiveSettings(process->settings));
    if (Status status = p2p::PublishCard(engine.get()); !status.ok()) return status;
  }

  if (!params.report.empty()) ReportTransports(params.report, *process, engine.get());
  process->engine = engine.release();
  core::process = process;
  core::known_process = process;
  core::on_last_release = TakeDown;
  dynamic::widen = Widen;
  std::vector<PeerId> peers(identity.job_ranks);
  for (std::uint32_t rank = 0; rank < identity.job_ranks; ++rank) peers[rank] = PeerId{rank};
  core::Group* group = core::MakeGroup(std::move(peers), core::process->self);
  core::everybody = MakeBuiltIn(group, 2, MPI_COMM_NULL, "everybody");
  core::Release(group);
  return StartAgent(process, transports);
}

Status Leave(core::Process* process) {
  if (process->bootstrap == nullptr || has_left) return {};
  has_left = true;
  return process->bootstrap->Leave();
}

// Peers may keep a process that leaves waiting for long, so it gives way to its agent meanwhile, as
// one of several threads does.
class GivesWay {
 public:
  GivesWay() {
    if (has_agent) core::shared_process.store(core::process, std::memory_order_release);
  }
  ~GivesWay() { core::shared_process.store(nullptr, std::memory_order_release); }
  GivesWay(const GivesWay&) = delete;
  GivesWay& operator=(const GivesWay&) = delete;
};

void BringDown() {
  core::Process* process = core::process;
  if (had_session) {
    const GivesWay gives_way;
    p2p::Farewell(process->engine);
  }
  static_cast<void>(core::Release(core::everybody));
  core::everybody = nullptr;
  collective::Uninstall();
  p2p::DeleteEngine()(process->engine);
  core::DrainRequestPool();
  core::DrainCommPool();
  core::DrainWinPool();
  if (Status status = Leave(process); !status.ok())
    Log(Level::kWarn, "exit", "%s", std::string(status.message()).c_str());
  Clear(process);
  core::process = nullptr;
}

void AtExit() {
  if (owner != getpid()) return;  // the locks of a child are as they were when it was forked
  const InOrder in_order;
  if (resting == nullptr) return;
  core::process = resting;
  resting = nullptr;
  const quiesce::AgentPipes pipes = quiesce::AgentPipes::Find(core::process->environment);
  BringDown();
  if (has_agent) quiesce::Agent::SayGone(pipes);
}

Status WakeUp() {
  if (has_left && resting->bootstrap != nullptr) {
    if (Status status = resting->bootstrap->Return(0); !status.ok()) return status;
    has_left = false;
    if (resting->identity.job_ranks > 1)
      if (Status status = p2p::PublishCard(resting->engine); !status.ok()) return status;
  }
  p2p::TakeUpReading(resting->engine);
  core::process = resting;
  core::process->thread_level = MPI_THREAD_SINGLE;
  resting = nullptr;
  return {};
}

Status FirstTime() {
  if (Status status = BringUp(TheProcess()); !status.ok()) {
    collective::Uninstall();
    Clear(TheProcess());
    return status;
  }
  owner = getpid();
  std::atexit(AtExit);
  return {};
}

// The launcher reads this when a process has ended without a word.
void SetPhase(Phase phase) {
  CurrentEventRing()->phase.store(static_cast<std::uint32_t>(phase));
  trace::SetProfileFinalized(phase == Phase::kFinalized);
}

Status AddUser(int thread_level) {
  if (core::process == nullptr)
    if (Status status = resting != nullptr ? WakeUp() : FirstTime(); !status.ok()) return status;
  // The agent is one more thread, and the profile is kept where the lock is taken.
  if (has_agent || trace::profile != nullptr) thread_level = MPI_THREAD_MULTIPLE;
  if (core::process->thread_level < thread_level) core::process->thread_level = thread_level;
  if (core::process->thread_level == MPI_THREAD_MULTIPLE)
    core::shared_process.store(core::process, std::memory_order_release);
  ++users;
  SetPhase(Phase::kInitialized);
  return {};
}

// The last user lets the process rest. A program without sessions is likely to end now, so it says
// goodbye; one with sessions does so when it ends.
Status RemoveUser() {
  if (--users > 0) return {};
  rma::StopServing();
  core::shared_process.store(nullptr, std::memory_order_release);
  Status left;
  {
    const GivesWay gives_way;
    if (had_session) {
      p2p::FlushBuffered();
      p2p::Drain(core::process->engine);
    } else {
      p2p::Farewell(core::process->engine);
    }
  }
  if (!had_session) left = Leave(core::process);
  resting = core::process;
  core::process = nullptr;
  SetPhase(Phase::kFinalized);
  return left;
}

}  // namespace

Status OpenWorld(int thread_level) {
  const InOrder in_order;
  if (Status status = AddUser(thread_level); !status.ok()) return status;
  core::world = MakeBuiltIn(core::everybody->group, 0, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  core::Group* alone = core::MakeGroup({core::process->self}, core::process->self);
  core::self_comm = MakeBuiltIn(alone, 1, MPI_COMM_SELF, "MPI_COMM_SELF");
  core::Release(alone);
  collective::Attach(core::world);
  collective::Attach(core::self_comm);
  core::life = core::Life::kInitialized;
  return dynamic::MeetParents();
}

Status CloseWorld() {
  {
    const core::Guard guard;
    dynamic::Finish();
    // The attributes of MPI_COMM_SELF go first, while MPI still works (MPI-5.0, section 11.2.4).
    static_cast<void>(core::DeleteAllAttributes(core::Holder::kComm, MPI_COMM_SELF,
                                                &core::self_comm->attributes));
    if (had_session) p2p::FlushBuffered();
    static_cast<void>(core::Release(core::self_comm));
    core::self_comm = nullptr;
    static_cast<void>(core::Release(core::world));
    core::world = nullptr;
  }
  const InOrder in_order;
  Status left = RemoveUser();
  core::life = core::Life::kFinalized;
  return left;
}

Status OpenSession(int thread_level) {
  const InOrder in_order;
  if (Status status = AddUser(thread_level); !status.ok()) return status;
  had_session = true;
  return {};
}

Status CloseSession() {
  const InOrder in_order;
  return RemoveUser();
}

}  // namespace lamina::assembly
