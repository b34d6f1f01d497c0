// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/bind.h"

#include <algorithm>
#include <compare>
#include <utility>
#include <vector>

#include "launcher/plan/rankfile.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Returns the objects of one kind, cut down to what is allowed. It leaves out empty ones (memory
// without CPUs), doubled ones (several kinds of memory beside the same cores) and those around
// smaller ones (memory of a whole machine that also has some at each socket), so that what remains
// does not overlap.
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
  std::vector<CpuSet> caches;
  std::vector<CpuSet> numa;
  std::vector<CpuSet> sockets;
};

Layout MakeLayout(hwloc_topology_t topology, const CpuSet& allowed) {
  Layout layout;
  layout.hwthreads = Places(topology, HWLOC_OBJ_PU, allowed);
  layout.cores = Places(topology, HWLOC_OBJ_CORE, allowed);
  layout.caches = Places(topology, HWLOC_OBJ_L3CACHE, allowed);
  layout.numa = Places(topology, HWLOC_OBJ_NUMANODE, allowed);
  layout.sockets = Places(topology, HWLOC_OBJ_PACKAGE, allowed);
  // A topology may leave a kind out. Then a hardware thread stands for a core, a NUMA domain for a
  // cache and the machine for a socket.
  if (layout.cores.empty()) layout.cores = Places(topology, HWLOC_OBJ_PU, allowed);
  if (layout.caches.empty()) layout.caches = Places(topology, HWLOC_OBJ_NUMANODE, allowed);
  for (std::vector<CpuSet>* kind : {&layout.caches, &layout.numa, &layout.sockets})
    if (kind->empty()) kind->push_back(CpuSet(hwloc_bitmap_dup(allowed.get())));
  return layout;
}

const std::vector<CpuSet>& Kind(const Layout& layout, BindTo to) {
  switch (to) {
    case BindTo::kHwthread:
      return layout.hwthreads;
    case BindTo::kL3cache:
      return layout.caches;
    case BindTo::kNuma:
      return layout.numa;
    case BindTo::kSocket:
      return layout.sockets;
    default:
      return layout.cores;
  }
}

bool IsUnit(BindTo to) { return to == BindTo::kCore || to == BindTo::kHwthread; }

bool Within(const CpuSet& inner, const CpuSet& outer) {
  return hwloc_bitmap_isincluded(inner.get(), outer.get()) != 0;
}

CpuSet Copy(const CpuSet& set) { return CpuSet(hwloc_bitmap_dup(set.get())); }

// Returns the first of `places` that holds `inner`, or all that share a CPU with it; `inner` itself
// if none does.
CpuSet Around(const std::vector<CpuSet>& places, const CpuSet& inner) {
  CpuSet touched = Copy(inner);
  for (const CpuSet& place : places) {
    if (Within(inner, place)) return Copy(place);
    if (hwloc_bitmap_intersects(inner.get(), place.get()) != 0)
      hwloc_bitmap_or(touched.get(), touched.get(), place.get());
  }
  return touched;
}

std::size_t UnitsIn(const std::vector<CpuSet>& units, const CpuSet& domain) {
  return static_cast<std::size_t>(std::count_if(
      units.begin(), units.end(), [&domain](const CpuSet& unit) { return Within(unit, domain); }));
}

// Cuts `domain` into chunks for one rank each: `size` neighbouring units, as often as they fit;
// nobody gets what is left over. There is at least one chunk, of all there is.
std::vector<CpuSet> ChunksOf(const std::vector<CpuSet>& units, const CpuSet& domain,
                             std::size_t size) {
  std::vector<CpuSet> chunks;
  std::size_t filled = size;
  for (const CpuSet& unit : units) {
    if (!Within(unit, domain)) continue;
    if (filled == size) {
      chunks.push_back(CpuSet(hwloc_bitmap_alloc()));
      filled = 0;
    }
    hwloc_bitmap_or(chunks.back().get(), chunks.back().get(), unit.get());
    ++filled;
  }
  if (chunks.empty())
    chunks.push_back(Copy(domain));  // a hardware thread of a core
  else if (filled < size && chunks.size() > 1)
    chunks.pop_back();
  return chunks;
}

// Rooms are the chunks of each domain.
using Rooms = std::vector<std::vector<CpuSet>>;

Rooms RoomsOf(const std::vector<CpuSet>& units, const std::vector<CpuSet>& domains,
              std::size_t size) {
  Rooms rooms;
  for (const CpuSet& domain : domains) rooms.push_back(ChunksOf(units, domain, size));
  return rooms;
}

// Returns chunks in the order of the machine, within the smallest domains that have one for every
// rank, or across domains if there is no other way.
std::vector<CpuSet> Chunks(const Layout& layout, const std::vector<CpuSet>& units, std::size_t size,
                           std::size_t ranks, const CpuSet& allowed) {
  if (size > 1) {
    for (const std::vector<CpuSet>* domains : {&layout.caches, &layout.numa, &layout.sockets}) {
      std::vector<CpuSet> chunks;
      for (const CpuSet& domain : *domains)
        if (UnitsIn(units, domain) >= size)
          for (CpuSet& chunk : ChunksOf(units, domain, size)) chunks.push_back(std::move(chunk));
      if (chunks.size() >= ranks) return chunks;
    }
  }
  return ChunksOf(units, allowed, size);
}

// One rank on this host: the chunk it gets, or the domain that it was dealt.
struct Seat {
  CpuSet chunk;
  const CpuSet* domain = nullptr;
};

// Seats ranks in blocks: each gets a chunk where there are enough, else neighbours share evenly.
// Ranks bound to something larger are spread over all of it.
std::vector<Seat> InBlocks(const std::vector<CpuSet>& chunks, BindTo to, std::size_t ranks) {
  std::vector<Seat> seats;
  const bool one_each = IsUnit(to) && ranks <= chunks.size();
  for (std::size_t i = 0; i < ranks; ++i)
    seats.push_back({Copy(chunks[one_each ? i : i * chunks.size() / ranks]), nullptr});
  return seats;
}

// Deals ranks out to `domains`. A domain with as many ranks as chunks is full until all are.
std::vector<Seat> InTurn(const std::vector<CpuSet>& domains, const Rooms& inside,
                         std::size_t ranks) {
  std::vector<std::size_t> used(domains.size(), 0);
  std::vector<Seat> seats;
  while (seats.size() < ranks) {
    const std::size_t before = seats.size();
    for (std::size_t d = 0; d < domains.size() && seats.size() < ranks; ++d)
      if (used[d] < inside[d].size()) seats.push_back({Copy(inside[d][used[d]++]), &domains[d]});
    if (seats.size() == before) std::fill(used.begin(), used.end(), 0);
  }
  return seats;
}

// Seats `each` ranks on the first domain, `each` on the second.
std::vector<Seat> PerObject(const std::vector<CpuSet>& domains, const Rooms& inside,
                            std::size_t each, std::size_t ranks) {
  std::vector<Seat> seats;
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::size_t d = i / each % domains.size();
    seats.push_back({Copy(inside[d][i % each % inside[d].size()]), &domains[d]});
  }
  return seats;
}

// Decides which rank sits where: place after place, or round the objects of a kind.
void Renumber(const Layout& layout, MapBy rank_by, std::vector<CpuSet>* sets) {
  const auto first = [](const std::vector<CpuSet>& places, const CpuSet& set) {
    std::size_t i = 0;
    while (i < places.size() && hwloc_bitmap_intersects(places[i].get(), set.get()) == 0) ++i;
    return i;
  };
  struct Key {
    std::size_t round, object, position, index;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  for (std::size_t i = 0; i < sets->size(); ++i)
    keys.push_back({0, 0, first(layout.hwthreads, (*sets)[i]), i});
  const BindTo kind = ObjectOf(rank_by);
  if (kind != BindTo::kNone) {
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> seen(Kind(layout, kind).size() + 1, 0);
    for (Key& key : keys) {
      key.object = first(Kind(layout, kind), (*sets)[key.index]);
      key.round = seen[key.object]++;
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<CpuSet> sorted;
  for (const Key& key : keys) sorted.push_back(std::move((*sets)[key.index]));
  *sets = std::move(sorted);
}

// Returns the set of each rank, in order of local rank.
std::vector<CpuSet> Deal(const Binding& binding, const Layout& layout, const CpuSet& allowed,
                         std::size_t ranks) {
  const Mapping& mapping = binding.mapping;
  const std::size_t size = std::max(1u, mapping.cpus_per_rank);
  BindTo kind = ObjectOf(mapping.map_by);
  if (size > 1 && IsUnit(kind)) kind = BindTo::kNone;  // several of them make one place
  const std::vector<CpuSet> machine = [&allowed] {
    std::vector<CpuSet> whole;
    whole.push_back(Copy(allowed));
    return whole;
  }();
  const bool per_object = mapping.ranks_per_object != 0;
  const bool in_domains = kind != BindTo::kNone;
  const std::vector<CpuSet>& domains = in_domains ? Kind(layout, kind) : machine;
  bool by_hwthread =
      binding.to == BindTo::kHwthread || kind == BindTo::kHwthread || mapping.hwthreads_are_cpus;
  const bool counted = mapping.cpus_per_rank != 0;
  if (counted && !by_hwthread) {
    // Every thread gets a whole core if there are enough, else a hardware thread.
    std::size_t fitting = 0;
    for (const CpuSet& domain : domains) fitting += UnitsIn(layout.cores, domain) / size;
    by_hwthread = fitting < ranks;
  }
  const std::vector<CpuSet>& units = by_hwthread ? layout.hwthreads : layout.cores;
  std::vector<Seat> seats;
  if (per_object)
    seats = PerObject(domains, RoomsOf(units, domains, size), mapping.ranks_per_object, ranks);
  else if (in_domains)
    seats = InTurn(domains, RoomsOf(units, domains, size), ranks);
  else
    seats = InBlocks(Chunks(layout, units, size, ranks, allowed), binding.to, ranks);
  std::vector<CpuSet> sets;
  for (Seat& seat : seats) {
    if (binding.to == kind && seat.domain != nullptr)
      sets.push_back(Copy(*seat.domain));
    else if (IsUnit(binding.to) && (counted || by_hwthread == (binding.to == BindTo::kHwthread)))
      sets.push_back(std::move(seat.chunk));
    else
      sets.push_back(Around(Kind(layout, binding.to), seat.chunk));
  }
  if (mapping.rank_by && mapping.rank_by != MapBy::kNode) Renumber(layout, *mapping.rank_by, &sets);
  return sets;
}

const char* PluralOf(std::size_t count) { return count == 1 ? "" : "s"; }

std::string KindName(BindTo to, std::size_t count) {
  const char* name = to == BindTo::kNuma       ? "NUMA domain"
                     : to == BindTo::kL3cache  ? "third-level cache"
                     : to == BindTo::kSocket   ? "socket"
                     : to == BindTo::kHwthread ? "hardware thread"
                                               : "core";
  return std::string(name) + PluralOf(count);
}

// Returns the CPUs of a rank file's place. Cores are counted as hwloc counts them, allowed or not.
Result<CpuSet> Resolve(const std::string& place, hwloc_topology_t topology, const CpuSet& allowed) {
  Result<std::vector<CpuPlace>> pieces = ParseCpuPlaces(place);
  if (!pieces.ok()) return std::move(pieces).status();
  CpuSet set(hwloc_bitmap_alloc());
  for (const CpuPlace& piece : *pieces) {
    hwloc_obj_t within = hwloc_get_root_obj(topology);
    if (piece.socket != CpuPlace::kAll)
      within = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, piece.socket);
    const int cores = within == nullptr ? 0
                                        : hwloc_get_nbobjs_inside_cpuset_by_type(
                                              topology, within->cpuset, HWLOC_OBJ_CORE);
    if (cores <= 0 || piece.first >= static_cast<std::uint32_t>(cores) ||
        (piece.last != CpuPlace::kAll && piece.last >= static_cast<std::uint32_t>(cores)))
      return Error(Code::kInvalid, "slot=%s: the machine has no such core", place.c_str());
    const std::uint32_t last = std::min(piece.last, static_cast<std::uint32_t>(cores - 1));
    for (std::uint32_t core = piece.first; core <= last; ++core) {
      hwloc_obj_t object =
          hwloc_get_obj_inside_cpuset_by_type(topology, within->cpuset, HWLOC_OBJ_CORE, core);
      hwloc_bitmap_or(set.get(), set.get(), object->cpuset);
    }
  }
  hwloc_bitmap_and(set.get(), set.get(), allowed.get());
  if (hwloc_bitmap_iszero(set.get()) != 0 && !pieces->empty())
    return Error(Code::kInvalid, "slot=%s: this process may run on no such core, only on CPUs %s",
                 place.c_str(), ListOf(allowed).c_str());
  return set;
}

std::vector<RankPlan*> RanksOn(Plan* plan, std::uint32_t host) {
  std::vector<RankPlan*> ranks;
  for (RankPlan& rank : plan->ranks)
    if (rank.host == host) ranks.push_back(&rank);
  std::sort(ranks.begin(), ranks.end(),
            [](const RankPlan* a, const RankPlan* b) { return a->local_rank < b->local_rank; });
  return ranks;
}

Status BindByFile(const std::vector<RankPlan*>& ranks, hwloc_topology_t topology,
                  const CpuSet& allowed, Plan* plan) {
  for (RankPlan* rank : ranks) {
    if (rank->place.empty()) continue;
    Result<CpuSet> set = Resolve(rank->place, topology, allowed);
    if (!set.ok())
      return std::move(set).status().Within(
          Format("rank %u on %s", rank->rank, plan->hosts[rank->host].name.c_str()));
    if (hwloc_bitmap_iszero(set->get()) == 0) rank->cpuset = ListOf(*set);
  }
  plan->notes.push_back("bound as the rank file says");
  return {};
}

}  // namespace

Binding ChooseBinding(const Plan& plan, std::uint32_t host, const Machine& machine) {
  Binding binding;
  binding.mapping = plan.mapping;
  binding.asked = true;
  if (plan.mapping.bind_to != BindTo::kDefault) {
    binding.to = plan.mapping.bind_to;
    binding.why = Format("--bind-to %s", Name(binding.to));
    return binding;
  }
  if (plan.mapping.map_by == MapBy::kRankfile) {
    binding.to = BindTo::kCore;
    return binding;
  }
  if (plan.mapping.cpus_per_rank != 0) {
    binding.to = BindTo::kCore;
    binding.why = Format("%u for each rank", plan.mapping.cpus_per_rank);
    return binding;
  }
  binding.to = ObjectOf(plan.mapping.map_by);
  if (binding.to != BindTo::kNone) {
    binding.why = Format("--map-by %s binds to it", Name(plan.mapping.map_by));
    return binding;
  }
  binding.asked = false;
  const auto here = [host](const RankPlan& rank) { return rank.host == host; };
  const auto ranks =
      static_cast<std::size_t>(std::count_if(plan.ranks.begin(), plan.ranks.end(), here));
  if (ranks > machine.cpus) {
    binding.why = "more ranks than CPUs";
  } else if (plan.hosts[host].taken > 0) {
    binding.why = "other jobs of this run are there: the operating system keeps ranks apart";
  } else if (machine.numa_domains <= 1) {
    binding.why = "one NUMA domain: the operating system keeps ranks apart and threads have room";
  } else if (ranks < machine.numa_domains) {
    binding.why = "fewer ranks than NUMA domains: every rank may use the whole machine";
  } else {
    binding.to = BindTo::kNuma;
    binding.why = "memory stays near and threads have a whole domain";
  }
  return binding;
}

Status BindRanks(const Binding& binding, std::uint32_t host, hwloc_topology_t topology,
                 const CpuSet& allowed, Plan* plan) {
  if (binding.to == BindTo::kNone || binding.to == BindTo::kDefault) {
    plan->notes.push_back("not bound: " + binding.why);
    return {};
  }
  const std::vector<RankPlan*> ranks = RanksOn(plan, host);
  if (binding.mapping.map_by == MapBy::kRankfile) return BindByFile(ranks, topology, allowed, plan);
  const Layout layout = MakeLayout(topology, allowed);
  if (layout.hwthreads.empty())
    return Error(Code::kUnsupported, "no CPU of this machine is allowed to this process");
  const std::vector<CpuSet>& places = Kind(layout, binding.to);
  if (!binding.asked && (places.size() <= 1 || ranks.size() < places.size())) {
    plan->notes.push_back(Format("not bound: %zu allowed %s for %zu rank%s", places.size(),
                                 KindName(binding.to, places.size()).c_str(), ranks.size(),
                                 PluralOf(ranks.size())));
    return {};
  }
  const std::vector<CpuSet> sets = Deal(binding, layout, allowed, ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i]->cpuset = ListOf(sets[i]);
  plan->notes.push_back(Format("bound to %zu %s: %s", places.size(),
                               KindName(binding.to, places.size()).c_str(), binding.why.c_str()));
  return {};
}

std::uint32_t CountObjects(hwloc_topology_t topology, const CpuSet& allowed, BindTo kind) {
  if (kind == BindTo::kNone || kind == BindTo::kDefault) return 1;
  const Layout layout = MakeLayout(topology, allowed);
  return static_cast<std::uint32_t>(Kind(layout, kind).size());
}

}  // namespace lamina::launcher
