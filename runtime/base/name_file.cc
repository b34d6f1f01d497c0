// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/name_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/patience.h"
#include "runtime/base/place.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"

namespace lamina {
namespace {

constexpr std::string_view kHead = "lamina names 1\n";
constexpr std::size_t kFields = 5;
// Whoever has the lock writes a few lines, so somebody who keeps it longer than this is stopped.
constexpr std::uint64_t kLockMs = 2000;
constexpr int kLockAgainMs = 5;

template <class Number>
bool ReadNumber(std::string_view text, int base, Number* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// Returns 0 if there is no such process.
std::uint64_t StartOf(pid_t process) {
  const std::optional<ProcessStat> stat = StatOf(process);
  return stat ? stat->start_ticks : 0;
}

NameLine OwnLine(std::string_view name, std::string_view port) {
  return {std::string(name), std::string(port), PlaceNumber(), getpid(), StartOf(getpid())};
}

bool HasOwner(const NameLine& line) {
  return line.place != PlaceNumber() || line.start == StartOf(line.process);
}

Status Failed(const char* verb, const std::string& path) {
  return SystemError(errno == EACCES ? Code::kDenied : Code::kResource, errno,
                     "cannot %s the file of names %s (dynamic.names.file)", verb, path.c_str());
}

// Opens the file, or makes it, and waits for its lock. The file may be replaced meanwhile.
Result<Descriptor> Lock(const std::string& path) {
  Patience patience(kLockMs);
  for (;;) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (file.value() < 0) return Failed("open", path);
    while (flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return Failed("lock", path);
      if (patience.NextMs() == 0)
        return Error(Code::kTimeout, "somebody keeps the file of names %s locked", path.c_str());
      poll(nullptr, 0, kLockAgainMs);
    }
    struct stat opened {
    }, named{};
    if (fstat(file.value(), &opened) == 0 && stat(path.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
      return file;
  }
}

Status Replace(const std::string& path, const std::vector<NameLine>& lines) {
  if (lines.empty()) return unlink(path.c_str()) == 0 ? Status() : Failed("remove", path);
  const std::string text = WriteNameLines(lines), fresh = path + ".new";
  Descriptor file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.value() >= 0 &&
      write(file.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      rename(fresh.c_str(), path.c_str()) == 0)
    return {};
  Status status = Failed("write", path);
  unlink(fresh.c_str());
  return status;
}

// Changes the lines while nobody else does. Those without an owner are left out.
Status Change(const std::string& path,
              const std::function<Status(std::vector<NameLine>*)>& change) {
  Result<Descriptor> file = Lock(path);
  if (!file.ok()) return std::move(file).status();
  Result<std::vector<NameLine>> lines = ReadNameLines(ReadFile(path).value_or(""));
  if (!lines.ok()) return std::move(lines).status().Within(path);
  std::erase_if(*lines, [](const NameLine& line) { return !HasOwner(line); });
  if (Status status = change(&*lines); !status.ok()) return status;
  return Replace(path, *lines);
}

}  // namespace

Result<std::vector<NameLine>> ReadNameLines(std::string_view text) {
  std::vector<NameLine> lines;
  if (text.empty()) return lines;
  if (!text.starts_with(kHead)) return Error(Code::kInvalid, "it is no file of names");
  for (const std::string_view line : Split(text.substr(kHead.size()), '\n')) {
    const std::vector<std::string_view> fields = Split(line, '\t');
    NameLine read;
    if (fields.size() != kFields || fields[0].empty() || fields[2].size() != 16 ||
        !ReadNumber(fields[2], 16, &read.place) || !ReadNumber(fields[3], 10, &read.process) ||
        read.process <= 0 || !ReadNumber(fields[4], 10, &read.start))
      continue;
    read.name = fields[0];
    read.port = fields[1];
    lines.push_back(std::move(read));
  }
  return lines;
}

std::string WriteNameLines(const std::vector<NameLine>& lines) {
  std::string text(kHead);
  for (const NameLine& line : lines)
    text += line.name + '\t' + line.port +
            Format("\t%016llx\t%d\t%llu\n", static_cast<unsigned long long>(line.place),
                   line.process, static_cast<unsigned long long>(line.start));
  return text;
}

Status NameFile::Publish(std::string_view name, std::string_view port) const {
  return Change(path_, [&](std::vector<NameLine>* lines) {
    for (const NameLine& line : *lines)
      if (line.name == name) return Status(Code::kExists, "the name is published already");
    lines->push_back(OwnLine(name, port));
    return Status();
  });
}

Status NameFile::Unpublish(std::string_view name) const {
  if (access(path_.c_str(), F_OK) != 0) return {};
  const NameLine own = OwnLine(name, "");
  return Change(path_, [&](std::vector<NameLine>* lines) {
    std::erase_if(*lines, [&](const NameLine& line) {
      return line.name == own.name && line.place == own.place && line.process == own.process;
    });
    return Status();
  });
}

std::string NameFile::Find(std::string_view name) const {
  const Result<std::vector<NameLine>> lines = ReadNameLines(ReadFile(path_).value_or(""));
  if (!lines.ok()) return {};
  for (const NameLine& line : *lines)
    if (line.name == name && HasOwner(line)) return line.port;
  return {};
}

}  // namespace lamina
