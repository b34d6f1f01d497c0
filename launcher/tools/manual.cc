// SPDX-License-Identifier: BSD-3-Clause
// Prints a manual page or the shell completion while the project is built.
#include "launcher/cli/manual.h"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  std::string text;
  if (wanted == "mpiexec") text = lamina::launcher::ManualPage();
  if (wanted == "lamina") text = lamina::launcher::LaminaManualPage();
  if (wanted.starts_with("lamina-"))
    text = lamina::launcher::SubcommandManualPage(wanted.substr(wanted.find('-') + 1));
  if (wanted == "completion") text = lamina::launcher::BashCompletion();
  if (text.empty()) {
    fputs("usage: manual mpiexec|lamina|lamina-SUBCOMMAND|completion\n", stderr);
    return 2;
  }
  return fputs(text.c_str(), stdout) < 0 ? 1 : 0;
}
