// SPDX-License-Identifier: BSD-3-Clause
// Where this installation lies, found from the running program's own path, so that a prefix may be
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

// Parameter files, strongest first: ~/.config/lamina.conf, PREFIX/etc/lamina.conf.
std::vector<std::string> ParameterFiles(const Installation& installation,
                                        const Environment& environment);

// Where a host file named `path` may be: as given, then, for a plain name, ~/.config/lamina and
// PREFIX/etc/lamina.
std::vector<std::string> HostFilePaths(const std::string& path, const Installation& installation,
                                       const Environment& environment);

}  // namespace lamina::launcher
