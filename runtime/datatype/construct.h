// SPDX-License-Identifier: BSD-3-Clause
// These are the datatype constructors (MPI-5.0, sections 5.1.2 to 5.1.7) over bytes and 64-bit
// counts.
//
// Their arguments have been checked. Each returns a new, uncommitted type with one reference, which
// the caller owns; the type holds references on the types it is made of. The result is null if its
// size, a bound or an offset does not fit into 64 bits.
#pragma once

#include <span>
#include <vector>

#include "runtime/datatype/definition.h"

namespace lamina::datatype {

// This is 64-bit arithmetic that remembers whether a result did not fit.
class CheckedMath {
 public:
  std::int64_t Add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    overflowed_ |= __builtin_add_overflow(a, b, &sum);
    return sum;
  }
  std::int64_t Subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    overflowed_ |= __builtin_sub_overflow(a, b, &difference);
    return difference;
  }
  std::int64_t Multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    overflowed_ |= __builtin_mul_overflow(a, b, &product);
    return product;
  }
  bool overflowed() const { return overflowed_; }

 private:
  bool overflowed_ = false;
};

Datatype* MakeContiguous(std::int64_t count, Datatype* type);
Datatype* MakeVector(std::int64_t count, std::int64_t block, std::int64_t stride_bytes,
                     Datatype* type);
// Makes a type of any list of blocks, for indexed, hindexed, indexed_block, hindexed_block and
// struct.
Datatype* MakeBlocks(std::vector<Part> parts);
Datatype* MakeResized(std::int64_t lower, std::int64_t extent, Datatype* type);
// Makes a type with the same bounds and layout, which is committed if `type` is.
Datatype* MakeDup(Datatype* type);

// This is one dimension of an array; the slowest comes first.
struct Dimension {
  std::int64_t size;
  std::int64_t subsize;
  std::int64_t start;
};
Datatype* MakeSubarray(std::span<const Dimension> dimensions, Datatype* type);

// This is what one process of a grid has of one dimension of a distributed array; the slowest comes
// first.
struct Distribution {
  std::int64_t size;        // of the whole array
  int kind;                 // MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE
  std::int64_t argument;    // elements per block, or MPI_DISTRIBUTE_DFLT_DARG
  std::int64_t processes;   // of the grid in this dimension
  std::int64_t coordinate;  // of this process
};
Datatype* MakeDistributedArray(std::span<const Distribution> dimensions, Datatype* type);

}  // namespace lamina::datatype
