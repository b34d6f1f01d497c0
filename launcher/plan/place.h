// SPDX-License-Identifier: BSD-3-Clause
// Makes a Plan from what the user asked for and what the machine offers: hosts and slots become
// ranks. Pure, so that tests know any number of hosts. Binding to cores is in bind.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/plan/hosts.h"
#include "launcher/plan/machine.h"
#include "launcher/plan/mapping.h"
#include "launcher/plan/plan.h"
#include "launcher/plan/rankfile.h"
#include "launcher/plan/soft.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct ProgramRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::string wdir;
  std::string path;                    // as App::path
  std::string arch;                    // what its hosts have to be, as uname -m says; "": any
  std::optional<std::uint32_t> ranks;  // none: one a slot, possible for a single program only
  std::vector<SoftRange> soft;         // the largest of these that fits will do; empty: all ranks
  std::vector<HostEntry> hosts;        // -H in front of this program; empty: all hosts of the job
};

struct Request {
  std::vector<ProgramRequest> programs;  // at least one
  // What a resource manager has given to this job; hosts named by the user choose among these.
  std::vector<HostEntry> allocation;
  std::string allocation_name;          // for messages: "Slurm job 77"
  std::vector<HostEntry> host_file;     // --hostfile; empty: none
  bool may_add_hosts = false;           // hosts that a program names need not be in the host file
  std::vector<RankfileEntry> rankfile;  // with MapBy::kRankfile
  Mapping mapping;
  // With Mapping::ranks_per_object this is how many of these objects a host has. The count on this
  // machine stands for all.
  std::uint32_t objects_per_host = 1;
  bool oversubscribe = false;
  bool never_oversubscribe = false;      // not even slots that nobody counted
  std::uint32_t ranks_per_host_max = 0;  // 0: as many as fit
  std::uint32_t universe_slots = 0;      // what MPI_UNIVERSE_SIZE is to say; 0: what is counted
};

// Keeps ranks away from the hosts of these names, wherever they come from.
void Avoid(const std::vector<std::string>& names, Request* request);

// Places every rank. Plan::environment and Plan::options are left to the caller. A count of slots
// that the user wrote is a promise, and more ranks than that are kInvalid unless `oversubscribe`; a
// count we found ourselves (CPUs of this machine, tasks of an allocation) is a default, and more
// ranks take free CPUs first and then just share them, waiting politely. kInvalid: the request
// cannot be met; the message says what would help. kUnsupported: a rank would go to another host
// than `machine` and `other_hosts` is false.
Result<Plan> MakePlan(const Request& asked, const Machine& machine, bool other_hosts);

}  // namespace lamina::launcher
