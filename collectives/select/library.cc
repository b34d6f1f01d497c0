// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/library.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

// The parameter collective.<operation>.algorithm.
struct Forced {
  explicit Forced(Operation operation)
      : parameter(Format("collective.%s.algorithm", collective::Name(operation))) {}
  const std::string parameter;

  struct Params {
    std::string name;
  };
  auto Fields() const {
    return std::tuple{param::Describe(
        parameter.c_str(), &Params::name, "",
        "Name of the algorithm to use wherever it fits the call; empty: by predicted cost.")};
  }
};

// Is `name` among the words of `list`, or is the list empty?
bool Listed(std::string_view list, std::string_view name) {
  if (Trim(list).empty()) return true;
  for (const std::string_view word : Split(list, ','))
    if (Trim(word) == name) return true;
  return false;
}

std::size_t Index(Operation operation) { return static_cast<std::size_t>(operation); }

}  // namespace

std::vector<param::Row> Rows(const param::Settings& settings) {
  std::vector<param::Row> rows = param::Rows<Params>(settings, kFields);
  for (std::size_t i = 0; i < kOperations; ++i) {
    const Forced forced(static_cast<Operation>(i));
    rows.push_back(param::Rows<Forced::Params>(settings, forced.Fields()).front());
  }
  return rows;
}

Result<std::unique_ptr<Library>> Library::Make(const Registry& registry,
                                               const param::Settings& settings) {
  auto library = std::make_unique<Library>();
  if (Status status = param::Load(settings, kFields, &library->params_); !status.ok())
    return status;
  if (const param::Found* mode = settings.Find("p2p.wait.mode"); mode != nullptr)
    library->crowded_ = mode->value == "oversubscribed";

  if (Status status = library->ReadNearRanks(); !status.ok()) return status;

  for (const std::string_view word : Split(library->params_.include, ','))
    if (const std::string name(Trim(word)); !name.empty() && registry.Find(name) == nullptr)
      return Error(Code::kInvalid, "collective.include names \"%s\", which is no collective",
                   name.c_str());
  for (const Component& component : registry.entries())
    if (component.check != nullptr)
      if (Status status = component.check(settings); !status.ok()) return status;
  const Context context{&settings};
  for (const auto& [component, offer] : registry.Ask(context)) {
    if (offer.priority < 0 || !Listed(library->params_.include, component->info.name)) continue;
    Result<std::unique_ptr<Collective>> made = component->make(context);
    if (!made.ok()) {
      Log(lamina::Level::kWarn, "collective", "component %s cannot be used: %s",
          component->info.name.c_str(), std::string(made.status().message()).c_str());
      continue;
    }
    if (component->info.source != "built in")
      library->outside_ +=
          Format("%s%s %s at priority %d", library->outside_.empty() ? "" : ", ",
                 component->info.name.c_str(), component->info.version.c_str(), offer.priority);
    if (const Convener* convener = (*made)->convener(); convener != nullptr)
      library->AddMeeter(component->info.name, *convener);
    std::array<std::vector<const Algorithm*>, kOperations> offered;
    for (const Algorithm* algorithm : (*made)->Algorithms())
      offered[Index(algorithm->operation)].push_back(algorithm);
    for (std::size_t i = 0; i < kOperations; ++i) {
      if (offered[i].empty()) continue;
      std::vector<Group>& groups = library->groups_[i];
      if (groups.empty() || groups.back().priority != offer.priority)
        groups.push_back({offer.priority, {}});
      std::vector<const Algorithm*>& all = groups.back().algorithms;
      all.insert(all.end(), offered[i].begin(), offered[i].end());
    }
    library->components_.push_back(*std::move(made));
  }
  for (std::size_t i = 0; i < kOperations; ++i)
    if (Status status = library->Force(static_cast<Operation>(i), settings); !status.ok())
      return status;
  library->SettleMeeters();
  return library;
}

Status Library::ReadNearRanks() {
  std::uint32_t before = 1;
  for (const std::string_view word : Split(params_.near_ranks, ',')) {
    if (Trim(word).empty()) continue;
    const auto number = ParseInteger(Trim(word));
    if (!number || *number <= before || *number > INT32_MAX || *number % before != 0)
      return Error(Code::kInvalid,
                   "collective.select.near_ranks is \"%s\"; it takes numbers above 1, each a "
                   "multiple of the one before: 2,8",
                   params_.near_ranks.c_str());
    before = static_cast<std::uint32_t>(*number);
    near_ranks_.push_back(before);
  }
  return {};
}

Status Library::Force(Operation operation, const param::Settings& settings) {
  const Forced forced(operation);
  Forced::Params params;
  if (Status status = param::Load(settings, forced.Fields(), &params); !status.ok()) return status;
  const std::string& name = params.name;
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
  for (Meeter& meeter : meeters_) {
    if (!meeter.offer.named.Has(operation)) continue;
    if (name == meeter.component) {
      meeter.named.Add(operation);
      return {};
    }
    known += ", " + meeter.component;
  }
  return Error(Code::kInvalid, "%s is \"%s\"; there are: %s", forced.parameter.c_str(),
               name.c_str(), known.c_str());
}

void Library::AddMeeter(const std::string& component, const Convener& convener) {
  Meeter& meeter =
      meeters_.emplace_back(Meeter{component, &convener, convener.offer(), {}, {}, {}, {}});
  for (std::size_t i = 0; i < kOperations; ++i)
    if (!groups_[i].empty()) meeter.outranked.Add(static_cast<Operation>(i));
}

void Library::SettleMeeters() {
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool named = forced_[i] != nullptr ||
                       std::any_of(meeters_.begin(), meeters_.end(), [&](const Meeter& meeter) {
                         return meeter.named.Has(operation);
                       });
    for (Meeter& meeter : meeters_) {
      const bool free = !named && !meeter.outranked.Has(operation);
      if (meeter.offer.calls.Has(operation) && (meeter.named.Has(operation) || free))
        meeter.calls.Add(operation);
      if (meeter.offer.steps && PlansMeet(operation)) meeter.steps.Add(operation);
    }
  }
}

bool Library::PlansMeet(Operation operation) const {
  if (const Algorithm* named = Named(operation); named != nullptr) return named->meets;
  const std::vector<const Algorithm*> all = Offered(operation);
  return std::any_of(all.begin(), all.end(), [](const Algorithm* one) { return one->meets; });
}

bool Library::HasSteps(Operation operation) const {
  return std::any_of(meeters_.begin(), meeters_.end(),
                     [&](const Meeter& meeter) { return meeter.steps.Has(operation); });
}

std::vector<const Algorithm*> Library::Offered(Operation operation) const {
  std::vector<const Algorithm*> all;
  for (const Group& group : groups_[Index(operation)])
    all.insert(all.end(), group.algorithms.begin(), group.algorithms.end());
  return all;
}

LinkModel Library::Link(Rank ranks, double alpha_us, double overhead_us,
                        double beta_ns_per_kbyte) const {
  LinkModel link;
  link.alpha_us = alpha_us;
  link.overhead_us = overhead_us;
  link.beta_us_per_byte = beta_ns_per_kbyte / 1e3 / 1024;
  link.gamma_us_per_byte = params_.gamma_ns_per_kbyte / 1e3 / 1024;
  link.turn_us = params_.turn_us;
  link.crowd = params_.crowd > 0 ? params_.crowd : crowded_ ? 4 : 1;
  if (link.crowd > ranks) link.crowd = ranks;
  return link;
}

LinkModel Library::Link(Rank ranks) const {
  return Link(ranks, params_.alpha_us, params_.overhead_us, params_.beta_ns_per_kbyte);
}

Placement Library::Place(Rank ranks, const Partition& job,
                         const std::function<std::uint32_t(Rank)>& peer_of,
                         bool knows_crowd) const {
  LinkModel near =
      Link(ranks, params_.near_alpha_us, params_.near_overhead_us, params_.near_beta_ns_per_kbyte);
  LinkModel node = Link(ranks);
  LinkModel network = Link(ranks, params_.network_alpha_us, params_.network_overhead_us,
                           params_.network_beta_ns_per_kbyte);
  LinkModel far =
      Link(ranks, params_.far_alpha_us, params_.far_overhead_us, params_.far_beta_ns_per_kbyte);

  if (!knows_crowd) near.crowd = node.crowd = network.crowd = far.crowd = 1;
  network.turn_us = far.turn_us = params_.network_turn_us;
  network.eager_bytes = far.eager_bytes = static_cast<std::int64_t>(params_.network_eager_bytes);

  auto hierarchy = std::make_unique<Hierarchy>();
  const auto cut = [&](auto name_of) {
    PartitionBuilder builder;
    for (Rank rank = 0; rank < ranks; ++rank)
      builder.Add(name_of(static_cast<Rank>(peer_of(rank))));
    return builder.Finish();
  };
  for (const std::uint32_t each : near_ranks_)
    hierarchy->Add("near", cut([&](Rank peer) {
                     const auto node_bits = static_cast<std::uint64_t>(job.GroupOf(peer)) << 32;
                     return node_bits | (static_cast<std::uint32_t>(job.IndexOf(peer)) / each);
                   }),
                   near);
  const auto node_of = [&](Rank peer) { return static_cast<std::uint64_t>(job.GroupOf(peer)); };
  Partition by_node = cut(node_of);
  network.sharers = far.sharers = by_node.largest();
  Placement placement;
  placement.nodes = by_node.groups();
  placement.link = placement.nodes > 1 ? network : node;
  const bool has_nodes = by_node.groups() > 1 && by_node.largest() > 1;
  hierarchy->Add("node", std::move(by_node), node);
  if (has_nodes) hierarchy->node_level = static_cast<int>(hierarchy->levels.size()) - 1;
  if (params_.switch_nodes > 0) {
    Partition by_switch = cut([&](Rank peer) { return node_of(peer) / params_.switch_nodes; });
    if (by_switch.groups() > 1) placement.link = far;
    hierarchy->Add("switch", std::move(by_switch), network);
  }
  hierarchy->outermost = placement.link;
  if (hierarchy->node_level > 0) {
    auto by_node = std::make_unique<Hierarchy>(*hierarchy);
    by_node->levels.erase(by_node->levels.begin(), by_node->levels.begin() + hierarchy->node_level);
    by_node->node_level = 0;
    placement.by_node = std::move(by_node);
  }
  if (!hierarchy->levels.empty()) placement.hierarchy = std::move(hierarchy);
  return placement;
}

const Partition* Placement::Nodes() const {
  if (hierarchy == nullptr || hierarchy->node_level < 0) return nullptr;
  return &hierarchy->levels[static_cast<std::size_t>(hierarchy->node_level)].groups;
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
    for (const Algorithm* algorithm : group.algorithms) {
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
