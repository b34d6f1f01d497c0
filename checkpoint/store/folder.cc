// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include "checkpoint/store/tuning.h"

namespace lamina::checkpoint {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// Refuses what somebody else owns or may write.
Status CheckOurs(const struct stat& status, const char* name) {
  if (status.st_uid != geteuid())
    return Error(Code::kDenied, "%s belongs to user %u; only that user may use it", name,
                 status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error(Code::kDenied, "%s may be written by others (mode %04o); chmod go-w it", name,
                 status.st_mode & 07777);
  return {};
}

Result<Descriptor> Checked(Descriptor opened, const char* name) {
  if (opened.value() < 0) {
    const int why = errno;
    if (why == ELOOP || why == ENOTDIR)
      return SystemError(Code::kInvalid, why, "%s is no folder", name);
    return SystemError(CodeOfDisk(why), why, "cannot open %s", name);
  }
  struct stat status;
  if (fstat(opened.value(), &status) != 0)
    return SystemError(Code::kInternal, errno, "cannot look at %s", name);
  if (Status ours = CheckOurs(status, name); !ours.ok()) return ours;
  return opened;
}

struct CloseList {
  void operator()(DIR* list) const { closedir(list); }
};
using List = std::unique_ptr<DIR, CloseList>;

// Reads the names by a descriptor of its own, because reading moves the place in the folder.
Result<List> OpenList(int directory, const std::string& name) {
  Descriptor own(openat(directory, name.c_str(), kFolderFlags | O_NOFOLLOW));
  List list(own.value() < 0 ? nullptr : fdopendir(own.value()));
  if (list == nullptr)
    return SystemError(CodeOfDisk(errno), errno, "cannot read the folder %s", name.c_str());
  own.Release();
  return list;
}

Result<std::vector<std::string>> NamesOf(const List& list) {
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(list.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return SystemError(CodeOfDisk(errno), errno, "cannot read a folder");
  std::sort(names.begin(), names.end());
  return names;
}

Status Write(int file, std::string_view bytes, const char* name) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(CodeOfDisk(errno), errno, "cannot write %s", name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Code CodeOfDisk(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case ELOOP:
    case ENOTDIR:
    case ENXIO:
      return Code::kInvalid;
    default:
      return Code::kResource;
  }
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= NAME_MAX && name != "." && name != ".." &&
         name.find('/') == name.npos && name.find('\0') == name.npos;
}

Result<Descriptor> OpenStore(const std::string& path) {
  return Checked(Descriptor(open(path.c_str(), kFolderFlags)), path.c_str());
}

Result<Descriptor> MakeStore(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST)
    return SystemError(CodeOfDisk(errno), errno, "cannot make the directory %s", path.c_str());
  return OpenStore(path);
}

Result<Descriptor> OpenFolder(int directory, const std::string& name) {
  return Checked(Descriptor(openat(directory, name.c_str(), kFolderFlags | O_NOFOLLOW)),
                 name.c_str());
}

Result<Descriptor> MakeFolder(int directory, const std::string& name) {
  if (mkdirat(directory, name.c_str(), kFolderMode) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot make the folder %s", name.c_str());
  return OpenFolder(directory, name);
}

Status RemoveFolder(int directory, const std::string& name) {
  {
    Result<List> list = OpenList(directory, name);
    if (!list.ok()) return std::move(list).status();
    Result<std::vector<std::string>> names = NamesOf(*list);
    if (!names.ok()) return std::move(names).status().Within(name);
    const int folder = dirfd(list->get());
    for (const std::string& entry : *names) {
      if (unlinkat(folder, entry.c_str(), 0) == 0) continue;
      if (errno != EISDIR && errno != EPERM)
        return SystemError(CodeOfDisk(errno), errno, "cannot remove %s", entry.c_str());
      if (Status status = RemoveFolder(folder, entry); !status.ok()) return status;
    }
  }
  if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot remove %s", name.c_str());
  return {};
}

Result<Descriptor> OpenFile(int directory, const std::string& name) {
  // A pipe that somebody has put here must not make us wait for its other end.
  Descriptor file(openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.value() < 0) {
    if (errno == ELOOP) return Error(Code::kInvalid, "%s is a symbolic link", name.c_str());
    return SystemError(CodeOfDisk(errno), errno, "cannot open %s", name.c_str());
  }
  struct stat status;
  if (fstat(file.value(), &status) != 0)
    return SystemError(Code::kInternal, errno, "cannot look at %s", name.c_str());
  if (!S_ISREG(status.st_mode)) return Error(Code::kInvalid, "%s is no regular file", name.c_str());
  if (Status ours = CheckOurs(status, name.c_str()); !ours.ok()) return ours;
  if (status.st_nlink != 1)
    return Error(Code::kInvalid, "%s has %llu names, must have one", name.c_str(),
                 static_cast<unsigned long long>(status.st_nlink));
  return file;
}

Result<std::uint64_t> BytesOf(const Descriptor& file) {
  struct stat status;
  if (fstat(file.value(), &status) != 0)
    return SystemError(Code::kInternal, errno, "cannot look at a file");
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::string> ReadFile(int directory, const std::string& name, std::uint64_t bytes_max) {
  Result<Descriptor> file = OpenFile(directory, name);
  if (!file.ok()) return std::move(file).status();
  Result<std::uint64_t> bytes = BytesOf(*file);
  if (!bytes.ok()) return std::move(bytes).status().Within(name);
  if (*bytes > bytes_max)
    return Error(Code::kTruncated, "%s has %llu bytes, at most %llu are read", name.c_str(),
                 static_cast<unsigned long long>(*bytes),
                 static_cast<unsigned long long>(bytes_max));
  std::string text(*bytes, '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t got = read(file->value(), text.data() + at, text.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(CodeOfDisk(errno), errno, "cannot read %s", name.c_str());
    if (got == 0) text.resize(at);
    at += static_cast<std::size_t>(got);
  }
  return text;
}

Status WriteFile(int directory, const std::string& name, std::string_view bytes) {
  const Descriptor file(openat(directory, name.c_str(),
                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (file.value() < 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot make %s", name.c_str());
  if (Status status = Write(file.value(), bytes, name.c_str()); !status.ok()) return status;
  return Sync(file.value(), name);
}

Status CopyFiles(int from, int to) {
  Result<std::vector<std::string>> names = NamesIn(from);
  if (!names.ok()) return std::move(names).status();
  for (const std::string& name : *names) {
    const Result<Descriptor> source = OpenFile(from, name);
    if (!source.ok()) return Status(source.status().code(), std::string(source.status().message()));
    const Descriptor copy(
        openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    if (copy.value() < 0)
      return SystemError(CodeOfDisk(errno), errno, "cannot make %s", name.c_str());
    ssize_t sent = 1;
    while (sent > 0 || (sent < 0 && errno == EINTR))
      sent = sendfile(copy.value(), source->value(), nullptr, kCopyBytes);
    if (sent < 0) return SystemError(CodeOfDisk(errno), errno, "cannot write %s", name.c_str());
    if (Status status = Sync(copy.value(), name); !status.ok()) return status;
  }
  return {};
}

Result<std::vector<std::string>> NamesIn(int directory) {
  Result<List> list = OpenList(directory, ".");
  if (!list.ok()) return std::move(list).status();
  return NamesOf(*list);
}

Status Sync(int file, const std::string& name) {
  if (fsync(file) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot write %s through to the disk",
                       name.c_str());
  return {};
}

}  // namespace lamina::checkpoint
