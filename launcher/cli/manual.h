// SPDX-License-Identifier: BSD-3-Clause
// Makes the manual page and the shell completion from the table of options and the help pages, so
// that they cannot fall behind.
#pragma once

#include <string>
#include <string_view>

namespace lamina::launcher {

std::string ManualPage();        // mpiexec(1), in man's own language
std::string LaminaManualPage();  // lamina(1)
// lamina-SUBCOMMAND(1); "" if that has no page of its own.
std::string SubcommandManualPage(std::string_view subcommand);
std::string BashCompletion();  // for mpiexec, mpirun and lamina

}  // namespace lamina::launcher
