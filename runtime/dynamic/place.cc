// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/place.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "runtime/base/fnv.h"
#include "runtime/base/read_file.h"

namespace lamina::dynamic {
namespace {

std::string BootId() { return ReadFile("/proc/sys/kernel/random/boot_id").value_or(""); }

}  // namespace

std::uint32_t BootNumber() {
  return static_cast<std::uint32_t>(std::strtoul(BootId().substr(0, 8).c_str(), nullptr, 16));
}

std::uint64_t PlaceNumber() {
  struct stat space {};
  static_cast<void>(stat("/proc/self/ns/pid", &space));
  return Fnv64(BootId() + std::to_string(space.st_ino));
}

}  // namespace lamina::dynamic
