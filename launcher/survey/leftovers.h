// SPDX-License-Identifier: BSD-3-Clause
// Finds what a crash may have left of one user's jobs on this host, in spite of everything that
// cleans up by itself: processes whose launcher is dead, and files that nobody has open any more.
//
// Deciding is pure; Look* and Remove* touch the machine. Nothing of a running job is ever named.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

struct ProcessSeen {
  pid_t process = 0;
  pid_t parent = 0;
  uid_t user = 0;
  char state = 'S';       // as the kernel shows it: Z has ended, T is stopped
  std::string name;       // the kernel's short one
  bool of_rank = false;   // its environment is that of a rank of ours, or of a rank's child
  bool listens = false;   // can be asked what a launcher is asked, whatever its name
  bool shepherd = false;  // mpiexec in the service of a launcher elsewhere
  // These are known of a rank and of its children.
  std::string job;         // the name of its PMIx namespace
  std::uint32_t rank = 0;  // in that job
  bool has_mpi = false;    // it has our library in memory
};

// Returns ranks and what they have started if no mpiexec is above them, and shepherds that are
// stopped and belong to nobody. All others have somebody who ends them, or end by themselves.
std::vector<ProcessSeen> Orphans(std::span<const ProcessSeen> seen, uid_t user);

// Is that the name of a file in /dev/shm that a library of a rank makes? (That is UCX. PMIx puts
// files into /tmp, but not for us, and those of another's server may be in use without being open.)
bool IsOurKindOfFile(std::string_view name);

std::vector<ProcessSeen> LookAtProcesses();
// Returns the files of our kind in /dev/shm that belong to `user` and that none of his processes
// uses.
std::vector<std::string> LookAtFiles(uid_t user);

// Names each leftover of this host on standard output, one a line, and removes it unless `dry`.
// Returns how many are still there.
int CleanHere(bool dry);

}  // namespace lamina::launcher
