// SPDX-License-Identifier: BSD-3-Clause
// Gathers what placement wants to know about this machine, without looking up a single name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

struct Machine {
  std::string name;                    // what the kernel calls it, gethostname()
  std::vector<std::string> addresses;  // numeric, of its own network interfaces; only if asked for
  std::uint32_t cpus = 1;              // hardware threads this process may use, never 0
  std::string cpus_why;                // "8 allowed of 64", "2 by control group, 64 allowed"
  std::uint32_t numa_domains = 1;      // online, allowed or not
  std::uint64_t processes_max = 0;     // more cannot be started; 0: unknown
};

// With `with_addresses` it also lists the interfaces' addresses, which are wanted only if a host is
// given by number.
Machine ThisMachine(bool with_addresses);

// Keeps this process, and those it starts, to the CPUs of a list like "0-3,8", numbered as the
// kernel does. kInvalid: it is no such list, or this process may not run on all of them.
Status KeepToCpus(std::string_view list);

// Is `host` this machine? It may be its name in full or up to the first dot, localhost, or an own
// address. "node1.east" and "node1.west" are different hosts, and neither is a machine named
// "node2".
bool IsThisMachine(std::string_view host, const Machine& machine);

// The same without the short forms of names, which leaves no room for a mistake.
bool IsThisMachineSurely(std::string_view host, const Machine& machine);

// Returns how many hardware threads' worth of time a control group grants, rounded up. `cpu_max` is
// a quota and a period in microseconds. Returns nothing if it is unlimited ("max") or not
// understood.
std::optional<std::uint32_t> CpusOfQuota(std::string_view cpu_max);

// Counts a list like "0-3,8"; 0 if it is not such a list.
std::uint32_t CountOfList(std::string_view list);

}  // namespace lamina::launcher
