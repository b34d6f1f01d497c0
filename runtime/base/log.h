// SPDX-License-Identifier: BSD-3-Clause
// Messages for people, on standard error, one write() a line:
//   lamina rank 3 node07 warn shm: /dev/shm has 2 MiB free, need 34 MiB; using tcp to 7 peers
//
// A healthy job prints nothing at the default level, warn. Lower case, units always.
// Every line also goes into the event ring (event_ring.h), printed or not.
//
// Threads: any.
#pragma once

#include <string_view>

namespace lamina {

enum class Level {
  kError,  // the job cannot go on as asked
  kWarn,   // it goes on, differently
  kInfo,   // once per job
  kDebug,  // per object
};

// "rank 3", "mpiexec", ... and the short host name; called once at start. Copied.
void SetLogIdentity(std::string_view who, std::string_view node);
void SetLogLevel(Level level);
Level LogLevel();

// `where`: the folder that speaks, "shm", "p2p", "plan". Static storage.
[[gnu::format(printf, 3, 4)]] void Log(Level level, const char* where, const char* format, ...);

// "rank 3 node07", as SetLogIdentity was told; for messages that do not go through Log.
std::string_view LogIdentity();

}  // namespace lamina
