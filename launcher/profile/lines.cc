// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/profile/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/environment.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kReaders[] = {"eu-addr2line", "addr2line"};  // the quicker one first
constexpr std::size_t kPlacesPerReader = 1024;                     // they stand on its command line
constexpr std::size_t kReadersAtOnce = 4;
constexpr milliseconds kReaping{100};

bool IsUnchanged(const CodePlace& place) {
  struct stat file;
  return !place.file.empty() && stat(place.file.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
         (place.file_bytes == 0 || place.file_bytes == static_cast<std::uint64_t>(file.st_size));
}

// A program that reads the lines of some places of one file.
class Reader {
 public:
  explicit Reader(std::vector<CodePlace> places) : places_(std::move(places)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    for (const char* const program : kReaders)
      if (Start(program, ends[1])) break;
    close(ends[1]);
    output_ = ends[0];
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (output_ >= 0) close(output_);
    if (process_ <= 0) return;
    kill(-process_, SIGKILL);
    // A process that the kernel does not let go is left to whoever looks for children next.
    const Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
    pollfd ended = {end.value(), POLLIN, 0};
    poll(&ended, 1, static_cast<int>(kReaping.count()));
    waitpid(process_, nullptr, WNOHANG);
  }

  int output() const { return output_; }
  // False: it has nothing more to say.
  bool Read() {
    char piece[4096];
    const ssize_t bytes = read(output_, piece, sizeof piece);
    if (bytes > 0) printed_.append(piece, static_cast<std::size_t>(bytes));
    return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
  }
  void Tell(Lines* lines) const {
    const std::vector<std::string> found = LinesIn(printed_);
    for (std::size_t at = 0; at < found.size() && at < places_.size(); ++at)
      if (!found[at].empty()) lines->emplace(places_[at], found[at]);
  }

 private:
  bool Start(const char* program, int output) {
    std::vector<std::string> words = {program, "-e", places_.front().file};
    for (const CodePlace& place : places_)
      words.push_back(Format("0x%llx", static_cast<unsigned long long>(place.offset)));
    Environment environment = Environment::OfThisProcess();
    environment.Unset("DEBUGINFOD_URLS");  // it must not ask the network for lines
    const std::vector<std::string> assignments = environment.Assignments();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    const std::vector<char*> argv = Pointers(words), envp = Pointers(assignments);
    const int error =
        posix_spawnp(&process_, program, &files, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) process_ = -1;
    return error == 0;
  }

  const std::vector<CodePlace> places_;
  pid_t process_ = -1;
  int output_ = -1;
  std::string printed_;
};

// Has all of them read until they are through or the time is over.
void ReadAll(std::vector<std::unique_ptr<Reader>>* readers, Clock::time_point end, Lines* lines) {
  while (!readers->empty()) {
    std::vector<pollfd> outputs;
    for (const auto& reader : *readers) outputs.push_back({reader->output(), POLLIN, 0});
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
    if (left <= 0) break;
    poll(outputs.data(), outputs.size(), static_cast<int>(left));
    std::erase_if(*readers, [lines](const std::unique_ptr<Reader>& reader) {
      if (reader->output() >= 0 && reader->Read()) return false;
      reader->Tell(lines);
      return true;
    });
  }
  readers->clear();
}

}  // namespace

Lines FindLines(const std::set<CodePlace>& places, milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit - kReaping;
  Lines lines;
  std::vector<std::unique_ptr<Reader>> readers;
  for (auto at = places.begin(); at != places.end() && Clock::now() < end;) {
    std::vector<CodePlace> of_one_file;
    for (const CodePlace& first = *at;
         at != places.end() && at->file == first.file && at->file_bytes == first.file_bytes; ++at)
      if (of_one_file.size() < kPlacesPerReader) of_one_file.push_back(*at);
    if (!IsUnchanged(of_one_file.front())) continue;
    readers.push_back(std::make_unique<Reader>(std::move(of_one_file)));
    if (readers.size() == kReadersAtOnce) ReadAll(&readers, end, &lines);
  }
  ReadAll(&readers, end, &lines);
  return lines;
}

std::vector<std::string> LinesIn(std::string_view printed) {
  std::vector<std::string> lines;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    // A column or a word of the compiler's may follow the number.
    std::size_t colon = line.find(':');
    while (colon != line.npos &&
           (colon + 1 == line.size() || line[colon + 1] < '0' || line[colon + 1] > '9'))
      colon = line.find(':', colon + 1);
    const std::size_t number_end =
        colon == line.npos ? line.npos : line.find_first_not_of("0123456789", colon + 1);
    const std::string_view number =
        colon == line.npos ? "" : line.substr(colon + 1, number_end - colon - 1);
    const bool known = ParseInteger(number).value_or(0) > 0 && !line.starts_with("??");
    lines.emplace_back(known ? line.substr(0, number_end) : "");
  }
  return lines;
}

std::string NameOf(const CodePlace& place, const Lines& lines) {
  const auto last = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (const auto found = lines.find(place); found != lines.end()) return last(found->second);
  if (place.file.empty()) return "";
  return last(place.file) + Format("+0x%llx", static_cast<unsigned long long>(place.offset));
}

}  // namespace lamina::launcher
