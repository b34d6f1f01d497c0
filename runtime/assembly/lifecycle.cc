// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/lifecycle.h"

#include <numeric>
#include <tuple>

#include "collectives/exec/invocation.h"
#include "collectives/select/table.h"
#include "runtime/assembly/params.h"
#include "runtime/assembly/shipped.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/core/errors.h"
#include "runtime/core/group.h"
#include "runtime/core/process.h"
#include "runtime/core/request.h"
#include "runtime/p2p/buffered.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"
#include "runtime/progress/waiting.h"

namespace lamina::assembly {
namespace {

Level LevelOf(const std::string& word) {
  if (word == "error") return Level::kError;
  if (word == "info") return Level::kInfo;
  if (word == "debug") return Level::kDebug;
  return Level::kWarn;
}

// FNV-1a, 32 bits: names a job in a frame. Source: RFC 9923.
std::uint32_t Hash(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

bool Included(const std::string& list, const std::string& name) {
  if (list.empty()) return true;
  for (const std::string_view piece : Split(list, ','))
    if (Trim(piece) == name) return true;
  return false;
}

// Every transport that can run here, best first. One that fails to start is reported and left out:
// another may serve.
Status AddTransports(const Params& params, transport::Context context, p2p::Engine* engine) {
  const transport::Registry registry = ShippedTransports();
  for (const std::string_view piece : Split(params.transports, ','))
    if (!Trim(piece).empty() && registry.Find(Trim(piece)) == nullptr)
      return Error(Code::kInvalid, "transport.include names \"%s\", which is no transport",
                   std::string(Trim(piece)).c_str());
  const bool one_node = context.local_ranks == context.job_ranks;
  bool shared_memory = false;
  for (const auto& [component, offer] : registry.Ask(context)) {
    const std::string& name = component->info.name;
    if (offer.priority < 0 || !Included(params.transports, name)) continue;
    // A network costs milliseconds and megabytes to start; one node with shared memory needs none.
    const bool network = name == "ucx";
    if (network && one_node && (shared_memory || context.job_ranks == 1)) continue;
    if (name == "shm" && context.local_ranks == 1) continue;
    Result<std::unique_ptr<transport::Transport>> made = component->make(context);
    if (!made.ok()) {
      Log(Level::kWarn, name.c_str(), "cannot be used: %s",
          std::string(made.status().message()).c_str());
      continue;
    }
    shared_memory = shared_memory || name == "shm";
    engine->AddCarrier({name, *std::move(made), network});
  }
  return {};
}

core::Comm* MakeBuiltIn(std::vector<PeerId> peers, PeerId self, std::uint64_t context,
                        MPI_Comm handle, const char* name) {
  core::Group* group = core::MakeGroup(std::move(peers), self);
  core::Comm* comm = core::MakeComm(group, ContextId{context}, nullptr);
  core::Release(group);
  comm->handle = handle;
  comm->name = name;
  collective::Attach(comm);
  return comm;
}

void TakeDown(core::Comm* comm) {
  collective::Free(comm);
  p2p::DropContext(comm->context);
}

}  // namespace

Status Initialize(int thread_level) {
  auto process = std::make_unique<core::Process>();
  process->environment = Environment::OfThisProcess();
  const Environment& environment = process->environment;
  if (const auto fd = environment.Get("LAMINA_EVENT_FD"))
    AdoptEventRing(static_cast<int>(ParseInteger(*fd).value_or(-1)));
  const std::vector<std::string> assignments = environment.Assignments();
  std::vector<const char*> variables;
  for (const std::string& assignment : assignments) variables.push_back(assignment.c_str());
  variables.push_back(nullptr);
  process->settings = param::Settings::FromEnvironment(variables.data());

  Result<std::unique_ptr<bootstrap::Bootstrap>> found = bootstrap::Find(environment);
  if (!found.ok()) return std::move(found).status();
  process->bootstrap = *std::move(found);
  if (process->bootstrap != nullptr) process->identity = process->bootstrap->identity();
  const bootstrap::Identity& identity = process->identity;
  SetLogIdentity(Format("rank %u", identity.rank),
                 std::string_view(identity.node).substr(0, identity.node.find('.')));

  Params params;
  p2p::Params engine_params;
  progress::WaitParams wait_params;
  if (Status status = param::Load(process->settings, kFields, &params); !status.ok()) return status;
  if (Status status = param::Load(process->settings, p2p::kFields, &engine_params); !status.ok())
    return status;
  if (Status status = param::Load(process->settings, progress::kWaitFields, &wait_params);
      !status.ok())
    return status;
  SetLogLevel(LevelOf(params.log_level));
  process->check_arguments = params.check_arguments;
  process->thread_level = thread_level;
  process->self = PeerId{identity.rank};

  const std::uint32_t local_ranks = static_cast<std::uint32_t>(identity.local_peers.size());
  const std::uint32_t job_hash = Hash(identity.job);
  auto engine = std::make_unique<p2p::Engine>(
      engine_params, progress::MakePolicy(wait_params, progress::AllowedCpus(), local_ranks),
      process->self, identity.job_ranks, job_hash, process->bootstrap.get());
  transport::Context context;
  context.settings = &process->settings;
  context.environment = &process->environment;
  context.self =
      transport::ProcessName{(static_cast<std::uint64_t>(job_hash) << 32) | identity.rank};
  context.node = identity.node;
  context.local_ranks = local_ranks;
  context.job_ranks = identity.job_ranks;
  context.inbox = engine.get();
  if (Status status = AddTransports(params, context, engine.get()); !status.ok()) return status;
  if (Status status = collective::Install(ShippedCollectives(), process->settings); !status.ok())
    return status;
  engine->SetPoller(collective::Poll);
  if (identity.job_ranks > 1)
    if (Status status = engine->PublishCard(); !status.ok()) return status;

  process->engine = engine.release();
  core::process = process.release();
  core::on_last_release = TakeDown;
  std::vector<PeerId> everybody(identity.job_ranks);
  for (std::uint32_t rank = 0; rank < identity.job_ranks; ++rank) everybody[rank] = PeerId{rank};
  const PeerId self = core::process->self;
  core::world = MakeBuiltIn(std::move(everybody), self, 0, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  core::self_comm = MakeBuiltIn({self}, self, 2, MPI_COMM_SELF, "MPI_COMM_SELF");
  core::life = core::Life::kInitialized;
  CurrentEventRing()->phase.store(static_cast<std::uint32_t>(Phase::kInitialized));
  return {};
}

Status Finalize() {
  core::Process* process = core::process;
  // First of all the attributes of MPI_COMM_SELF, while MPI still works (MPI-5.0, section 11.2.4).
  static_cast<void>(
      core::DeleteAllAttributes(core::Holder::kComm, MPI_COMM_SELF, &core::self_comm->attributes));
  p2p::FlushBuffered();
  process->engine->Farewell();
  static_cast<void>(core::Release(core::self_comm));
  static_cast<void>(core::Release(core::world));
  core::world = core::self_comm = nullptr;
  collective::Uninstall();
  delete process->engine;
  process->engine = nullptr;
  core::DrainRequestPool();
  core::DrainCommPool();
  Status left;
  if (process->bootstrap != nullptr) left = process->bootstrap->Leave();
  delete process;
  core::process = nullptr;
  core::life = core::Life::kFinalized;
  CurrentEventRing()->phase.store(static_cast<std::uint32_t>(Phase::kFinalized));
  return left;
}

}  // namespace lamina::assembly
