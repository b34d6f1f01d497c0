// SPDX-License-Identifier: BSD-3-Clause
// In module mpi_f08 a choice buffer, TYPE(*), DIMENSION(..), arrives as a descriptor of ISO C
// interoperability (Fortran 2018, section 18.5), so an array section may be passed as it is, with
// gaps in it.
//
// C wants an address, and a section with gaps is handed to it in one of four ways:
//   Section     copies it to memory without gaps and back, for blocking calls. Keep() puts the copy
//               back off until a Fortran call completes the request. KeepRepeated() copies both
//               ways each time a persistent request is started and completed, for collectives.
//   Partitions  does the same for partitioned transfers, a partition at a time.
//   Spread      describes (section, count, datatype) by a derived datatype, for the other
//               nonblocking calls and for one-sided ones. It cannot describe a datatype that has
//               gaps itself: then it copies where there is a request to keep the copy for, and
//               refuses where there is none.
//   Whole       refuses, for what must be memory without gaps (windows, attached buffers).
// A buffer without gaps costs a few comparisons in any of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>

// This is the leading part of CFI_cdesc_t that gfortran and flang agree on.
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

// This is a copy of a section without gaps; see section.cc.
struct SectionCopy;

class Section {
 public:
  Section(const ChoiceBuffer* buffer, Access access);
  void* address() const { return address_; }
  // Copies back when `request` is done.
  void Keep(MPI_Request request);
  // Copies when `request` is started and back when it is done, until it is freed. If partitions
  // have so many elements, each is copied when it is ready.
  void KeepRepeated(MPI_Request request, long long partition_elements = 0);

 private:
  void* address_;
  std::shared_ptr<SectionCopy> copy_;
};

// Lets `object` live until a call sees `request` become MPI_REQUEST_NULL.
void KeepUntil(MPI_Request request, std::shared_ptr<void> object);

// This says what a call does to the requests it is given.
enum class Does { kStart, kComplete, kFree };

// Looks at requests before and after a call: it copies what starts, copies back what is done, and
// lets go of what was kept for requests that are no more. What was kept for a request that is freed
// while it is active stays for ever, because the operation may not be over.
class Landing {
 public:
  Landing(const MPI_Request* requests, long long count, Does does = Does::kComplete);
  ~Landing();

 private:
  const MPI_Request* requests_;
  long long count_ = 0;
  Does does_;
  std::unique_ptr<MPI_Request[]> before_;
};

class Partitions {
 public:
  Partitions(const ChoiceBuffer* buffer, int partitions, long long count, MPI_Datatype datatype,
             Access access);
  // This is false if the section does not hold the partitions, or if a partition is not made of
  // whole elements of it.
  bool good() const { return elements_ > 0; }
  void* address() const { return section_.address(); }
  void Keep(MPI_Request request) { section_.KeepRepeated(request, elements_); }

 private:
  Section section_;
  long long elements_;
};

// These say that partitions [first, last] are about to be sent, or that one has arrived.
void PartitionsReady(MPI_Request request, long long first, long long last);
void PartitionArrived(MPI_Request request, long long partition);

class Spread {
 public:
  Spread(const ChoiceBuffer* buffer, long long count, MPI_Datatype datatype,
         std::optional<Access> copied = std::nullopt);
  Spread(const Spread&) = delete;
  ~Spread();
  void Keep(MPI_Request request);
  void KeepRepeated(MPI_Request request);
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
