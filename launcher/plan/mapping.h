// SPDX-License-Identifier: BSD-3-Clause
// A Mapping says how ranks are to be laid out, as the user wants it. It is a value that travels to
// other hosts, where the CPUs are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lamina::launcher {

// The order in which ranks are given their places.
enum class MapBy : std::uint8_t {
  kSlot,      // fill a host's slots, then the next host
  kNode,      // one rank a host, round and round
  kSocket,    // as kSlot over hosts; on a host one rank a processor package, round and round
  kNuma,      // the same with NUMA domains
  kL3cache,   // the same with third-level caches
  kCore,      // the same with cores
  kHwthread,  // the same with hardware threads
  kSeq,       // rank i on the i-th host of the list
  kRankfile,  // as a file says for each rank
};

// What a rank may run on.
enum class BindTo : std::uint8_t { kDefault, kNone, kHwthread, kCore, kL3cache, kNuma, kSocket };

const char* Name(MapBy map_by);
const char* Name(BindTo bind_to);
// Returns the kind of object that ranks are dealt out to; kNone for kSlot, kNode, kSeq and
// kRankfile.
BindTo ObjectOf(MapBy map_by);

struct Mapping {
  MapBy map_by = MapBy::kSlot;
  // With ppr:N:OBJECT this many ranks go on each object of kind `map_by`, one object after another;
  // otherwise it is 0.
  std::uint32_t ranks_per_object = 0;
  // Says how ranks are numbered over the places chosen: kSlot host after host and place after
  // place, kNode round the hosts, another kind round the objects of a host. Without it they are
  // numbered in the order of mapping.
  std::optional<MapBy> rank_by;
  BindTo bind_to = BindTo::kDefault;
  // A rank and its threads get as many cores, or hardware threads where cores do not suffice; 0 if
  // the user has not said it.
  std::uint32_t cpus_per_rank = 0;
  // Ranks are laid out over hardware threads, also where they are not bound to them.
  bool hwthreads_are_cpus = false;
  // The job keeps to these CPUs of each host, numbered as the kernel does: "0-3,8"; "": to all.
  std::string cpu_set;

  friend bool operator==(const Mapping&, const Mapping&) = default;
};

}  // namespace lamina::launcher
