// SPDX-License-Identifier: BSD-3-Clause
// What a launcher answers about its job, and the kernel's table in which launchers are found.
#include "launcher/survey/job_answer.h"

#include "launcher/control/ask.h"
#include "runtime/base/check.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string table;
  for (const control::Launcher& launcher : control::LaunchersIn(text)) {
    CHECK(launcher.process > 0);
    table += "0: 2 0 00010000 1 1 5 @" + control::NameOf(launcher.user, launcher.process) + "\n";
  }
  CHECK(control::LaunchersIn(table) == control::LaunchersIn(text));
  const auto answer = DecodeJobAnswer(text);
  if (!answer.ok()) return 0;
  static_cast<void>(AllAnswered(*answer));
  return 0;
}

}  // namespace lamina::launcher
