// SPDX-License-Identifier: BSD-3-Clause
// Where the members of a communicator are whose jobs know nothing of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/comm.h"

namespace lamina::collective {

// Fills in the place number (runtime/base/place.h) of every rank of an intracommunicator. All ranks
// call this at once; it communicates, and returns an MPI error class.
// Cost: rank 0 exchanges one message with each other rank.
int TellPlaces(core::Comm* comm, std::vector<std::uint64_t>* places);

}  // namespace lamina::collective
