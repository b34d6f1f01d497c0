// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/table.h"

#include <cstdlib>
#include <utility>

#include "collectives/select/alone.h"
#include "runtime/base/check.h"
#include "runtime/core/topology.h"
#include "runtime/trace/trace.h"

namespace lamina::collective {
namespace {

constexpr std::size_t kAlignment = 64;

constinit const Library* installed = nullptr;

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
}

const Library* Installed() { return installed; }

Table::Table(const Library& from, const core::Comm& of)
    : library(from),
      comm(of),
      link(from.Link(of.size)),
      plans(from.params().plans_max, from.params().plan_steps_max) {
  shape.ranks = of.size;
  shape.rank = of.rank;
  if (of.is_inter()) shape.remote_ranks = of.remote->size();
}

// The topology is hung on a communicator after its table, so this is done when planning.
void Table::ListNeighbours() {
  core::Neighbourhood all = core::NeighbourhoodOf(*comm.topology, comm.rank);
  sources_ = std::move(all.sources);
  destinations_ = std::move(all.destinations);
  shape.sources = sources_;
  shape.destinations = destinations_;
  shape.grid = comm.topology->kind == MPI_CART;
}

const Algorithm* Table::Choose(const Call& call) {
  if (Neighbourly(call.operation))
    ListNeighbours();
  else if (shape.ranks == 1 && !shape.inter())
    return &kAlone;
  return library.Choose(call, shape, link);
}

Plan* Table::Find(const Call& call) {
  if (Plan* plan = plans.Find(call); plan != nullptr) [[likely]] {
    trace::Count(trace::Counter::kPlanHits);
    Retain(plan);
    return plan;
  }
  trace::Count(trace::Counter::kPlanMisses);
  const Algorithm* algorithm = Choose(call);
  if (algorithm == nullptr) return nullptr;
  schedule.Clear();
  algorithm->plan(call, shape, &schedule);
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
  comm->collectives = new Table(*installed, *comm);
}

void Free(core::Comm* comm) {
  delete comm->collectives;
  comm->collectives = nullptr;
}

}  // namespace lamina::collective
