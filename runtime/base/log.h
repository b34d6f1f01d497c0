// SPDX-License-Identifier: BSD-3-Clause
// This log speaks to people on standard error; every line is one write():
//   lamina rank 3 node07 warn shm: /dev/shm has 2 MiB free, need 34 MiB; using tcp to 7 peers
//
// A healthy job prints nothing at the default level, warn. Texts are in lower case, and numbers
// have units. Every line also goes into the event ring (event_ring.h), whether it is printed or
// not.
//
// Threads: Any thread may log.
#pragma once

#include <string_view>

namespace lamina {

enum class Level {
  kError,  // the job cannot go on as asked
  kWarn,   // it goes on, but differently
  kInfo,   // once per job
  kDebug,  // per object
};

// Sets who speaks ("rank 3", "mpiexec") and the short host name. It is called once at the start and
// copies both.
void SetLogIdentity(std::string_view who, std::string_view node);
void SetLogLevel(Level level);
Level LogLevel();

// `where` is the folder that speaks ("shm", "p2p", "plan") and needs static storage.
[[gnu::format(printf, 3, 4)]] void Log(Level level, const char* where, const char* format, ...);

// Returns "rank 3 node07", as SetLogIdentity was told, for messages that do not go through Log.
std::string_view LogIdentity();

}  // namespace lamina
