// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/check.h"

#include <cstdlib>

#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"

namespace lamina {

void CheckFailed(const char* file, int line, const char* expression) {
  for (const std::string& event : LastEvents(*CurrentEventRing(), 32))
    Log(Level::kError, "event", "%s", event.c_str());
  Log(Level::kError, "check", "%s:%d: %s is false; this is a bug of lamina", file, line,
      expression);
  std::abort();
}

}  // namespace lamina
