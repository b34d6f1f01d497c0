// SPDX-License-Identifier: BSD-3-Clause
// What the processor can do on which processes were saved, and may go on to do where they are
// revived.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

// Notes in `folder` which instructions this processor has.
Status NoteProcessor(int folder);

// Returns a sentence about the instructions that are noted in `folder` and that this processor
// lacks; "" if it has them all.
std::string LackedBy(int folder);

}  // namespace lamina::checkpoint::criu
