// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

enum class Found { kNo, kRunnable, kNotRunnable };

Found Look(const std::string& path, std::string* why) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == EACCES) {
      *why = strerror(errno);
      return Found::kNotRunnable;
    }
    return Found::kNo;
  }
  if (S_ISDIR(status.st_mode)) {
    *why = "it is a directory";
    return Found::kNotRunnable;
  }
  if (access(path.c_str(), X_OK) == 0) return Found::kRunnable;
  *why = "no permission to execute it (chmod +x)";
  return Found::kNotRunnable;
}

ProgramCheck Answer(Found found, const std::string& program, const std::string& why,
                    const std::string& hint) {
  switch (found) {
    case Found::kRunnable:
      return {};
    case Found::kNotRunnable:
      return {126, Format("cannot execute %s: %s", program.c_str(), why.c_str())};
    case Found::kNo:
      break;
  }
  return {127, Format("no such program%s", hint.c_str())};
}

std::string Within(const std::string& directory, std::string_view path) {
  if (directory.empty() || path.starts_with('/')) return std::string(path);
  return directory + "/" + std::string(path);
}

}  // namespace

ProgramCheck CheckProgram(const std::string& program, const std::string& wdir,
                          std::string_view path) {
  if (!wdir.empty()) {
    struct stat status {};
    if (stat(wdir.c_str(), &status) != 0)
      return {2, Format("--wdir %s: %s", wdir.c_str(), strerror(errno))};
    if (!S_ISDIR(status.st_mode)) return {2, Format("--wdir %s: not a directory", wdir.c_str())};
  }
  std::string why;
  if (program.find('/') != std::string::npos) {
    const Found found = Look(Within(wdir, program), &why);
    return Answer(
        found, program, why,
        wdir.empty() || program.front() == '/' ? ": " + program : " in " + wdir + ": " + program);
  }
  Found best = Found::kNo;
  for (const std::string_view directory : Split(path, ':')) {
    std::string here;
    // An empty piece of PATH means the current directory.
    const Found found =
        Look(Within(wdir, directory.empty() ? "." : directory) + "/" + program, &here);
    if (found == Found::kRunnable) return {};
    if (found == Found::kNotRunnable && best == Found::kNo) {
      best = found;
      why = here;
    }
  }
  std::string ignored;
  const bool is_here = Look(Within(wdir, program), &ignored) == Found::kRunnable;
  return Answer(best, program, why,
                " in PATH: " + program + (is_here ? "; did you mean ./" + program + "?" : ""));
}

}  // namespace lamina::launcher
