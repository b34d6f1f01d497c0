// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap is how ranks find each other: identity, cards, and the way out.
//
// A Bootstrap is the rank's side of whatever started it: our launcher, srun --mpi=pmix or any other
// PMIx or PMI-2 server, or nobody (a singleton). It publishes this rank's card, fetches the cards
// of peers when they are first needed, and aborts. It never acts as a barrier after initialisation
// (see MPI_Finalize for why).
//
// Threads: One thread may use it at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::bootstrap {

inline constexpr int kCardTimeoutS = 60;

struct Identity {
  std::string job = "singleton";  // PMIx namespace
  std::uint32_t rank = 0;         // in the job
  std::uint32_t job_ranks = 1;
  std::uint32_t universe_ranks = 1;              // what MPI_UNIVERSE_SIZE says
  std::uint32_t app = 0;                         // MPI_APPNUM; index of the MPMD part
  std::uint32_t local_rank = 0;                  // among the job's ranks on this node
  std::vector<std::uint32_t> local_peers = {0};  // ranks on this node, ascending, self included
  std::string node;                              // host name as the launcher knows it
  // True in another pid namespace than the launcher's, as in a container: other processes of the
  // node are then probably out of sight.
  bool apart = false;
};

// This is a group of ranks to which whoever started the job gave a name.
struct ProcessSet {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual const Identity& identity() const = 0;
  // Makes `card` visible to all ranks of the job. It is called once per process, before any Card().
  virtual Status Publish(std::span<const std::byte> card) = 0;
  // Returns the card of `rank` and waits until it has been published. The error is kTimeout after
  // kCardTimeoutS and kPeerLost when that rank is known to be gone.
  virtual Result<std::vector<std::byte>> Card(std::uint32_t rank) = 0;
  // Returns the number of the node `rank` runs on, counted within the job. It is known from the
  // start, without asking the server. The error is kUnsupported if whatever started the job does
  // not tell.
  virtual Result<std::uint32_t> Node(std::uint32_t rank) = 0;
  // Returns the job's named process sets that the server knows, if any. The server is asked once.
  virtual const std::vector<ProcessSet>& ProcessSets() = 0;
  // Ends the whole job with exit status `code`. Returns only if that could not be asked for.
  virtual void Abort(int code, const char* why) = 0;
  // Leaves the job. The launcher no longer counts an exit of this process as premature.
  virtual Status Leave() = 0;
  // Takes part again after Leave, as the same rank. If the environment has changed since, it may be
  // in a job of another name. All ranks that do so after the same checkpoint give its number as
  // `epoch`, and find each other's new cards by that; it is 0 otherwise.
  virtual Status Return(std::uint32_t epoch) = 0;
};

// Returns the bootstrap of the environment this process was started in. It is null (with ok) if no
// launcher is there and the process is a singleton. It is an error if a launcher is there and
// cannot be used, because a rank that silently became a singleton would be worse. The error of a
// task other than the first has no text where the first one's says it for all.
Result<std::unique_ptr<Bootstrap>> Find(const Environment& environment);

// A card says who a rank is and has one opaque address per transport. README.md of this folder has
// its format.
struct Card {
  std::string version;     // of the library; major.minor must agree across the job
  std::string components;  // from outside the library, which must agree too; mostly none
  std::string settings;    // chosen settings of collectives; must agree likewise
  std::vector<std::pair<std::string, std::vector<std::byte>>> addresses;  // transport -> address
};
std::vector<std::byte> Encode(const Card& card);
// The error kInvalid names what is wrong: cut short, bad magic, or another major version.
Result<Card> Decode(std::span<const std::byte> bytes);

}  // namespace lamina::bootstrap
