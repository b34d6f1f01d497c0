// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/file_system.h"

#include <sys/vfs.h>

namespace lamina::io {
namespace {

// The numbers are those of linux/magic.h and of the file systems outside the
// kernel.
constexpr FileSystem kKnown[] = {
    {0xef53, "ext", Sharing::kLocal},
    {0x58465342, "xfs", Sharing::kLocal},
    {0x9123683e, "btrfs", Sharing::kLocal},
    {0x01021994, "tmpfs", Sharing::kLocal},
    {0x858458f6, "ramfs", Sharing::kLocal},
    {0x794c7630, "overlay", Sharing::kLocal},
    {0xf2f52010, "f2fs", Sharing::kLocal},
    {0x2fc12fc1, "zfs", Sharing::kLocal},
    {0x0bd00bd0, "lustre", Sharing::kCoherent},
    {0x47504653, "gpfs", Sharing::kCoherent},
    {0x00c36400, "ceph", Sharing::kCoherent},
    {0x19830326, "beegfs", Sharing::kCoherent},
    {0x6969, "nfs", Sharing::kCloseToOpen},
    {0xff534d42, "cifs", Sharing::kCloseToOpen},
    {0xfe534d42, "smb2", Sharing::kCloseToOpen},
    {0x65735546, "fuse", Sharing::kCloseToOpen},
    {0x01021997, "9p", Sharing::kCloseToOpen},
};
constexpr FileSystem kUnknown{0, "unknown", Sharing::kCloseToOpen};

}  // namespace

const FileSystem& FileSystemOf(std::uint64_t magic) {
  for (const FileSystem& known : kKnown)
    if (known.magic == magic) return known;
  return kUnknown;
}

const FileSystem& FileSystemHere() {
  struct statfs here;
  return statfs(".", &here) == 0 ? FileSystemOf(static_cast<std::uint64_t>(here.f_type)) : kUnknown;
}

}  // namespace lamina::io
