// SPDX-License-Identifier: BSD-3-Clause
// Choice buffers of module mpi_f08: TYPE(*), DIMENSION(..) arrives as a descriptor of ISO C interop
// (Fortran 2018, section 18.5), so an array section may be passed as it is, with gaps in it.
//
// Three ways to hand a section with gaps to C, which wants an address:
//   Section   copies it to memory without gaps and back: for blocking calls; Keep() delays the way
//             back until a Fortran call completes the request: for nonblocking collectives
//   Spread    describes (section, count, datatype) by a derived datatype: for the other nonblocking
//             calls and for one-sided ones. A datatype that has gaps itself is beyond it; then it
//             copies where there is a request to Keep() for, and refuses where there is none
//   Whole     refuses: for what is neither (persistent collectives, partitions, windows)
// A buffer without gaps costs a few comparisons in any of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>

// The leading part of CFI_cdesc_t that gfortran and flang agree on.
struct ChoiceBuffer {
  void* address;
  std::size_t element_bytes;
  int version;
  signed char rank;
  unsigned char unused[3];
  struct Dimension {
    std::ptrdiff_t lower_bound, extent, stride_bytes;
  } dimension[15];
};

namespace lamina::fortran {

bool HasGaps(const ChoiceBuffer& buffer);

enum class Access { kRead, kReadWrite };

class Section {
 public:
  Section(const ChoiceBuffer* buffer, Access access);
  void* address() const { return address_; }
  // The way back is taken when `request` is done.
  void Keep(MPI_Request request);

 private:
  struct Copy;
  void* address_;
  std::shared_ptr<Copy> copy_;
};

// Lets `object` live until a call sees `request` become MPI_REQUEST_NULL.
void KeepUntil(MPI_Request request, std::shared_ptr<void> object);

// Looks at requests before and after a call, and lets go what was kept for those that are done.
// What was kept for a request that is freed stays for ever: the operation may still be on its way.
enum class Ending { kDone, kFreed };
class Landing {
 public:
  Landing(const MPI_Request* requests, long long count, Ending ending = Ending::kDone);
  ~Landing();

 private:
  const MPI_Request* requests_;
  long long count_ = 0;
  Ending ending_;
  std::unique_ptr<MPI_Request[]> before_;
};

class Spread {
 public:
  Spread(const ChoiceBuffer* buffer, long long count, MPI_Datatype datatype,
         std::optional<Access> copied = std::nullopt);
  Spread(const Spread&) = delete;
  ~Spread();
  void Keep(MPI_Request request);
  bool good() const { return good_; }
  void* address() const { return address_; }
  int count() const { return static_cast<int>(count_); }
  MPI_Count count_c() const { return count_; }
  MPI_Datatype datatype() const { return datatype_; }

 private:
  bool good_ = true;
  bool made_ = false;
  std::optional<Section> copy_;
  void* address_;
  long long count_;
  MPI_Datatype datatype_;
};

class Whole {
 public:
  explicit Whole(const ChoiceBuffer* buffer);
  bool good() const { return good_; }
  void* address() const { return address_; }

 private:
  bool good_;
  void* address_;
};

// Raises MPI_ERR_BUFFER for a section that could not be passed.
int Refuse(MPI_Comm comm);

}  // namespace lamina::fortran
