// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/huge_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "runtime/base/log.h"

namespace lamina {
namespace {

constexpr std::uintptr_t kHugeBytes = 2 << 20, kPageBytes = 4 << 10;
constexpr std::int64_t kWaitGrowth = 8;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, which C libraries before 2.37 do not know

// Has whoever runs this machine switched them off? So it is taken where that cannot be read.
bool SwitchedOff() {
  const int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  std::array<char, 64> text;  // as "always [madvise] never"
  const ssize_t bytes = read(file, text.data(), text.size());
  close(file);
  if (bytes <= 0) return true;
  return std::string_view(text.data(), static_cast<std::size_t>(bytes)).find("[never]") !=
         std::string_view::npos;
}

// Is every page of the huge page at `begin` there?
bool AllThere(std::uintptr_t begin) {
  std::array<unsigned char, kHugeBytes / kPageBytes> pages{};
  return mincore(reinterpret_cast<void*>(begin), kHugeBytes, pages.data()) == 0 &&
         std::all_of(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; });
}

// 0 or an errno value.
int Collapse(std::uintptr_t first, std::uintptr_t last) {
  if (first >= last) return 0;
  return madvise(reinterpret_cast<void*>(first), last - first, kCollapse) == 0 ? 0 : errno;
}

}  // namespace

void HugePages::Count(std::uintptr_t begin, std::int64_t bytes) {
  Buffer& known = known_[begin / kPageBytes * 0x9e3779b97f4a7c15u >> 58];
  if (known.begin != begin || known.bytes != bytes) {
    const std::uintptr_t last = begin + static_cast<std::uintptr_t>(bytes) - 1;
    const auto touched = static_cast<std::int64_t>(last / kHugeBytes - begin / kHugeBytes + 1);
    known = {begin, bytes, touched * kMovedBefore, touched * kMovedBefore};
  }
  known.left -= bytes;
  if (known.left > 0) return;
  if (Make(known) != EAGAIN) known.wait *= kWaitGrowth;
  known.left = known.wait;
}

// By one call, because each waits for every processor of the machine.
int HugePages::Make(const Buffer& buffer) {
  if (SwitchedOff()) {
    allowed_ = false;
    return 0;
  }
  const std::uintptr_t end = buffer.begin + static_cast<std::uintptr_t>(buffer.bytes);
  const std::uintptr_t before = buffer.begin / kHugeBytes * kHugeBytes;
  const std::uintptr_t last = end / kHugeBytes * kHugeBytes;
  const std::uintptr_t first = before < buffer.begin ? before + kHugeBytes : before;
  const std::uintptr_t all_first = before < first && AllThere(before) ? before : first;
  const std::uintptr_t all_last =
      last < end && last >= all_first && AllThere(last) ? last + kHugeBytes : last;
  int error = Collapse(all_first, all_last);
  // What is beside the buffer may be another mapping, at which the kernel stops.
  if (error == EINVAL && all_first < first) error = Collapse(first, all_last);
  if (error == 0) return 0;
  if (error == ENOMEM) allowed_ = false;  // there are none left, and to look for some takes long
  Log(Level::kDebug, "memory", "no huge pages for %lld bytes at %p: %s",
      static_cast<long long>(buffer.bytes), reinterpret_cast<void*>(buffer.begin),
      std::strerror(error));
  return error;
}

}  // namespace lamina
