// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing the pipes to the launcher.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina::quiesce {

// Writes at most as much as a pipe takes at once, whole or not at all. A launcher that is gone
// raises no signal.
Status WriteToPipe(int pipe, std::string_view bytes);

// Reads exactly so many bytes. `limit_ms` is how long each piece may be waited for; -1: as long as
// it takes. kTimeout: nothing came; kAborted: the launcher is gone.
Status ReadFromPipe(int pipe, void* data, std::size_t bytes, int limit_ms = -1);

}  // namespace lamina::quiesce
