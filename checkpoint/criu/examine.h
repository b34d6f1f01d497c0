// SPDX-License-Identifier: BSD-3-Clause
// Looks in /proc for what criu cannot save of a process and those below it.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint_engine.h"

namespace lamina::checkpoint::criu {

// Returns a sentence for each cause; none if nothing is in the way as far as /proc tells.
std::vector<std::string> ExamineProcesses(const Subject& subject);

}  // namespace lamina::checkpoint::criu
