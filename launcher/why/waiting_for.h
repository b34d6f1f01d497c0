// SPDX-License-Identifier: BSD-3-Clause
// What one rank does, and for which ranks it waits.
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launcher/why/why.h"

namespace lamina::launcher {

// What one rank does, said of several: "wait in MPI_Recv".
std::string OfSeveral(const std::string& does);

// A communicator as people may know it: "MPI_COMM_WORLD", "\"rows\"", "a communicator of ranks
// 0-2".
std::string CommWords(const WaitSeen& wait, const NotedComm& comm);

// "from rank 1 with tag 5", "to rank 2 with tag 3": of an entry. `ranks`: how many the job has.
std::string EntryWords(const WaitSeen& wait, const NotedEntry& entry, std::size_t ranks);

struct WaitingFor {
  bool waits = false;                // it cannot go on by itself
  bool any = false;                  // one of `ranks` is enough
  bool own = false;                  // by messages of the library's own, which nobody need know
  bool others = false;               // processes of other jobs are among those it waits for
  std::string does;                  // "waits in MPI_Recv for a message from rank 1 with tag 5"
  std::vector<std::uint32_t> ranks;  // ascending
  // In a collective: the context of the communicator, and its words.
  bool collective = false;
  std::uint64_t context = 0;
  std::string comm;
};

// What one rank does, without those for whom it waits. `ranks`: how many the job has.
WaitingFor WordsFor(const RankView& view, std::size_t ranks);

// What rank `self` does.
WaitingFor WhatDoes(std::span<const RankView> ranks, std::uint32_t self);

// The entries of a note for which the rank waits.
std::vector<const NotedEntry*> AwaitedOf(const WaitSeen& wait);

}  // namespace lamina::launcher
