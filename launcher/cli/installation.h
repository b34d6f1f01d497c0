// SPDX-License-Identifier: BSD-3-Clause
// Finds where this installation lies from the running program's own path, so that a prefix may be
// moved.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/environment.h"

namespace lamina::launcher {

struct Installation {
  std::string program;  // the path of this program
  std::string prefix;   // PREFIX of PREFIX/bin/mpiexec; "": running from a build tree
  std::string library;  // libmpi_abi.so.1 of this installation or build tree; "": not there
};

Installation ThisInstallation();

// Returns the parameter files, strongest first: ~/.config/lamina.conf, PREFIX/etc/lamina.conf.
std::vector<std::string> ParameterFiles(const Installation& installation,
                                        const Environment& environment);

// Returns where a host file named `path` may be: as given and, for a plain name, in
// ~/.config/lamina and PREFIX/etc/lamina.
std::vector<std::string> HostFilePaths(const std::string& path, const Installation& installation,
                                       const Environment& environment);

}  // namespace lamina::launcher
