// SPDX-License-Identifier: BSD-3-Clause
// A JobProfile is what the ranks of a job have counted of themselves, as a value, and what follows
// from that for the whole job.
//
// Pure: what ranks have counted comes in as bytes (runtime/base/profile_table.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/profile/lines.h"

namespace lamina::launcher {

// One MPI function of one rank, or of all of them, called from one place or from anywhere.
struct CallCounts {
  std::uint64_t calls = 0;
  std::uint64_t inside_ns = 0;
  std::uint64_t waited_ns = 0;  // the part of it in which nothing arrived
  std::uint64_t longest_ns = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  // Parts of the time waited: for messages, for somebody to take what was sent, and for others in a
  // collective.
  std::uint64_t for_senders_ns = 0;
  std::uint64_t for_receivers_ns = 0;
  std::uint64_t for_members_ns = 0;

  void Add(const CallCounts& other);
  friend bool operator==(const CallCounts&, const CallCounts&) = default;
};

using CountsByFunction = std::map<std::string, CallCounts>;

// A function and where it was called; the place has no file if that is not known.
struct Site {
  std::string function;
  CodePlace place;
  friend auto operator<=>(const Site&, const Site&) = default;
};
using CountsBySite = std::map<Site, CallCounts>;

// A collective function on one communicator. Communicators that a split has made side by side have
// one number.
struct CollectivePlace {
  std::string function;
  std::string name;  // of the communicator; "": it has none
  std::uint64_t context = 0;
  std::uint64_t members = 0;  // 0: several communicators
  friend auto operator<=>(const CollectivePlace&, const CollectivePlace&) = default;
};
using CountsByCollective = std::map<CollectivePlace, CallCounts>;

// Messages from one rank, or several, to others.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t own_messages = 0;  // of the library
  std::uint64_t own_bytes = 0;
  std::string carrier;  // the transport; "several" in a sum of different ones

  void Add(const Traffic& other);
  std::uint64_t AllMessages() const { return messages + own_messages; }
  std::uint64_t AllBytes() const { return bytes + own_bytes; }
};

// Messages of at least `from_bytes` and less than twice as many.
struct SizeClass {
  std::uint64_t from_bytes = 0;
  std::uint64_t eager = 0;
  std::uint64_t eager_bytes = 0;
  std::uint64_t rendezvous = 0;
  std::uint64_t rendezvous_bytes = 0;
};

// A part of the program that it has named.
struct RegionCounts {
  std::uint64_t times = 0;
  std::uint64_t inside_ns = 0;
  std::uint64_t in_mpi_ns = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t rank_max_ns = 0;  // of the rank that spends most time in it
  std::size_t rank = 0;
  std::size_t ranks = 0;  // that were in it

  void AddRank(std::size_t number, const RegionCounts& its);
};

struct RankProfile {
  std::string host;
  bool uses_mpi = false;      // false: nothing is known but the host
  std::uint64_t wall_ns = 0;  // from the end of MPI_Init to the end of MPI_Finalize or of the rank
  std::string open_call;      // the function in which the rank ended; "": none
  CodePlace open_place;       // where it was called
  CountsByFunction functions;
  CountsBySite sites;
  CountsByCollective collectives;
  std::map<CollectivePlace, std::vector<std::string>> algorithms;
  std::map<std::uint32_t, Traffic> sent;  // by rank in the job, or a number beyond
  std::vector<SizeClass> sizes;
  std::map<std::string, RegionCounts> regions;
  std::uint64_t peak_bytes = 0;  // of memory; 0: that is not known
  std::string cpus;              // that it may use, as "0-3,8"

  CallCounts Total() const;
  std::uint64_t ComputedNs() const;  // outside MPI
};

struct JobProfile {
  std::string command;
  std::string version;        // of Lamina
  std::string end;            // how the job has ended, in words
  std::uint64_t wall_ms = 0;  // from the start of the ranks to the end of the last one
  std::vector<RankProfile> ranks;
  std::uint32_t spawned_jobs = 0;  // started by MPI_Comm_spawn; their ranks are not among these
  Lines lines;                     // of source, as far as they are known

  CountsByFunction Functions() const;  // of all ranks
  CountsBySite Sites() const;          // of all ranks
  std::set<CodePlace> Places() const;  // from which MPI was called
};

// Reads what a rank has counted. Returns false, and changes nothing, if it makes no sense.
bool DecodeRank(std::string_view copy, RankProfile* rank);

// How well the ranks share the work, by the definitions of the POP project (pop-coe.eu): all are
// shares between 0 and 1.
struct Balance {
  double load = 0;           // mean of the computing times by the largest
  double communication = 0;  // the largest computing time by the time of the job
  double parallel = 0;       // the product of the two
  std::size_t busiest = 0;   // the rank that computes longest
};
Balance BalanceOf(const JobProfile& profile);

// The sites with the most time, most first, so many that a page can show them.
using SiteCounts = std::pair<Site, CallCounts>;
std::vector<SiteCounts> LargestSites(const JobProfile& profile);

// A Matrix says who sent how much to whom. Where there are many ranks, some of them in a row share
// a cell.
struct Matrix {
  std::size_t ranks_per_cell = 1;
  std::size_t width = 0;       // cells in a row
  std::vector<Traffic> cells;  // by sender, then by receiver
  Traffic outside;             // what went to other jobs
};
// With the name of a transport the matrix has what that has carried.
Matrix MatrixOf(const JobProfile& profile, std::string_view carrier = {});

// What each transport has carried, by its name.
std::map<std::string, Traffic> CarriersOf(const JobProfile& profile);

// The messages of all ranks by size, from the smallest class in use to the largest.
std::vector<SizeClass> SizesOf(const JobProfile& profile);

// Collectives with the most time, most first, so many that a page can show them.
using CollectiveCounts = std::pair<CollectivePlace, CallCounts>;
std::vector<CollectiveCounts> LargestCollectives(const JobProfile& profile);
// The algorithms that have carried them out on some rank, as "ring, tree".
std::string AlgorithmsOf(const JobProfile& profile, const CollectivePlace& place);

// The regions of all ranks with the most time, most first.
using NamedRegion = std::pair<std::string, RegionCounts>;
std::vector<NamedRegion> LargestRegions(const JobProfile& profile);

// Why ranks wait, how long, and where most of that is.
struct WaitPattern {
  const char* name;
  std::uint64_t CallCounts::*part;
  std::uint64_t all_ns = 0;
  std::size_t rank = 0;  // that waits longest
  std::uint64_t rank_ns = 0;
  Site site = {};
  std::uint64_t site_ns = 0;
};
std::vector<WaitPattern> PatternsOf(const JobProfile& profile);

// Returns what a person should know first, in a few words each.
std::vector<std::string> TellingFacts(const JobProfile& profile);

}  // namespace lamina::launcher
