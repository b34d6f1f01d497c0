// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/collective_arguments.h"

#include <algorithm>

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
    Fail(MPI_ERR_COMM, "comm",
         "is an intercommunicator; collectives on those are not written yet in this version");
  }
}

void CollectiveArguments::Fail(int error_class, const char* argument, const char* what) {
  error_ = core::Raise(it_.comm, error_class, entry_.name(), "%s %s", argument, what);
}

void CollectiveArguments::Root(int root) {
  if (error_ != MPI_SUCCESS) return;
  it_.root = root;
  if (static_cast<unsigned>(root) < static_cast<unsigned>(it_.comm->size)) [[likely]]
    return;
  error_ = core::Raise(it_.comm, MPI_ERR_ROOT, entry_.name(), "root is %d, must be 0..%d", root,
                       it_.comm->size - 1);
}

const Datatype* CollectiveArguments::FindType(MPI_Datatype datatype, const char* argument) {
  const Datatype* type = datatype::FindDatatype(datatype);
  if (error_ != MPI_SUCCESS) return type;
  if (type == nullptr) [[unlikely]]
    Fail(MPI_ERR_TYPE, argument, "is MPI_DATATYPE_NULL, freed, or no datatype");
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
  if (error_ != MPI_SUCCESS) return;
  it_.output = buffer;
  it_.output_count = count;
  it_.output_type = FindType(datatype, "datatype");
  CheckCount(count, "count");
  CheckBuffer(buffer, it_.output_type, count == 0, "buffer");
}

bool CollectiveArguments::Looks(Side side, const void* buffer) {
  if (error_ != MPI_SUCCESS) return false;
  const Operation operation = it_.operation;
  const bool gathers = operation == Operation::kGather || operation == Operation::kGatherv;
  const bool scatters = operation == Operation::kScatter || operation == Operation::kScatterv;
  const bool everywhere = !gathers && !scatters;
  const bool significant = everywhere || AtRoot() || scatters == (side == Side::kReceive);
  if (!significant) return false;
  const bool allowed =
      side == Side::kReceive ? scatters && AtRoot() : everywhere || (gathers && AtRoot());
  if (buffer != MPI_IN_PLACE || !allowed) return true;
  it_.in_place = true;
  return false;
}

void CollectiveArguments::Send(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!Looks(Side::kSend, buffer)) return;
  it_.input = buffer;
  it_.input_count = count;
  it_.input_type = FindType(datatype, "sendtype");
  CheckCount(count, "sendcount");
  CheckBuffer(buffer, it_.input_type, count == 0, "sendbuf");
}

void CollectiveArguments::Receive(void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!Looks(Side::kReceive, buffer)) return;
  it_.output = buffer;
  it_.output_count = count;
  it_.output_type = FindType(datatype, "recvtype");
  CheckCount(count, "recvcount");
  CheckBuffer(buffer, it_.output_type, count == 0, "recvbuf");
}

namespace {

bool AllZero(Counts counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; });
}

}  // namespace

void BlockArguments::Blocks(Side side, const void* buffer, Counts counts, Counts displacements,
                            MPI_Datatype datatype) {
  const bool sends = side == Side::kSend;
  const Datatype* type = FindType(datatype, sends ? "sendtype" : "recvtype");
  CheckCounts(counts, sends ? "sendcounts" : "recvcounts");
  if (error_ != MPI_SUCCESS) return;
  CheckBuffer(buffer, type, buffer != nullptr || AllZero(counts), sends ? "sendbuf" : "recvbuf");
  if (sends) {
    it_.input = buffer;
    it_.input_type = type;
    it_.input_counts = counts;
    it_.input_displacements = displacements;
  } else {
    it_.output = const_cast<void*>(buffer);
    it_.output_type = type;
    it_.output_counts = counts;
    it_.output_displacements = displacements;
  }
}

void BlockArguments::Typed(Side side, const void* buffer, Counts counts, Counts displacements,
                           const MPI_Datatype* datatypes) {
  const bool sends = side == Side::kSend;
  std::vector<const Datatype*>& types = sends ? send_types_ : receive_types_;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    types.push_back(
        FindType(datatypes[rank], sends ? "an entry of sendtypes" : "an entry of recvtypes"));
  CheckCounts(counts, sends ? "sendcounts" : "recvcounts");
  if (error_ != MPI_SUCCESS) return;
  CheckBuffer(buffer, types[0], buffer != nullptr || AllZero(counts),
              sends ? "sendbuf" : "recvbuf");
  if (sends) {
    it_.input = buffer;
    it_.input_types = types;
    it_.input_counts = counts;
    it_.input_displacements = displacements;
  } else {
    it_.output = const_cast<void*>(buffer);
    it_.output_types = types;
    it_.output_counts = counts;
    it_.output_displacements = displacements;
  }
}

void CollectiveArguments::FindOperation(MPI_Op op, MPI_Datatype datatype) {
  it_.output_type = FindType(datatype, "datatype");
  it_.op = datatype::FindOp(op);
  if (error_ != MPI_SUCCESS) return;
  if (it_.op == nullptr) [[unlikely]]
    return Fail(MPI_ERR_OP, "op", "is MPI_OP_NULL, freed, or no operation");
  if (!datatype::Fits(*it_.op, *it_.output_type)) [[unlikely]]
    error_ = core::Raise(
        it_.comm, MPI_ERR_OP, entry_.name(), "op %s cannot be used with datatype %s", it_.op->name,
        it_.output_type->predefined ? it_.output_type->predefined_name : "that is derived");
}

void CollectiveArguments::ReductionBuffers(const void* send, void* receive, bool empty) {
  if (error_ != MPI_SUCCESS) return;
  const bool rooted = it_.operation == Operation::kReduce;
  const bool receives = !rooted || AtRoot();
  it_.in_place = send == MPI_IN_PLACE && receives;
  if (!it_.in_place) {
    it_.input = send;
    CheckBuffer(send, it_.output_type, empty, "sendbuf");
  }
  if (!receives) return;
  it_.output = receive;
  CheckBuffer(receive, it_.output_type, empty, "recvbuf");
  if (error_ == MPI_SUCCESS && send == receive && !empty && send != nullptr) [[unlikely]]
    Fail(MPI_ERR_BUFFER, "sendbuf", "is recvbuf; give MPI_IN_PLACE to reduce in place");
}

void CollectiveArguments::Reduction(const void* send, void* receive, MPI_Count count,
                                    MPI_Datatype datatype, MPI_Op op) {
  if (error_ != MPI_SUCCESS) return;
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
  const bool nothing = send == nullptr && AllZero(counts);
  const bool receives_nothing = counts[static_cast<std::size_t>(it_.comm->rank)] == 0;
  ReductionBuffers(send, receive, nothing || (receive == nullptr && receives_nothing));
}

int CollectiveArguments::Failed(int error_class) {
  const char* why = core::ClassText(error_class);
  if (error_class == MPI_ERR_TRUNCATE)
    why = "a rank sent more than this one expects: counts or datatypes of the ranks do not agree";
  if (error_class == MPI_ERR_UNSUPPORTED_OPERATION) why = "no algorithm is there for this call";
  return core::Raise(it_.comm, error_class, entry_.name(), "%s", why);
}

int CollectiveArguments::Run() {
  if (error_ != MPI_SUCCESS) [[unlikely]]
    return error_;
  const int error = collective::Run(it_);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return Failed(error);
}

int CollectiveArguments::Start(MPI_Request* request) {
  if (error_ == MPI_SUCCESS && request == nullptr)
    Fail(MPI_ERR_ARG, "request", "is a null pointer");
  if (error_ != MPI_SUCCESS) return error_;
  core::Request* started = nullptr;
  const int error = collective::Start(it_, &started);
  if (error != MPI_SUCCESS) return Failed(error);
  *request = core::ToHandle<MPI_Request>(started);
  return MPI_SUCCESS;
}

}  // namespace lamina::api
