// SPDX-License-Identifier: BSD-3-Clause
// Finds the generations in a directory of checkpoints: lists them, chooses the newest that is
// complete, verifies checksums, and deletes those that are no longer kept.
//
// Threads: one. Everything here may wait for a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/store/manifest.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint {

struct Names {
  std::vector<Epoch> complete;          // newest first, by their names alone
  std::vector<std::string> unfinished;  // what a writer has left, or is writing
};
Result<Names> NamesOfGenerations(int directory);

// A complete generation, whose folder is open.
struct Opened {
  Descriptor folder;
  Manifest manifest;
  std::size_t directory = 0;  // where it was found, if several were looked through
};
// Opens a generation that is whole as far as its manifest and the lengths of its files tell. The
// lengths of images that lie in the directories of several hosts are not looked at.
// kNotFound: it is not there. kDenied: it, or a file of it, is somebody else's, or others may write
// it. kInvalid: it is damaged; the message begins with what is wrong where.
Result<Opened> OpenGeneration(int directory, Epoch epoch);

// Reads every file, the plan too, and compares its checksum. The error is as above. Where each host
// has a directory of its own, the images that are not here are passed over.
Status Verify(const Opened& opened);
// Does so with the image of one rank, which must be here. kNotFound: it is not.
Status VerifyImage(const Opened& opened, std::uint32_t rank);
// Does so with the plan alone.
Status VerifyPlan(const Opened& opened);

// Does so as far as it can be done from here: images that lie in the directories of several hosts
// are not looked at, because there may be others in place of a damaged one.
Result<Opened> OpenWhole(int directory, Epoch epoch);
// Opens the newest generation that is whole in any of these directories; one that is in two of them
// is that of the first. Each newer one that is not whole is named in `damaged`, with the reason.
// kNotFound: there is none.
Result<Opened> OpenNewest(const std::vector<int>& directories, std::vector<std::string>* damaged);

// Deletes all but the newest `count` generations that are whole, and damaged ones that are older
// than those. A newer damaged one stays to be looked at, and those before `since` are another
// job's.
Status KeepNewest(int directory, std::size_t count, Epoch since);

}  // namespace lamina::checkpoint
