// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/hint.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace lamina::launcher::pmix {
namespace {

constexpr std::size_t kTableBytesMax = 1 << 20;  // larger tables are nobody's

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  template <class T>
  std::optional<std::vector<T>> Read(std::uint64_t offset, std::uint64_t bytes) const {
    if (fd_ < 0 || bytes > kTableBytesMax) return std::nullopt;
    std::vector<T> items(bytes / sizeof(T));
    const ssize_t wanted = static_cast<ssize_t>(items.size() * sizeof(T));
    if (pread(fd_, items.data(), static_cast<std::size_t>(wanted), static_cast<off_t>(offset)) !=
        wanted)
      return std::nullopt;
    return items;
  }

 private:
  int fd_;
};

std::optional<std::vector<Elf64_Phdr>> SegmentsOf(const File& file) {
  const auto header = file.Read<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (!header.has_value() || std::memcmp(header->front().e_ident, ELFMAG, SELFMAG) != 0 ||
      header->front().e_ident[EI_CLASS] != ELFCLASS64 ||
      header->front().e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  return file.Read<Elf64_Phdr>(header->front().e_phoff,
                               std::uint64_t{header->front().e_phnum} * sizeof(Elf64_Phdr));
}

std::optional<std::uint64_t> OffsetOf(std::uint64_t address,
                                      const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

}  // namespace

bool NeedsServer(const std::string& path, bool with_roster) {
  const File file(path);
  const auto segments = SegmentsOf(file);
  if (!segments.has_value()) return false;
  std::vector<Elf64_Dyn> dynamic;
  for (const Elf64_Phdr& segment : *segments)
    if (segment.p_type == PT_DYNAMIC)
      if (auto table = file.Read<Elf64_Dyn>(segment.p_offset, segment.p_filesz))
        dynamic = std::move(*table);
  std::uint64_t names_address = 0;
  std::uint64_t names_bytes = 0;
  std::vector<std::uint64_t> needed;
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_STRTAB) names_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) names_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_NULL) break;
  }
  const auto names_offset = OffsetOf(names_address, *segments);
  if (!names_offset.has_value()) return false;
  const auto names = file.Read<char>(*names_offset, names_bytes);
  if (!names.has_value()) return false;
  const std::string_view text(names->data(), names->size());
  for (const std::uint64_t at : needed)
    if (at < text.size() && (text.substr(at).starts_with("libpmix") ||
                             (!with_roster && text.substr(at).starts_with("libmpi"))))
      return true;
  return false;
}

}  // namespace lamina::launcher::pmix
