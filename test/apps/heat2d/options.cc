// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace heat2d {
namespace {

// The user's number keeps two users of one /tmp apart.
std::string DefaultOutput() {
  std::error_code error;
  std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  if (error) directory = "/tmp";
  return (directory / ("heat2d_" + std::to_string(getuid()))).string();
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options* options, std::string* problem) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quiet") {
      options->quiet = true;
      continue;
    }
    if (name != "--input" && name != "--output" && name != "--steps" && name != "--tolerance") {
      *problem = "unknown option " + name;
      return false;
    }
    if (i + 1 == argc) {
      *problem = name + " needs a value";
      return false;
    }
    const char* value = argv[++i];
    char* end = nullptr;
    errno = 0;
    if (name == "--input") {
      options->input = value;
    } else if (name == "--output") {
      options->output = value;
    } else if (name == "--steps") {
      options->steps = std::strtol(value, &end, 10);
    } else {
      options->tolerance = std::strtod(value, &end);
    }
    const bool bad_number = end != nullptr && (end == value || *end != '\0' || errno != 0);
    if (bad_number || options->steps < 0 || !(options->tolerance >= 0)) {
      *problem = name + " " + value + ": not a number from 0 up";
      return false;
    }
  }
  if (options->output.empty()) options->output = DefaultOutput();
  return true;
}

std::string DefaultInput() {
  char path[PATH_MAX];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) + ".pgm" : "heat2d.pgm";
}

}  // namespace heat2d
