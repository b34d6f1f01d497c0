// SPDX-License-Identifier: BSD-3-Clause
// These are the datatype constructors (MPI-5.0, sections 5.1.2 to 5.1.7). Each pair of functions,
// int and _c, is one template: it checks the arguments, makes the type and records them for
// MPI_Type_get_contents.
#include <type_traits>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/datatype/construct.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::datatype::CheckedMath;
using lamina::datatype::Contents;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;
using lamina::datatype::Part;

namespace types = lamina::datatype;

namespace {

template <class Count>
constexpr bool kIsLarge = std::is_same_v<Count, MPI_Count>;

Contents Begin(int combiner) {
  Contents contents;
  contents.combiner = combiner;
  return contents;
}

// Counts are integers of the call, or large counts in a _c form.
template <class Count>
void AddCount(Contents* contents, Count count) {
  if constexpr (kIsLarge<Count>) {
    contents->large_counts.push_back(count);
  } else {
    contents->integers.push_back(count);
  }
}
template <class Count>
void AddCounts(Contents* contents, const Count* counts, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) AddCount(contents, counts[i]);
}
// Byte displacements are addresses of the call, or large counts in a _c form.
template <class Count>
void AddBytes(Contents* contents, std::int64_t bytes) {
  if constexpr (kIsLarge<Count>) {
    contents->large_counts.push_back(bytes);
  } else {
    contents->addresses.push_back(static_cast<MPI_Aint>(bytes));
  }
}

int Finish(const Entry& entry, Datatype* made, Contents contents, MPI_Datatype* newtype) {
  REQUIRE(made != nullptr, nullptr, MPI_ERR_VALUE_TOO_LARGE,
          "the size or a bound of the new datatype does not fit into 64 bits");
  Record(made, std::move(contents));
  *newtype = HandleOf(made);
  return MPI_SUCCESS;
}

int CheckCount(const Entry& entry, const char* name, std::int64_t count) {
  REQUIRE(count >= 0, nullptr, MPI_ERR_COUNT, "%s is %lld, must not be negative", name,
          static_cast<long long>(count));
  return MPI_SUCCESS;
}
template <class Count>
int CheckLengths(const Entry& entry, const Count* lengths, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    REQUIRE(lengths[i] >= 0, nullptr, MPI_ERR_ARG, "blocklength %lld is %lld, must not be negative",
            static_cast<long long>(i), static_cast<long long>(lengths[i]));
  return MPI_SUCCESS;
}

// Checks arrays of `count` arguments.
template <class... Pointers>
int CheckArrays(const Entry& entry, std::int64_t count, const Pointers*... arrays) {
  REQUIRE(count == 0 || (... && (arrays != nullptr)), nullptr, MPI_ERR_ARG,
          "an array of %lld arguments is a null pointer", static_cast<long long>(count));
  return MPI_SUCCESS;
}

template <class Count>
int Contiguous(Call call, Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  if (const int error = CheckCount(entry, "count", count); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, newtype);
  Contents contents = Begin(MPI_COMBINER_CONTIGUOUS);
  AddCount(&contents, count);
  contents.types = {old};
  return Finish(entry, types::MakeContiguous(count, old), std::move(contents), newtype);
}

// `stride` counts elements (vector) or bytes (hvector).
template <class Count>
int Vector(Call call, int combiner, Count count, Count blocklength, std::int64_t stride,
           MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  if (const int error = CheckCount(entry, "count", count); error != MPI_SUCCESS) return error;
  if (const int error = CheckCount(entry, "blocklength", blocklength); error != MPI_SUCCESS)
    return error;
  REQUIRE_POINTER(nullptr, newtype);
  const bool in_bytes = combiner == MPI_COMBINER_HVECTOR;
  Contents contents = Begin(combiner);
  AddCount(&contents, count);
  AddCount(&contents, blocklength);
  if (in_bytes) {
    AddBytes<Count>(&contents, stride);
  } else {
    AddCount(&contents, static_cast<Count>(stride));
  }
  contents.types = {old};
  CheckedMath math;
  const std::int64_t stride_bytes = in_bytes ? stride : math.Multiply(stride, old->extent);
  Datatype* made =
      math.overflowed() ? nullptr : types::MakeVector(count, blocklength, stride_bytes, old);
  return Finish(entry, made, std::move(contents), newtype);
}

// Displacements count elements (indexed) or bytes (hindexed); the _block forms have one length.
template <class Count, class Displacement>
int Indexed(Call call, int combiner, Count count, const Count* lengths,
            const Displacement* displacements, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  const bool in_bytes =
      combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_HINDEXED_BLOCK;
  const bool one_length =
      combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
  const Count lengths_count = one_length ? 1 : count;
  if (const int error = CheckCount(entry, "count", count); error != MPI_SUCCESS) return error;
  if (const int error = CheckArrays(entry, count, lengths, displacements); error != MPI_SUCCESS)
    return error;
  if (const int error = CheckLengths(entry, lengths, lengths_count); error != MPI_SUCCESS)
    return error;
  REQUIRE_POINTER(nullptr, newtype);
  Contents contents = Begin(combiner);
  AddCount(&contents, count);
  AddCounts(&contents, lengths, lengths_count);
  CheckedMath math;
  std::vector<Part> parts;
  parts.reserve(static_cast<std::size_t>(count));
  for (Count i = 0; i < count; ++i) {
    const std::int64_t displacement = displacements[i];
    if (in_bytes) {
      AddBytes<Count>(&contents, displacement);
    } else {
      AddCount(&contents, static_cast<Count>(displacement));
    }
    parts.push_back(Part{old, in_bytes ? displacement : math.Multiply(displacement, old->extent),
                         lengths[one_length ? 0 : i]});
  }
  contents.types = {old};
  return Finish(entry, math.overflowed() ? nullptr : types::MakeBlocks(std::move(parts)),
                std::move(contents), newtype);
}

template <class Count, class Displacement>
int Struct(Call call, Count count, const Count* lengths, const Displacement* displacements,
           const MPI_Datatype* old_types, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckCount(entry, "count", count); error != MPI_SUCCESS) return error;
  if (const int error = CheckArrays(entry, count, lengths, displacements, old_types);
      error != MPI_SUCCESS)
    return error;
  if (const int error = CheckLengths(entry, lengths, count); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, newtype);
  Contents contents = Begin(MPI_COMBINER_STRUCT);
  AddCount(&contents, count);
  AddCounts(&contents, lengths, count);
  std::vector<Part> parts;
  parts.reserve(static_cast<std::size_t>(count));
  for (Count i = 0; i < count; ++i) {
    Datatype* old = FindDatatype(old_types[i]);
    if (old == nullptr) return BadDatatype(entry, old_types[i]);
    AddBytes<Count>(&contents, displacements[i]);
    contents.types.push_back(old);
    parts.push_back(Part{old, displacements[i], lengths[i]});
  }
  return Finish(entry, types::MakeBlocks(std::move(parts)), std::move(contents), newtype);
}

template <class Count, class Bytes>
int Resized(Call call, MPI_Datatype oldtype, Bytes lower, Bytes extent, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  REQUIRE_POINTER(nullptr, newtype);
  Contents contents = Begin(MPI_COMBINER_RESIZED);
  AddBytes<Count>(&contents, lower);
  AddBytes<Count>(&contents, extent);
  contents.types = {old};
  return Finish(entry, types::MakeResized(lower, extent, old), std::move(contents), newtype);
}

int CheckOrder(const Entry& entry, int order) {
  REQUIRE(order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN, nullptr, MPI_ERR_ARG,
          "order is %d, must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
  return MPI_SUCCESS;
}

// Returns dimension `i`, slowest first, of arrays given in `order`.
int Position(int order, int dimensions, int i) {
  return order == MPI_ORDER_C ? i : dimensions - 1 - i;
}

template <class Count>
int Subarray(Call call, int ndims, const Count* sizes, const Count* subsizes, const Count* starts,
             int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  REQUIRE(ndims >= 1, nullptr, MPI_ERR_ARG, "ndims is %d, must be positive", ndims);
  if (const int error = CheckOrder(entry, order); error != MPI_SUCCESS) return error;
  if (const int error = CheckArrays(entry, ndims, sizes, subsizes, starts); error != MPI_SUCCESS)
    return error;
  REQUIRE_POINTER(nullptr, newtype);
  std::vector<types::Dimension> dimensions;
  for (int i = 0; i < ndims; ++i) {
    const int at = Position(order, ndims, i);
    const std::int64_t size = sizes[at], subsize = subsizes[at], start = starts[at];
    REQUIRE(size >= 1 && subsize >= 1 && start >= 0 && subsize <= size && start <= size - subsize,
            nullptr, MPI_ERR_ARG,
            "dimension %d: start %lld and subsize %lld do not lie within size %lld", at,
            static_cast<long long>(start), static_cast<long long>(subsize),
            static_cast<long long>(size));
    dimensions.push_back({size, subsize, start});
  }
  Contents contents = Begin(MPI_COMBINER_SUBARRAY);
  contents.integers.push_back(ndims);
  AddCounts(&contents, sizes, ndims);
  AddCounts(&contents, subsizes, ndims);
  AddCounts(&contents, starts, ndims);
  contents.integers.push_back(order);
  contents.types = {old};
  return Finish(entry, types::MakeSubarray(dimensions, old), std::move(contents), newtype);
}

// The grid must have exactly as many places as there are processes.
int CheckGrid(const Entry& entry, int size, int ndims, const int* psizes) {
  std::int64_t processes = 1;
  for (int i = 0; i < ndims && processes <= size; ++i) {
    REQUIRE(psizes[i] >= 1, nullptr, MPI_ERR_ARG, "array_of_psizes[%d] is %d, must be positive", i,
            psizes[i]);
    processes *= psizes[i];
  }
  REQUIRE(processes == size, nullptr, MPI_ERR_ARG,
          "size is %d, but the product of array_of_psizes is a different number", size);
  return MPI_SUCCESS;
}

// A dimension of a distributed array must be dealt out completely, and only to processes that
// exist.
int CheckDistribution(const Entry& entry, int i, const types::Distribution& dimension) {
  const bool known = dimension.kind == MPI_DISTRIBUTE_BLOCK ||
                     dimension.kind == MPI_DISTRIBUTE_CYCLIC ||
                     dimension.kind == MPI_DISTRIBUTE_NONE;
  REQUIRE(known, nullptr, MPI_ERR_ARG, "array_of_distribs[%d] is %d, which is not a distribution",
          i, dimension.kind);
  REQUIRE(dimension.size >= 1, nullptr, MPI_ERR_ARG, "dimension %d has size %lld, must be positive",
          i, static_cast<long long>(dimension.size));
  REQUIRE(dimension.kind != MPI_DISTRIBUTE_NONE || dimension.processes == 1, nullptr, MPI_ERR_ARG,
          "dimension %d is not distributed, but array_of_psizes[%d] is %lld", i, i,
          static_cast<long long>(dimension.processes));
  if (dimension.kind == MPI_DISTRIBUTE_NONE) return MPI_SUCCESS;  // its argument is ignored
  const bool is_default = dimension.argument == MPI_DISTRIBUTE_DFLT_DARG;
  REQUIRE(is_default || dimension.argument >= 1, nullptr, MPI_ERR_ARG,
          "array_of_dargs[%d] is %lld, must be positive", i,
          static_cast<long long>(dimension.argument));
  REQUIRE(is_default || dimension.kind != MPI_DISTRIBUTE_BLOCK ||
              dimension.argument >= (dimension.size - 1) / dimension.processes + 1,
          nullptr, MPI_ERR_ARG,
          "array_of_dargs[%d] is %lld: blocks that small do not hold all %lld elements", i,
          static_cast<long long>(dimension.argument), static_cast<long long>(dimension.size));
  return MPI_SUCCESS;
}

template <class Count>
int Darray(Call call, int size, int rank, int ndims, const Count* gsizes, const int* distribs,
           const int* dargs, const int* psizes, int order, MPI_Datatype oldtype,
           MPI_Datatype* newtype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  REQUIRE(ndims >= 1, nullptr, MPI_ERR_ARG, "ndims is %d, must be positive", ndims);
  REQUIRE(rank >= 0 && rank < size, nullptr, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
          size - 1);
  if (const int error = CheckOrder(entry, order); error != MPI_SUCCESS) return error;
  if (const int error = CheckArrays(entry, ndims, gsizes, distribs, dargs, psizes);
      error != MPI_SUCCESS)
    return error;
  if (const int error = CheckGrid(entry, size, ndims, psizes); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, newtype);
  // The grid of processes is in row-major order, whatever the order of the array (section 5.1.4).
  std::vector<std::int64_t> coordinates(static_cast<std::size_t>(ndims));
  std::int64_t rest = rank;
  for (int i = ndims; i-- > 0;) {
    coordinates[i] = rest % psizes[i];
    rest /= psizes[i];
  }
  std::vector<types::Distribution> dimensions;
  for (int i = 0; i < ndims; ++i) {
    const int at = Position(order, ndims, i);
    dimensions.push_back({gsizes[at], distribs[at], dargs[at], psizes[at], coordinates[at]});
    if (const int error = CheckDistribution(entry, at, dimensions.back()); error != MPI_SUCCESS)
      return error;
  }
  Contents contents = Begin(MPI_COMBINER_DARRAY);
  contents.integers = {size, rank, ndims};
  AddCounts(&contents, gsizes, ndims);
  for (const int* list : {distribs, dargs, psizes})
    contents.integers.insert(contents.integers.end(), list, list + ndims);
  contents.integers.push_back(order);
  contents.types = {old};
  return Finish(entry, types::MakeDistributedArray(dimensions, old), std::move(contents), newtype);
}

}  // namespace

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Contiguous(Call::MPI_Type_contiguous, count, oldtype, newtype);
}
PROFILED(MPI_Type_contiguous);

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Contiguous(Call::MPI_Type_contiguous_c, count, oldtype, newtype);
}
PROFILED(MPI_Type_contiguous_c);

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype* newtype) {
  return Vector(Call::MPI_Type_vector, MPI_COMBINER_VECTOR, count, blocklength, stride, oldtype,
                newtype);
}
PROFILED(MPI_Type_vector);

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Vector(Call::MPI_Type_vector_c, MPI_COMBINER_VECTOR, count, blocklength, stride, oldtype,
                newtype);
}
PROFILED(MPI_Type_vector_c);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  return Vector(Call::MPI_Type_create_hvector, MPI_COMBINER_HVECTOR, count, blocklength, stride,
                oldtype, newtype);
}
PROFILED(MPI_Type_create_hvector);

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Vector(Call::MPI_Type_create_hvector_c, MPI_COMBINER_HVECTOR, count, blocklength, stride,
                oldtype, newtype);
}
PROFILED(MPI_Type_create_hvector_c);

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_indexed, MPI_COMBINER_INDEXED, count, array_of_blocklengths,
                 array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_indexed);

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_indexed_c, MPI_COMBINER_INDEXED, count, array_of_blocklengths,
                 array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_indexed_c);

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_hindexed, MPI_COMBINER_HINDEXED, count,
                 array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_hindexed);

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_hindexed_c, MPI_COMBINER_HINDEXED, count,
                 array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_hindexed_c);

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_indexed_block, MPI_COMBINER_INDEXED_BLOCK, count,
                 &blocklength, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_indexed_block);

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_indexed_block_c, MPI_COMBINER_INDEXED_BLOCK, count,
                 &blocklength, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_indexed_block_c);

int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_hindexed_block, MPI_COMBINER_HINDEXED_BLOCK, count,
                 &blocklength, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_hindexed_block);

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return Indexed(Call::MPI_Type_create_hindexed_block_c, MPI_COMBINER_HINDEXED_BLOCK, count,
                 &blocklength, array_of_displacements, oldtype, newtype);
}
PROFILED(MPI_Type_create_hindexed_block_c);

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  return Struct(Call::MPI_Type_create_struct, count, array_of_blocklengths, array_of_displacements,
                array_of_types, newtype);
}
PROFILED(MPI_Type_create_struct);

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  return Struct(Call::MPI_Type_create_struct_c, count, array_of_blocklengths,
                array_of_displacements, array_of_types, newtype);
}
PROFILED(MPI_Type_create_struct_c);

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype* newtype) {
  return Resized<int>(Call::MPI_Type_create_resized, oldtype, lb, extent, newtype);
}
PROFILED(MPI_Type_create_resized);

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype* newtype) {
  return Resized<MPI_Count>(Call::MPI_Type_create_resized_c, oldtype, lb, extent, newtype);
}
PROFILED(MPI_Type_create_resized_c);

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return Subarray(Call::MPI_Type_create_subarray, ndims, array_of_sizes, array_of_subsizes,
                  array_of_starts, order, oldtype, newtype);
}
PROFILED(MPI_Type_create_subarray);

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype* newtype) {
  return Subarray(Call::MPI_Type_create_subarray_c, ndims, array_of_sizes, array_of_subsizes,
                  array_of_starts, order, oldtype, newtype);
}
PROFILED(MPI_Type_create_subarray_c);

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype* newtype) {
  return Darray(Call::MPI_Type_create_darray, size, rank, ndims, array_of_gsizes, array_of_distribs,
                array_of_dargs, array_of_psizes, order, oldtype, newtype);
}
PROFILED(MPI_Type_create_darray);

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return Darray(Call::MPI_Type_create_darray_c, size, rank, ndims, array_of_gsizes,
                array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype);
}
PROFILED(MPI_Type_create_darray_c);

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Entry entry(Call::MPI_Type_dup);
  REQUIRE_INITIALIZED(entry);
  Datatype* old = FindDatatype(oldtype);
  if (old == nullptr) return BadDatatype(entry, oldtype);
  REQUIRE_POINTER(nullptr, newtype);
  Datatype* made = types::MakeDup(old);
  if (old->extras != nullptr) {
    const int error = CopyAttributes(lamina::core::Holder::kDatatype, oldtype,
                                     old->extras->attributes, &ExtrasOf(made).attributes);
    if (error != MPI_SUCCESS) {
      Release(made);
      return lamina::core::Raise(nullptr, error, entry.name(),
                                 "an attribute's copy function returned %d", error);
    }
  }
  Contents contents = Begin(MPI_COMBINER_DUP);
  contents.types = {old};
  return Finish(entry, made, std::move(contents), newtype);
}
PROFILED(MPI_Type_dup);
