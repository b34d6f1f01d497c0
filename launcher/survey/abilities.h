// SPDX-License-Identifier: BSD-3-Clause
// What a host keeps from processes that jobs like to have: memory shared by descriptor, another
// process's memory, locked memory, user namespaces, the table of processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lamina::launcher {

struct Abilities {
  bool makes_memfds = true;
  bool reads_peers = true;         // process_vm_readv of another process
  bool has_rdma = false;           // a device that wants locked memory
  std::uint64_t locked_bytes = 0;  // at most; UINT64_MAX: no limit
  bool has_user_namespaces = true;
  bool sees_processes = true;  // /proc shows those of others

  friend bool operator==(const Abilities&, const Abilities&) = default;
};

// Tries them here. A child process is made and ended for it.
Abilities AbilitiesHere();

// Returns one sentence for each that is missing: what comes of it, and what to do. A job runs all
// the same.
std::vector<std::string> Remarks(const Abilities& abilities);

}  // namespace lamina::launcher
