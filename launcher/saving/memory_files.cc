// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/memory_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "checkpoint/store/folder.h"
#include "runtime/base/descriptor.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// What was never touched stays a hole.
bool CopyBytes(const Descriptor& from, const Descriptor& to) {
  struct stat file;
  if (fstat(from.value(), &file) != 0 || ftruncate(to.value(), file.st_size) != 0) return false;
  std::string piece(kPieceBytes, '\0');
  for (off_t at = 0; (at = lseek(from.value(), at, SEEK_DATA)) >= 0;) {
    const off_t end = lseek(from.value(), at, SEEK_HOLE);
    if (end < 0) return false;
    while (at < end) {
      const ssize_t got = pread(from.value(), piece.data(),
                                std::min(piece.size(), static_cast<std::size_t>(end - at)), at);
      if (got <= 0 || pwrite(to.value(), piece.data(), static_cast<std::size_t>(got), at) != got)
        return false;
      at += got;
    }
  }
  return errno == ENXIO;  // there is no more data
}

Status CopyFile(int from_folder, const std::string& from_name, int to_folder,
                const std::string& to_name) {
  const Descriptor from(openat(from_folder, from_name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const Descriptor to(openat(to_folder, to_name.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (from.value() < 0 || to.value() < 0 || !CopyBytes(from, to))
    return SystemError(Code::kResource, errno, "cannot copy the memory of a window to %s",
                       to_name.c_str());
  return {};
}

}  // namespace

Status KeepMemory(int memory, int into) {
  Result<std::vector<std::string>> names = checkpoint::NamesIn(memory);
  if (!names.ok()) return std::move(names).status();
  for (const std::string& name : *names)
    if (Status status = CopyFile(memory, name, into, std::string(kMemoryName) + name); !status.ok())
      return status;
  return {};
}

Status LayMemoryDown(int from, int memory) {
  Result<std::vector<std::string>> names = checkpoint::NamesIn(from);
  if (!names.ok()) return std::move(names).status();
  for (const std::string& name : *names)
    if (name.starts_with(kMemoryName))
      if (Status status = CopyFile(from, name, memory, name.substr(kMemoryName.size()));
          !status.ok())
        return status;
  return {};
}

}  // namespace lamina::launcher
