// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/place.h"

#include <sys/stat.h>

#include <string>

#include "runtime/base/fnv.h"
#include "runtime/base/read_file.h"

namespace lamina {
namespace {

// A boot id tells a machine, and one start of it, from all others.
std::string NamespaceHere(const char* path) {
  struct stat space {};
  static_cast<void>(stat(path, &space));
  return ReadFile("/proc/sys/kernel/random/boot_id").value_or("") + std::to_string(space.st_ino);
}

}  // namespace

std::uint32_t LoopbackNumber() { return Fnv32(NamespaceHere("/proc/self/ns/net")); }

std::uint64_t PlaceNumber() { return Fnv64(NamespaceHere("/proc/self/ns/pid")); }

}  // namespace lamina
