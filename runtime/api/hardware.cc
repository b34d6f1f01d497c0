// SPDX-License-Identifier: BSD-3-Clause
// This splits by hardware (MPI-5.0, sections 7.4.2 and 9.1.2, "Hardware Resource Information").
#include "runtime/bootstrap/hardware.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/api/hints.h"
#include "runtime/api/process_sets.h"
#include "runtime/base/place.h"
#include "runtime/p2p/other_jobs.h"

using lamina::Call;
using lamina::PeerId;
using lamina::api::Entry;
using lamina::bootstrap::HardwarePlace;
using lamina::bootstrap::kHardwareTypes;
using lamina::bootstrap::PlaceOfThisProcess;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::Info;

namespace core = lamina::core;
namespace p2p = lamina::p2p;

namespace {

constexpr char kResourceKey[] = "mpi_hw_resource_type";
constexpr char kSetKey[] = "mpi_pset_name";
constexpr char kSharedMemory[] = "mpi_shared_memory";
constexpr int kNone = -1;
constexpr int kLevels = static_cast<int>(kHardwareTypes.size()) + 1;
// Level 0 is the node; level n is kHardwareTypes[n - 1].
const char* NameOfLevel(int level) {
  return level == 0 ? kSharedMemory : kHardwareTypes[static_cast<std::size_t>(level) - 1];
}

// A row is what one process tells the others: its node, and its place there by type.
struct Row {
  int node = kNone;
  int job = kNone;
  HardwarePlace place;
  bool IsAt(int level) const { return level == 0 || Index(level) >= 0; }
  // Jobs share no memory of windows, even on one node.
  int Index(int level) const {
    return level == 0 ? job : place[static_cast<std::size_t>(level) - 1];
  }
  bool Shares(int level, const Row& other) const {
    return other.IsAt(level) && Instance(level) == other.Instance(level);
  }
  std::pair<int, int> Instance(int level) const { return {node, Index(level)}; }
};
constexpr int kRowInts = sizeof(Row) / sizeof(int);

// Jobs number nodes each in its own way, so where several meet, machines have numbers of their own.
bool SpansJobs(const Comm& comm) {
  const auto is_other = [](PeerId peer) { return p2p::IsOfOtherJob(peer); };
  return std::any_of(comm.peers, comm.peers + comm.destinations, is_other) ||
         std::any_of(comm.group->peers.begin(), comm.group->peers.end(), is_other);
}

Row OwnRow(const Comm& comm, bool with_hardware) {
  Row row;
  row.node = SpansJobs(comm) ? static_cast<int>(lamina::PlaceNumber() & INT32_MAX)
                             : static_cast<int>(core::process->identity.local_peers.front());
  row.job = static_cast<int>(p2p::OwnJobHash() & INT32_MAX);
  row.place.fill(kNone);
  if (with_hardware) row.place = PlaceOfThisProcess();
  return row;
}

// Returns the number of this process's instance among those of all rows in order, which is alike in
// both groups of an intercommunicator, or MPI_UNDEFINED if this process is restricted to none.
int ColorAt(const std::vector<Row>& rows, const Row& own, int level) {
  if (!own.IsAt(level)) return MPI_UNDEFINED;
  std::set<std::pair<int, int>> before;
  for (const Row& row : rows)
    if (row.IsAt(level) && row.Instance(level) < own.Instance(level))
      before.insert(row.Instance(level));
  return static_cast<int>(before.size());
}

// Fills in the rows of all processes, those of the other group of an intercommunicator last.
int GatherRows(const Comm& comm, const Row& own, std::vector<Row>* rows) {
  const Comm& group = comm.is_inter() ? *comm.local : comm;
  const auto here = static_cast<std::size_t>(group.size);
  const auto there = comm.is_inter() ? static_cast<std::size_t>(comm.destinations) : 0;
  rows->resize(here + there);
  int error =
      PMPI_Allgather(&own, kRowInts, MPI_INT, rows->data(), kRowInts, MPI_INT, group.handle);
  if (error == MPI_SUCCESS && comm.is_inter())
    error = PMPI_Allgather(&own, kRowInts, MPI_INT, rows->data() + here, kRowInts, MPI_INT,
                           comm.handle);
  return error;
}

// Returns the widest level at which this communicator falls apart, or kNone if it cannot be split
// further.
int LevelBelow(const std::vector<Row>& rows) {
  for (int level = 0; level < kLevels; ++level) {
    const auto somewhere =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.IsAt(level); });
    if (somewhere == rows.end()) continue;
    const bool together = std::all_of(
        rows.begin(), rows.end(), [&](const Row& row) { return somewhere->Shares(level, row); });
    if (!together) return level;
  }
  return kNone;
}

int LevelNamed(const std::string* name) {
  if (name == nullptr) return kNone;
  for (int level = 0; level < kLevels; ++level)
    if (*name == NameOfLevel(level)) return level;
  return kNone;
}

bool IsKnown(int split_type) {
  return split_type == MPI_COMM_TYPE_SHARED || split_type == MPI_COMM_TYPE_HW_GUIDED ||
         split_type == MPI_COMM_TYPE_HW_UNGUIDED || split_type == MPI_COMM_TYPE_RESOURCE_GUIDED ||
         split_type == MPI_UNDEFINED;
}

// Returns a colour for members of the process set only. A set is its members and not its name,
// which means another set to each rank in mpi://SELF; of sets with one name, the lowest member
// tells them apart.
int ColorInSet(const std::string& name) {
  const std::vector<lamina::PeerId> peers = lamina::api::PeersInSet(name.c_str());
  const bool inside = std::find(peers.begin(), peers.end(), core::process->self) != peers.end();
  if (!inside) return MPI_UNDEFINED;
  return static_cast<int>(Index(*std::min_element(peers.begin(), peers.end())));
}

}  // namespace

// Every process tells its place, whatever it asks for, because a process with MPI_UNDEFINED cannot
// know what the others ask.
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_split_type);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  const Info* hints;
  if (!lamina::api::FindHints(info, &hints)) return BadInfo(entry, info, parent);
  REQUIRE_POINTER(parent, newcomm);
  REQUIRE(IsKnown(split_type), parent, MPI_ERR_ARG,
          "split_type is %d, which is none of the MPI_COMM_TYPE_ constants", split_type);

  const Row own = OwnRow(
      *parent, split_type != MPI_COMM_TYPE_SHARED && split_type != static_cast<int>(MPI_UNDEFINED));
  std::vector<Row> rows;
  int error = GatherRows(*parent, own, &rows);
  if (error != MPI_SUCCESS) return error;

  const std::string* resource = hints != nullptr ? hints->Find(kResourceKey) : nullptr;
  const std::string* set = hints != nullptr ? hints->Find(kSetKey) : nullptr;
  int level = kNone;
  int color = MPI_UNDEFINED;
  if (split_type == MPI_COMM_TYPE_SHARED) level = 0;
  if (split_type == MPI_COMM_TYPE_HW_GUIDED) level = LevelNamed(resource);
  if (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED && set == nullptr) level = LevelNamed(resource);
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED) level = LevelBelow(rows);
  if (level != kNone) color = ColorAt(rows, own, level);
  if (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED && set != nullptr) color = ColorInSet(*set);
  error = PMPI_Comm_split(comm, color, key, newcomm);
  if (error != MPI_SUCCESS) return error;
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && color != static_cast<int>(MPI_UNDEFINED) &&
      hints != nullptr && info != MPI_INFO_ENV)
    core::FindInfo(info)->Set(kResourceKey, NameOfLevel(level));
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_split_type);

// Tells by type of resource whether this process is restricted to one instance of it.
int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
  Entry entry(Call::MPI_Get_hw_resource_info);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, hw_info);
  const HardwarePlace& place = PlaceOfThisProcess();
  Info* made = new Info;
  made->Set(kSharedMemory, "true");
  for (std::size_t type = 0; type < kHardwareTypes.size(); ++type)
    made->Set(kHardwareTypes[type], place[type] >= 0 ? "true" : "false");
  *hw_info = core::ToHandle<MPI_Info>(made);
  return MPI_SUCCESS;
}
PROFILED(MPI_Get_hw_resource_info);
