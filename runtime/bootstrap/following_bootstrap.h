// SPDX-License-Identifier: BSD-3-Clause
// This is the bootstrap of a process that may be saved and revived: when it returns after that, its
// environment may name another job, whose ranks find each other by other means than before.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {

// Returns the bootstrap of the environment as it is now; see Find(), which returns nothing else but
// for processes that may be revived. `epoch` is as for Bootstrap::Return().
Result<std::unique_ptr<Bootstrap>> FindNow(const Environment& environment, std::uint32_t epoch);

// `environment` must outlive what is returned, and `now` is its bootstrap.
std::unique_ptr<Bootstrap> FollowEnvironment(const Environment& environment,
                                             std::unique_ptr<Bootstrap> now);

}  // namespace lamina::bootstrap
