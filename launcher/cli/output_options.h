// SPDX-License-Identifier: BSD-3-Clause
// What the options for the ranks' input and output do. They are actions of the table in options.cc.
#pragma once

#include <string_view>

#include "launcher/cli/options.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

Status TagOutput(Draft& draft, std::string_view);
Status TimestampOutput(Draft& draft, std::string_view);
Status OutputDirectory(Draft& draft, std::string_view value);
Status OutputPattern(Draft& draft, std::string_view value);
Status ErrorPattern(Draft& draft, std::string_view value);
Status MergeErrors(Draft& draft, std::string_view);
Status Stdin(Draft& draft, std::string_view value);

}  // namespace lamina::launcher
