// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/tune/tune.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr const char* kTitle = "# measured by lamina tune";
constexpr std::string_view kPrefix = "collective.select.";
constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.";

int Refuse(const std::string& message) {
  fprintf(stderr, "lamina tune: %s\n", message.c_str());
  return 2;
}

// Runs `words`, returns what was printed on standard output, and sets `status` to the exit status.
Result<std::string> Capture(const std::vector<std::string>& words, const std::string& program,
                            int* status) {
  int ends[2];
  if (pipe(ends) != 0) return SystemError(Code::kResource, errno, "cannot make a pipe");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return SystemError(Code::kResource, errno, "cannot start mpiexec");
  }
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = read(ends[0], piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
  return text;
}

std::string ReadIfThere(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the file that `path` leads to, by symbolic links too, if there may be a table in it.
Result<std::string> TableAt(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, error);
  if (error) return SystemError(Code::kDenied, error.value(), "cannot write %s", path.c_str());
  if (std::filesystem::exists(file, error)) {
    if (!std::filesystem::is_regular_file(file, error))
      return Error(Code::kInvalid, "cannot write a table to %s: it is no regular file",
                   path.c_str());
    if (!std::ifstream(file).is_open())
      return SystemError(Code::kDenied, errno, "cannot read what is in %s", path.c_str());
  }
  return file.string();
}

// A reader of the file sees the old one or the new one, never half of it. Its owner and permissions
// stay.
Status WriteWhole(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) return SystemError(Code::kDenied, errno, "cannot write %s", fresh.c_str());
  }
  struct stat old;
  if (stat(path.c_str(), &old) == 0 && (chown(fresh.c_str(), old.st_uid, old.st_gid) != 0 ||
                                        chmod(fresh.c_str(), old.st_mode & 07777) != 0)) {
    const int why = errno;
    unlink(fresh.c_str());
    return SystemError(Code::kDenied, why, "cannot make a new %s as the old one is", path.c_str());
  }
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error) return SystemError(Code::kDenied, error.value(), "cannot replace %s", path.c_str());
  return {};
}

// Returns the name that a line of a parameter file sets, or "".
std::string_view NameIn(std::string_view line) {
  const std::string_view text = Trim(line.substr(0, line.find('#')));
  const std::size_t equals = text.find('=');
  return equals == std::string_view::npos ? std::string_view() : Trim(text.substr(0, equals));
}

int WriteTable(const std::string& path, const std::vector<Measured>& values,
               const std::vector<std::string>& parameter_files) {
  if (Status status = WriteWhole(path, Merge(ReadIfThere(path), values)); !status.ok())
    return Refuse(std::string(status.message()));
  std::error_code error;
  const bool read_always = std::any_of(
      parameter_files.begin(), parameter_files.end(),
      [&](const std::string& file) { return std::filesystem::equivalent(file, path, error); });
  printf("%zu parameters written to %s", values.size(), path.c_str());
  if (read_always)
    printf(", which every later job reads\n");
  else
    printf("; jobs read it as %s\n",
           parameter_files.empty() ? "~/.config/lamina.conf" : parameter_files[0].c_str());
  return 0;
}

}  // namespace

Result<std::vector<Measured>> ParseMeasured(std::string_view printed) {
  std::vector<Measured> values;
  for (const std::string_view line : Split(printed, '\n')) {
    if (Trim(line).empty()) continue;
    const std::vector<std::string_view> words = Split(Trim(line), ' ');
    if (words.size() != 2 || !words[0].starts_with(kPrefix) ||
        words[0].find_first_not_of(kNameLetters) != std::string_view::npos ||
        words[1].find_first_not_of("0123456789.") != std::string_view::npos)
      return Error(Code::kInvalid, "the ranks printed \"%s\" instead of a name and a number",
                   std::string(line).c_str());
    values.push_back({std::string(words[0]), std::string(words[1])});
  }
  if (values.empty()) return Error(Code::kInvalid, "the ranks printed nothing");
  return values;
}

std::string Merge(std::string_view before, const std::vector<Measured>& values) {
  std::string text;
  for (const std::string_view line : Split(before, '\n')) {
    const std::string_view name = NameIn(line);
    const bool replaced = std::any_of(values.begin(), values.end(),
                                      [&](const Measured& one) { return one.name == name; });
    if (!replaced && line != kTitle) text += std::string(line) + "\n";
  }
  while (text.ends_with("\n\n") || text == "\n") text.pop_back();
  if (!text.empty()) text += "\n";
  text += std::string(kTitle) + "\n";
  for (const Measured& one : values) text += one.name + " = " + one.value + "\n";
  return text;
}

int Tune(std::span<const std::string> arguments, const char* usage, const std::string& program,
         const std::vector<std::string>& parameter_files) {
  std::vector<std::string> line = {"mpiexec"};
  std::string path;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-h" || arguments[i] == "--help") {
      fputs(usage, stdout);
      return 0;
    }
    if (arguments[i] == "-o") {
      if (++i == arguments.size()) return Refuse("-o needs a file");
      path = arguments[i];
    } else {
      line.push_back(arguments[i]);
    }
  }
  line.push_back(program);
  line.emplace_back(kTuneWord);
  if (!path.empty()) {
    Result<std::string> table = TableAt(path);
    if (!table.ok()) return Refuse(std::string(table.status().message()));
    path = *std::move(table);
  }
  int status = 0;
  Result<std::string> printed = Capture(line, program, &status);
  if (!printed.ok()) return Refuse(std::string(printed.status().message()));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "lamina tune: nothing was written: the measuring job failed\n");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  Result<std::vector<Measured>> values = ParseMeasured(*printed);
  if (!values.ok()) return Refuse(std::string(values.status().message()));
  if (!path.empty()) return WriteTable(path, *values, parameter_files);
  fputs(Merge("", *values).c_str(), stdout);
  return 0;
}

}  // namespace lamina::launcher
