// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/find_job.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "runtime/base/text.h"

namespace lamina::launcher {

Result<control::Launcher> FindJob(const std::string& word) {
  const std::optional<std::int64_t> process = word.empty() ? 0 : ParseInteger(word);
  if (!process || *process < 0 || *process > INT32_MAX)
    return Error(Code::kInvalid, "\"%s\" is not the number of a process (lamina ps shows them)",
                 word.c_str());
  return control::FindLauncher(static_cast<pid_t>(*process));
}

}  // namespace lamina::launcher
