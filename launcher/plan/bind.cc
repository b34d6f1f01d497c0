// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/bind.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Objects of one kind, cut down to what is allowed. Left out: empty ones (memory without CPUs),
// doubled ones (several kinds of memory beside the same cores) and those around smaller ones
// (memory of a whole machine that also has some at each socket). What remains does not overlap.
std::vector<CpuSet> Places(hwloc_topology_t topology, hwloc_obj_type_t type,
                           const CpuSet& allowed) {
  std::vector<CpuSet> places;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object)) {
    CpuSet place(hwloc_bitmap_dup(object->cpuset));
    hwloc_bitmap_and(place.get(), place.get(), allowed.get());
    const auto same = [&place](const CpuSet& other) {
      return hwloc_bitmap_isequal(place.get(), other.get()) != 0;
    };
    if (hwloc_bitmap_iszero(place.get()) == 0 && std::none_of(places.begin(), places.end(), same))
      places.push_back(std::move(place));
  }
  std::vector<CpuSet> smallest;
  for (std::size_t i = 0; i < places.size(); ++i) {
    bool is_around = false;
    for (std::size_t other = 0; other < places.size() && type == HWLOC_OBJ_NUMANODE; ++other)
      is_around = is_around || (other != i &&
                                hwloc_bitmap_isincluded(places[other].get(), places[i].get()) != 0);
    if (!is_around) smallest.push_back(CpuSet(hwloc_bitmap_dup(places[i].get())));
  }
  return smallest;
}

struct Layout {
  std::vector<CpuSet> hwthreads;
  std::vector<CpuSet> cores;
  std::vector<CpuSet> numa;
  std::vector<CpuSet> sockets;
};

Layout MakeLayout(hwloc_topology_t topology, const CpuSet& allowed) {
  Layout layout;
  layout.hwthreads = Places(topology, HWLOC_OBJ_PU, allowed);
  layout.cores = Places(topology, HWLOC_OBJ_CORE, allowed);
  layout.numa = Places(topology, HWLOC_OBJ_NUMANODE, allowed);
  layout.sockets = Places(topology, HWLOC_OBJ_PACKAGE, allowed);
  // A topology may leave a kind out: then a core is a hardware thread and the machine one socket.
  if (layout.cores.empty()) layout.cores = Places(topology, HWLOC_OBJ_PU, allowed);
  for (std::vector<CpuSet>* kind : {&layout.numa, &layout.sockets})
    if (kind->empty()) kind->push_back(CpuSet(hwloc_bitmap_dup(allowed.get())));
  return layout;
}

const std::vector<CpuSet>& Kind(const Layout& layout, BindTo to) {
  switch (to) {
    case BindTo::kHwthread:
      return layout.hwthreads;
    case BindTo::kNuma:
      return layout.numa;
    case BindTo::kSocket:
      return layout.sockets;
    default:
      return layout.cores;
  }
}

BindTo SameKind(MapBy map_by) {
  switch (map_by) {
    case MapBy::kNuma:
      return BindTo::kNuma;
    case MapBy::kSocket:
      return BindTo::kSocket;
    case MapBy::kCore:
      return BindTo::kCore;
    case MapBy::kHwthread:
      return BindTo::kHwthread;
    default:
      return BindTo::kNone;
  }
}

bool Within(const CpuSet& inner, const CpuSet& outer) {
  return hwloc_bitmap_isincluded(inner.get(), outer.get()) != 0;
}

// The first of `places` that holds `inner`, or shares a CPU with it; `inner` itself if none does.
const CpuSet& Around(const std::vector<CpuSet>& places, const CpuSet& inner) {
  for (const CpuSet& place : places)
    if (Within(inner, place)) return place;
  for (const CpuSet& place : places)
    if (hwloc_bitmap_intersects(inner.get(), place.get()) != 0) return place;
  return inner;
}

// In blocks: rank i of n gets unit i where there are enough, else neighbours share evenly.
std::vector<const CpuSet*> InBlocks(const Layout& layout, BindTo to, std::size_t ranks) {
  const std::vector<CpuSet>& units = to == BindTo::kHwthread ? layout.hwthreads : layout.cores;
  const bool is_unit = to == BindTo::kHwthread || to == BindTo::kCore;
  std::vector<const CpuSet*> chosen;
  for (std::size_t i = 0; i < ranks; ++i) {
    const bool one_each = is_unit && ranks <= units.size();
    const CpuSet& unit = units[one_each ? i : i * units.size() / ranks];
    chosen.push_back(is_unit ? &unit : &Around(Kind(layout, to), unit));
  }
  return chosen;
}

// Dealt out in turn to `domains`; one with as many ranks as units is full until all are.
std::vector<const CpuSet*> InTurn(const Layout& layout, BindTo domain_kind, BindTo to,
                                  std::size_t ranks) {
  const std::vector<CpuSet>& domains = Kind(layout, domain_kind);
  const bool by_hwthread = to == BindTo::kHwthread || domain_kind == BindTo::kHwthread;
  const std::vector<CpuSet>& units = by_hwthread ? layout.hwthreads : layout.cores;
  std::vector<std::vector<const CpuSet*>> inside(domains.size());
  for (std::size_t d = 0; d < domains.size(); ++d) {
    for (const CpuSet& unit : units)
      if (Within(unit, domains[d])) inside[d].push_back(&unit);
    if (inside[d].empty()) inside[d].push_back(&domains[d]);  // a hardware thread of a core
  }
  std::vector<std::size_t> used(domains.size(), 0);
  std::vector<const CpuSet*> chosen;
  while (chosen.size() < ranks) {
    const std::size_t before = chosen.size();
    for (std::size_t d = 0; d < domains.size() && chosen.size() < ranks; ++d) {
      if (used[d] == inside[d].size()) continue;
      const CpuSet& unit = *inside[d][used[d]++];
      chosen.push_back(to == domain_kind ? &domains[d] : &Around(Kind(layout, to), unit));
    }
    if (chosen.size() == before) std::fill(used.begin(), used.end(), 0);
  }
  return chosen;
}

const char* PluralOf(std::size_t count) { return count == 1 ? "" : "s"; }

std::string KindName(BindTo to, std::size_t count) {
  const char* name = to == BindTo::kNuma       ? "NUMA domain"
                     : to == BindTo::kSocket   ? "socket"
                     : to == BindTo::kHwthread ? "hardware thread"
                                               : "core";
  return std::string(name) + PluralOf(count);
}

}  // namespace

Binding ChooseBinding(const Request& request, const Plan& plan, std::uint32_t host,
                      const Machine& machine) {
  Binding binding;
  binding.map_by = request.map_by;
  binding.asked = true;
  if (request.bind_to != BindTo::kDefault) {
    binding.to = request.bind_to;
    binding.why = Format("--bind-to %s", Name(request.bind_to));
    return binding;
  }
  binding.to = SameKind(request.map_by);
  if (binding.to != BindTo::kNone) {
    binding.why = Format("--map-by %s binds to it", Name(request.map_by));
    return binding;
  }
  binding.asked = false;
  const auto here = [host](const RankPlan& rank) { return rank.host == host; };
  const auto ranks =
      static_cast<std::size_t>(std::count_if(plan.ranks.begin(), plan.ranks.end(), here));
  if (ranks > machine.cpus)
    binding.why = "more ranks than CPUs";
  else if (machine.numa_domains <= 1)
    binding.why = "one NUMA domain: the operating system keeps ranks apart and threads have room";
  else if (ranks < machine.numa_domains)
    binding.why = "fewer ranks than NUMA domains: every rank may use the whole machine";
  else
    binding = {BindTo::kNuma, request.map_by, false,
               "memory stays near and threads have a whole domain"};
  return binding;
}

Status BindRanks(const Binding& binding, std::uint32_t host, hwloc_topology_t topology,
                 const CpuSet& allowed, Plan* plan) {
  if (binding.to == BindTo::kNone || binding.to == BindTo::kDefault) {
    plan->notes.push_back("not bound: " + binding.why);
    return {};
  }
  const Layout layout = MakeLayout(topology, allowed);
  if (layout.hwthreads.empty())
    return Error(Code::kUnsupported, "no CPU of this machine is allowed to this process");
  std::vector<RankPlan*> ranks;
  for (RankPlan& rank : plan->ranks)
    if (rank.host == host) ranks.push_back(&rank);
  std::sort(ranks.begin(), ranks.end(),
            [](const RankPlan* a, const RankPlan* b) { return a->local_rank < b->local_rank; });
  const std::vector<CpuSet>& places = Kind(layout, binding.to);
  if (!binding.asked && (places.size() <= 1 || ranks.size() < places.size())) {
    plan->notes.push_back(Format("not bound: %zu allowed %s for %zu rank%s", places.size(),
                                 KindName(binding.to, places.size()).c_str(), ranks.size(),
                                 PluralOf(ranks.size())));
    return {};
  }
  const BindTo domain = SameKind(binding.map_by);
  const std::vector<const CpuSet*> chosen = domain == BindTo::kNone
                                                ? InBlocks(layout, binding.to, ranks.size())
                                                : InTurn(layout, domain, binding.to, ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i]->cpuset = ListOf(*chosen[i]);
  plan->notes.push_back(Format("bound to %zu %s: %s", places.size(),
                               KindName(binding.to, places.size()).c_str(), binding.why.c_str()));
  return {};
}

}  // namespace lamina::launcher
