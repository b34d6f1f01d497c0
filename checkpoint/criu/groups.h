// SPDX-License-Identifier: BSD-3-Clause
// The groups of a user. Only root may give a process other ones, so processes of an ordinary user
// are revived with those they had or not at all.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

// Notes in `folder` the supplementary groups of this process.
Status NoteGroups(int folder);

// Returns a sentence about the groups that are noted in `folder`, if there are any and this process
// has not the same; "" if it has. Groups without a number in this user namespace look alike.
std::string OtherGroups(int folder);

}  // namespace lamina::checkpoint::criu
