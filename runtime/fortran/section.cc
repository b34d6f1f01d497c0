// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/fortran/section.h"

#include <atomic>
#include <cstring>
#include <iterator>
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

enum class Direction { kPack, kUnpack };

// Copies elements [first, first + count) of the section to `packed` or back. The first dimension
// runs fastest.
void Move(const ChoiceBuffer& buffer, long long first, long long count, char* packed,
          Direction direction) {
  std::ptrdiff_t index[std::size(ChoiceBuffer{}.dimension)];
  char* element = static_cast<char*>(buffer.address);
  for (int i = 0; i < buffer.rank; ++i) {
    index[i] = first % buffer.dimension[i].extent;
    first /= buffer.dimension[i].extent;
    element += index[i] * buffer.dimension[i].stride_bytes;
  }
  for (; count > 0; --count) {
    std::memcpy(direction == Direction::kPack ? packed : element,
                direction == Direction::kPack ? element : packed, buffer.element_bytes);
    packed += buffer.element_bytes;
    for (int i = 0; i < buffer.rank; ++i) {
      const Dimension& dimension = buffer.dimension[i];
      element += dimension.stride_bytes;
      if (++index[i] < dimension.extent) break;
      element -= index[i] * dimension.stride_bytes;
      index[i] = 0;
    }
  }
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

struct SectionCopy {
  ChoiceBuffer original;
  Access access;
  bool active = true;  // the copy back is still to be done
  long long partition_elements = 0;
  std::vector<char> bytes;

  long long elements() const { return Elements(original, original.rank); }
  void Part(long long first, long long count, Direction direction) {
    Move(original, first, count, bytes.data() + first * original.element_bytes, direction);
  }
  // Moves the partitions [first, last]. If they are wrong, the C function says so.
  void Partition(long long first, long long last, Direction direction) {
    if (first < 0 || last < first || (last + 1) * partition_elements > elements()) return;
    Part(first * partition_elements, (last - first + 1) * partition_elements, direction);
  }
  void Collect() {
    active = true;
    if (partition_elements == 0) Part(0, elements(), Direction::kPack);
  }
  void Bring() {
    if (active && access == Access::kReadWrite) Part(0, elements(), Direction::kUnpack);
    active = false;
  }
  ~SectionCopy() { Bring(); }
};

Section::Section(const ChoiceBuffer* buffer, Access access) : address_(Buffer(buffer->address)) {
  if (!HasGaps(*buffer)) return;
  copy_ = std::make_shared<SectionCopy>();
  std::memcpy(&copy_->original, buffer,
              offsetof(ChoiceBuffer, dimension) + sizeof(Dimension) * buffer->rank);
  copy_->access = access;
  copy_->bytes.resize(Elements(*buffer, buffer->rank) * buffer->element_bytes);
  copy_->Collect();
  address_ = copy_->bytes.data();
}

namespace {

// This keeps what unfinished operations still need. The count is read without the lock, so a
// program that has nothing here pays one load per completion.
struct Kept {
  struct Object {
    std::shared_ptr<void> owner;
    SectionCopy* repeated;  // null: needed once
  };
  std::atomic<int> count{0};
  std::mutex lock;
  std::unordered_multimap<MPI_Request, Object> objects;

  bool empty() const { return count.load(std::memory_order_relaxed) == 0; }
  void Add(MPI_Request request, std::shared_ptr<void> owner, SectionCopy* repeated) {
    const std::lock_guard guard(lock);
    objects.emplace(request, Object{std::move(owner), repeated});
    ++count;
  }
  // Calls use(copy) for each section of a persistent request. The lock is not held by then, because
  // partitions become ready in several threads.
  template <class Use>
  void ForRepeated(MPI_Request request, const Use& use) {
    std::vector<Object> found;
    {
      const std::lock_guard guard(lock);
      const auto [first, last] = objects.equal_range(request);
      for (auto object = first; object != last; ++object)
        if (object->second.repeated != nullptr) found.push_back(object->second);
    }
    for (const Object& object : found) use(*object.repeated);
  }
  void Drop(MPI_Request request, bool for_ever) {
    const std::lock_guard guard(lock);
    const auto [first, last] = objects.equal_range(request);
    for (auto object = first; object != last; ++object)
      if (for_ever && (object->second.repeated == nullptr || object->second.repeated->active))
        new std::shared_ptr<void>(object->second.owner);
    count -= static_cast<int>(objects.erase(request));
  }
};

Kept& TheKept() {
  static Kept* const kept = new Kept;
  return *kept;
}

bool IsDone(MPI_Request request) {
  int done = 0;
  PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

}  // namespace

void Section::Keep(MPI_Request request) {
  if (copy_) TheKept().Add(request, std::move(copy_), nullptr);
}

void Section::KeepRepeated(MPI_Request request, long long partition_elements) {
  if (!copy_) return;
  copy_->active = false;
  copy_->partition_elements = partition_elements;
  SectionCopy* const repeated = copy_.get();
  TheKept().Add(request, std::move(copy_), repeated);
}

void KeepUntil(MPI_Request request, std::shared_ptr<void> object) {
  TheKept().Add(request, std::move(object), nullptr);
}

Landing::Landing(const MPI_Request* requests, long long count, Does does)
    : requests_(requests), does_(does) {
  Kept& kept = TheKept();
  if (kept.empty() || count <= 0) return;
  if (does == Does::kStart) {
    for (long long i = 0; i < count; ++i)
      kept.ForRepeated(requests[i], [](SectionCopy& copy) { copy.Collect(); });
    return;
  }
  count_ = count;
  before_.reset(new MPI_Request[count]);
  std::copy_n(requests, count, before_.get());
}

Landing::~Landing() {
  Kept& kept = TheKept();
  for (long long i = 0; i < count_; ++i) {
    if (before_[i] == MPI_REQUEST_NULL) continue;
    if (requests_[i] == MPI_REQUEST_NULL) {
      kept.Drop(before_[i], does_ == Does::kFree);
    } else {
      kept.ForRepeated(requests_[i], [this, i](SectionCopy& copy) {
        if (copy.active && IsDone(requests_[i])) copy.Bring();
      });
    }
  }
}

void PartitionsReady(MPI_Request request, long long first, long long last) {
  if (TheKept().empty()) return;
  TheKept().ForRepeated(request,
                        [=](SectionCopy& copy) { copy.Partition(first, last, Direction::kPack); });
}

void PartitionArrived(MPI_Request request, long long partition) {
  if (TheKept().empty()) return;
  TheKept().ForRepeated(request, [=](SectionCopy& copy) {
    copy.Partition(partition, partition, Direction::kUnpack);
  });
}

namespace {

// Returns a type of `bytes` bytes made of `datatype` where that is possible, so that reductions
// still know what they add.
MPI_Datatype ElementType(std::size_t bytes, MPI_Datatype datatype, int datatype_bytes) {
  MPI_Datatype element;
  if (bytes % static_cast<std::size_t>(datatype_bytes) == 0)
    PMPI_Type_contiguous_c(static_cast<MPI_Count>(bytes) / datatype_bytes, datatype, &element);
  else
    PMPI_Type_contiguous_c(static_cast<MPI_Count>(bytes), MPI_BYTE, &element);
  return element;
}

// Covers the first `count` > 0 elements of the section's first `dimensions` dimensions.
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

// Returns the bytes of `datatype` if its elements lie one behind the other without gaps, else 0.
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

void Spread::KeepRepeated(MPI_Request request) {
  if (copy_) copy_->KeepRepeated(request);
}

// The operation keeps the datatype until it ends (MPI-5.0, section 5.1.9).
Spread::~Spread() {
  if (made_) PMPI_Type_free(&datatype_);
}

Partitions::Partitions(const ChoiceBuffer* buffer, int partitions, long long count,
                       MPI_Datatype datatype, Access access)
    : section_(buffer, access), elements_(1) {
  if (!HasGaps(*buffer) || count <= 0 || datatype == MPI_DATATYPE_NULL) return;
  const long long bytes = count * BytesWithoutGaps(datatype);
  const auto element_bytes = static_cast<long long>(buffer->element_bytes);
  elements_ = bytes % element_bytes == 0 ? bytes / element_bytes : 0;
  if (elements_ * partitions > Elements(*buffer, buffer->rank)) elements_ = 0;
}

Whole::Whole(const ChoiceBuffer* buffer)
    : good_(!HasGaps(*buffer)), address_(Buffer(buffer->address)) {}

int Refuse(MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
  return MPI_ERR_BUFFER;
}

}  // namespace lamina::fortran
