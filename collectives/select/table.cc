// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/table.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "collectives/select/alone.h"
#include "collectives/select/places.h"
#include "runtime/base/check.h"
#include "runtime/core/process.h"
#include "runtime/core/topology.h"
#include "runtime/trace/trace.h"

namespace lamina::collective {
namespace {

constexpr std::size_t kAlignment = 64;

constinit const Library* installed = nullptr;
// Which node each process of the job is on; null until NodesOfJob was asked.
constinit const Partition* nodes_of_job = nullptr;
bool nodes_asked = false;

// Null if the bootstrap does not say. It then does not say it to any process of the job.
const Partition* NodesOfJob() {
  if (nodes_asked || core::process == nullptr) return nodes_of_job;
  nodes_asked = true;
  const bootstrap::Identity& identity = core::process->identity;
  if (identity.local_peers.size() == identity.job_ranks)
    return nodes_of_job = new Partition(Partition::Blocks(static_cast<Rank>(identity.job_ranks),
                                                          static_cast<Rank>(identity.job_ranks)));
  if (core::process->bootstrap == nullptr) return nullptr;
  PartitionBuilder builder;
  for (std::uint32_t rank = 0; rank < identity.job_ranks; ++rank) {
    const Result<std::uint32_t> node = core::process->bootstrap->Node(rank);
    if (!node.ok()) return nullptr;
    builder.Add(*node);
  }
  return nodes_of_job = new Partition(builder.Finish());
}

// Is every rank a process of this node? All ranks get the same answer.
bool OnOneNode(const core::Comm& comm) {
  if (core::process == nullptr) return false;
  const std::vector<std::uint32_t>& local = core::process->identity.local_peers;
  return std::all_of(comm.peers, comm.peers + comm.size, [&](PeerId peer) {
    return std::binary_search(local.begin(), local.end(), Index(peer));
  });
}

// Jobs know nothing of each other's places and crowds, and all members have to choose the same
// algorithms.
bool SpansJobs(const core::Comm& comm) {
  if (core::process == nullptr) return false;
  const std::uint32_t own = core::process->identity.job_ranks;
  const auto is_other = [own](PeerId peer) { return Index(peer) >= own; };
  return std::any_of(comm.peers, comm.peers + comm.destinations, is_other);
}

}  // namespace

Status Install(const Registry& registry, const param::Settings& settings) {
  CHECK(installed == nullptr);
  Result<std::unique_ptr<Library>> library = Library::Make(registry, settings);
  if (!library.ok()) return std::move(library).status();
  installed = (*library).release();
  return {};
}

void Uninstall() {
  delete installed;
  installed = nullptr;
  delete nodes_of_job;
  nodes_of_job = nullptr;
  nodes_asked = false;
}

const Library* Installed() { return installed; }

Table::Table(const Library& from, core::Comm* of)
    : library(from),
      comm(*of),
      link(from.Link(of->size)),
      plans(from.params().plans_max, from.params().plan_steps_max) {
  shape.ranks = of->size;
  shape.rank = of->rank;
  if (of->is_inter()) shape.remote_ranks = of->remote->size();
}

// This is done when planning, because the topology is hung on a communicator after its table.
void Table::ListNeighbours() {
  core::Neighbourhood all = core::NeighbourhoodOf(*comm.topology, comm.rank);
  sources_ = std::move(all.sources);
  destinations_ = std::move(all.destinations);
  shape.sources = sources_;
  shape.destinations = destinations_;
  shape.grid = comm.topology->kind == MPI_CART;
}

void Table::Settle() {
  settled_ = true;
  const bool spans_jobs = SpansJobs(comm);
  if (spans_jobs) link.crowd = 1;
  if (shape.inter() || shape.ranks == 1 || spans_jobs) return;
  if (const Partition* job = NodesOfJob(); job != nullptr)
    Use(library.Place(shape.ranks, *job, [this](Rank rank) { return Index(comm.peers[rank]); }));
}

void Table::Use(Placement placement) {
  placement_ = std::move(placement);
  shape.hierarchy = placement_.hierarchy.get();
  shape.nodes = placement_.nodes;
  link = placement_.link;
}

int Table::SettleAcrossJobs(std::unique_ptr<const Partition>* nodes) {
  std::vector<std::uint64_t> places;
  if (const int error = TellPlaces(&comm, &places); error != MPI_SUCCESS) return error;
  PartitionBuilder builder;
  for (const std::uint64_t place : places) builder.Add(place);
  *nodes = std::make_unique<const Partition>(builder.Finish());
  const auto is_own = [](Rank rank) { return static_cast<std::uint32_t>(rank); };
  settled_ = true;
  Use(library.Place(shape.ranks, **nodes, is_own, /*knows_crowd=*/false));
  plans.Clear();
  return MPI_SUCCESS;
}

int Table::Convene(int (*by_messages)(const Invocation& invocation)) {
  if (library.meeters().empty() || shape.inter() || shape.ranks == 1) {
    has_convened = true;
    return MPI_SUCCESS;
  }
  const bool spans_jobs = SpansJobs(comm);
  std::unique_ptr<const Partition> nodes;
  if (spans_jobs) {
    if (convening_error_ == MPI_SUCCESS) convening_error_ = SettleAcrossJobs(&nodes);
    if (convening_error_ != MPI_SUCCESS) return convening_error_;
  } else if (OnOneNode(comm)) {
    nodes = std::make_unique<const Partition>(Partition::Blocks(shape.ranks, shape.ranks));
  } else {
    if (!settled_) Settle();
    if (placement_.Nodes() != nullptr)
      nodes = std::make_unique<const Partition>(*placement_.Nodes());
  }
  has_convened = true;
  if (nodes == nullptr) return MPI_SUCCESS;
  const bool on_one_node = nodes->groups() == 1;
  if (nodes->largest() == 1) return MPI_SUCCESS;
  for (const Meeter& meeter : library.meeters()) {
    const OperationSet& operations = on_one_node ? meeter.calls : meeter.steps;
    if (operations.empty()) continue;
    meeting = meeter.convener->Convene(
        {&comm, *nodes, spans_jobs, operations, meeter.named, &failure, by_messages});
    if (meeting != nullptr) break;
  }
  return MPI_SUCCESS;
}

Shape Table::ShapeOf(const Call& call) {
  if (!settled_) Settle();
  if (Neighbourly(call.operation)) ListNeighbours();
  Shape seen = shape;
  seen.hierarchy = placement_.Seen(call);
  return seen;
}

Plan* Table::Find(const Call& call) {
  if (Plan* plan = plans.Find(call); plan != nullptr) [[likely]] {
    trace::Count(trace::Counter::kPlanHits);
    Retain(plan);
    return plan;
  }
  trace::Count(trace::Counter::kPlanMisses);
  const Shape seen = ShapeOf(call);
  const bool alone = seen.ranks == 1 && !seen.inter() && !Neighbourly(call.operation);
  const Algorithm* algorithm = alone ? &kAlone : library.Choose(call, seen, link);
  if (algorithm == nullptr) return nullptr;
  schedule.Clear();
  algorithm->plan(call, seen, &schedule);
  Plan* plan = MakePlan(algorithm, schedule);
  plans.Add(call, plan);
  if (schedule.steps.capacity() > library.params().plan_steps_max) schedule = {};
  return plan;
}

void Table::Unmap::operator()(std::byte* memory) const { std::free(memory); }

std::byte* Table::Scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_.get();
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  scratch_.reset();
  scratch_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  scratch_bytes_ = scratch_ == nullptr ? 0 : rounded;
  return scratch_.get();
}

void Table::Trim() {
  if (scratch_bytes_ <= library.params().scratch_bytes_max) return;
  scratch_.reset();
  scratch_bytes_ = 0;
}

void Attach(core::Comm* comm) {
  if (installed == nullptr || comm->collectives != nullptr) return;
  comm->collectives = new Table(*installed, comm);
}

void Free(core::Comm* comm) {
  delete comm->collectives;
  comm->collectives = nullptr;
}

}  // namespace lamina::collective
