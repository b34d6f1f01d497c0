// SPDX-License-Identifier: BSD-3-Clause
// A Manifest says what a generation holds: whose it is, what is needed to bring it back, and every
// file with its length and checksum. It is written last, so a generation with a whole manifest is
// complete. The folder's README gives the format; everything here is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint {

struct Manifest {
  struct Node {
    std::uint32_t number = 0;
    std::string name;
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Rank {
    std::uint32_t rank = 0;
    std::optional<std::int32_t> ended;  // with this exit status; it is not revived
    std::uint32_t node = 0;
    std::int64_t process = 0;
    std::vector<std::string> links;  // what its standard streams and the agent's pipes were
    friend bool operator==(const Rank&, const Rank&) = default;
  };
  struct Part {
    std::uint32_t rank = 0;
    std::string name;  // of a file in the folder of `rank`
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };

  // How far the job had come in a regular file that it writes or reads: everything behind comes
  // again.
  struct Stream {
    std::string name;  // "1" is the launcher's standard output, "0:3" is what rank 3 reads, else a
                       // path
    std::uint64_t bytes = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Stream&, const Stream&) = default;
  };

  Epoch epoch{};
  Epoch after{};  // the generation that the job came from; 0: none
  Epoch since{};  // the job's first; older ones are another job's. 0: not known
  std::string job;
  std::uint32_t user = 0;
  std::int64_t taken_s = 0;  // since 1970, UTC
  std::string engine;
  std::string engine_version;
  std::string kernel;
  std::string machine;
  std::uint64_t plan_bytes = 0;
  std::uint32_t plan_checksum = 0;
  std::uint32_t round = 0;         // of those by which the job was brought to rest; 0: by none
  std::uint32_t last_process = 0;  // the process id that was given out last; 0: not known
  bool apart = false;  // each host has the images of its ranks in a directory of its own
  std::vector<Stream> streams;
  std::vector<Node> nodes;
  std::vector<Rank> ranks;
  std::vector<Part> parts;
  friend bool operator==(const Manifest&, const Manifest&) = default;

  // Returns the bytes of all parts and of the plan.
  std::uint64_t Bytes() const;
};

std::string Encode(const Manifest& manifest);

// kUnsupported: another format, whose number is named. kInvalid: damaged or cut off; the message
// says where. Lines that begin with an unknown word are passed over.
Result<Manifest> ParseManifest(std::string_view text);

// Returns a time as "2026-11-27T09:41:07Z".
std::string TimeText(std::int64_t seconds);

}  // namespace lamina::checkpoint
