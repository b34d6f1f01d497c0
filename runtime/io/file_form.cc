// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/file_form.h"

#include <utility>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/definition.h"

namespace lamina::io {
namespace {

using datatype::CheckedMath;
using datatype::Contents;
using datatype::Datatype;
using datatype::Part;

// Reads the arguments of a constructor call in their order. Those of a _c form that count or are
// bytes are all large counts.
class Arguments {
 public:
  explicit Arguments(const Contents& contents) : contents_(contents) {}

  std::int64_t Integer() { return contents_.integers[integer_++]; }
  std::int64_t Count() {
    return large() ? contents_.large_counts[large_count_++] : contents_.integers[integer_++];
  }
  std::int64_t Bytes() {
    return large() ? contents_.large_counts[large_count_++] : contents_.addresses[address_++];
  }
  std::vector<std::int64_t> Counts(std::int64_t n) {
    std::vector<std::int64_t> counts;
    for (std::int64_t i = 0; i < n; ++i) counts.push_back(Count());
    return counts;
  }
  std::vector<std::int64_t> Integers(std::int64_t n) {
    std::vector<std::int64_t> integers;
    for (std::int64_t i = 0; i < n; ++i) integers.push_back(Integer());
    return integers;
  }

 private:
  bool large() const { return !contents_.large_counts.empty(); }

  const Contents& contents_;
  std::size_t integer_ = 0;
  std::size_t address_ = 0;
  std::size_t large_count_ = 0;
};

Datatype* Vector(bool in_bytes, Arguments arguments, Datatype* child) {
  const std::int64_t count = arguments.Count(), block = arguments.Count();
  CheckedMath math;
  const std::int64_t stride =
      in_bytes ? arguments.Bytes() : math.Multiply(arguments.Count(), child->extent);
  return math.overflowed() ? nullptr : datatype::MakeVector(count, block, stride, child);
}

Datatype* Indexed(int combiner, Arguments arguments, const std::vector<Datatype*>& children) {
  const bool in_bytes = combiner == MPI_COMBINER_HINDEXED ||
                        combiner == MPI_COMBINER_HINDEXED_BLOCK || combiner == MPI_COMBINER_STRUCT;
  const bool one_length =
      combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
  const std::int64_t count = arguments.Count();
  const std::vector<std::int64_t> lengths = arguments.Counts(one_length ? 1 : count);
  CheckedMath math;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Datatype* child = children[combiner == MPI_COMBINER_STRUCT ? i : 0];
    const std::int64_t displacement =
        in_bytes ? arguments.Bytes() : math.Multiply(arguments.Count(), child->extent);
    parts.push_back(Part{child, displacement, lengths[one_length ? 0 : i]});
  }
  return math.overflowed() ? nullptr : datatype::MakeBlocks(std::move(parts));
}

// Arrays are kept in the order of the call; the constructors take the slowest dimension first.
std::size_t Place(std::int64_t order, std::size_t dimensions, std::size_t i) {
  return order == MPI_ORDER_C ? i : dimensions - 1 - i;
}

Datatype* Subarray(Arguments arguments, Datatype* child) {
  const auto n = static_cast<std::size_t>(arguments.Integer());
  const auto sizes = arguments.Counts(static_cast<std::int64_t>(n));
  const auto subsizes = arguments.Counts(static_cast<std::int64_t>(n));
  const auto starts = arguments.Counts(static_cast<std::int64_t>(n));
  const std::int64_t order = arguments.Integer();
  std::vector<datatype::Dimension> dimensions;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = Place(order, n, i);
    dimensions.push_back({sizes[at], subsizes[at], starts[at]});
  }
  return datatype::MakeSubarray(dimensions, child);
}

Datatype* DistributedArray(Arguments arguments, Datatype* child) {
  static_cast<void>(arguments.Integer());  // the number of processes, which is that of the grid
  std::int64_t rank = arguments.Integer();
  const auto n = static_cast<std::size_t>(arguments.Integer());
  const auto sizes = arguments.Counts(static_cast<std::int64_t>(n));
  const auto kinds = arguments.Integers(static_cast<std::int64_t>(n));
  const auto lengths = arguments.Integers(static_cast<std::int64_t>(n));
  const auto processes = arguments.Integers(static_cast<std::int64_t>(n));
  const std::int64_t order = arguments.Integer();
  std::vector<std::int64_t> coordinates(n);
  for (std::size_t i = n; i-- > 0;) {
    coordinates[i] = rank % processes[i];
    rank /= processes[i];
  }
  std::vector<datatype::Distribution> dimensions;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = Place(order, n, i);
    dimensions.push_back(
        {sizes[at], static_cast<int>(kinds[at]), lengths[at], processes[at], coordinates[at]});
  }
  return datatype::MakeDistributedArray(dimensions, child);
}

// Calls the constructor again with other children. Null means that 64 bits do not hold the result.
Datatype* Rebuild(const Contents& contents, const std::vector<Datatype*>& children) {
  Arguments arguments(contents);
  Datatype* const child = children.empty() ? nullptr : children[0];
  switch (contents.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return datatype::MakeContiguous(arguments.Count(), child);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return Vector(contents.combiner == MPI_COMBINER_HVECTOR, arguments, child);
    case MPI_COMBINER_SUBARRAY:
      return Subarray(arguments, child);
    case MPI_COMBINER_DARRAY:
      return DistributedArray(arguments, child);
    case MPI_COMBINER_RESIZED: {
      const std::int64_t lower = arguments.Bytes();
      return datatype::MakeResized(lower, arguments.Bytes(), child);
    }
    case MPI_COMBINER_DUP:
      return datatype::MakeDup(child);
    default:
      return Indexed(contents.combiner, arguments, children);
  }
}

// Makes a form that is not committed.
Failure Make(const Datarep& datarep, Datatype* type, Datatype** form) {
  if (type->predefined) {
    std::int64_t bytes = 0;
    if (Failure failure = FileBytes(datarep, *type, &bytes); !failure.ok()) return failure;
    *form = datatype::MakeContiguous(bytes, datatype::FindDatatype(MPI_BYTE));
    return {};
  }
  std::vector<Datatype*> children;
  Failure failure;
  for (Datatype* inner : type->definition->contents.types) {
    Datatype* child = nullptr;
    failure = Make(datarep, inner, &child);
    if (!failure.ok()) break;
    children.push_back(child);
  }
  if (failure.ok()) *form = Rebuild(type->definition->contents, children);
  for (Datatype* child : children) datatype::Release(child);
  if (failure.ok() && *form == nullptr)
    return Fail(MPI_ERR_VALUE_TOO_LARGE,
                "the filetype does not fit into 64 bits in a file of "
                "representation \"%s\"",
                datarep.name.c_str());
  return failure;
}

}  // namespace

Failure MakeFileForm(const Datarep& datarep, Datatype* type, Datatype** form) {
  if (datarep.native()) {
    datatype::Retain(type);
    *form = type;
    return {};
  }
  Failure failure = Make(datarep, type, form);
  if (failure.ok()) datatype::Commit(*form);
  return failure;
}

}  // namespace lamina::io
