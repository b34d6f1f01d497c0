// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/collective_arguments.h"

#include <algorithm>
#include <utility>

#include "collectives/exec/exec.h"
#include "runtime/api/message_arguments.h"
#include "runtime/core/topology.h"
#include "runtime/trace/profile.h"

namespace lamina::api {

using collective::Operation;
using datatype::Datatype;
using Counts = std::span<const std::int64_t>;

Counts Widened::From(const int* values, std::size_t size) {
  if (size <= few_.size()) {
    std::copy_n(values, size, few_.begin());
    return {few_.data(), size};
  }
  many_.assign(values, values + size);
  return many_;
}

CollectiveArguments::CollectiveArguments(const Entry& entry, Operation operation, MPI_Comm comm)
    : entry_(entry) {
  it_.operation = operation;
  it_.comm = core::FindComm(comm);
  if (it_.comm == nullptr) [[unlikely]] {
    error_ = BadComm(entry, comm);
  } else if (it_.comm->is_inter()) [[unlikely]] {
    if (collective::Neighbourly(operation) || operation == Operation::kScan ||
        operation == Operation::kExscan)
      Fail(MPI_ERR_COMM, "comm", "is an intercommunicator, on which this operation is not defined");
  } else if (collective::Neighbourly(operation) && it_.comm->topology == nullptr) [[unlikely]] {
    Fail(MPI_ERR_TOPOLOGY, "comm", "has no topology, so no process has neighbours");
  }
}

void CollectiveArguments::Fail(int error_class, const char* argument, const char* what) {
  error_ = core::Raise(it_.comm, error_class, entry_.name(), "%s %s", argument, what);
}

void CollectiveArguments::Root(int root) {
  if (error_ != MPI_SUCCESS) return;
  it_.root = root;
  if (!it_.comm->is_inter()) [[likely]] {
    if (static_cast<unsigned>(root) < static_cast<unsigned>(it_.comm->size)) [[likely]]
      return;
    error_ = core::Raise(it_.comm, MPI_ERR_ROOT, entry_.name(), "root is %d, must be 0..%d", root,
                         it_.comm->size - 1);
  } else if (root == MPI_ROOT) {
    it_.root = it_.comm->rank;
  } else if (root == MPI_PROC_NULL) {
    it_.root = collective::kNobody;
  } else if (root >= 0 && root < it_.comm->destinations) {
    it_.root = it_.comm->size + root;
  } else {
    error_ = core::Raise(it_.comm, MPI_ERR_ROOT, entry_.name(),
                         "root is %d, must be 0..%d, MPI_ROOT or MPI_PROC_NULL", root,
                         it_.comm->destinations - 1);
  }
}

const Datatype* CollectiveArguments::FindType(MPI_Datatype datatype, const char* argument) {
  const Datatype* type = datatype::FindDatatype(datatype);
  if (error_ != MPI_SUCCESS) return type;
  if (type == nullptr) [[unlikely]]
    Fail(MPI_ERR_TYPE, argument, "is MPI_DATATYPE_NULL, has been freed, or is not a datatype");
  else if (!type->committed) [[unlikely]]
    Fail(MPI_ERR_TYPE, argument, "is not committed; call MPI_Type_commit first");
  return type;
}

void CollectiveArguments::CheckCount(MPI_Count count, const char* argument) {
  if (count >= 0 || error_ != MPI_SUCCESS) [[likely]]
    return;
  error_ = core::Raise(it_.comm, MPI_ERR_COUNT, entry_.name(), "%s is %lld, must not be negative",
                       argument, static_cast<long long>(count));
}

void CollectiveArguments::CheckCounts(Counts counts, const char* argument) {
  if (error_ != MPI_SUCCESS || !Checking()) return;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] >= 0) continue;
    error_ =
        core::Raise(it_.comm, MPI_ERR_COUNT, entry_.name(), "%s[%zu] is %lld, must not be negative",
                    argument, rank, static_cast<long long>(counts[rank]));
    return;
  }
}

void CollectiveArguments::CheckBuffer(const void* buffer, const Datatype* type, bool empty,
                                      const char* argument) {
  if (error_ != MPI_SUCCESS) return;
  if (buffer == MPI_IN_PLACE) [[unlikely]]
    return Fail(MPI_ERR_BUFFER, argument, "is MPI_IN_PLACE, which is not allowed here");
  // A derived type may hold absolute addresses, with MPI_BOTTOM as the buffer.
  if (buffer == nullptr && !empty && type->predefined) [[unlikely]]
    Fail(MPI_ERR_BUFFER, argument, "is null, but its count is not 0");
}

void CollectiveArguments::Buffer(void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (error_ != MPI_SUCCESS || it_.root == collective::kNobody) return;
  it_.output = buffer;
  it_.output_count = count;
  it_.output_type = FindType(datatype, "datatype");
  CheckCount(count, "count");
  CheckBuffer(buffer, it_.output_type, count == 0, "buffer");
}

namespace {

bool Gathers(Operation operation) {
  return operation == Operation::kGather || operation == Operation::kGatherv ||
         operation == Operation::kReduce;
}

}  // namespace

std::size_t CollectiveArguments::BlockCount(Side side) const {
  const core::Comm& comm = *it_.comm;
  if (!collective::Neighbourly(it_.operation)) return static_cast<std::size_t>(comm.destinations);
  return side == Side::kSend ? core::DestinationsOf(*comm.topology, comm.rank)
                             : core::SourcesOf(*comm.topology, comm.rank);
}

// The root has the side with all blocks or the result, everybody else the other one. In an
// intracommunicator the root has both, because it is one of the others as well.
bool CollectiveArguments::Significant(Side side) const {
  if (!collective::Rooted(it_.operation)) return true;
  if (it_.root == collective::kNobody) return false;
  const bool roots = Gathers(it_.operation) == (side == Side::kReceive);
  return AtRoot() == roots || (AtRoot() && !it_.comm->is_inter());
}

bool CollectiveArguments::Looks(Side side, const void* buffer) {
  if (error_ != MPI_SUCCESS || !Significant(side)) return false;
  if (buffer != MPI_IN_PLACE) [[likely]]
    return true;
  const bool rooted = collective::Rooted(it_.operation);
  const bool allowed = side == Side::kSend ? !rooted || (Gathers(it_.operation) && AtRoot())
                                           : rooted && !Gathers(it_.operation) && AtRoot();
  if (!allowed || it_.comm->is_inter() || collective::Neighbourly(it_.operation)) return true;
  it_.in_place = true;
  return false;
}

// A side without neighbours may have no buffer.
bool CollectiveArguments::IsEmpty(Side side, const void* buffer, MPI_Count count) const {
  return count == 0 || (buffer == nullptr && BlockCount(side) == 0);
}

void CollectiveArguments::Send(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!Looks(Side::kSend, buffer)) return;
  it_.input = buffer;
  it_.input_count = count;
  it_.input_type = FindType(datatype, "sendtype");
  CheckCount(count, "sendcount");
  CheckBuffer(buffer, it_.input_type, IsEmpty(Side::kSend, buffer, count), "sendbuf");
  CheckApart();
  CheckOwnBlock();
}

void CollectiveArguments::Receive(void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!Looks(Side::kReceive, buffer)) return;
  it_.output = buffer;
  it_.output_count = count;
  it_.output_type = FindType(datatype, "recvtype");
  CheckCount(count, "recvcount");
  CheckBuffer(buffer, it_.output_type, IsEmpty(Side::kReceive, buffer, count), "recvbuf");
  CheckApart();
  CheckOwnBlock();
}

// Both sides must not begin at one address (MPI-5.0, section 6.1). Derived types are not checked,
// because they may lie in each other's gaps.
void CollectiveArguments::CheckApart() {
  if (it_.input != it_.output || it_.input == nullptr) [[likely]]
    return;
  if (error_ == MPI_SUCCESS && Checking() && it_.input_count > 0 && it_.output_count > 0 &&
      BlockCount(Side::kSend) > 0 && BlockCount(Side::kReceive) > 0 && it_.input_type->predefined &&
      it_.output_type->predefined)
    Fail(MPI_ERR_BUFFER, "sendbuf",
         "is the same address as recvbuf; pass MPI_IN_PLACE to use one buffer");
}

// A rank's block for itself must be equally long on both sides (MPI-5.0, section 6.1); an algorithm
// that relies on one of the lengths would otherwise go beyond the other.
void CollectiveArguments::CheckOwnBlock() {
  if (it_.input_type == nullptr || it_.output_type == nullptr || error_ != MPI_SUCCESS) return;
  if (it_.comm->is_inter() || collective::Neighbourly(it_.operation) || !Checking()) return;
  if (it_.operation != Operation::kGather && it_.operation != Operation::kScatter &&
      it_.operation != Operation::kAllgather && it_.operation != Operation::kAlltoall)
    return;
  const std::int64_t sent = it_.input_count * it_.input_type->size;
  const std::int64_t received = it_.output_count * it_.output_type->size;
  if (sent == received) [[likely]]
    return;
  error_ =
      core::Raise(it_.comm, MPI_ERR_TRUNCATE, entry_.name(),
                  "sendcount of sendtype is %lld bytes, but recvcount of recvtype is %lld; the "
                  "data for one rank must be equally long on both sides",
                  static_cast<long long>(sent), static_cast<long long>(received));
}

namespace {

bool AllZero(Counts counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; });
}

}  // namespace

void BlockArguments::Keep(Side side, const void* buffer, Counts counts, Counts displacements) {
  if (side == Side::kSend) {
    it_.input = buffer;
    it_.input_counts = counts;
    it_.input_displacements = displacements;
  } else {
    it_.output = const_cast<void*>(buffer);
    it_.output_counts = counts;
    it_.output_displacements = displacements;
  }
}

// A displacement may be the address, with MPI_BOTTOM as the buffer.
template <class TypeOf>
void BlockArguments::CheckBlocks(Side side, const void* buffer, Counts counts, Counts displacements,
                                 TypeOf type_of) {
  const char* const argument = side == Side::kSend ? "sendbuf" : "recvbuf";
  if (buffer == MPI_IN_PLACE) CheckBuffer(buffer, nullptr, true, argument);
  for (std::size_t i = 0; buffer == nullptr && i < counts.size(); ++i)
    CheckBuffer(buffer, type_of(i), counts[i] == 0 || displacements[i] != 0, argument);
}

void BlockArguments::Take(Side side, const void* buffer, Counts counts, Counts displacements,
                          MPI_Datatype datatype) {
  const bool sends = side == Side::kSend;
  const Datatype* type = FindType(datatype, sends ? "sendtype" : "recvtype");
  CheckCounts(counts, sends ? "sendcounts" : "recvcounts");
  if (error_ != MPI_SUCCESS) return;
  CheckBlocks(side, buffer, counts, displacements, [type](std::size_t) { return type; });
  Keep(side, buffer, counts, displacements);
  (sends ? it_.input_type : it_.output_type) = type;
}

void BlockArguments::Take(Side side, const void* buffer, Counts counts, Counts displacements,
                          const MPI_Datatype* datatypes) {
  const bool sends = side == Side::kSend;
  if (Missing(datatypes, counts.size(), sends ? "sendtypes" : "recvtypes")) return;
  std::vector<const Datatype*>& types = sends ? send_types_ : receive_types_;
  for (std::size_t i = 0; i < counts.size(); ++i)
    types.push_back(
        FindType(datatypes[i], sends ? "an entry of sendtypes" : "an entry of recvtypes"));
  CheckCounts(counts, sends ? "sendcounts" : "recvcounts");
  if (error_ != MPI_SUCCESS) return;
  CheckBlocks(side, buffer, counts, displacements, [&](std::size_t i) { return types[i]; });
  Keep(side, buffer, counts, displacements);
  (sends ? it_.input_types : it_.output_types) = types;
}

void CollectiveArguments::FindOperation(MPI_Op op, MPI_Datatype datatype) {
  it_.output_type = FindType(datatype, "datatype");
  it_.op = datatype::FindOp(op);
  if (error_ != MPI_SUCCESS) return;
  if (it_.op == nullptr) [[unlikely]]
    return Fail(MPI_ERR_OP, "op", "is MPI_OP_NULL, has been freed, or is not an operation");
  if (!datatype::Fits(*it_.op, *it_.output_type)) [[unlikely]]
    error_ = core::Raise(
        it_.comm, MPI_ERR_OP, entry_.name(), "op %s cannot be used with %s", it_.op->name,
        it_.output_type->predefined ? it_.output_type->predefined_name : "a derived datatype");
}

void CollectiveArguments::ReductionBuffers(const void* send, void* receive, bool empty) {
  if (error_ != MPI_SUCCESS) return;
  const bool receives = Significant(Side::kReceive);
  it_.in_place = send == MPI_IN_PLACE && receives && !it_.comm->is_inter();
  if (!it_.in_place && Significant(Side::kSend)) {
    it_.input = send;
    CheckBuffer(send, it_.output_type, empty, "sendbuf");
  }
  if (!receives) return;
  it_.output = receive;
  // The first rank of an exscan has no result.
  if (it_.operation == Operation::kExscan && it_.comm->rank == 0 && !it_.in_place) return;
  CheckBuffer(receive, it_.output_type, empty, "recvbuf");
  if (error_ == MPI_SUCCESS && send == receive && !empty && send != nullptr &&
      Significant(Side::kSend)) [[unlikely]]
    Fail(MPI_ERR_BUFFER, "sendbuf",
         "is the same address as recvbuf; pass MPI_IN_PLACE to reduce in place");
}

void CollectiveArguments::Reduction(const void* send, void* receive, MPI_Count count,
                                    MPI_Datatype datatype, MPI_Op op) {
  if (error_ != MPI_SUCCESS || it_.root == collective::kNobody) return;
  it_.input_count = it_.output_count = count;
  FindOperation(op, datatype);
  CheckCount(count, it_.operation == Operation::kReduceScatterBlock ? "recvcount" : "count");
  ReductionBuffers(send, receive, count == 0);
}

void BlockArguments::Scattered(const void* send, void* receive, Counts counts,
                               MPI_Datatype datatype, MPI_Op op) {
  it_.output_counts = counts;
  FindOperation(op, datatype);
  CheckCounts(counts, "recvcounts");
  if (error_ != MPI_SUCCESS) return;
  // The receive buffer may be null where this rank's own count is 0.
  const bool nothing = (send == nullptr || send == receive) && AllZero(counts);
  const bool receives_nothing = counts[static_cast<std::size_t>(it_.comm->rank)] == 0;
  ReductionBuffers(send, receive, nothing || (receive == nullptr && receives_nothing));
}

namespace {

// True if `side` has a block for each process it deals with, and a count for one of them.
bool HasManyBlocks(Operation operation, Side side) {
  switch (operation) {
    case Operation::kAlltoall:
    case Operation::kNeighborAlltoall:
      return true;
    case Operation::kGather:
    case Operation::kAllgather:
    case Operation::kNeighborAllgather:
      return side == Side::kReceive;
    case Operation::kScatter:
    case Operation::kReduceScatterBlock:
      return side == Side::kSend;
    default:
      return false;
  }
}

}  // namespace

std::uint64_t CollectiveArguments::BytesOf(Side side) const {
  const bool given = side == Side::kSend;
  // A broadcast and a reduction have one count and one datatype for both sides.
  const bool shared = collective::Reduces(it_.operation) || it_.operation == Operation::kBcast;
  if (!Significant(side) || (shared && it_.operation == Operation::kBcast && AtRoot() != given))
    return 0;
  const Counts counts = given && !shared ? it_.input_counts : it_.output_counts;
  const auto types = given ? it_.input_types : it_.output_types;
  const Datatype* const type = given && !shared ? it_.input_type : it_.output_type;
  const auto size_of = [&](std::size_t block) {
    const Datatype* const its = block < types.size() ? types[block] : type;
    return its != nullptr ? its->size : 0;
  };
  std::int64_t bytes = 0;
  for (std::size_t block = 0; block < counts.size(); ++block)
    bytes += counts[block] * size_of(block);
  if (counts.empty())
    bytes = (given && !shared ? it_.input_count : it_.output_count) * size_of(0) *
            (HasManyBlocks(it_.operation, side) ? static_cast<std::int64_t>(BlockCount(side)) : 1);
  return static_cast<std::uint64_t>(bytes);
}

// The profile is told what the program gives and gets, because how that travels depends on the
// algorithm.
void CollectiveArguments::NoteBytes() const {
  const core::Comm& comm = *it_.comm;
  trace::NoteCollective({Index(comm.context), static_cast<std::uint64_t>(comm.destinations),
                         comm.name, BytesOf(Side::kSend), BytesOf(Side::kReceive)});
}

template <class Carry>
int CollectiveArguments::RunCounted(const Carry& carry) const {
  NoteBytes();
  const std::uint64_t before = collective::Searches(*it_.comm);
  const int error = carry(it_);
  trace::NoteAlgorithm(collective::CarriedOutBy(*it_.comm, before));
  return error;
}

int CollectiveArguments::Run() {
  if (error_ != MPI_SUCCESS) [[unlikely]]
    return error_;
  const int error = trace::profile == nullptr ? collective::Run(it_) : RunCounted(collective::Run);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return RaiseCollective(entry_.name(), it_.comm, error);
}

// Where errors end the job, they do so in the middle of a collective.
int CollectiveArguments::RunUnraised() {
  if (error_ != MPI_SUCCESS) return error_;
  core::Errhandler* const handler =
      std::exchange(it_.comm->errhandler, core::FindErrhandler(MPI_ERRORS_RETURN));
  const int error = collective::Run(it_);
  it_.comm->errhandler = handler;
  return error;
}

int CollectiveArguments::Make(int (*make)(const collective::Invocation&, core::Request**),
                              MPI_Request* request) {
  if (error_ == MPI_SUCCESS && request == nullptr)
    Fail(MPI_ERR_ARG, "request", "is a null pointer");
  if (error_ != MPI_SUCCESS) return error_;
  core::Request* made = nullptr;
  const auto make_it = [&](const collective::Invocation& it) { return make(it, &made); };
  const int error = trace::profile == nullptr ? make_it(it_) : RunCounted(make_it);
  if (error != MPI_SUCCESS) return RaiseCollective(entry_.name(), it_.comm, error);
  if (trace::profile != nullptr) [[unlikely]]
    trace::NoteCollectiveRequest(made);
  *request = core::ToHandle<MPI_Request>(made);
  return MPI_SUCCESS;
}

int CollectiveArguments::Start(MPI_Request* request) { return Make(collective::Start, request); }

int CollectiveArguments::Init(MPI_Info info, MPI_Request* request) {
  if (error_ == MPI_SUCCESS && info != MPI_INFO_NULL && core::FindInfo(info) == nullptr)
    Fail(MPI_ERR_INFO, "info", "has been freed or is not an info object");
  return Make(collective::Init, request);
}

}  // namespace lamina::api
