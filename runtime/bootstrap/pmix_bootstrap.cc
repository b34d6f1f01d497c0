// SPDX-License-Identifier: BSD-3-Clause
// This asks the server for little, because every server we met answers only this much reliably:
//   - identity comes from job-level keys, which are local to the client after PMIx_Init;
//   - the card is put and committed, and a peer's is fetched when first needed ("direct modex"):
//     without a fence initialisation does not grow with the job, and a fence over a subset hangs
//     under Slurm;
//   - nothing else: Slurm's server offers neither spawn, nor publish, nor events.
#include "runtime/bootstrap/pmix_bootstrap.h"

#include <dlfcn.h>
#include <link.h>
#include <pmix.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "runtime/base/text.h"

namespace lamina::bootstrap {
namespace {

constexpr char kCardKey[] = "lamina.card";
constexpr int kAskAgainMs = 2;

// These are the few functions we call, found at run time.
struct Library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) error_string;
  decltype(&PMIx_Query_info) query_info;  // these are null in libraries that cannot
  decltype(&PMIx_Resolve_nodes) resolve_nodes;
  decltype(&PMIx_Resolve_peers) resolve_peers;
};

template <class Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

// True if this program has a dynamic linker. In a program linked -static, dlopen brings a second C
// library, from which what it opened dies.
bool LinkedDynamically() {
  const auto of_program = [](dl_phdr_info* program, std::size_t, void*) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
      if (program->dlpi_phdr[i].p_type == PT_INTERP) return 1;
    return -1;  // the program comes first, and one look is enough
  };
  return dl_iterate_phdr(of_program, nullptr) == 1;
}

Result<Library> OpenLibrary() {
  if (!LinkedDynamically())
    return Error(
        Code::kUnsupported,
        "a PMIx launcher started this process, but it is linked -static as a whole and cannot "
        "open libpmix; link only MPI statically: mpicc -static-mpi");
  void* handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Error(Code::kNotFound,
                 "a PMIx launcher started this process, but its client library cannot be opened: "
                 "%s; install libpmix2 on this node",
                 dlerror());
  Library library;
  if (Find(handle, "PMIx_Init", &library.init) &&
      Find(handle, "PMIx_Finalize", &library.finalize) &&
      Find(handle, "PMIx_Abort", &library.abort) && Find(handle, "PMIx_Put", &library.put) &&
      Find(handle, "PMIx_Commit", &library.commit) && Find(handle, "PMIx_Get", &library.get) &&
      Find(handle, "PMIx_Error_string", &library.error_string)) {
    if (!Find(handle, "PMIx_Query_info", &library.query_info)) library.query_info = nullptr;
    if (!Find(handle, "PMIx_Resolve_nodes", &library.resolve_nodes))
      library.resolve_nodes = nullptr;
    if (!Find(handle, "PMIx_Resolve_peers", &library.resolve_peers))
      library.resolve_peers = nullptr;
    return library;
  }
  return Error(Code::kUnsupported, "libpmix.so.2 is too old: %s", dlerror());
}

// This is a value from PMIx_Get with its owner.
class Value {
 public:
  explicit Value(pmix_value_t* value) : value_(value) {}
  ~Value() {
    if (value_ == nullptr) return;
    if (value_->type == PMIX_STRING) std::free(value_->data.string);
    if (value_->type == PMIX_BYTE_OBJECT) std::free(value_->data.bo.bytes);
    std::free(value_);
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  const pmix_value_t& operator*() const { return *value_; }

 private:
  pmix_value_t* const value_;
};

// Servers disagree about the width of some numbers.
bool AsNumber(const pmix_value_t& value, std::uint32_t* number) {
  switch (value.type) {
    case PMIX_UINT32:
      *number = value.data.uint32;
      return true;
    case PMIX_PROC_RANK:
      *number = value.data.rank;
      return true;
    case PMIX_UINT16:
      *number = value.data.uint16;
      return true;
    case PMIX_UINT64:
      *number = static_cast<std::uint32_t>(value.data.uint64);
      return true;
    case PMIX_SIZE:
      *number = static_cast<std::uint32_t>(value.data.size);
      return true;
    case PMIX_INT:
      *number = static_cast<std::uint32_t>(value.data.integer);
      return true;
    case PMIX_INT32:
      *number = static_cast<std::uint32_t>(value.data.int32);
      return true;
    default:
      return false;
  }
}

class PmixBootstrap final : public Bootstrap {
 public:
  PmixBootstrap(const Library& library, const pmix_proc_t& self, std::uint32_t epoch)
      : library_(library), self_(self), epoch_(epoch) {}

  Status ReadIdentity() {
    identity_.job = self_.nspace;
    identity_.rank = self_.rank;
    if (!JobNumber(PMIX_JOB_SIZE, &identity_.job_ranks))
      return Error(Code::kUnsupported, "the PMIx server does not say how many ranks the job has");
    identity_.universe_ranks = identity_.job_ranks;
    JobNumber(PMIX_UNIV_SIZE, &identity_.universe_ranks);
    OwnNumber(PMIX_APPNUM, &identity_.app);
    identity_.local_peers.clear();
    const std::string local_peers = JobText(PMIX_LOCAL_PEERS);
    for (const std::string_view rank : Split(local_peers, ','))
      if (const auto number = ParseInteger(Trim(rank)))
        identity_.local_peers.push_back(static_cast<std::uint32_t>(*number));
    if (identity_.local_peers.empty()) identity_.local_peers = {identity_.rank};
    if (!OwnNumber(PMIX_LOCAL_RANK, &identity_.local_rank))
      for (std::uint32_t i = 0; i < identity_.local_peers.size(); ++i)
        if (identity_.local_peers[i] == identity_.rank) identity_.local_rank = i;
    identity_.node = OwnText(PMIX_HOSTNAME);
    if (identity_.node.empty()) {
      char name[256] = "";
      gethostname(name, sizeof name - 1);
      identity_.node = name;
    }
    return {};
  }

  const Identity& identity() const override { return identity_; }

  Status Publish(std::span<const std::byte> card) override {
    pmix_value_t value;
    std::memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    // PMIx_Put copies; its prototype merely forgot the const.
    value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(card.data()));
    value.data.bo.size = card.size();
    pmix_status_t status = library_.put(PMIX_GLOBAL, CardKey().c_str(), &value);
    if (status == PMIX_SUCCESS) status = library_.commit();
    if (status == PMIX_SUCCESS) return {};
    return Error(Code::kResource, "PMIx cannot publish this rank's card: %s",
                 library_.error_string(status));
  }

  Result<std::vector<std::byte>> Card(std::uint32_t rank) override {
    pmix_proc_t peer = self_;
    peer.rank = rank;
    pmix_info_t timeout;
    std::memset(&timeout, 0, sizeof timeout);
    std::strncpy(timeout.key, PMIX_TIMEOUT, sizeof timeout.key - 1);
    timeout.value.type = PMIX_INT;
    timeout.value.data.integer = kCardTimeoutS;
    const std::string key = CardKey();
    pmix_value_t* raw = nullptr;
    pmix_status_t status = library_.get(&peer, key.c_str(), &timeout, 1, &raw);
    // Slurm's server does not wait for a rank of this node that has not connected to it yet.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kCardTimeoutS);
    while (status == PMIX_ERR_NOT_FOUND && std::chrono::steady_clock::now() < limit) {
      poll(nullptr, 0, kAskAgainMs);
      status = library_.get(&peer, key.c_str(), &timeout, 1, &raw);
    }
    if (status != PMIX_SUCCESS)
      return Error(status == PMIX_ERR_TIMEOUT ? Code::kTimeout : Code::kPeerLost,
                   "PMIx has no card of rank %u: %s", rank, library_.error_string(status));
    const Value value(raw);
    if ((*value).type != PMIX_BYTE_OBJECT)
      return Error(Code::kInvalid, "the card of rank %u is not a byte object", rank);
    const std::byte* first = reinterpret_cast<const std::byte*>((*value).data.bo.bytes);
    return std::vector<std::byte>(first, first + (*value).data.bo.size);
  }

  // PMIX_NODEID would not do, because a client is told only those of its own node.
  Result<std::uint32_t> Node(std::uint32_t rank) override {
    if (!nodes_asked_) ListNodes();
    if (rank < nodes_.size()) return nodes_[rank];
    return Error(Code::kUnsupported, "the PMIx server does not say on which node rank %u is", rank);
  }

  // Servers without process sets answer at once that they do not support the question.
  const std::vector<ProcessSet>& ProcessSets() override {
    if (sets_asked_) return sets_;
    sets_asked_ = true;
    const std::string names = QuerySetNames();
    for (const std::string_view name : Split(names, ','))
      if (!Trim(name).empty())
        if (ProcessSet set = QuerySet(std::string(Trim(name))); !set.ranks.empty())
          sets_.push_back(std::move(set));
    return sets_;
  }

  void Abort(int code, const char* why) override { library_.abort(code, why, nullptr, 0); }

  Status Leave() override {
    const pmix_status_t status = library_.finalize(nullptr, 0);
    if (status == PMIX_SUCCESS) return {};
    return Error(Code::kResource, "PMIx_Finalize failed: %s", library_.error_string(status));
  }

  Status Return(std::uint32_t epoch) override {
    if (epoch != 0) epoch_ = epoch;
    pmix_proc_t self;
    const pmix_status_t status = library_.init(&self, nullptr, 0);
    if (status == PMIX_SUCCESS) return {};
    return Error(Code::kPeerLost, "the PMIx server does not let this process in again: %s",
                 library_.error_string(status));
  }

 private:
  // Servers keep old values, so the card that follows a checkpoint has another name.
  std::string CardKey() const { return epoch_ == 0 ? kCardKey : Format("%s.%u", kCardKey, epoch_); }
  pmix_value_t* Get(const pmix_proc_t& process, const char* key) const {
    pmix_info_t optional;  // job-level data is local: never ask the server
    std::memset(&optional, 0, sizeof optional);
    std::strncpy(optional.key, PMIX_OPTIONAL, sizeof optional.key - 1);
    optional.value.type = PMIX_BOOL;
    optional.value.data.flag = true;
    pmix_value_t* value = nullptr;
    return library_.get(&process, key, &optional, 1, &value) == PMIX_SUCCESS ? value : nullptr;
  }
  // Reads the maps of nodes and processes that every server gives with the job. It lists all ranks
  // or none.
  void ListNodes() {
    nodes_asked_ = true;
    if (library_.resolve_nodes == nullptr || library_.resolve_peers == nullptr) return;
    char* names = nullptr;
    if (library_.resolve_nodes(self_.nspace, &names) != PMIX_SUCCESS || names == nullptr) return;
    std::vector<std::uint32_t> nodes(identity_.job_ranks);
    std::uint32_t node = 0, placed = 0;
    for (const std::string_view name : Split(names, ',')) {
      pmix_proc_t* members = nullptr;
      std::size_t count = 0;
      const pmix_status_t found =
          library_.resolve_peers(std::string(name).c_str(), self_.nspace, &members, &count);
      if (found != PMIX_SUCCESS) count = 0;
      for (std::size_t i = 0; i < count; ++i)
        if (members[i].rank < nodes.size()) {
          nodes[members[i].rank] = node;
          ++placed;
        }
      std::free(members);
      ++node;
    }
    std::free(names);
    if (placed == nodes.size()) nodes_ = std::move(nodes);
  }

  bool Number(const pmix_proc_t& process, const char* key, std::uint32_t* number) const {
    pmix_value_t* raw = Get(process, key);
    if (raw == nullptr) return false;
    const Value value(raw);
    return AsNumber(*value, number);
  }
  std::string Text(const pmix_proc_t& process, const char* key) const {
    pmix_value_t* raw = Get(process, key);
    if (raw == nullptr) return {};
    const Value value(raw);
    return (*value).type == PMIX_STRING && (*value).data.string != nullptr ? (*value).data.string
                                                                           : "";
  }
  // Asks for one key, with a qualifier if `set` is not empty. Returns null if there is no answer.
  pmix_info_t* Query(const char* key, const std::string& set, std::size_t* count) const {
    *count = 0;
    if (library_.query_info == nullptr) return nullptr;
    char name[PMIX_MAX_KEYLEN + 1];
    std::strncpy(name, key, sizeof name - 1);
    name[sizeof name - 1] = '\0';
    char* keys[] = {name, nullptr};
    pmix_info_t qualifier;
    std::memset(&qualifier, 0, sizeof qualifier);
    std::strncpy(qualifier.key, PMIX_PSET_NAME, sizeof qualifier.key - 1);
    qualifier.value.type = PMIX_STRING;
    qualifier.value.data.string = const_cast<char*>(set.c_str());
    pmix_query_t query;
    std::memset(&query, 0, sizeof query);
    query.keys = keys;
    query.qualifiers = set.empty() ? nullptr : &qualifier;
    query.nqual = set.empty() ? 0 : 1;
    pmix_info_t* results = nullptr;
    if (library_.query_info(&query, 1, &results, count) == PMIX_SUCCESS) return results;
    *count = 0;
    return nullptr;
  }
  // The answers are few and asked for once, so they are never freed.
  std::string QuerySetNames() const {
    std::size_t count;
    const pmix_info_t* results = Query(PMIX_QUERY_PSET_NAMES, "", &count);
    for (std::size_t i = 0; i < count; ++i)
      if (results[i].value.type == PMIX_STRING && results[i].value.data.string != nullptr)
        return results[i].value.data.string;
    return {};
  }
  ProcessSet QuerySet(const std::string& name) const {
    ProcessSet set{name, {}};
    std::size_t count;
    const pmix_info_t* results = Query(PMIX_QUERY_PSET_MEMBERSHIP, name, &count);
    for (std::size_t i = 0; i < count; ++i) {
      const pmix_value_t& value = results[i].value;
      if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr ||
          value.data.darray->type != PMIX_PROC)
        continue;
      const auto* members = static_cast<const pmix_proc_t*>(value.data.darray->array);
      for (std::size_t member = 0; member < value.data.darray->size; ++member)
        if (std::strcmp(members[member].nspace, self_.nspace) == 0 &&
            members[member].rank < identity_.job_ranks)
          set.ranks.push_back(members[member].rank);
    }
    return set;
  }
  pmix_proc_t Everybody() const {
    pmix_proc_t all = self_;
    all.rank = PMIX_RANK_WILDCARD;
    return all;
  }
  bool JobNumber(const char* key, std::uint32_t* n) const { return Number(Everybody(), key, n); }
  bool OwnNumber(const char* key, std::uint32_t* n) const { return Number(self_, key, n); }
  std::string JobText(const char* key) const { return Text(Everybody(), key); }
  std::string OwnText(const char* key) const { return Text(self_, key); }

  const Library library_;
  pmix_proc_t self_;
  Identity identity_;
  std::uint32_t epoch_ = 0;
  bool sets_asked_ = false;
  std::vector<ProcessSet> sets_;
  bool nodes_asked_ = false;
  std::vector<std::uint32_t> nodes_;  // by rank; empty: unknown
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> ConnectPmix(const Environment&, std::uint32_t epoch) {
  Result<Library> library = OpenLibrary();
  if (!library.ok()) return std::move(library).status();
  pmix_proc_t self;
  const pmix_status_t status = library->init(&self, nullptr, 0);
  if (status != PMIX_SUCCESS)
    return Error(Code::kPeerLost, "the PMIx server that started this process does not answer: %s",
                 library->error_string(status));
  auto bootstrap = std::make_unique<PmixBootstrap>(*library, self, epoch);
  if (Status read = bootstrap->ReadIdentity(); !read.ok()) return read;
  return std::unique_ptr<Bootstrap>(std::move(bootstrap));
}

}  // namespace lamina::bootstrap
