// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "launcher/control/ask.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// Returns the launcher of the job that is meant: that of the process `word`, or with "" the only
// one of this user.
Result<control::Launcher> FindJob(const std::string& word);

}  // namespace lamina::launcher
