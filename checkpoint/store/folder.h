// SPDX-License-Identifier: BSD-3-Clause
// Folders and files below a directory of checkpoints, opened so that nobody else can have put
// anything in their place.
//
// What is revived from a checkpoint is a program, so it must be ours: each folder and file belongs
// to the effective user, nobody else may write it, and a file has one name. Owner, mode and bytes
// are taken from the same descriptor, and no symbolic link is followed below the directory. Errors
// begin with the name as it was given here; the caller adds where that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint {

// Opens the directory of checkpoints at `path`, which may be a symbolic link. kNotFound: it is not
// there. kDenied: it belongs to somebody else, or others may write it.
Result<Descriptor> OpenStore(const std::string& path);
// Does the same after making it, with mode 0700, if it is not there; its parent must be.
Result<Descriptor> MakeStore(const std::string& path);

// Opens a folder in `directory`; errors as above.
Result<Descriptor> OpenFolder(int directory, const std::string& name);
// Makes a folder with mode 0700 and opens it. kExists: the name is taken.
Result<Descriptor> MakeFolder(int directory, const std::string& name);
// Removes a folder and all that is in it; links are removed, not followed.
Status RemoveFolder(int directory, const std::string& name);

// Opens a file in `directory` for reading; errors as above. kInvalid: it is no regular file, or has
// several names.
Result<Descriptor> OpenFile(int directory, const std::string& name);
Result<std::uint64_t> BytesOf(const Descriptor& file);
// Returns the whole file. kTruncated: it has more than `bytes_max` bytes.
Result<std::string> ReadFile(int directory, const std::string& name, std::uint64_t bytes_max);
// Makes a file with mode 0600 and writes it through to the disk. kResource: the disk is full.
Status WriteFile(int directory, const std::string& name, std::string_view bytes);

// Copies every file of folder `from` into folder `to`, and writes it through to the disk.
Status CopyFiles(int from, int to);

// Returns the names in `directory`, sorted.
Result<std::vector<std::string>> NamesIn(int directory);

// Writes what the kernel has of a file or folder through to the disk.
Status Sync(int file, const std::string& name);

// True if `name` names a file in a folder and is no way out of it.
bool IsPlainName(std::string_view name);

// What is lost by an error of the operating system when something is opened or written.
Code CodeOfDisk(int error);

}  // namespace lamina::checkpoint
