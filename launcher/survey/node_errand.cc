// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "launcher/survey/leftovers.h"
#include "launcher/survey/node_word.h"
#include "launcher/survey/report.h"
#include "launcher/survey/stacks.h"

namespace lamina::launcher {

int RunNodeErrand(std::span<const std::string> words) {
  const std::string errand = words.empty() ? "" : words.front();
  if (errand == "report") {
    fputs(Encode(ReportHere(words.size() > 1 ? words[1] : "")).c_str(), stdout);
    return 0;
  }
  if (errand == "clean") return CleanHere(words.size() > 1 && words[1] == "--dry-run") == 0 ? 0 : 1;
  if (errand == "stack" && words.size() > 1) return ShowStacksHere(words[1]);
  fprintf(stderr, "lamina: no errand \"%s\"\n", errand.c_str());
  return 2;
}

}  // namespace lamina::launcher
