// SPDX-License-Identifier: BSD-3-Clause
// Process ids that belong to one job (a pid namespace), so that what was saved gets the ids back
// that it had, whatever else runs on the host.
//
// Its first process, the keeper, is forked here. It reaps what is orphaned, sees to it that the
// space ends with this process, and keeps descriptors open that processes of the space find as
// /proc/1/fd/N. It also mounts a folder in memory, for memory that processes share by its name.
// Whoever is born in the space sees its process ids in /proc, and is still a child of this process,
// which knows it by a process id of its own.
//
// Threads: the one that has made it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// Tells ranks the folder in memory that processes of their space find
// (runtime/rma/named_memory.cc).
inline constexpr char kWindowFolderVariable[] = "LAMINA_WINDOW_FOLDER";

class ProcessSpace {
 public:
  // `kept` are descriptors of this process. kUnsupported: the system does not allow it.
  static Result<std::unique_ptr<ProcessSpace>> Make(std::span<const int> kept);
  ~ProcessSpace() { End(); }
  ProcessSpace(const ProcessSpace&) = delete;
  ProcessSpace& operator=(const ProcessSpace&) = delete;

  // While it lives, children of this thread are born in the space, and its paths lead where theirs
  // do; /proc does not know this process then. No thread may be started meanwhile.
  class Inside {
   public:
    explicit Inside(const ProcessSpace* space);  // null: stays outside
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    const Status& status() const { return status_; }

   private:
    const ProcessSpace* const space_;
    Status status_;
  };

  // A folder in memory that processes of the space find there, and that ends with it.
  static constexpr const char* kMemoryFolder = "/proc/irq";
  int memory_folder() const { return memory_.value(); }
  // The number by which processes tell their pid namespace.
  std::uint32_t number() const { return number_; }
  // The process id that was given out last, and after which the next one comes.
  Result<std::uint32_t> LastId();
  Status SetLastId(std::uint32_t id);
  // Returns processes of the space whose parents have ended, as this process knows them.
  std::vector<pid_t> Orphans() const;
  // Stops every process of the space but the keeper, and continues those that are stopped.
  Status Stop();
  Status Continue();
  // Kills whatever lives in the space, and reaps all children of this process that have ended.
  void End();

 private:
  ProcessSpace() = default;
  Status Fork(std::span<const int> kept);
  Status Open();
  Status Enter() const;
  Status Return() const;
  Result<std::uint32_t> Hear();
  Result<std::uint32_t> Ask(std::uint32_t kind, std::uint32_t number);

  pid_t keeper_ = -1;
  std::uint32_t number_ = 0;
  Descriptor line_;  // to the keeper, which ends when it closes
  Descriptor own_processes_, own_mounts_;
  Descriptor processes_, mounts_, memory_;
  std::string directory_;  // the one this process is in
};

}  // namespace lamina::launcher
