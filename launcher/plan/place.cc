// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/place.h"

#include <algorithm>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// A host while it is being filled.
struct Place {
  HostEntry entry;
  bool here = false;     // this machine
  bool counted = false;  // somebody wrote the number of slots
  std::uint32_t slots = 1;
  std::uint32_t slots_max = 0;  // 0: no limit
  std::uint16_t port = 0;
  std::uint32_t used = 0;
};

const char* Plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

// The names by which the hosts of a request mean this machine. "n1.east" may stand for a machine
// that calls itself "n1", but not if "n1.west" is there too.
std::vector<std::string> NamesOfHere(const Request& request, const Machine& machine) {
  std::vector<HostEntry> all = request.host_file;
  for (const ProgramRequest& program : request.programs)
    all.insert(all.end(), program.hosts.begin(), program.hosts.end());
  std::vector<std::string> sure;
  std::vector<std::string> unsure;
  for (const HostEntry& host : all) {
    if (!IsThisMachine(host.name, machine)) continue;
    std::vector<std::string>& names = IsThisMachineSurely(host.name, machine) ? sure : unsure;
    if (std::find(names.begin(), names.end(), host.name) == names.end()) names.push_back(host.name);
  }
  if (unsure.size() == 1) sure.push_back(unsure.front());
  return sure;
}

// The same request with one name for this machine, so that it is one host.
Request WithOneNameForHere(Request request, const std::vector<std::string>& names) {
  const auto rename = [&names](std::vector<HostEntry>& hosts) {
    for (HostEntry& host : hosts)
      if (std::find(names.begin(), names.end(), host.name) != names.end())
        host.name = names.front();
  };
  rename(request.host_file);
  for (ProgramRequest& program : request.programs) rename(program.hosts);
  return request;
}

Place MakePlace(const HostEntry& entry, const Machine& machine, std::string_view here) {
  Place place;
  place.entry = entry;
  place.here = entry.name == here;
  place.counted = entry.slots.has_value();
  place.slots = entry.slots.value_or(place.here ? machine.cpus : 1);
  if (entry.slots_max) {
    place.slots_max = *entry.slots_max;
    place.slots = std::min(place.slots, place.slots_max);
  }
  if (const auto port = entry.extra.find("port"); port != entry.extra.end()) {
    const std::int64_t number = ParseInteger(port->second).value_or(0);
    if (number > 0 && number < 65536) place.port = static_cast<std::uint16_t>(number);
  }
  return place;
}

Place* FindPlace(std::vector<Place>& places, const std::string& name) {
  for (Place& place : places)
    if (place.entry.name == name) return &place;
  return nullptr;
}

// All hosts of the job. With a host file, -H chooses among its hosts.
// `here`: the name of this machine among them.
Result<std::vector<Place>> MakePlaces(const Request& request, const Machine& machine,
                                      std::string_view here) {
  // Each program's list counts for itself: two programs that both say -H a do not make two slots.
  std::vector<HostEntry> wanted;
  for (const ProgramRequest& program : request.programs) {
    for (const HostEntry& entry : MergeHosts(program.hosts)) {
      const auto known = std::find_if(wanted.begin(), wanted.end(), [&entry](const HostEntry& w) {
        return w.name == entry.name;
      });
      if (known == wanted.end())
        wanted.push_back(entry);
      else if (entry.slots.value_or(0) > known->slots.value_or(0))
        known->slots = entry.slots;
    }
  }
  std::vector<Place> places;
  for (const HostEntry& entry : MergeHosts(request.host_file))
    places.push_back(MakePlace(entry, machine, here));
  if (!request.host_file.empty()) {
    for (const HostEntry& entry : wanted)
      if (FindPlace(places, entry.name) == nullptr)
        return Error(Code::kInvalid, "host %s (-H) is not in the host file", entry.name.c_str());
    return places;
  }
  for (const HostEntry& entry : wanted) places.push_back(MakePlace(entry, machine, here));
  if (places.empty()) {
    HostEntry self;
    self.name = machine.name;
    places.push_back(MakePlace(self, machine, machine.name));
  }
  return places;
}

// How many ranks of one program a host may still take.
struct Room {
  Place* place = nullptr;
  std::uint32_t slots = 0;  // free
  std::uint32_t most = 0;   // free when slots may be shared
  bool counted = false;
};

std::vector<Room> MakeRooms(const Request& request, const ProgramRequest& program,
                            std::vector<Place>& places) {
  const std::vector<HostEntry> chosen = MergeHosts(program.hosts);
  std::vector<Room> rooms;
  for (Place& place : places) {
    if (!place.entry.schedule) continue;
    std::uint32_t slots = place.slots;
    std::uint32_t most = place.slots_max == 0 ? UINT32_MAX : place.slots_max;
    bool counted = place.counted;
    if (!chosen.empty()) {
      const auto entry = std::find_if(chosen.begin(), chosen.end(), [&](const HostEntry& host) {
        return host.name == place.entry.name;
      });
      if (entry == chosen.end()) continue;
      if (entry->slots) {
        slots = std::min(*entry->slots, most);
        counted = true;
      }
    }
    if (request.ranks_per_host_max != 0) most = std::min(most, request.ranks_per_host_max);
    slots = std::min(slots, most);
    rooms.push_back({&place, slots - std::min(slots, place.used), most - std::min(most, place.used),
                     counted || request.ranks_per_host_max != 0});
  }
  return rooms;
}

// Which room each rank of a program gets, or kInvalid with the sentence that helps.
Result<std::vector<std::size_t>> Fill(const std::vector<Room>& rooms, std::uint32_t ranks,
                                      const Request& request, const std::string& program) {
  std::vector<std::size_t> filled;
  filled.reserve(ranks);
  std::vector<std::uint32_t> taken(rooms.size(), 0);
  // First the free slots, in the order asked for; then, where allowed, more than that, evenly.
  for (const bool sharing : {false, true}) {
    while (filled.size() < ranks) {
      const std::size_t before = filled.size();
      for (std::size_t i = 0; i < rooms.size() && filled.size() < ranks; ++i) {
        const Room& room = rooms[i];
        const bool may_share = request.oversubscribe || !room.counted;
        const std::uint32_t limit = !sharing ? room.slots : may_share ? room.most : 0;
        if (taken[i] >= limit) continue;
        const bool one_each = request.map_by == MapBy::kNode || sharing;
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
  if (filled.size() < ranks) {
    std::uint64_t slots = 0;
    bool more_if_shared = false;
    for (const Room& room : rooms) {
      slots += room.slots;
      more_if_shared = more_if_shared || room.most > room.slots;
    }
    return Error(Code::kInvalid, "%u rank%s of %s, but %llu free slot%s on %zu host%s%s", ranks,
                 Plural(ranks), program.c_str(), static_cast<unsigned long long>(slots),
                 Plural(slots), rooms.size(), Plural(rooms.size()),
                 more_if_shared && !request.oversubscribe
                     ? "; --oversubscribe lets ranks share slots, or raise the number "
                       "of slots (-H host:slots, slots= in the host file)"
                     : "; no host may take more (max_slots, --ppn)");
  }
  // By slot, neighbours in rank order stay together even where slots are shared.
  if (request.map_by != MapBy::kNode) std::sort(filled.begin(), filled.end());
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
    hosts.push_back(std::move(host));
  }
  return hosts;
}

Result<std::uint32_t> RankCount(const Request& request, const ProgramRequest& program,
                                const std::vector<Room>& rooms) {
  if (program.ranks) return *program.ranks;
  if (request.programs.size() > 1)
    return Error(Code::kInvalid,
                 "say how many ranks of %s to start (-n); only a single program "
                 "gets one rank a slot by itself",
                 program.argv.front().c_str());
  std::uint64_t slots = 0;
  for (const Room& room : rooms) slots += room.slots;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(slots, 1, INT32_MAX));
}

Status CheckHere(const std::vector<Place>& places, bool other_hosts) {
  if (other_hosts) return {};
  for (const Place& place : places)
    if (place.used > 0 && !place.here)
      return Error(Code::kUnsupported, "starting on other hosts is not there yet: host %s (%s)",
                   place.entry.name.c_str(), place.entry.where.c_str());
  return {};
}

}  // namespace

const char* Name(MapBy map_by) {
  switch (map_by) {
    case MapBy::kSlot:
      return "slot";
    case MapBy::kNode:
      return "node";
    case MapBy::kNuma:
      return "numa";
    case MapBy::kSocket:
      return "socket";
    case MapBy::kCore:
      return "core";
    case MapBy::kHwthread:
      return "hwthread";
  }
  return "?";
}

const char* Name(BindTo bind_to) {
  switch (bind_to) {
    case BindTo::kDefault:
      return "default";
    case BindTo::kNone:
      return "none";
    case BindTo::kHwthread:
      return "hwthread";
    case BindTo::kCore:
      return "core";
    case BindTo::kNuma:
      return "numa";
    case BindTo::kSocket:
      return "socket";
  }
  return "?";
}

Result<Plan> MakePlan(const Request& asked, const Machine& machine, bool other_hosts) {
  const std::vector<std::string> names = NamesOfHere(asked, machine);
  const Request request = WithOneNameForHere(asked, names);
  Result<std::vector<Place>> made =
      MakePlaces(request, machine, names.empty() ? std::string_view() : names.front());
  if (!made.ok()) return std::move(made).status();
  std::vector<Place>& places = *made;
  Plan plan;
  std::uint64_t total = 0;
  for (const ProgramRequest& program : request.programs) {
    const std::vector<Room> rooms = MakeRooms(request, program, places);
    if (rooms.empty())
      return Error(Code::kInvalid, "every host is marked schedule=no: no place for %s",
                   program.argv.front().c_str());
    Result<std::uint32_t> ranks = RankCount(request, program, rooms);
    if (!ranks.ok()) return std::move(ranks).status();
    total += *ranks;
    if (machine.processes_max != 0 && !other_hosts && total > machine.processes_max)
      return Error(Code::kInvalid, "%llu ranks are more processes than this machine allows (%llu)",
                   static_cast<unsigned long long>(total),
                   static_cast<unsigned long long>(machine.processes_max));
    Result<std::vector<std::size_t>> filled = Fill(rooms, *ranks, request, program.argv.front());
    if (!filled.ok()) return std::move(filled).status();
    for (const std::size_t room : *filled) {
      Place& place = *rooms[room].place;
      RankPlan rank;
      rank.rank = static_cast<std::uint32_t>(plan.ranks.size());
      rank.app = static_cast<std::uint32_t>(plan.apps.size());
      rank.host = static_cast<std::uint32_t>(&place - places.data());
      rank.local_rank = place.used++;
      plan.ranks.push_back(std::move(rank));
    }
    plan.apps.push_back({program.argv, program.environment, program.wdir, *ranks});
  }
  if (Status status = CheckHere(places, other_hosts); !status.ok()) return status;
  plan.hosts = HostsOf(places);
  for (const Host& host : plan.hosts)
    if (host.schedulable) plan.universe_slots += host.slots;
  for (RankPlan& rank : plan.ranks) {
    const Place& place = places[rank.host];
    const std::uint32_t cpus = place.here ? machine.cpus : place.slots;
    rank.wait_mode = place.used > cpus ? WaitMode::kOversubscribed : WaitMode::kExclusive;
  }
  return plan;
}

}  // namespace lamina::launcher
