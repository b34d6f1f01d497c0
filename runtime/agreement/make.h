// SPDX-License-Identifier: BSD-3-Clause
// A communicator out of what its members have agreed on, with collectives hung on it.
#pragma once

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"
#include "runtime/core/group.h"

namespace lamina::agreement {

// References are taken; the error handler is `parent`'s.
core::Comm* Make(core::Group* group, ContextId context, const core::Comm* parent);
core::Comm* MakeInter(core::Group* group, core::Group* remote, ContextId context,
                      ContextId local_context, const core::Comm* parent);
// The same, from ranks of `from` in the order given.
core::Group* Subgroup(const core::Group& from, const std::vector<Rank>& ranks);

// Is every member of `group` one of `of`, too?
bool IsWithin(const core::Group& group, const core::Group& of);
bool AreDisjoint(const core::Group& one, const core::Group& two);

}  // namespace lamina::agreement
