// SPDX-License-Identifier: BSD-3-Clause
// A note is a text that lies beside the images, in a file of its own.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

// Writes a note into `folder`, in place of one of that name.
Status WriteNote(int folder, const char* name, std::string_view text);

// Returns nothing if there is no such note.
std::string ReadNote(int folder, const char* name);

}  // namespace lamina::checkpoint::criu
