// SPDX-License-Identifier: BSD-3-Clause
// From what the user asked for and what the machine offers to a Plan: hosts x slots -> ranks.
// Pure, so that tests know any number of hosts; binding to cores is bind.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/plan/hosts.h"
#include "launcher/plan/machine.h"
#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// The order in which ranks are given their places.
enum class MapBy : std::uint8_t {
  kSlot,      // fill a host's slots, then the next host
  kNode,      // one rank a host, round and round
  kNuma,      // as kSlot over hosts; on a host one rank a NUMA domain, round and round
  kSocket,    // the same with processor packages
  kCore,      // the same with cores
  kHwthread,  // the same with hardware threads
};

// What a rank may run on.
enum class BindTo : std::uint8_t { kDefault, kNone, kHwthread, kCore, kNuma, kSocket };

const char* Name(MapBy map_by);
const char* Name(BindTo bind_to);

struct ProgramRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::string wdir;
  std::optional<std::uint32_t> ranks;  // none: one a slot, possible for a single program only
  std::vector<HostEntry> hosts;        // -H in front of this program; empty: all hosts of the job
};

struct Request {
  std::vector<ProgramRequest> programs;  // at least one
  std::vector<HostEntry> host_file;      // --hostfile; empty: none
  MapBy map_by = MapBy::kSlot;
  BindTo bind_to = BindTo::kDefault;
  bool oversubscribe = false;
  std::uint32_t ranks_per_host_max = 0;  // 0: as many as fit
};

// Places every rank. Plan::environment and Plan::options are left to the caller.
// Slots: a count the user wrote is a promise, and more ranks than that is kInvalid unless
// `oversubscribe`; a count we found ourselves (CPUs of this machine) is a default, and more ranks
// just share them, waiting politely.
// kInvalid: the request cannot be met; the message says what would help.
// kUnsupported: a rank would go to another host than `machine` and `other_hosts` is false.
Result<Plan> MakePlan(const Request& asked, const Machine& machine, bool other_hosts);

}  // namespace lamina::launcher
