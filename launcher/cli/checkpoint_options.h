// SPDX-License-Identifier: BSD-3-Clause
// What the options for saving and restarting do. They are actions of the table in options.cc.
#pragma once

#include <string_view>

#include "launcher/cli/options.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

Status CheckpointDirectory(Draft& draft, std::string_view value);
Status CheckpointJob(Draft& draft, std::string_view);
Status RequireCheckpoints(Draft& draft, std::string_view);
Status CheckpointEvery(Draft& draft, std::string_view value);
Status CheckpointSignal(Draft& draft, std::string_view value);
Status ResumeJob(Draft& draft, std::string_view);
Status Restarts(Draft& draft, std::string_view value);

}  // namespace lamina::launcher
