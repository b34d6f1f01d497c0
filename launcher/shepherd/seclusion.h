// SPDX-License-Identifier: BSD-3-Clause
// The namespaces in which an ordinary user may save processes and revive them.
//
// Threads: the caller must be the only one of its process.
#pragma once

#include "runtime/base/status.h"

namespace lamina::launcher {

// Goes on as the first process of user, pid and mount namespaces of its own, in which it seems to
// be root; its files are still the user's. The process that has called stays behind, waits for that
// one and ends as it does. kUnsupported: this machine does not let users have namespaces.
Status Seclude();

}  // namespace lamina::launcher
