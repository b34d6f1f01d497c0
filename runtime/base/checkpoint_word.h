// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec and rank 0 of a job say to each other when the program has its state saved.
//
// They talk through two pipes that rank 0 inherits. The variable LAMINA_CHECKPOINT of every rank is
// "ORDERS:REPORTS:FOLDER": the pipes' descriptors (-1 where there are none), and the folder of the
// generation that the job was restarted from, which is empty in a job that was not.
//
//   rank 0 ── kTogether ──────────────> mpiexec    every rank has called lamina_checkpoint()
//          <── kSave, path of a folder ──          or kRefused, if no generation can be begun
//          ── kSaved or kNotSaved ────>            every rank has written its files, or one has not
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/text.h"

namespace lamina {

inline constexpr char kCheckpointVariable[] = "LAMINA_CHECKPOINT";

struct CheckpointWord {
  enum Kind : std::uint32_t { kTogether = 1, kSaved, kNotSaved, kSave = 33, kRefused };
  std::uint32_t kind = 0;
  std::uint32_t epoch = 0;         // of kSave, kSaved and kNotSaved
  std::uint64_t bytes_behind = 0;  // kSave: the length of the path, which follows
};
static_assert(sizeof(CheckpointWord) == 16);

// The folder of a rank in that of a generation.
inline std::string RankFolderName(std::uint32_t rank) { return Format("rank%05u", rank); }

}  // namespace lamina
