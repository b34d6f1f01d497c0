// SPDX-License-Identifier: BSD-3-Clause
// How ranks find each other: identity, cards, and the way out.
//
// A Bootstrap is the rank's side of whatever started it: our launcher, srun --mpi=pmix or any other
// PMIx or PMI-2 server, or nobody (a singleton). It is used to publish this rank's card, to fetch
// the cards of peers when they are first needed, and to abort. It never acts as a barrier after
// initialisation (see MPI_Finalize for why).
//
// Threads: one at a time.
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
  bool apart = false;  // in another pid namespace than the launcher, as a container: the others of
                       // the node are probably out of sight
};

// A group of ranks that whoever started the job gave a name.
struct ProcessSet {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual const Identity& identity() const = 0;
  // Makes `card` visible to all ranks of the job. Once per process, before any Card().
  virtual Status Publish(std::span<const std::byte> card) = 0;
  // The card of `rank`, waiting until it has been published. kTimeout after kCardTimeoutS;
  // kPeerLost when that rank is known to be gone.
  virtual Result<std::vector<std::byte>> Card(std::uint32_t rank) = 0;
  // The number of the node `rank` runs on, counted within the job. Known from the start, nobody is
  // asked. kUnsupported: whatever started the job does not say.
  virtual Result<std::uint32_t> Node(std::uint32_t rank) = 0;
  // The named process sets of the job that the server knows; none if it knows no such thing. Asked
  // for once, remembered afterwards.
  virtual const std::vector<ProcessSet>& ProcessSets() = 0;
  // Ends the whole job with exit status `code`. Returns only if that could not be asked for.
  virtual void Abort(int code, const char* why) = 0;
  // Leaves. The launcher no longer counts an exit of this process as premature.
  virtual Status Leave() = 0;
  // After Leave: takes part again, as who it was.
  virtual Status Return() = 0;
};

// The bootstrap of the environment this process was started in; null (with ok) for a singleton: no
// launcher is there. An error when a launcher is there and cannot be used: a rank that silently
// became a singleton would be worse (peers.md 12).
Result<std::unique_ptr<Bootstrap>> Find(const Environment& environment);

// The card: who I am and one opaque address per transport. Format in README.md of this folder.
struct Card {
  std::string version;     // of the library; major.minor must agree across the job
  std::string components;  // from outside the library, which must agree too; mostly none
  std::string settings;    // by which algorithms are chosen; must agree likewise
  std::vector<std::pair<std::string, std::vector<std::byte>>> addresses;  // transport -> address
};
std::vector<std::byte> Encode(const Card& card);
// kInvalid names what is wrong: cut short, bad magic, other major version.
Result<Card> Decode(std::span<const std::byte> bytes);

}  // namespace lamina::bootstrap
