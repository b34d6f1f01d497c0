// SPDX-License-Identifier: BSD-3-Clause
// This turns Fortran's arguments into C's and back. INTEGER is an int, LOGICAL is an INTEGER that
// is 0 or 1, and a status has the same layout in both languages (MPI-5.0, section 19.3.5), so those
// pass as they are.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// Functions that Fortran calls have this linkage; their names are in lower case with an underscore
// behind.
#define FORTRAN extern "C" __attribute__((visibility("default"))) void
#define FORTRAN_FUNCTION extern "C" __attribute__((visibility("default")))
#define ALIAS(name, original) \
  extern "C" __typeof(original) name __attribute__((visibility("default"), alias(#original)))

// These constants of Fortran are addresses (MPI-5.0, section 2.5.4). mpif.h has them in common
// blocks, the modules as variables. A program may hold the storage itself, so they are compared
// through the dynamic linker.
#pragma GCC visibility push(default)
extern "C" {
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
extern MPI_Fint mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
extern MPI_Fint mpi_fortran_errcodes_ignore_;
extern MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
extern MPI_Fint mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
extern MPI_F08_status mpi_f08_status_ignore_, mpi_f08_statuses_ignore_;
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
}
#pragma GCC visibility pop

namespace lamina::fortran {

// Stores the error code where the caller wants it; in mpi_f08 the argument is optional.
inline void Return(MPI_Fint* ierror, int error) {
  if (ierror != nullptr) *ierror = error;
}

inline void* Buffer(void* buffer) {
  if (buffer == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (buffer == &mpi_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return buffer;
}

inline MPI_Status* Status(void* status) {
  const bool ignored = status == &mpi_fortran_status_ignore_ ||
                       status == &mpi_fortran_statuses_ignore_ ||
                       status == &mpi_f08_status_ignore_ || status == &mpi_f08_statuses_ignore_;
  return ignored ? MPI_STATUS_IGNORE : static_cast<MPI_Status*>(status);
}

inline int* Weights(MPI_Fint* weights) {
  if (weights == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (weights == &mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return weights;
}

inline int* ErrorCodes(MPI_Fint* codes) {
  return codes == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

// True if the call set its results, although some of the requests it is about may have failed.
inline bool Completed(int error) { return error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS; }

// Fortran counts from 1; MPI_UNDEFINED stays.
inline void CountFromOne(MPI_Fint* indices, int count) {
  for (int i = 0; i < count; ++i)
    if (indices[i] >= 0) ++indices[i];
}
// `index` is MPI_UNDEFINED unless the call has set it, which it also does for a request that
// failed.
inline void TellIndex(int error, int index, MPI_Fint* told) {
  if (error == MPI_SUCCESS || index != MPI_UNDEFINED) *told = index >= 0 ? index + 1 : index;
}

// Returns the length of a string argument for C, which has room for a null character; 0 only asks.
inline int RoomInC(MPI_Fint length) { return length > 0 ? length + 1 : 0; }
inline MPI_Fint RoomInFortran(int length) { return length > 0 ? length - 1 : 0; }

inline MPI_Comm FromInt(MPI_Comm*, int number) { return PMPI_Comm_fromint(number); }
inline MPI_Datatype FromInt(MPI_Datatype*, int number) { return PMPI_Type_fromint(number); }
inline MPI_Info FromInt(MPI_Info*, int number) { return PMPI_Info_fromint(number); }
inline MPI_Request FromInt(MPI_Request*, int number) { return PMPI_Request_fromint(number); }
inline int ToInt(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
inline int ToInt(MPI_Request handle) { return PMPI_Request_toint(handle); }

// This is an array of handles. Short ones need no allocation.
template <class Handle>
class Handles {
 public:
  // Makes room for `count` handles that C will write.
  explicit Handles(long long count) : count_(std::max(count, 0LL)) {
    if (count_ > kInside) outside_.reset(new Handle[count_]());
  }
  Handles(const MPI_Fint* numbers, long long count) : Handles(count) {
    for (long long i = 0; i < count_; ++i) data()[i] = FromInt(data(), numbers[i]);
  }
  Handle* data() { return outside_ ? outside_.get() : inside_; }
  // Stores those that C has set.
  void Store(MPI_Fint* numbers) {
    for (long long i = 0; i < count_; ++i)
      if (data()[i] != Handle{}) numbers[i] = ToInt(data()[i]);
  }

 private:
  static constexpr long long kInside = 16;
  long long count_;
  Handle inside_[kInside] = {};
  std::unique_ptr<Handle[]> outside_;
};

// Returns how many processes exchange data in a collective on `comm`; in a neighbourhood
// collective, how many are sent to and received from. Returns 0 if `comm` is none; the call itself
// will report that.
long long Processes(MPI_Comm comm);
long long Destinations(MPI_Comm comm);
long long Sources(MPI_Comm comm);

// This is a CHARACTER argument that C reads: without the blanks behind it, and for info keys and
// values (MPI-5.0, chapter 10) without those in front.
class Text {
 public:
  Text(const char* characters, std::size_t length);
  Text& TrimFront();
  const char* data() const { return text_.c_str(); }

 private:
  std::string text_;
};

// This is a CHARACTER argument that C writes: padded with blanks, cut if it is too short.
class Room {
 public:
  explicit Room(long long characters)
      : text_(static_cast<std::size_t>(std::max(characters, 0LL)) + 1, '\0') {}
  char* data() { return text_.data(); }
  void Store(char* characters, std::size_t length) const;

 private:
  std::string text_;
};

// This turns arrays of CHARACTER into C's null-terminated arrays of strings.
class Texts {
 public:
  // Takes `count` strings, or with count < 0 all up to the first blank one; they are `stride`
  // characters apart.
  Texts(const char* characters, std::size_t length, long long count, std::size_t stride);
  char** data() { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// These are the arguments of `count` commands: a table whose first index is the command.
class TextTable {
 public:
  TextTable(const char* characters, std::size_t length, int count);
  char*** data() { return pointers_.data(); }

 private:
  std::vector<Texts> rows_;
  std::vector<char**> pointers_;
};

// True for MPI_ARGV_NULL and MPI_ARGVS_NULL.
inline bool IsNull(const char* arguments) {
  return arguments == &mpi_fortran_argv_null_ || arguments == &mpi_fortran_argvs_null_;
}

// True where the arguments of MPI_Comm_spawn are significant.
bool AtRoot(MPI_Comm comm, int root);

// Tells the library about this Fortran (MPI-5.0, section 21.4.1), before it is initialised.
void Describe();

}  // namespace lamina::fortran
