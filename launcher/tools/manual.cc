// SPDX-License-Identifier: BSD-3-Clause
// Prints the manual page or the shell completion while the project is built.
#include "launcher/cli/manual.h"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const bool completion = argc == 2 && strcmp(argv[1], "completion") == 0;
  if (!completion && !(argc == 2 && strcmp(argv[1], "manual") == 0)) {
    fputs("usage: manual manual|completion\n", stderr);
    return 2;
  }
  const std::string text =
      completion ? lamina::launcher::BashCompletion() : lamina::launcher::ManualPage();
  return fputs(text.c_str(), stdout) < 0 ? 1 : 0;
}
