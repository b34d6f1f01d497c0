// SPDX-License-Identifier: BSD-3-Clause
// Writes together: aggregators collect what lies side by side in the file, window by window, and
// write it in long runs.
//
// Everybody knows from the table who sends whom a parcel in which round, so nothing is negotiated,
// and an error stops no round: an aggregator that cannot write goes on receiving.
//
// Cost:   in each round a message for each pair of an aggregator and a rank that its window meets.
// Memory: a window on an aggregator; elsewhere the parcels of a round.
#pragma once

#include <span>
#include <string>

#include "runtime/core/comm.h"
#include "runtime/io/failure.h"
#include "runtime/io/locks.h"
#include "runtime/io/open_file.h"
#include "runtime/io/parcel.h"
#include "runtime/io/table.h"

namespace lamina::io::exchange {

struct Place {
  core::Comm* comm;
  OpenFile* body;
  const std::string& path;
  RangeLocks* locks;  // null if writes need none
};

// All ranks call it with the same table. Each returns what it has itself seen fail; nobody has
// agreed on that yet, so not all windows need be written when it returns.
// Threads: the caller holds the library lock, which is given up around system calls.
Failure Write(const Place& place, std::span<const Entry> table, const Share& share);

}  // namespace lamina::io::exchange
