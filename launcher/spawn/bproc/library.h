// SPDX-License-Identifier: BSD-3-Clause
// BProc 4 as far as we need it, found at run time: libbproc.so.4, or libbproc.so. The prototypes
// are ours, after its manual pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "runtime/base/status.h"

namespace lamina::launcher::bproc {

inline constexpr int kMaster = -1;

// How a descriptor of a moved process is made: here always a file opened on its node.
struct Io {
  int fd;
  short type;  // 0: file
  short flags;
  union {
    char address[16];  // of a socket
    struct {
      int flags;
      int mode;
      long offset;
      char name[256];
    } file;
  } d;
};

struct Library {
  int (*version)(void* version);  // into at least 64 bytes
  int (*current_node)();
  int (*node_count)();
  int (*node_status)(int node, char* status, int bytes);
  int (*access)(int node, int mode);
  int (*move)(int count, int* nodes, int* pids, Io* io, int io_count, const char* command,
              char* const argv[], char* const environment[]);
  const char* (*error_text)(int error);
};

// kNotFound: there is no such library, or no BProc behind it. kUnsupported: this is not the front
// end, or the library lacks something. The message is one line for people.
Result<Library> OpenLibrary();

// "n3", "3", "master", "-1": BProc's number; kInvalid otherwise.
Result<int> NodeNumber(std::string_view name);

// The nodes this job may use and the front end, which takes no ranks. `nodes`: the variable NODES
// that a scheduler sets, "3,4,4,7", a node as often as it has places; empty: all that are up and
// permitted. kUnsupported names every node of NODES that is not up or not permitted.
Result<Allocation> ReadAllocation(const Library& library, std::string_view nodes);

}  // namespace lamina::launcher::bproc
