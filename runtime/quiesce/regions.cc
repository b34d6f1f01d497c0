// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/regions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/base/descriptor.h"

namespace lamina::quiesce {
namespace {

constexpr const char* kName = "regions";
constexpr char kMagic[8] = {'L', 'M', 'N', 'A', 'R', 'E', 'G', '1'};

struct Header {
  char magic[8];
  std::uint64_t count;
};
struct Entry {
  std::int64_t id;
  std::uint64_t bytes;
};

Status WriteAll(int file, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(Code::kResource, errno, "cannot write the saved regions");
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return {};
}

Status ReadAll(int file, void* data, std::size_t bytes, std::uint64_t offset) {
  char* into = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = pread(file, into, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(Code::kResource, errno, "cannot read the saved regions");
    if (got == 0) return Error(Code::kInvalid, "the file of saved regions is cut off");
    into += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

struct Saved {
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

// Reads what the file has, by id.
Status ReadTable(int file, std::map<std::int64_t, Saved>* saved) {
  struct stat status;
  if (fstat(file, &status) != 0)
    return SystemError(Code::kInternal, errno, "cannot look at the saved regions");
  const auto length = static_cast<std::uint64_t>(status.st_size);
  Header header;
  if (Status read = ReadAll(file, &header, sizeof header, 0); !read.ok()) return read;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
      header.count > (length - sizeof header) / sizeof(Entry))
    return Error(Code::kInvalid, "this is no file of saved regions");
  std::vector<Entry> entries(header.count);
  if (Status read = ReadAll(file, entries.data(), entries.size() * sizeof(Entry), sizeof header);
      !read.ok())
    return read;
  std::uint64_t offset = sizeof header + entries.size() * sizeof(Entry);
  for (const Entry& entry : entries) {
    if (entry.bytes > length - offset)
      return Error(Code::kInvalid, "the file of saved regions is cut off");
    (*saved)[entry.id] = {entry.bytes, offset};
    offset += entry.bytes;
  }
  return {};
}

}  // namespace

void Regions::Protect(int id, void* address, std::size_t bytes) {
  if (bytes == 0)
    regions_.erase(id);
  else
    regions_[id] = {address, bytes};
}

Status Regions::Save(int folder) const {
  const Descriptor file(
      openat(folder, kName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.value() < 0)
    return SystemError(errno == EEXIST ? Code::kExists : Code::kResource, errno,
                       "cannot make the file of saved regions");
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.count = regions_.size();
  if (Status status = WriteAll(file.value(), &header, sizeof header); !status.ok()) return status;
  for (const auto& [id, region] : regions_) {
    const Entry entry{id, region.bytes};
    if (Status status = WriteAll(file.value(), &entry, sizeof entry); !status.ok()) return status;
  }
  for (const auto& [id, region] : regions_)
    if (Status status = WriteAll(file.value(), region.address, region.bytes); !status.ok())
      return status;
  return {};
}

Status Regions::Restore(int folder) const {
  const Descriptor file(openat(folder, kName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.value() < 0)
    return SystemError(Code::kNotFound, errno, "cannot open the file of saved regions");
  std::map<std::int64_t, Saved> saved;
  if (Status status = ReadTable(file.value(), &saved); !status.ok()) return status;
  for (const auto& [id, region] : regions_) {
    const auto found = saved.find(id);
    if (found == saved.end()) return Error(Code::kInvalid, "region %d was not saved", id);
    if (found->second.bytes != region.bytes)
      return Error(Code::kInvalid, "region %d has %zu bytes, and %llu were saved", id, region.bytes,
                   static_cast<unsigned long long>(found->second.bytes));
  }
  for (const auto& [id, region] : regions_)
    if (Status status = ReadAll(file.value(), region.address, region.bytes, saved.at(id).offset);
        !status.ok())
      return status;
  return {};
}

}  // namespace lamina::quiesce
