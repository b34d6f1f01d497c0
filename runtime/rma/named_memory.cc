// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/named_memory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/agent_word.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::rma {

std::string MemoryFolder(const Environment& environment) {
  // launcher/saving tells it by this variable.
  return environment.Get("LAMINA_WINDOW_FOLDER").value_or("");
}

bool IsSavedFromOutside(const Environment& environment) {
  return environment.Get(kAgentVariable).has_value();
}

// A process id is one process's in the whole job, before and after a restart.
Result<memory::MadeSealed> MakeNamed(const std::string& folder, std::size_t bytes,
                                     std::string* path) {
  static unsigned made = 0;  // the library lock guards it
  *path = folder + Format("/%d-%u", static_cast<int>(getpid()), ++made);
  Descriptor own(open(path->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat info {};
  std::uint64_t token = 0;
  if (own.value() < 0 || ftruncate(own.value(), static_cast<off_t>(bytes)) != 0 ||
      fstat(own.value(), &info) != 0)
    return SystemError(Code::kResource, errno, "%zu bytes of memory as %s", bytes, path->c_str());
  while (token == 0)
    if (getrandom(&token, sizeof token, 0) != sizeof token)
      return SystemError(Code::kResource, errno, "getrandom");
  const memory::SealedName name{getpid(), own.value(), info.st_ino, 0};
  return memory::MadeSealed{memory::Sealed(std::move(own), 0), name, token};
}

Result<memory::Sealed> OpenNamed(const memory::SealedName& name) {
  const std::string path = memory::DescriptorPath(name.pid, name.descriptor);
  Descriptor opened(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat info {};
  if (opened.value() < 0 || fstat(opened.value(), &info) != 0)
    return SystemError(Code::kUnsupported, errno, "open(%s)", path.c_str());
  if (info.st_ino != name.inode)
    return Error(Code::kPeerLost, "process %d is gone (%s is another file)", name.pid,
                 path.c_str());
  return memory::Sealed(std::move(opened), 0);
}

}  // namespace lamina::rma
