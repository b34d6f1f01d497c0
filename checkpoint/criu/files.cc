// SPDX-License-Identifier: BSD-3-Clause
// The note is text, a line a file: its bytes, its inode, its path. A path with a line end in it is
// left out.
#include "checkpoint/criu/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint/criu/processes.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNote = "open-files";

// True if /proc/PID/fdinfo/FD says that the descriptor can write.
bool IsForWriting(const fs::path& fdinfo) {
  std::ifstream file(fdinfo);
  for (std::string word; file >> word;) {
    if (word != "flags:") continue;
    unsigned long flags = 0;
    file >> std::oct >> flags;
    return (flags & O_ACCMODE) != O_RDONLY;
  }
  return false;
}

void NoteFilesOf(const fs::path& process, std::set<std::string>* lines) {
  for (const fs::path& entry : EntriesOf(process / "fd")) {
    struct stat file;
    if (stat(entry.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink == 0) continue;
    const std::string path = LinkAt(entry);
    if (!path.starts_with('/') || path.find('\n') != path.npos ||
        !IsForWriting(process / "fdinfo" / entry.filename()))
      continue;
    lines->insert(Format("%llu %llu ", static_cast<unsigned long long>(file.st_size),
                         static_cast<unsigned long long>(file.st_ino)) +
                  path + "\n");
  }
}

void Cut(const std::string& path, std::uint64_t bytes, std::uint64_t inode) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat now;
  if (file.value() < 0 || fstat(file.value(), &now) != 0 || !S_ISREG(now.st_mode) ||
      now.st_ino != inode || static_cast<std::uint64_t>(now.st_size) <= bytes)
    return;
  // criu says of a file that is too long which one it is.
  static_cast<void>(ftruncate(file.value(), static_cast<off_t>(bytes)) != 0);
}

}  // namespace

Status NoteFiles(std::int64_t process, int folder) {
  std::set<std::string> lines;
  for (const std::string& one : ProcessesFrom(process))
    NoteFilesOf(fs::path("/proc") / one, &lines);
  if (lines.empty()) return {};
  std::string text;
  for (const std::string& line : lines) text += line;
  const Descriptor note(
      openat(folder, kNote, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (note.value() < 0 ||
      write(note.value(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return SystemError(Code::kResource, errno, "cannot write %s", kNote);
  return {};
}

void CutFiles(int folder) {
  const int note = openat(folder, kNote, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (note < 0) return;  // there were none
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fdopen(note, "r"), fclose);
  std::string text;
  for (int byte; file != nullptr && (byte = fgetc(file.get())) != EOF;)
    text.push_back(static_cast<char>(byte));
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t first = line.find(' ');
    const std::size_t second = first == line.npos ? first : line.find(' ', first + 1);
    if (second == line.npos) continue;
    const auto bytes = ParseInteger(line.substr(0, first));
    const auto inode = ParseInteger(line.substr(first + 1, second - first - 1));
    if (bytes && inode)
      Cut(std::string(line.substr(second + 1)), static_cast<std::uint64_t>(*bytes),
          static_cast<std::uint64_t>(*inode));
  }
}

}  // namespace lamina::checkpoint::criu
