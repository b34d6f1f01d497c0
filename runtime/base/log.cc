// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

constinit char identity[128] = "process";
constinit std::atomic<Level> printed{Level::kWarn};

const char* Word(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarn:
      return "warn";
    case Level::kInfo:
      return "info";
    case Level::kDebug:
      return "debug";
  }
  return "?";
}

}  // namespace

void SetLogIdentity(std::string_view who, std::string_view node) {
  snprintf(identity, sizeof identity, "%.*s %.*s", static_cast<int>(who.size()), who.data(),
           static_cast<int>(node.size()), node.data());
}

void SetLogLevel(Level level) { printed.store(level, std::memory_order_relaxed); }
Level LogLevel() { return printed.load(std::memory_order_relaxed); }
std::string_view LogIdentity() { return identity; }

void Log(Level level, const char* where, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  RecordEvent("%s %s: %s", Word(level), where, text);
  if (level > LogLevel()) return;
  char line[1280];
  const int length =
      snprintf(line, sizeof line, "lamina %s %s %s: %s\n", identity, Word(level), where, text);
  const std::size_t bytes =
      std::min<std::size_t>(static_cast<std::size_t>(length), sizeof line - 1);
  line[bytes - 1] = '\n';
  if (write(STDERR_FILENO, line, bytes) < 0) return;  // nobody left to tell
}

}  // namespace lamina
