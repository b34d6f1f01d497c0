// SPDX-License-Identifier: BSD-3-Clause
// The words after mpiexec, one a line, and behind a zero byte the file that an option names.
#include "launcher/cli/command_line.h"

#include "launcher/plan/soft.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view line = input.TakeUntil('\0');
  const std::vector<std::string> words =
      fuzz::Input(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()).Lines();
  const std::string file(input.Rest());
  const auto invocation =
      ParseCommandLine(words, [&](const std::string&) { return Result<std::string>(file); });
  if (!invocation.ok()) {
    CHECK(!invocation.status().message().empty());
    return 0;
  }
  if (invocation->action != Invocation::Action::kRun) return 0;
  CHECK(!invocation->request.programs.empty());
  for (const ProgramRequest& program : invocation->request.programs) {
    CHECK(!program.argv.empty() && !program.argv.front().empty());
    CHECK(!program.ranks || *program.ranks >= 1);
    const auto soft = LargestSoft(program.soft, 1000);
    CHECK(!soft || (*soft >= 1 && *soft <= 1000));
  }
  return 0;
}

}  // namespace lamina::launcher
