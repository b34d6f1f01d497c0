// SPDX-License-Identifier: BSD-3-Clause
// A Generation is a folder that becomes a complete saved state of a job, or never was one.
//
// While it is written it is called g000007.part, which no reader takes for a generation. One rename
// makes it g000007. Whatever fails before that, the generations that were there still are.
//
// Ownership: the directory's descriptor is borrowed until Begin() returns. One generation at a time
//            is written in a directory: a lock that dies with its holder sees to that.
// Threads:   one. Everything here may wait for a disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store/manifest.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint {

class Generation {
 public:
  // Begins the one after the newest in `directory`, or after `newest` if that is newer, and removes
  // what somebody who died has left of another. kAgain: another job is writing one. kResource:
  // fewer than `bytes_min` bytes are free, which is what the last one took.
  static Result<std::unique_ptr<Generation>> Begin(int directory, std::uint64_t bytes_min,
                                                   Epoch newest = {});
  // Begins generation `epoch`, which another host has begun in a directory of its own. kExists: it
  // is in `directory` already.
  static Result<std::unique_ptr<Generation>> BeginAlso(int directory, Epoch epoch);
  // Removes the folder, unless it was committed.
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  Epoch epoch() const { return epoch_; }
  // Returns the folder of a rank, for an engine to fill; the generation owns the descriptor.
  Result<int> FolderOf(std::uint32_t rank);
  // Writes the plan, and notes its length and checksum in `manifest`.
  Status WritePlan(std::string_view plan, Manifest* manifest);
  // Reads every file of a rank's folder, writes it through to the disk, closes it to others, and
  // adds it to the parts of `manifest`.
  Status Measure(std::uint32_t rank, Manifest* manifest);
  // Writes the manifest through to the disk, so that Finish() has a name to change and no more.
  Status Prepare(std::string_view manifest);
  // Makes the generation valid; on success it is durable. After a failure it is still a .part, and
  // Commit() may be called again.
  Status Finish();
  // It stays as it is, for whoever knows whether it is valid to rename or remove.
  void Leave() { committed_ = true; }
  Status Commit(const Manifest& manifest);

 private:
  Generation(Descriptor directory, Epoch epoch);
  static Result<std::unique_ptr<Generation>> BeginIn(Descriptor own, std::uint64_t bytes_min,
                                                     Epoch epoch, Epoch newest);

  Descriptor directory_;  // locked
  const Epoch epoch_;
  Descriptor folder_;
  std::map<std::uint32_t, Descriptor> ranks_;
  bool committed_ = false;
};

// Names of what is below a directory of checkpoints.
std::string FolderName(Epoch epoch);  // g000007
std::string PartName(Epoch epoch);    // g000007.part
inline constexpr const char* kManifestName = "manifest";
inline constexpr const char* kPlanName = "plan";

// Reads every file of the folder of a rank, writes it through to the disk, closes it to others, and
// adds it to `parts`.
Status MeasureFolder(int folder, std::uint32_t rank, std::vector<Manifest::Part>* parts);

// Copies the image of a rank from the folder of one generation into its folder in that of another.
Status CopyRank(int from, int to, std::uint32_t rank);

// Reads a whole file for its checksum, from its beginning; `name` is for the message.
struct Sum {
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
};
Result<Sum> SumOf(const Descriptor& file, const std::string& name);

}  // namespace lamina::checkpoint
