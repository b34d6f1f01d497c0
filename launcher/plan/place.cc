// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/place.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// A host while it is being filled.
struct Place {
  HostEntry entry;
  bool here = false;     // this machine
  bool counted = false;  // the user wrote the number of slots
  std::uint32_t slots = 1;
  std::uint32_t slots_max = 0;  // 0: no limit
  std::uint32_t cpus = 0;       // 0: unknown
  std::uint16_t port = 0;
  std::uint32_t used = 0;
};

const char* Plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

// Returns every list of hosts in a request.
std::vector<std::vector<HostEntry>*> HostLists(Request& request) {
  std::vector<std::vector<HostEntry>*> lists = {&request.allocation, &request.host_file};
  for (ProgramRequest& program : request.programs) lists.push_back(&program.hosts);
  return lists;
}

// Returns the names by which the hosts of a request mean this machine. "n1.east" may stand for a
// machine that calls itself "n1", but not if "n1.west" is there too.
std::vector<std::string> NamesOfHere(Request& request, const Machine& machine) {
  std::vector<std::string> names;
  for (const std::vector<HostEntry>* list : HostLists(request))
    for (const HostEntry& host : *list) names.push_back(host.name);
  for (const RankfileEntry& entry : request.rankfile) names.push_back(entry.host);
  std::vector<std::string> sure;
  std::vector<std::string> unsure;
  for (const std::string& name : names) {
    if (!IsThisMachine(name, machine)) continue;
    std::vector<std::string>& known = IsThisMachineSurely(name, machine) ? sure : unsure;
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  }
  if (unsure.size() == 1) sure.push_back(unsure.front());
  return sure;
}

// Gives this machine one name, so that it is one host.
void UseOneNameForHere(Request& request, const std::vector<std::string>& names) {
  const auto rename = [&names](std::string& name) {
    if (std::find(names.begin(), names.end(), name) != names.end()) name = names.front();
  };
  for (std::vector<HostEntry>* list : HostLists(request))
    for (HostEntry& host : *list) rename(host.name);
  for (RankfileEntry& entry : request.rankfile) rename(entry.host);
}

using Index = std::unordered_map<std::string_view, std::size_t>;

// Returns where each name stands in a list, from which the names are borrowed.
Index IndexOf(const std::vector<HostEntry>& hosts) {
  Index index;
  for (std::size_t i = 0; i < hosts.size(); ++i) index.emplace(hosts[i].name, i);
  return index;
}
Index IndexOf(const std::vector<Place>& places) {
  Index index;
  for (std::size_t i = 0; i < places.size(); ++i) index.emplace(places[i].entry.name, i);
  return index;
}

std::string_view FirstLabel(std::string_view name) { return name.substr(0, name.find('.')); }

// Names that the user wrote short or long become those of `base`, where only one can be meant:
// "n1" and "n1.east" may be one host, "n1.west" and "n1.east" are two.
void UseNamesOf(const std::vector<HostEntry>& base, std::vector<HostEntry>* hosts) {
  const Index exact = IndexOf(base);
  std::unordered_map<std::string_view, std::string_view> by_label;  // "": several
  for (const HostEntry& known : base) {
    const auto [entry, is_new] = by_label.emplace(FirstLabel(known.name), known.name);
    if (!is_new && entry->second != known.name) entry->second = {};
  }
  for (HostEntry& host : *hosts) {
    if (exact.contains(host.name)) continue;
    const auto found = by_label.find(FirstLabel(host.name));
    if (found == by_label.end() || found->second.empty()) continue;
    const bool one_is_short = (found->second.find('.') == std::string_view::npos) !=
                              (host.name.find('.') == std::string::npos);
    if (one_is_short) host.name = found->second;
  }
}

Place MakePlace(const HostEntry& entry, const Request& request, const Machine& machine,
                std::string_view here) {
  Place place;
  place.entry = entry;
  place.here = entry.name == here;
  place.counted =
      request.never_oversubscribe || (entry.slots.has_value() && entry.slots_are_a_promise);
  place.cpus = entry.cpus != 0 ? entry.cpus : place.here ? machine.cpus : 0;
  const std::uint32_t cpus_per_rank = std::max(1u, request.mapping.cpus_per_rank);
  place.slots = entry.slots.value_or(std::max(1u, place.cpus / cpus_per_rank));
  if (entry.slots_max) {
    place.slots_max = *entry.slots_max;
    place.slots = std::min(place.slots, place.slots_max);
  }
  if (const auto port = entry.extra.find("port"); port != entry.extra.end())
    place.port = static_cast<std::uint16_t>(ParseInteger(port->second).value_or(0));
  return place;
}

// Returns what the user named on command lines. Each program's list counts for itself: two programs
// that both say -H a do not make two slots.
std::vector<HostEntry> HostsOfPrograms(const Request& request) {
  std::vector<HostEntry> wanted;
  std::map<std::string, std::size_t> known;
  for (const ProgramRequest& program : request.programs) {
    for (HostEntry& entry : MergeHosts(program.hosts)) {
      const auto [place, is_new] = known.emplace(entry.name, wanted.size());
      if (is_new)
        wanted.push_back(std::move(entry));
      else if (entry.slots.value_or(0) > wanted[place->second].slots.value_or(0))
        wanted[place->second].slots = entry.slots;
    }
  }
  return wanted;
}

// Returns the hosts of a host file within an allocation, which says what the file leaves open.
Result<std::vector<HostEntry>> WithinAllocation(const Request& request) {
  const std::vector<HostEntry> allocation = MergeHosts(request.allocation);
  if (request.host_file.empty() || allocation.empty())
    return allocation.empty() ? MergeHosts(request.host_file) : allocation;
  std::vector<HostEntry> hosts = MergeHosts(request.host_file);
  const Index index = IndexOf(allocation);
  for (HostEntry& host : hosts) {
    const auto found = index.find(host.name);
    if (found == index.end())
      return Error(Code::kInvalid, "host %s (%s) does not belong to %s", host.name.c_str(),
                   host.where.c_str(), request.allocation_name.c_str());
    const HostEntry& given = allocation[found->second];
    if (!host.slots) {
      host.slots = given.slots;
      host.slots_are_a_promise = given.slots_are_a_promise;
    }
    host.cpus = given.cpus;
  }
  return hosts;
}

// Returns all hosts of the job. With a host file or an allocation, -H chooses among its hosts.
// `here` is the name of this machine among them.
Result<std::vector<Place>> MakePlaces(const Request& request, const Machine& machine,
                                      std::string_view here) {
  Result<std::vector<HostEntry>> base = WithinAllocation(request);
  if (!base.ok()) return std::move(base).status();
  const std::vector<HostEntry> wanted = HostsOfPrograms(request);
  const bool chosen = !base->empty();
  std::vector<HostEntry> hosts = chosen ? *base : wanted;
  if (hosts.empty() && request.mapping.map_by == MapBy::kRankfile) {
    for (const RankfileEntry& rank : request.rankfile) {
      HostEntry entry;
      entry.name = rank.host;
      entry.where = rank.where;
      if (!rank.host.starts_with('+')) hosts.push_back(std::move(entry));
    }
    hosts = MergeHosts(hosts);
  }
  std::vector<Place> places;
  for (const HostEntry& entry : hosts) places.push_back(MakePlace(entry, request, machine, here));
  const Index index = IndexOf(places);
  for (const HostEntry& entry : wanted) {
    if (!chosen || index.contains(entry.name)) continue;
    if (request.may_add_hosts && request.allocation.empty()) {
      places.push_back(MakePlace(entry, request, machine, here));
      continue;
    }
    if (!request.host_file.empty() && !request.may_add_hosts)
      return Error(Code::kInvalid, "host %s (-H) is not in the host file", entry.name.c_str());
    return Error(Code::kInvalid, "host %s (-H) does not belong to %s", entry.name.c_str(),
                 request.allocation_name.c_str());
  }
  if (places.empty()) {
    HostEntry self;
    self.name = machine.name;
    places.push_back(MakePlace(self, request, machine, machine.name));
  }
  return places;
}

// How many ranks of one program a host may still take.
struct Room {
  Place* place = nullptr;
  std::uint32_t slots = 0;  // free
  std::uint32_t cpus = 0;   // free, if more than slots: where they are no promise
  std::uint32_t most = 0;   // free when slots may be shared
  bool counted = false;
};

std::uint32_t Less(std::uint32_t all, std::uint32_t used) { return all - std::min(all, used); }

Room MakeRoom(const Request& request, const HostEntry* chosen, Place& place) {
  std::uint32_t slots = place.slots;
  std::uint32_t most = place.slots_max == 0 ? UINT32_MAX : place.slots_max;
  bool counted = place.counted;
  if (chosen != nullptr && chosen->slots) {
    slots = std::min(*chosen->slots, most);
    counted = true;
  }
  // With --ppn and ppr the user wrote the number.
  std::uint32_t limit = request.ranks_per_host_max;
  if (const std::uint64_t each = request.mapping.ranks_per_object; each != 0) {
    const auto here = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(each * std::max(1u, request.objects_per_host), kSlotsMax));
    limit = limit == 0 ? here : std::min(limit, here);
  }
  if (limit != 0) {
    most = std::min(most, limit);
    slots = counted ? std::min(slots, most) : most;
    counted = true;
  }
  slots = std::min(slots, most);
  const std::uint32_t cpus = place.cpus / std::max(1u, request.mapping.cpus_per_rank);
  // A number that was written for this program is all its own.
  const bool is_own = chosen != nullptr && chosen->slots;
  const std::uint32_t used = place.used + (is_own ? 0 : place.entry.taken);
  return {&place, Less(slots, used), Less(std::clamp(cpus, slots, std::max(slots, most)), used),
          Less(most, used), counted};
}

std::vector<Room> MakeRooms(const Request& request, const ProgramRequest& program,
                            std::vector<Place>& places) {
  const std::vector<HostEntry> chosen = MergeHosts(program.hosts);
  const Index index = IndexOf(chosen);
  std::vector<Room> rooms;
  for (Place& place : places) {
    if (!place.entry.schedule) continue;
    const auto entry = index.find(place.entry.name);
    if (!chosen.empty() && entry == index.end()) continue;
    rooms.push_back(MakeRoom(request, chosen.empty() ? nullptr : &chosen[entry->second], place));
  }
  return rooms;
}

Status NotEnough(const std::vector<Room>& rooms, std::uint32_t ranks, const Request& request,
                 const std::string& program) {
  const std::uint32_t per_host = request.ranks_per_host_max;
  std::uint64_t slots = 0;
  bool more_if_shared = false;
  bool more_without_limit = false;
  for (const Room& room : rooms) {
    slots += room.slots;
    more_if_shared = more_if_shared || room.most > room.slots;
    more_without_limit =
        more_without_limit || room.place->slots_max == 0 || room.place->slots_max > per_host;
  }
  std::string help = "; no host may take more (max_slots, --map-by ppr)";
  if (more_if_shared && request.never_oversubscribe)
    help = "; without --nooversubscribe ranks may share slots";
  else if (more_if_shared && !request.oversubscribe)
    help =
        "; --oversubscribe lets ranks share slots, or raise the number of slots (-H host:slots, "
        "slots= in the host file)";
  else if (per_host != 0 && request.mapping.ranks_per_object == 0 && more_without_limit)
    help = Format("; no host may take more than %u (-N and --ppn count ranks of a host, not hosts)",
                  per_host);
  return Error(Code::kInvalid, "%u rank%s of %s, but %llu free slot%s on %zu host%s%s", ranks,
               Plural(ranks), program.c_str(), static_cast<unsigned long long>(slots),
               Plural(slots), rooms.size(), Plural(rooms.size()), help.c_str());
}

// Orders a program's ranks over its rooms.
void Number(const Mapping& mapping, std::vector<std::size_t>* filled) {
  const bool round = mapping.map_by == MapBy::kNode && mapping.ranks_per_object == 0;
  const bool as_mapped = !mapping.rank_by && round;
  // When mapping by slot, neighbours in rank order stay together even where slots are shared.
  if (!as_mapped) std::sort(filled->begin(), filled->end());
  if (mapping.rank_by != MapBy::kNode) return;
  std::map<std::size_t, std::size_t> left;  // ranks by room
  for (const std::size_t room : *filled) ++left[room];
  for (std::size_t i = 0; i < filled->size();)
    for (auto& [room, ranks] : left)
      if (ranks > 0) {
        (*filled)[i++] = room;
        --ranks;
      }
}

// Returns which room each rank of a program gets, or kInvalid with the sentence that helps.
Result<std::vector<std::size_t>> Fill(const std::vector<Room>& rooms, std::uint32_t ranks,
                                      const Request& request, const std::string& program) {
  enum class Pass { kSlots, kCpus, kSharing };
  const Mapping& mapping = request.mapping;
  std::vector<std::size_t> filled;
  filled.reserve(ranks);
  std::vector<std::uint32_t> taken(rooms.size(), 0);
  // Ranks take the free slots first, in the order asked for; then, where allowed, free CPUs; the
  // rest share evenly.
  for (const Pass pass : {Pass::kSlots, Pass::kCpus, Pass::kSharing}) {
    while (filled.size() < ranks) {
      const std::size_t before = filled.size();
      for (std::size_t i = 0; i < rooms.size() && filled.size() < ranks; ++i) {
        const Room& room = rooms[i];
        const bool may_share = request.oversubscribe || !room.counted;
        const std::uint32_t limit = pass == Pass::kSlots  ? room.slots
                                    : !may_share          ? 0
                                    : pass == Pass::kCpus ? room.cpus
                                                          : room.most;
        if (taken[i] >= limit) continue;
        const bool one_each = pass == Pass::kSharing ||
                              (mapping.map_by == MapBy::kNode && mapping.ranks_per_object == 0);
        const std::uint32_t count =
            one_each ? 1
                     : std::min<std::uint32_t>(limit - taken[i],
                                               ranks - static_cast<std::uint32_t>(filled.size()));
        taken[i] += count;
        filled.insert(filled.end(), count, i);
      }
      if (filled.size() == before) break;
    }
  }
  if (filled.size() < ranks) return NotEnough(rooms, ranks, request, program);
  Number(mapping, &filled);
  return filled;
}

std::vector<Host> HostsOf(const std::vector<Place>& places) {
  std::vector<Host> hosts;
  for (const Place& place : places) {
    Host host;
    host.name = place.entry.name;
    host.slots = place.slots;
    host.slots_max = place.slots_max;
    host.user = place.entry.user;
    host.prefix = place.entry.prefix;
    host.port = place.port;
    host.schedulable = place.entry.schedule;
    host.cpus = place.cpus;
    host.promised = place.counted;
    host.taken = place.entry.taken;
    hosts.push_back(std::move(host));
  }
  return hosts;
}

// Returns how many of `wanted` ranks a program gets of those that are possible: all of them, or
// with -soft the largest number that it is content with.
Result<std::size_t> Content(const ProgramRequest& program, std::size_t wanted,
                            std::size_t possible) {
  if (program.soft.empty()) return wanted;
  const std::size_t most = std::min<std::size_t>({wanted, possible, INT32_MAX});
  const auto ranks = LargestSoft(program.soft, static_cast<std::uint32_t>(most));
  if (ranks) return std::size_t{*ranks};
  return Error(Code::kInvalid, "%s can have %zu rank%s, and -soft names no such number and no less",
               program.argv.front().c_str(), most, Plural(most));
}

Result<std::uint32_t> RankCount(const Request& request, const ProgramRequest& program,
                                const std::vector<Room>& rooms) {
  std::uint64_t possible = 0;
  for (const Room& room : rooms)
    possible += request.oversubscribe || !room.counted ? room.most : room.slots;
  if (program.ranks) {
    Result<std::size_t> ranks = Content(program, *program.ranks, possible);
    if (!ranks.ok()) return std::move(ranks).status();
    return static_cast<std::uint32_t>(*ranks);
  }
  if (request.programs.size() > 1)
    return Error(Code::kInvalid,
                 "say how many ranks of %s to start (-n); only a single program "
                 "gets one rank a slot by itself",
                 program.argv.front().c_str());
  std::uint64_t slots = 0;
  for (const Room& room : rooms) slots += room.slots;
  Result<std::size_t> ranks =
      Content(program, std::clamp<std::uint64_t>(slots, 1, INT32_MAX), possible);
  if (!ranks.ok()) return std::move(ranks).status();
  return static_cast<std::uint32_t>(*ranks);
}

Status CheckHere(const std::vector<Place>& places, bool other_hosts) {
  if (other_hosts) return {};
  for (const Place& place : places)
    if (place.used > 0 && !place.here)
      return Error(Code::kUnsupported, "starting on other hosts is not there yet: host %s (%s)",
                   place.entry.name.c_str(), place.entry.where.c_str());
  return {};
}

// Puts ranks one after another on the hosts of a list, as often as each is there.
Result<std::vector<Place*>> InSequence(const Request& request, const ProgramRequest& program,
                                       std::size_t first, std::vector<Place>& places) {
  const std::vector<HostEntry>& list = !program.hosts.empty()       ? program.hosts
                                       : !request.host_file.empty() ? request.host_file
                                                                    : request.allocation;
  if (!program.hosts.empty()) first = 0;
  const Index index = IndexOf(places);
  std::vector<Place*> sequence;
  for (const HostEntry& entry : list)
    sequence.insert(sequence.end(), entry.slots.value_or(1), &places[index.at(entry.name)]);
  if (list.empty()) sequence.assign(program.ranks.value_or(1) + first, &places.front());
  sequence.erase(sequence.begin(),
                 sequence.begin() + static_cast<std::ptrdiff_t>(std::min(first, sequence.size())));
  Result<std::size_t> content =
      Content(program, program.ranks.value_or(sequence.size()), sequence.size());
  if (!content.ok()) return std::move(content).status();
  const std::size_t ranks = *content;
  if (ranks > sequence.size() || ranks == 0)
    return Error(Code::kInvalid,
                 "%zu rank%s of %s, but %zu place%s left in the list of hosts (--map-by seq)",
                 ranks, Plural(ranks), program.argv.front().c_str(), sequence.size(),
                 sequence.size() == 1 ? " is" : "s are");
  sequence.resize(ranks);
  return sequence;
}

// Returns what a rank file says for the ranks from `first` on.
Result<std::vector<Place*>> FromRankfile(const Request& request, const ProgramRequest& program,
                                         std::size_t first, std::vector<Place>& places) {
  const std::vector<RankfileEntry>& file = request.rankfile;
  const std::size_t left = file.size() - std::min(first, file.size());
  Result<std::size_t> content = Content(program, program.ranks.value_or(left), left);
  if (!content.ok()) return std::move(content).status();
  const std::size_t ranks = *content;
  if (ranks > left || ranks == 0)
    return Error(Code::kInvalid, "the rank file has no line for rank %zu", file.size());
  const Index index = IndexOf(places);
  std::vector<Place*> chosen;
  for (std::size_t i = first; i < first + ranks; ++i) {
    Place* place = nullptr;
    if (const auto found = index.find(file[i].host); found != index.end()) {
      place = &places[found->second];
    } else if (file[i].host.starts_with("+n")) {
      const auto number = ParseInteger(std::string_view(file[i].host).substr(2));
      if (number && *number >= 0 && static_cast<std::size_t>(*number) < places.size())
        place = &places[static_cast<std::size_t>(*number)];
    }
    if (place == nullptr || !place->entry.schedule)
      return Error(Code::kInvalid, "%s: host %s is none of the job's", file[i].where.c_str(),
                   file[i].host.c_str());
    chosen.push_back(place);
  }
  return chosen;
}

// Returns the host of each rank of one program.
Result<std::vector<Place*>> Choose(const Request& request, const ProgramRequest& program,
                                   std::size_t first, std::vector<Place>& places) {
  if (request.mapping.map_by == MapBy::kSeq) return InSequence(request, program, first, places);
  if (request.mapping.map_by == MapBy::kRankfile)
    return FromRankfile(request, program, first, places);
  const std::vector<Room> rooms = MakeRooms(request, program, places);
  if (rooms.empty())
    return Error(Code::kInvalid, "every host is marked schedule=no: no place for %s",
                 program.argv.front().c_str());
  Result<std::uint32_t> ranks = RankCount(request, program, rooms);
  if (!ranks.ok()) return std::move(ranks).status();
  Result<std::vector<std::size_t>> filled = Fill(rooms, *ranks, request, program.argv.front());
  if (!filled.ok()) return std::move(filled).status();
  std::vector<Place*> chosen;
  for (const std::size_t room : *filled) chosen.push_back(rooms[room].place);
  return chosen;
}

// Gives each host one name, whoever wrote it.
Request Named(Request request, std::vector<std::string>* here, const Machine& machine) {
  *here = NamesOfHere(request, machine);
  UseOneNameForHere(request, *here);
  const std::vector<HostEntry> allocation = request.allocation;
  if (!allocation.empty()) UseNamesOf(allocation, &request.host_file);
  const std::vector<HostEntry> base = request.host_file.empty() ? allocation : request.host_file;
  for (ProgramRequest& program : request.programs)
    if (!base.empty()) UseNamesOf(base, &program.hosts);
  return request;
}

}  // namespace

void Avoid(const std::vector<std::string>& names, Request* request) {
  const auto avoid = [&names](std::vector<HostEntry>* hosts) {
    for (HostEntry& host : *hosts)
      if (std::find(names.begin(), names.end(), host.name) != names.end()) host.schedule = false;
  };
  avoid(&request->allocation);
  avoid(&request->host_file);
  for (ProgramRequest& program : request->programs) avoid(&program.hosts);
}

Result<Plan> MakePlan(const Request& asked, const Machine& machine, bool other_hosts) {
  std::vector<std::string> names;
  const Request request = Named(asked, &names, machine);
  Result<std::vector<Place>> made =
      MakePlaces(request, machine, names.empty() ? std::string_view() : names.front());
  if (!made.ok()) return std::move(made).status();
  std::vector<Place>& places = *made;
  Plan plan;
  plan.mapping = request.mapping;
  for (const ProgramRequest& program : request.programs) {
    const std::uint64_t total = plan.ranks.size() + program.ranks.value_or(0);
    if (machine.processes_max != 0 && !other_hosts && total > machine.processes_max)
      return Error(Code::kInvalid, "%llu ranks are more processes than this machine allows (%llu)",
                   static_cast<unsigned long long>(total),
                   static_cast<unsigned long long>(machine.processes_max));
    Result<std::vector<Place*>> chosen = Choose(request, program, plan.ranks.size(), places);
    if (!chosen.ok()) return std::move(chosen).status();
    for (Place* place : *chosen) {
      RankPlan rank;
      rank.rank = static_cast<std::uint32_t>(plan.ranks.size());
      rank.app = static_cast<std::uint32_t>(plan.apps.size());
      rank.host = static_cast<std::uint32_t>(place - places.data());
      rank.local_rank = place->used++;
      if (request.mapping.map_by == MapBy::kRankfile) rank.place = request.rankfile[rank.rank].slot;
      plan.ranks.push_back(std::move(rank));
    }
    plan.apps.push_back({program.argv, program.environment, program.wdir, program.path,
                         static_cast<std::uint32_t>(chosen->size())});
  }
  if (Status status = CheckHere(places, other_hosts); !status.ok()) return status;
  plan.hosts = HostsOf(places);
  for (const Host& host : plan.hosts)
    if (host.schedulable) plan.universe_slots += host.slots;
  if (request.universe_slots != 0) plan.universe_slots = request.universe_slots;
  for (RankPlan& rank : plan.ranks) {
    const Place& place = places[rank.host];
    const std::uint32_t cpus = place.cpus != 0 ? place.cpus : place.slots;
    rank.sharing = place.used + place.entry.taken > cpus ? Sharing::kShared : Sharing::kExclusive;
  }
  return plan;
}

}  // namespace lamina::launcher
