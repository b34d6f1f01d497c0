// SPDX-License-Identifier: BSD-3-Clause
// A CheckpointEngine is one way to save processes of this node and to bring them back, from
// outside.
//
// It knows nothing of peers: when it is called, every channel of the job is at rest already. It
// knows nothing of generations either: it fills a folder that somebody else makes valid.
//
// Ownership: an Errand may outlive its engine's caller, but not the engine.
// Threads:   one. Nothing here blocks, but for the making of an engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/component.h"

namespace lamina::checkpoint {

struct EngineCaps {
  bool whole_process = false;      // any program, unchanged, with all processes below it
  bool needs_bare = false;         // nothing may be open that an image cannot hold
  bool keeps_process_ids = false;  // what is revived has the process ids that it was saved with
  bool leaves_stopped = false;     // what was saved stands still, so that it says nothing more
};

// What is saved or revived: the process at the root of a rank's tree.
struct Subject {
  std::uint32_t rank = 0;
  std::int64_t process = 0;  // its number in its own pid namespace
  // What its standard streams and the agent's pipes are, as /proc/PID/fd tells; "": not told.
  std::vector<std::string> links;
};

// A save or a revival that is under way. Its destructor gives it up.
class Errand {
 public:
  virtual ~Errand() = default;
  // Readable when Outcome() may have something. The errand owns it.
  virtual int ReadyFd() const = 0;
  // Returns nothing while it is under way. An error quotes the engine; a subject that could not be
  // saved goes on unharmed, and of one that could not be revived nothing is left.
  virtual std::optional<Status> Outcome() = 0;
  // The child of this process that has been revived, as this process knows it; 0: none.
  virtual std::int64_t revived() const = 0;
};

class CheckpointEngine {
 public:
  virtual ~CheckpointEngine() = default;
  virtual EngineCaps caps() const = 0;
  // Returns the version of what does the work, for the manifest.
  virtual std::string version() const = 0;
  // Returns what cannot be saved, a sentence for each cause. Reads /proc only.
  virtual std::vector<std::string> Examine(const Subject& subject) = 0;
  // Saves below the directory `folder`, which the errand does not need once this has returned.
  // Where caps().leaves_stopped, the subject's processes are stopped afterwards, if they could be
  // saved, until they get SIGCONT; else it runs on. Nothing is written through to the disk.
  virtual Result<std::unique_ptr<Errand>> Save(const Subject& subject, int folder) = 0;
  // Returns why what was saved in these folders, each of one subject, cannot be revived together;
  // "" if it can. It is asked where all of them can be read, and reads only.
  virtual std::string Torn(std::span<const int> folders) const = 0;
  // Returns why what was saved in `folder` cannot be revived on this machine as it is now, a
  // sentence for each cause. Reads only.
  virtual std::vector<std::string> Misfits(int folder) const = 0;
  // Revives what was saved in `folder` as a child of this process. descriptors[i] takes the place
  // of what links[i] of the subject names.
  virtual Result<std::unique_ptr<Errand>> Revive(const Subject& subject, int folder,
                                                 std::span<const int> descriptors) = 0;
};

// What an engine component may look at.
struct EngineContext {
  const Environment& environment;
  const param::Settings& settings;
};

using EngineRegistry = component::Registry<CheckpointEngine, EngineContext>;
using EngineComponent = component::Component<CheckpointEngine, EngineContext>;

}  // namespace lamina::checkpoint
