// SPDX-License-Identifier: BSD-3-Clause
// This makes a communicator out of what its members have agreed on and hangs collectives on it.
#pragma once

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"
#include "runtime/core/group.h"

namespace lamina::agreement {

// Take the references; the error handler is `parent`'s.
core::Comm* Make(core::Group* group, ContextId context, const core::Comm* parent);
core::Comm* MakeInter(core::Group* group, core::Group* remote, ContextId context,
                      ContextId local_context, const core::Comm* parent);
// Makes a group of ranks of `from` in the order given.
core::Group* Subgroup(const core::Group& from, const std::vector<Rank>& ranks);

// True if every member of `group` is one of `of`, too.
bool IsWithin(const core::Group& group, const core::Group& of);
bool AreDisjoint(const core::Group& one, const core::Group& two);

}  // namespace lamina::agreement
