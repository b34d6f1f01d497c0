// SPDX-License-Identifier: BSD-3-Clause
// Finds BProc 4, as far as we need it, at run time: libbproc.so.4, or libbproc.so. The prototypes
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

// An Io says how a descriptor of a moved process is made. Ours is always a file opened on its node.
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

// kNotFound means that there is no such library or no BProc behind it, kUnsupported that this is
// not the front end or the library lacks something. The message is one line for people.
Result<Library> OpenLibrary();

// Returns BProc's number for "n3", "3", "master" or "-1"; kInvalid for anything else.
Result<int> NodeNumber(std::string_view name);

// Returns the nodes this job may use and the front end, which takes no ranks. `nodes` is the
// variable NODES that a scheduler sets, like "3,4,4,7", with a node as often as it has places; if
// it is empty, all nodes are used that are up and permitted. kUnsupported names every node of NODES
// that is not up or not permitted.
Result<Allocation> ReadAllocation(const Library& library, std::string_view nodes);

}  // namespace lamina::launcher::bproc
