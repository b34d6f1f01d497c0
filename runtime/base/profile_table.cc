// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/profile_table.h"

#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>

#include "runtime/base/clock.h"
#include "runtime/base/fnv.h"

namespace lamina {
namespace {

constexpr std::string_view kOtherRegions = "(further regions)";
constexpr std::uint32_t kRegionsLooked = 32;

// Looks for the program or library that has an address.
struct ModuleSearch {
  std::uint64_t address;
  ProfileModule found{};

  static int Look(dl_phdr_info* info, std::size_t, void* argument) {
    auto* const search = static_cast<ModuleSearch*>(argument);
    ProfileModule module{};
    module.moved_by = info->dlpi_addr;
    bool has_it = false;
    for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      if (part.p_type != PT_LOAD) continue;
      const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
      const std::uint64_t end = begin + part.p_memsz;
      module.begin = module.begin == 0 ? begin : std::min(module.begin, begin);
      module.end = std::max(module.end, end);
      has_it = has_it || (search->address >= begin && search->address < end);
    }
    if (!has_it) return 0;
    std::strncpy(module.path, info->dlpi_name, sizeof module.path - 1);
    search->found = module;
    return 1;
  }
};

// Notes which file the code at `address` is from. It is called once for each place.
void NoteModule(ProfileTable* table, std::uint64_t address) {
  ProfileModule* free = nullptr;
  for (ProfileModule& module : table->modules) {
    if (module.begin == 0) {
      free = &module;
      break;
    }
    if (address >= module.begin && address < module.end) return;
  }
  ModuleSearch search{address};
  if (free == nullptr || dl_iterate_phdr(ModuleSearch::Look, &search) == 0) return;
  ProfileModule& found = search.found;
  if (found.path[0] == '\0')  // the program itself
    static_cast<void>(!readlink("/proc/self/exe", found.path, sizeof found.path - 1));
  struct stat file;
  if (stat(found.path, &file) == 0) found.file_bytes = static_cast<std::uint64_t>(file.st_size);
  *free = found;
}

template <class Value>
void Put(const Value& value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
void PutAll(const std::vector<Value>& values, std::string* bytes) {
  Put(std::uint64_t{values.size()}, bytes);
  for (const Value& value : values) Put(value, bytes);
}

template <class Value>
bool Take(std::string_view* bytes, Value* value) {
  if (bytes->size() < sizeof *value) return false;
  std::memcpy(value, bytes->data(), sizeof *value);
  bytes->remove_prefix(sizeof *value);
  return true;
}

template <class Value>
bool TakeAll(std::string_view* bytes, std::vector<Value>* values) {
  std::uint64_t count;
  if (!Take(bytes, &count) || count > bytes->size() / sizeof(Value)) return false;
  values->resize(count);
  for (Value& value : *values) Take(bytes, &value);
  return true;
}

}  // namespace

ProfileRow* FindProfileRow(ProfileTable* table, Call call, const void* place) {
  const std::uint64_t key = ProfileKey(call, place);
  // The upper bits of a product depend on all bits of its factors.
  std::uint64_t at = key * 0x9e3779b97f4a7c15 >> 53;
  static_assert(ProfileTable::kRows == 1u << (64 - 53));
  for (;; at = (at + 1) % ProfileTable::kRows) {
    ProfileRow& row = table->rows[at];
    if (row.key == key) return &row;
    if (row.key != 0) continue;
    if (place != nullptr) {
      if (table->rows_placed >= ProfileTable::kRowsWithPlace)
        return FindProfileRow(table, call, nullptr);
      ++table->rows_placed;
      NoteModule(table, reinterpret_cast<std::uintptr_t>(place));
    }
    row.key = key;
    return &row;
  }
}

ProfileCollective* FindProfileCollective(ProfileTable* table, Call call, std::uint64_t context,
                                         std::uint64_t members, std::string_view name) {
  const auto number = static_cast<std::uint64_t>(call);
  std::uint64_t at = (number * 0x9e3779b97f4a7c15 + context * 0xc2b2ae3d27d4eb4f) >> 55;
  static_assert(ProfileTable::kCollectives == 1u << (64 - 55));
  for (;; at = (at + 1) % ProfileTable::kCollectives) {
    ProfileCollective& row = table->collectives[at];
    if (row.call == number && row.context == context) return &row;
    if (row.call != 0) continue;
    if (context != ProfileTable::kOtherContexts) {
      if (table->collectives_placed >= ProfileTable::kCollectivesWithContext)
        return FindProfileCollective(table, call, ProfileTable::kOtherContexts, 0, "");
      ++table->collectives_placed;
    }
    row.context = context;
    row.members = members;
    name.substr(0, sizeof row.name - 1).copy(row.name, sizeof row.name - 1);
    row.call = number;
    return &row;
  }
}

ProfileRegion* FindProfileRegion(ProfileTable* table, std::string_view name) {
  constexpr std::uint32_t kLast = ProfileTable::kRegions - 1;  // for those that find no room
  name = name.substr(0, sizeof ProfileRegion::name - 1);
  for (std::uint32_t at = Fnv32(name) % kLast, looked = 0; looked < kRegionsLooked; ++looked) {
    ProfileRegion& row = table->regions[at];
    if (row.name[0] == '\0') name.copy(row.name, sizeof row.name - 1);
    if (row.name == name) return &row;
    at = (at + 1) % kLast;
  }
  ProfileRegion& rest = table->regions[kLast];
  kOtherRegions.copy(rest.name, sizeof rest.name - 1);
  return &rest;
}

std::string Encode(const ProfileCopy& copy) {
  std::string bytes;
  Put(copy.head, &bytes);
  PutAll(copy.rows, &bytes);
  PutAll(copy.modules, &bytes);
  PutAll(copy.traffic, &bytes);
  PutAll(copy.sizes, &bytes);
  PutAll(copy.collectives, &bytes);
  PutAll(copy.regions, &bytes);
  return bytes;
}

std::optional<ProfileCopy> DecodeProfile(std::string_view bytes) {
  ProfileCopy copy;
  if (!Take(&bytes, &copy.head) || !TakeAll(&bytes, &copy.rows) ||
      !TakeAll(&bytes, &copy.modules) || !TakeAll(&bytes, &copy.traffic) ||
      !TakeAll(&bytes, &copy.sizes) || !TakeAll(&bytes, &copy.collectives) ||
      !TakeAll(&bytes, &copy.regions) || !bytes.empty())
    return std::nullopt;
  if (!copy.sizes.empty() && copy.sizes.size() != ProfileTable::kSizes) return std::nullopt;
  for (ProfileModule& module : copy.modules) module.path[sizeof module.path - 1] = '\0';
  for (ProfileRegion& row : copy.regions) row.name[sizeof row.name - 1] = '\0';
  for (ProfileTraffic& row : copy.traffic) row.carrier[sizeof row.carrier - 1] = '\0';
  for (ProfileCollective& row : copy.collectives) {
    row.name[sizeof row.name - 1] = '\0';
    row.algorithms[sizeof row.algorithms - 1] = '\0';
  }
  return copy;
}

std::string CopyProfile(int ring) {
  const auto table = std::make_unique<ProfileTable>();
  if (pread(ring, table.get(), sizeof *table, kEventRingBytes) != sizeof *table) return "";
  if (table->magic != ProfileTable::kMagic) return "";
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t end_ns = table->finalized != 0 ? table->last_ns : now_ns;
  ProfileCopy copy;
  const std::uint64_t pause_ns =
      table->paused_ns +
      (table->paused_since_ns == 0 ? 0 : end_ns - std::min(end_ns, table->paused_since_ns));
  copy.head.wall_ns = end_ns - std::min(end_ns, table->began_ns + pause_ns);
  copy.head.peak_kib = table->peak_kib;
  std::ranges::copy(table->cpus, copy.head.cpus);
  if (table->open_call != 0 && table->finalized == 0) {
    copy.head.open_call = table->open_call;
    copy.head.open_place = table->open_place;
    copy.head.open_ns = now_ns - std::min(now_ns, table->open_since_ns);
  }
  std::ranges::copy_if(table->rows, std::back_inserter(copy.rows),
                       [](const ProfileRow& row) { return row.key != 0; });
  std::ranges::copy_if(table->traffic, std::back_inserter(copy.traffic),
                       [](const ProfileTraffic& entry) { return entry.peer != 0; });
  if (!copy.traffic.empty()) copy.sizes.assign(std::begin(table->sizes), std::end(table->sizes));
  std::ranges::copy_if(table->collectives, std::back_inserter(copy.collectives),
                       [](const ProfileCollective& row) { return row.call != 0; });
  std::ranges::copy_if(table->regions, std::back_inserter(copy.regions),
                       [](const ProfileRegion& row) { return row.name[0] != '\0'; });
  // Whoever is in a region at its end has been there until then.
  for (ProfileRegion& row : copy.regions)
    if (row.open != 0) row.inside_ns += end_ns - std::min(end_ns, row.open_since_ns);
  std::ranges::copy_if(table->modules, std::back_inserter(copy.modules),
                       [](const ProfileModule& module) { return module.begin != 0; });
  return Encode(copy);
}

}  // namespace lamina
