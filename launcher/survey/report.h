// SPDX-License-Identifier: BSD-3-Clause
// A HostReport is what an installation says of itself on the host it is asked on. It travels as
// text and is compared with another host's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

struct HostReport {
  std::string version;                  // of Lamina
  std::string prefix;                   // "": a build tree
  std::string program;                  // the path of mpiexec
  std::string library;                  // of the MPI library; "": there is none
  std::vector<std::string> components;  // "transport shm 0.1.0", sorted
  std::string machine;                  // "x86_64"
  std::uint32_t cpus = 0;
  std::int64_t clock_us = 0;         // of the day
  std::string program_problem;       // of the user's program; "": none, or not asked for
  std::vector<std::string> remarks;  // what is missing there, though a job runs

  friend bool operator==(const HostReport&, const HostReport&) = default;
};

// Returns the time of the day in microseconds, which hosts are compared by.
std::int64_t WallClockUs();

// Reports on this very installation. It looks for `program` unless that is "".
HostReport ReportHere(const std::string& program);

std::string Encode(const HostReport& report);
// Returns nothing if `text` is no whole report; lines around it are passed over.
std::optional<HostReport> DecodeReport(std::string_view text);

// Returns one sentence for each difference of `there` as seen from `here`. Its clock must have been
// read between `asked_us` and `answered_us` of ours; a second either way is allowed.
std::vector<std::string> Differences(const HostReport& here, const HostReport& there,
                                     std::int64_t asked_us, std::int64_t answered_us);

}  // namespace lamina::launcher
