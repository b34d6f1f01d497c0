// SPDX-License-Identifier: BSD-3-Clause
// A JobProfile is what the ranks of a job have counted of themselves, as a value, and what follows
// from that for the whole job.
//
// Pure: what ranks have counted comes in as bytes (runtime/base/profile_table.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

// One MPI function of one rank, or of all of them, called from one place or from anywhere.
struct CallCounts {
  std::uint64_t calls = 0;
  std::uint64_t inside_ns = 0;
  std::uint64_t waited_ns = 0;  // the part of it in which nothing arrived
  std::uint64_t longest_ns = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;

  void Add(const CallCounts& other);
  friend bool operator==(const CallCounts&, const CallCounts&) = default;
};

using CountsByFunction = std::map<std::string, CallCounts>;

struct RankProfile {
  std::string host;
  bool uses_mpi = false;      // false: nothing is known but the host
  std::uint64_t wall_ns = 0;  // from the end of MPI_Init to the end of MPI_Finalize or of the rank
  std::string open_call;      // the function in which the rank ended; "": none
  CountsByFunction functions;

  CallCounts Total() const;
  std::uint64_t ComputedNs() const;  // outside MPI
};

struct JobProfile {
  std::string command;
  std::string version;        // of Lamina
  std::string end;            // how the job has ended, in words
  std::uint64_t wall_ms = 0;  // from the start of the ranks to the end of the last one
  std::vector<RankProfile> ranks;

  CountsByFunction Functions() const;  // of all ranks
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

// Returns what a person should know first, in a few words each.
std::vector<std::string> TellingFacts(const JobProfile& profile);

}  // namespace lamina::launcher
