// SPDX-License-Identifier: BSD-3-Clause
// The beginnings of programs: what of an ELF file tells whether it runs here and needs a server.
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "launcher/pmix/hint.h"
#include "launcher/spawn/local/program_format.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view head(reinterpret_cast<const char*>(data), size);
  const std::string why = lamina::launcher::local::WhyNoProgram(head, "x86_64");
  CHECK(why.find('\n') == std::string::npos);
  static const int file = memfd_create("program", MFD_CLOEXEC);
  CHECK(file >= 0 && ftruncate(file, 0) == 0);
  CHECK(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const bool without_roster = lamina::launcher::pmix::NeedsServer(path, false);
  CHECK(without_roster || !lamina::launcher::pmix::NeedsServer(path, true));
  return 0;
}
