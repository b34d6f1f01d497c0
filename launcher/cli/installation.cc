// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/installation.h"

#include <unistd.h>

#include <array>

namespace lamina::launcher {
namespace {

constexpr const char* kLibrary = "libmpi_abi.so.1";

std::string OwnPath() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return {};
  return std::string(path.data(), static_cast<std::size_t>(length));
}

std::string UserConfiguration(const Environment& environment) {
  if (auto directory = environment.Get("XDG_CONFIG_HOME"); directory && !directory->empty())
    return *directory;
  if (auto home = environment.Get("HOME"); home && !home->empty()) return *home + "/.config";
  return {};
}

}  // namespace

Installation ThisInstallation() {
  Installation installation;
  installation.program = OwnPath();
  const std::string directory =
      installation.program.substr(0, installation.program.find_last_of('/'));
  const std::size_t slash = directory.find_last_of('/');
  if (slash == std::string::npos) return installation;
  const std::string parent = directory.substr(0, slash);
  if (directory.substr(slash) == "/bin") installation.prefix = parent;
  for (const char* folder : {"/lib/", "/runtime/"}) {
    const std::string library = parent + folder + kLibrary;
    if (access(library.c_str(), R_OK) != 0) continue;
    installation.library = library;
    break;
  }
  return installation;
}

std::vector<std::string> ParameterFiles(const Installation& installation,
                                        const Environment& environment) {
  std::vector<std::string> files;
  const std::string user = UserConfiguration(environment);
  if (!user.empty()) files.push_back(user + "/lamina.conf");
  if (!installation.prefix.empty()) files.push_back(installation.prefix + "/etc/lamina.conf");
  return files;
}

std::vector<std::string> HostFilePaths(const std::string& path, const Installation& installation,
                                       const Environment& environment) {
  std::vector<std::string> paths = {path};
  if (path.find('/') != std::string::npos) return paths;
  const std::string user = UserConfiguration(environment);
  if (!user.empty()) paths.push_back(user + "/lamina/" + path);
  if (!installation.prefix.empty()) paths.push_back(installation.prefix + "/etc/lamina/" + path);
  return paths;
}

}  // namespace lamina::launcher
