// SPDX-License-Identifier: BSD-3-Clause
// The note is text, a line a file: its bytes, its inode, what the processes do with it, its path. A
// path with a line end in it is left out. Of a file that only processes know of each other (its
// name is gone, or it is a pipe with a name), the device stands in place of the bytes, and the boot
// in which that is a file.
#include "checkpoint/criu/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include "checkpoint/criu/notes.h"
#include "checkpoint/criu/processes.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNote = "open-files";
constexpr std::string_view kReads = "reads", kWrites = "writes", kRuns = "runs";
constexpr std::string_view kShares = "shares:", kPipes = "pipes:";  // and the boot

struct NotedFile {
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::string use;
  std::string path;
};

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

std::string LineOf(const struct stat& file, std::string_view use, const std::string& path) {
  return Format("%llu %llu ", static_cast<unsigned long long>(file.st_size),
                static_cast<unsigned long long>(file.st_ino)) +
         std::string(use) + " " + path + "\n";
}

std::string SharedLineOf(unsigned long long device, unsigned long long inode, std::string_view use,
                         const std::string& path) {
  const std::string boot = TextAt("/proc/sys/kernel/random/boot_id");
  return Format("%llu %llu ", device, inode) + std::string(use) + boot.substr(0, boot.find('\n')) +
         " " + path + "\n";
}

// What the launcher shares with ranks is given to them anew.
bool IsOurs(const std::string& path) { return path.starts_with("/memfd:lamina-"); }

void NoteOpenFilesOf(const fs::path& process, std::set<std::string>* lines) {
  for (const fs::path& entry : EntriesOf(process / "fd")) {
    struct stat file;
    const std::string path = LinkAt(entry);
    if (!path.starts_with('/') || path.starts_with("/proc/") || path.find('\n') != path.npos ||
        stat(entry.c_str(), &file) != 0 || IsOurs(path))
      continue;
    if (S_ISFIFO(file.st_mode) || (S_ISREG(file.st_mode) && file.st_nlink == 0))
      lines->insert(
          SharedLineOf(file.st_dev, file.st_ino, S_ISFIFO(file.st_mode) ? kPipes : kShares, path));
    if (!S_ISREG(file.st_mode) || file.st_nlink == 0) continue;
    lines->insert(
        LineOf(file, IsForWriting(process / "fdinfo" / entry.filename()) ? kWrites : kReads, path));
  }
}

// Notes memory that is shared by a file without a name. The fields of a line are addresses, rights,
// offset, device, inode and path.
void NoteSharedMemoryOf(const fs::path& process, std::set<std::string>* lines) {
  const std::string maps = TextAt(process / "maps");
  for (const std::string_view line : Split(maps, '\n')) {
    const std::size_t slash = line.find('/');
    if (slash == line.npos || !line.ends_with(" (deleted)")) continue;
    std::istringstream fields{std::string(line.substr(0, slash))};
    std::string addresses, rights, offset;
    unsigned major = 0, minor = 0;
    char colon = 0;
    unsigned long long inode = 0;
    fields >> addresses >> rights >> offset >> std::hex >> major >> colon >> minor >> std::dec >>
        inode;
    const std::string path(line.substr(slash));
    if (fields && rights.ends_with('s') && !IsOurs(path))
      lines->insert(SharedLineOf(makedev(major, minor), inode, kShares, path));
  }
}

// Programs and libraries are mapped so that they can be executed.
void NoteProgramsOf(const fs::path& process, std::set<std::string>* lines) {
  const std::string maps = TextAt(process / "maps");
  for (const std::string_view line : Split(maps, '\n')) {
    const std::size_t slash = line.find('/'), space = line.find(' ');
    struct stat file;
    if (slash == line.npos || line.substr(space + 1, 4).find('x') == std::string_view::npos)
      continue;
    const std::string path(line.substr(slash));
    if (stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode))
      lines->insert(LineOf(file, kRuns, path));
  }
}

std::optional<NotedFile> FileIn(std::string_view line) {
  std::size_t ends[3], at = 0;
  for (std::size_t& end : ends) {
    end = line.find(' ', at);
    if (end == line.npos) return std::nullopt;
    at = end + 1;
  }
  const auto bytes = ParseInteger(line.substr(0, ends[0]));
  const auto inode = ParseInteger(line.substr(ends[0] + 1, ends[1] - ends[0] - 1));
  if (!bytes || !inode) return std::nullopt;
  return NotedFile{static_cast<std::uint64_t>(*bytes), static_cast<std::uint64_t>(*inode),
                   std::string(line.substr(ends[1] + 1, ends[2] - ends[1] - 1)),
                   std::string(line.substr(ends[2] + 1))};
}

std::vector<NotedFile> FilesNotedIn(int folder) {
  std::vector<NotedFile> files;
  const std::string text = ReadNote(folder, kNote);
  for (const std::string_view line : Split(text, '\n'))
    if (std::optional<NotedFile> noted = FileIn(line)) files.push_back(*std::move(noted));
  return files;
}

void Cut(const NotedFile& noted) {
  const Descriptor file(open(noted.path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat now;
  if (file.value() < 0 || fstat(file.value(), &now) != 0 || !S_ISREG(now.st_mode) ||
      now.st_ino != noted.inode || static_cast<std::uint64_t>(now.st_size) <= noted.bytes)
    return;
  // criu says of a file that is too long which one it is.
  static_cast<void>(ftruncate(file.value(), static_cast<off_t>(noted.bytes)) != 0);
}

bool IsShared(const NotedFile& noted) {
  return noted.use.starts_with(kShares) || noted.use.starts_with(kPipes);
}

// Returns what is wrong with the file, or "".
std::string WrongWith(const NotedFile& noted) {
  if (IsShared(noted)) return "";
  struct stat now;
  const std::string what = noted.path + ", which it " + noted.use + ", ";
  if (stat(noted.path.c_str(), &now) != 0 || !S_ISREG(now.st_mode))
    return what + "is not there any more";
  const auto bytes = static_cast<std::uint64_t>(now.st_size);
  const bool longer_by_itself =
      noted.use == kWrites && bytes > noted.bytes && now.st_ino == noted.inode;
  if (bytes == noted.bytes || longer_by_itself) return "";
  return what +
         Format("has %llu bytes, and had %llu when the job was saved",
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(noted.bytes)) +
         (noted.use == kWrites && bytes > noted.bytes
              ? " (another file has taken its place, so it is not shortened)"
              : "");
}

// False of files that other hosts may have by the same name: those in memory, and those that are
// not here or not the same.
bool IsSharedFile(const NotedFile& noted) {
  constexpr long kInMemory = 0x01021994;  // TMPFS_MAGIC
  struct stat now;
  struct statfs system;
  return stat(noted.path.c_str(), &now) == 0 && now.st_ino == noted.inode &&
         statfs(noted.path.c_str(), &system) == 0 && system.f_type != kInMemory;
}

}  // namespace

Status NoteFiles(std::int64_t process, int folder) {
  std::set<std::string> lines;
  for (const std::string& one : ProcessesFrom(process)) {
    NoteOpenFilesOf(fs::path("/proc") / one, &lines);
    NoteSharedMemoryOf(fs::path("/proc") / one, &lines);
    NoteProgramsOf(fs::path("/proc") / one, &lines);
  }
  if (lines.empty()) return {};
  std::string text;
  for (const std::string& line : lines) text += line;
  return WriteNote(folder, kNote, text);
}

void CutFiles(int folder) {
  for (const NotedFile& noted : FilesNotedIn(folder))
    if (noted.use == kWrites) Cut(noted);
}

std::vector<std::string> LostFiles(int folder) {
  std::vector<std::string> sentences;
  for (const NotedFile& noted : FilesNotedIn(folder))
    if (std::string wrong = WrongWith(noted); !wrong.empty()) sentences.push_back(std::move(wrong));
  return sentences;
}

std::string TornFile(std::span<const int> folders) {
  std::map<std::string, NotedFile> known;  // by path
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, int>
      sharers;  // by use, device, inode
  for (const int folder : folders)
    for (const NotedFile& noted : FilesNotedIn(folder)) {
      if (IsShared(noted)) {
        const auto key = std::tuple(noted.use, noted.bytes, noted.inode);
        if (sharers.try_emplace(key, folder).first->second == folder) continue;
        return "ranks share " + noted.path +
               (noted.use.starts_with(kPipes)
                    ? ", whose contents each of them would have after a restart"
                    : ", whose name is gone, so each would have one of its own after a restart");
      }
      const NotedFile& other = known.try_emplace(noted.path, noted).first->second;
      if (other.inode == noted.inode && other.bytes != noted.bytes && IsSharedFile(noted))
        return noted.path + " was written by one rank while another one was saved that has it open";
    }
  return "";
}

}  // namespace lamina::checkpoint::criu
