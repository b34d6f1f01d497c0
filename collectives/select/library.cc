// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/library.h"

#include <cstring>
#include <utility>

namespace lamina::collective {
namespace {

constexpr std::string Params::*kForced[kOperations] = {
    &Params::barrier,
    &Params::bcast,
    &Params::gather,
    &Params::gatherv,
    &Params::scatter,
    &Params::scatterv,
    &Params::allgather,
    &Params::allgatherv,
    &Params::alltoall,
    &Params::alltoallv,
    &Params::alltoallw,
    &Params::neighbor_allgather,
    &Params::neighbor_allgatherv,
    &Params::neighbor_alltoall,
    &Params::neighbor_alltoallv,
    &Params::neighbor_alltoallw,
    &Params::reduce,
    &Params::allreduce,
    &Params::reduce_scatter,
    &Params::reduce_scatter_block,
    &Params::scan,
    &Params::exscan,
};

std::size_t Index(Operation operation) { return static_cast<std::size_t>(operation); }

}  // namespace

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

Result<std::unique_ptr<Library>> Library::Make(const Registry& registry,
                                               const param::Settings& settings) {
  auto library = std::make_unique<Library>();
  if (Status status = param::Load(settings, kFields, &library->params_); !status.ok())
    return status;
  if (const param::Found* mode = settings.Find("progress.wait.mode"); mode != nullptr)
    library->crowded_ = mode->value == "oversubscribed";

  const Context context{&settings};
  for (const auto& [component, offer] : registry.Ask(context)) {
    if (offer.priority < 0) continue;
    Result<std::unique_ptr<Collective>> made = component->make(context);
    if (!made.ok()) return std::move(made).status().Within(component->info.name);
    std::array<Group, kOperations> offered;
    for (const Algorithm* algorithm : (*made)->Algorithms())
      offered[Index(algorithm->operation)].push_back(algorithm);
    for (std::size_t i = 0; i < kOperations; ++i)
      if (!offered[i].empty()) library->groups_[i].push_back(std::move(offered[i]));
    library->components_.push_back(*std::move(made));
  }
  for (std::size_t i = 0; i < kOperations; ++i) {
    const std::string& name = library->params_.*kForced[i];
    if (Status status = library->Force(static_cast<Operation>(i), name); !status.ok())
      return status;
  }
  return library;
}

Status Library::Force(Operation operation, const std::string& name) {
  if (name.empty()) return {};
  std::string known;
  for (const Algorithm* algorithm : Offered(operation)) {
    if (algorithm->inter) continue;
    if (name == algorithm->name) {
      forced_[Index(operation)] = algorithm;
      return {};
    }
    known += known.empty() ? "" : ", ";
    known += algorithm->name;
  }
  return Error(Code::kInvalid, "collective.%s.algorithm is \"%s\"; there are: %s", Name(operation),
               name.c_str(), known.c_str());
}

std::vector<const Algorithm*> Library::Offered(Operation operation) const {
  std::vector<const Algorithm*> all;
  for (const Group& group : groups_[Index(operation)])
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

LinkModel Library::Link(Rank ranks) const {
  LinkModel link;
  link.alpha_us = params_.alpha_us;
  link.overhead_us = params_.overhead_us;
  link.beta_us_per_byte = params_.beta_ns_per_kbyte / 1e3 / 1024;
  link.gamma_us_per_byte = params_.gamma_ns_per_kbyte / 1e3 / 1024;
  link.turn_us = params_.turn_us;
  link.crowd = params_.crowd > 0 ? params_.crowd : crowded_ ? 4 : 1;
  if (link.crowd > ranks) link.crowd = ranks;
  return link;
}

const Algorithm* Library::Choose(const Call& call, const Shape& shape,
                                 const LinkModel& link) const {
  const auto fits = [&](const Algorithm* algorithm) {
    return algorithm->inter == shape.inter() && algorithm->fits(call, shape);
  };
  const Algorithm* forced = forced_[Index(call.operation)];
  if (forced != nullptr && fits(forced)) return forced;
  for (const Group& group : groups_[Index(call.operation)]) {
    const Algorithm* best = nullptr;
    double best_us = 0;
    for (const Algorithm* algorithm : group) {
      if (!fits(algorithm)) continue;
      const double cost_us = algorithm->cost_us(call, shape, link);
      if (best != nullptr && cost_us >= best_us) continue;
      best = algorithm;
      best_us = cost_us;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

}  // namespace lamina::collective
