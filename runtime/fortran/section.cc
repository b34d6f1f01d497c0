// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/fortran/section.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/fortran/convert.h"

namespace lamina::fortran {

namespace {

using Dimension = ChoiceBuffer::Dimension;

long long Elements(const ChoiceBuffer& buffer, int dimensions) {
  long long count = 1;
  for (int i = 0; i < dimensions; ++i) count *= buffer.dimension[i].extent;
  return count;
}

// Copies the elements of `dimensions` dimensions that start at `spread` to `packed` or back.
char* Walk(const ChoiceBuffer& buffer, int dimensions, char* spread, char* packed, bool pack) {
  if (dimensions == 0) {
    std::memcpy(pack ? packed : spread, pack ? spread : packed, buffer.element_bytes);
    return packed + buffer.element_bytes;
  }
  const Dimension& outer = buffer.dimension[dimensions - 1];
  for (std::ptrdiff_t i = 0; i < outer.extent; ++i)
    packed = Walk(buffer, dimensions - 1, spread + i * outer.stride_bytes, packed, pack);
  return packed;
}

}  // namespace

bool HasGaps(const ChoiceBuffer& buffer) {
  if (buffer.address == nullptr) return false;
  auto expected = static_cast<std::ptrdiff_t>(buffer.element_bytes);
  bool gaps = false;
  for (int i = 0; i < buffer.rank; ++i) {
    const Dimension& dimension = buffer.dimension[i];
    if (dimension.extent <= 0) return false;  // empty, or of assumed size and then without gaps
    gaps = gaps || (dimension.extent > 1 && dimension.stride_bytes != expected);
    expected *= dimension.extent;
  }
  return gaps;
}

struct Section::Copy {
  ChoiceBuffer original;
  Access access;
  std::vector<char> bytes;

  char* address() { return static_cast<char*>(original.address); }
  ~Copy() {
    if (access == Access::kReadWrite) Walk(original, original.rank, address(), bytes.data(), false);
  }
};

Section::Section(const ChoiceBuffer* buffer, Access access) : address_(Buffer(buffer->address)) {
  if (!HasGaps(*buffer)) return;
  copy_ = std::make_shared<Copy>();
  std::memcpy(&copy_->original, buffer,
              offsetof(ChoiceBuffer, dimension) + sizeof(Dimension) * buffer->rank);
  copy_->access = access;
  copy_->bytes.resize(Elements(*buffer, buffer->rank) * buffer->element_bytes);
  address_ = copy_->bytes.data();
  Walk(copy_->original, buffer->rank, copy_->address(), copy_->bytes.data(), true);
}

void Section::Keep(MPI_Request request) {
  if (copy_) KeepUntil(request, std::move(copy_));
}

namespace {

// What operations on their way still need. The count is read without the lock, so a program that
// has nothing here pays one load per completion.
struct Kept {
  std::atomic<int> count{0};
  std::mutex lock;
  std::unordered_multimap<MPI_Request, std::shared_ptr<void>> objects;
};

Kept& TheKept() {
  static Kept* const kept = new Kept;
  return *kept;
}

}  // namespace

void KeepUntil(MPI_Request request, std::shared_ptr<void> object) {
  Kept& kept = TheKept();
  const std::lock_guard guard(kept.lock);
  kept.objects.emplace(request, std::move(object));
  ++kept.count;
}

Landing::Landing(const MPI_Request* requests, long long count, Ending ending)
    : requests_(requests), ending_(ending) {
  if (TheKept().count.load(std::memory_order_relaxed) == 0 || count <= 0) return;
  count_ = count;
  before_.reset(new MPI_Request[count]);
  std::copy_n(requests, count, before_.get());
}

Landing::~Landing() {
  for (long long i = 0; i < count_; ++i) {
    if (before_[i] == MPI_REQUEST_NULL || requests_[i] != MPI_REQUEST_NULL) continue;
    Kept& kept = TheKept();
    const std::lock_guard guard(kept.lock);
    if (ending_ == Ending::kFreed) {
      const auto [first, last] = kept.objects.equal_range(before_[i]);
      for (auto object = first; object != last; ++object) new std::shared_ptr<void>(object->second);
    }
    kept.count -= static_cast<int>(kept.objects.erase(before_[i]));
  }
}

namespace {

// A type of `bytes` bytes made of `datatype` where that is possible, so that reductions still know
// what they add.
MPI_Datatype ElementType(std::size_t bytes, MPI_Datatype datatype, int datatype_bytes) {
  MPI_Datatype element;
  if (bytes % static_cast<std::size_t>(datatype_bytes) == 0)
    PMPI_Type_contiguous_c(static_cast<MPI_Count>(bytes) / datatype_bytes, datatype, &element);
  else
    PMPI_Type_contiguous_c(static_cast<MPI_Count>(bytes), MPI_BYTE, &element);
  return element;
}

// The first `count` > 0 elements of the section's first `dimensions` dimensions.
MPI_Datatype Cover(const ChoiceBuffer& buffer, int dimensions, long long count,
                   MPI_Datatype element) {
  MPI_Datatype made;
  if (dimensions == 0) {
    PMPI_Type_dup(element, &made);
    return made;
  }
  const MPI_Count stride = buffer.dimension[dimensions - 1].stride_bytes;
  const long long plane = Elements(buffer, dimensions - 1);
  const long long whole = count / plane;
  const long long rest = count % plane;
  std::vector<MPI_Datatype> parts;
  std::vector<MPI_Count> offsets;
  if (whole > 0) {
    MPI_Datatype part = Cover(buffer, dimensions - 1, plane, element);
    PMPI_Type_create_hvector_c(whole, 1, stride, part, &parts.emplace_back());
    offsets.push_back(0);
    PMPI_Type_free(&part);
  }
  if (rest > 0) {
    parts.push_back(Cover(buffer, dimensions - 1, rest, element));
    offsets.push_back(whole * stride);
  }
  const std::vector<MPI_Count> ones(parts.size(), 1);
  PMPI_Type_create_struct_c(static_cast<MPI_Count>(parts.size()), ones.data(), offsets.data(),
                            parts.data(), &made);
  for (MPI_Datatype& part : parts) PMPI_Type_free(&part);
  return made;
}

// The bytes of `datatype` if its elements lie one behind the other without gaps, else 0.
int BytesWithoutGaps(MPI_Datatype datatype) {
  int bytes = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  if (PMPI_Type_size(datatype, &bytes) != MPI_SUCCESS) return 0;
  PMPI_Type_get_extent(datatype, &lower, &extent);
  PMPI_Type_get_true_extent(datatype, &true_lower, &true_extent);
  const bool dense = lower == 0 && true_lower == 0 && extent == bytes && true_extent == bytes;
  return dense && bytes > 0 ? bytes : 0;
}

}  // namespace

Spread::Spread(const ChoiceBuffer* buffer, long long count, MPI_Datatype datatype,
               std::optional<Access> copied)
    : address_(Buffer(buffer->address)), count_(count), datatype_(datatype) {
  if (count <= 0 || datatype == MPI_DATATYPE_NULL || !HasGaps(*buffer)) return;
  const int bytes = BytesWithoutGaps(datatype);
  if (bytes == 0 && copied) {
    copy_.emplace(buffer, *copied);
    address_ = copy_->address();
    return;
  }
  const long long elements = count * bytes / static_cast<long long>(buffer->element_bytes);
  good_ = bytes > 0 && count * bytes % static_cast<long long>(buffer->element_bytes) == 0 &&
          elements <= Elements(*buffer, buffer->rank);
  if (!good_) return;
  MPI_Datatype element = ElementType(buffer->element_bytes, datatype, bytes);
  datatype_ = Cover(*buffer, buffer->rank, elements, element);
  PMPI_Type_free(&element);
  PMPI_Type_commit(&datatype_);
  count_ = 1;
  made_ = true;
}

void Spread::Keep(MPI_Request request) {
  if (copy_) copy_->Keep(request);
}

// The operation keeps the datatype until it ends (MPI-5.0, section 5.1.9).
Spread::~Spread() {
  if (made_) PMPI_Type_free(&datatype_);
}

Whole::Whole(const ChoiceBuffer* buffer)
    : good_(!HasGaps(*buffer)), address_(Buffer(buffer->address)) {}

int Refuse(MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

}  // namespace lamina::fortran
