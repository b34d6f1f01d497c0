// SPDX-License-Identifier: BSD-3-Clause
// These are the data accesses of files (MPI-5.0, section 14.4). Each family of functions is one
// macro, and what differs between its members is a word or two.
#include "runtime/api/file_arguments.h"

namespace core = lamina::core;
namespace io = lamina::io;
using lamina::Call;
using lamina::api::Entry;
using lamina::api::FindBuffer;
using lamina::api::Give;

namespace {

// What a function is beside its arguments.
struct Form {
  bool writes;
  bool collective;
  io::Pointer pointer;
};
constexpr bool kReads = false, kWrites = true, kAlone = false, kTogether = true;
constexpr io::Pointer kExplicit = io::Pointer::kExplicit;
constexpr io::Pointer kIndividual = io::Pointer::kIndividual;
constexpr io::Pointer kShared = io::Pointer::kShared;

// The arguments that all forms share.
struct Data {
  MPI_Offset offset;
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

io::Failure MakeRequest(const Form& form, const Data& data, io::Request* request) {
  *request = {form.writes, form.collective, form.pointer, data.offset, {}};
  return FindBuffer(const_cast<void*>(data.address), data.count, data.type, &request->memory);
}

int Run(const Entry& entry, MPI_File fh, const Form& form, const Data& data, MPI_Status* status) {
  FIND_FILE(file, fh);
  io::Request request;
  io::Failure mine = MakeRequest(form, data, &request);
  return Give(entry, file, io::Perform(file, request, std::move(mine), status));
}

int Start(const Entry& entry, MPI_File fh, const Form& form, const Data& data,
          MPI_Request* handle) {
  FIND_FILE(file, fh);
  io::Request request;
  io::Failure mine = MakeRequest(form, data, &request);
  if (mine.ok()) mine = lamina::api::CheckOutput("request", handle);
  core::Request* started = nullptr;
  const io::Failure failure = io::Start(file, request, std::move(mine), &started);
  if (failure.ok()) *handle = core::ToHandle<MPI_Request>(started);
  return Give(entry, file, failure);
}

int Begin(const Entry& entry, MPI_File fh, const Form& form, const Data& data,
          const char* end_call) {
  FIND_FILE(file, fh);
  io::Request request;
  io::Failure mine = MakeRequest(form, data, &request);
  return Give(entry, file, io::BeginSplit(file, request, end_call, std::move(mine)));
}

int End(const Entry& entry, MPI_File fh, const void* buf, MPI_Status* status) {
  FIND_FILE(file, fh);
  return Give(entry, file, io::EndSplit(file, entry.name(), buf, status));
}

}  // namespace

// clang-format off
#define AT(Void, Count) MPI_File fh, MPI_Offset offset, Void* buf, Count count, MPI_Datatype datatype
#define HERE(Void, Count) MPI_File fh, Void* buf, Count count, MPI_Datatype datatype
// clang-format on

// `Void` is the type of the buffer, `Parameters` is AT or HERE, and `offset` is 0 with HERE.
#define BLOCKING_WITH(name, Parameters, Void, Count, offset, ...)                         \
  int P##name(Parameters(Void, Count), MPI_Status* status) {                              \
    Entry entry(Call::name);                                                              \
    return Run(entry, fh, Form{__VA_ARGS__}, Data{offset, buf, count, datatype}, status); \
  }
#define BLOCKING(name, Parameters, Void, offset, ...)             \
  BLOCKING_WITH(name, Parameters, Void, int, offset, __VA_ARGS__) \
  BLOCKING_WITH(name##_c, Parameters, Void, MPI_Count, offset, __VA_ARGS__)

#define NONBLOCKING_WITH(name, Parameters, Void, Count, offset, ...)                         \
  int P##name(Parameters(Void, Count), MPI_Request* request) {                               \
    Entry entry(Call::name);                                                                 \
    return Start(entry, fh, Form{__VA_ARGS__}, Data{offset, buf, count, datatype}, request); \
  }
#define NONBLOCKING(name, Parameters, Void, offset, ...)             \
  NONBLOCKING_WITH(name, Parameters, Void, int, offset, __VA_ARGS__) \
  NONBLOCKING_WITH(name##_c, Parameters, Void, MPI_Count, offset, __VA_ARGS__)

#define BEGIN_WITH(begin, end, Parameters, Void, Count, offset, ...)               \
  int P##begin(Parameters(Void, Count)) {                                          \
    Entry entry(Call::begin);                                                      \
    return Begin(entry, fh, Form{__VA_ARGS__}, Data{offset, buf, count, datatype}, \
                 lamina::NameOf(Call::end));                                       \
  }
#define SPLIT(begin, end, Parameters, Void, offset, ...)                       \
  BEGIN_WITH(begin, end, Parameters, Void, int, offset, __VA_ARGS__)           \
  BEGIN_WITH(begin##_c, end, Parameters, Void, MPI_Count, offset, __VA_ARGS__) \
  int P##end(MPI_File fh, Void* buf, MPI_Status* status) {                     \
    Entry entry(Call::end);                                                    \
    return End(entry, fh, buf, status);                                        \
  }

// These take an explicit offset.
BLOCKING(MPI_File_read_at, AT, void, offset, kReads, kAlone, kExplicit)
PROFILED(MPI_File_read_at);
PROFILED(MPI_File_read_at_c);
BLOCKING(MPI_File_write_at, AT, const void, offset, kWrites, kAlone, kExplicit)
PROFILED(MPI_File_write_at);
PROFILED(MPI_File_write_at_c);
BLOCKING(MPI_File_read_at_all, AT, void, offset, kReads, kTogether, kExplicit)
PROFILED(MPI_File_read_at_all);
PROFILED(MPI_File_read_at_all_c);
BLOCKING(MPI_File_write_at_all, AT, const void, offset, kWrites, kTogether, kExplicit)
PROFILED(MPI_File_write_at_all);
PROFILED(MPI_File_write_at_all_c);

// These do the same without blocking.
NONBLOCKING(MPI_File_iread_at, AT, void, offset, kReads, kAlone, kExplicit)
PROFILED(MPI_File_iread_at);
PROFILED(MPI_File_iread_at_c);
NONBLOCKING(MPI_File_iwrite_at, AT, const void, offset, kWrites, kAlone, kExplicit)
PROFILED(MPI_File_iwrite_at);
PROFILED(MPI_File_iwrite_at_c);
NONBLOCKING(MPI_File_iread_at_all, AT, void, offset, kReads, kTogether, kExplicit)
PROFILED(MPI_File_iread_at_all);
PROFILED(MPI_File_iread_at_all_c);
NONBLOCKING(MPI_File_iwrite_at_all, AT, const void, offset, kWrites, kTogether, kExplicit)
PROFILED(MPI_File_iwrite_at_all);
PROFILED(MPI_File_iwrite_at_all_c);

// These use the individual file pointer.
BLOCKING(MPI_File_read, HERE, void, 0, kReads, kAlone, kIndividual)
PROFILED(MPI_File_read);
PROFILED(MPI_File_read_c);
BLOCKING(MPI_File_write, HERE, const void, 0, kWrites, kAlone, kIndividual)
PROFILED(MPI_File_write);
PROFILED(MPI_File_write_c);
BLOCKING(MPI_File_read_all, HERE, void, 0, kReads, kTogether, kIndividual)
PROFILED(MPI_File_read_all);
PROFILED(MPI_File_read_all_c);
BLOCKING(MPI_File_write_all, HERE, const void, 0, kWrites, kTogether, kIndividual)
PROFILED(MPI_File_write_all);
PROFILED(MPI_File_write_all_c);

// These do the same without blocking.
NONBLOCKING(MPI_File_iread, HERE, void, 0, kReads, kAlone, kIndividual)
PROFILED(MPI_File_iread);
PROFILED(MPI_File_iread_c);
NONBLOCKING(MPI_File_iwrite, HERE, const void, 0, kWrites, kAlone, kIndividual)
PROFILED(MPI_File_iwrite);
PROFILED(MPI_File_iwrite_c);
NONBLOCKING(MPI_File_iread_all, HERE, void, 0, kReads, kTogether, kIndividual)
PROFILED(MPI_File_iread_all);
PROFILED(MPI_File_iread_all_c);
NONBLOCKING(MPI_File_iwrite_all, HERE, const void, 0, kWrites, kTogether, kIndividual)
PROFILED(MPI_File_iwrite_all);
PROFILED(MPI_File_iwrite_all_c);

// These use the shared file pointer.
BLOCKING(MPI_File_read_shared, HERE, void, 0, kReads, kAlone, kShared)
PROFILED(MPI_File_read_shared);
PROFILED(MPI_File_read_shared_c);
BLOCKING(MPI_File_write_shared, HERE, const void, 0, kWrites, kAlone, kShared)
PROFILED(MPI_File_write_shared);
PROFILED(MPI_File_write_shared_c);
BLOCKING(MPI_File_read_ordered, HERE, void, 0, kReads, kTogether, kShared)
PROFILED(MPI_File_read_ordered);
PROFILED(MPI_File_read_ordered_c);
BLOCKING(MPI_File_write_ordered, HERE, const void, 0, kWrites, kTogether, kShared)
PROFILED(MPI_File_write_ordered);
PROFILED(MPI_File_write_ordered_c);

// These do the same without blocking.
NONBLOCKING(MPI_File_iread_shared, HERE, void, 0, kReads, kAlone, kShared)
PROFILED(MPI_File_iread_shared);
PROFILED(MPI_File_iread_shared_c);
NONBLOCKING(MPI_File_iwrite_shared, HERE, const void, 0, kWrites, kAlone, kShared)
PROFILED(MPI_File_iwrite_shared);
PROFILED(MPI_File_iwrite_shared_c);

// These are split collective accesses.
SPLIT(MPI_File_read_at_all_begin, MPI_File_read_at_all_end, AT, void, offset, kReads, kTogether,
      kExplicit)
PROFILED(MPI_File_read_at_all_begin);
PROFILED(MPI_File_read_at_all_begin_c);
PROFILED(MPI_File_read_at_all_end);
SPLIT(MPI_File_write_at_all_begin, MPI_File_write_at_all_end, AT, const void, offset, kWrites,
      kTogether, kExplicit)
PROFILED(MPI_File_write_at_all_begin);
PROFILED(MPI_File_write_at_all_begin_c);
PROFILED(MPI_File_write_at_all_end);
SPLIT(MPI_File_read_all_begin, MPI_File_read_all_end, HERE, void, 0, kReads, kTogether, kIndividual)
PROFILED(MPI_File_read_all_begin);
PROFILED(MPI_File_read_all_begin_c);
PROFILED(MPI_File_read_all_end);
SPLIT(MPI_File_write_all_begin, MPI_File_write_all_end, HERE, const void, 0, kWrites, kTogether,
      kIndividual)
PROFILED(MPI_File_write_all_begin);
PROFILED(MPI_File_write_all_begin_c);
PROFILED(MPI_File_write_all_end);
SPLIT(MPI_File_read_ordered_begin, MPI_File_read_ordered_end, HERE, void, 0, kReads, kTogether,
      kShared)
PROFILED(MPI_File_read_ordered_begin);
PROFILED(MPI_File_read_ordered_begin_c);
PROFILED(MPI_File_read_ordered_end);
SPLIT(MPI_File_write_ordered_begin, MPI_File_write_ordered_end, HERE, const void, 0, kWrites,
      kTogether, kShared)
PROFILED(MPI_File_write_ordered_begin);
PROFILED(MPI_File_write_ordered_begin_c);
PROFILED(MPI_File_write_ordered_end);
