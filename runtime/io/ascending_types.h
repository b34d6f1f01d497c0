// SPDX-License-Identifier: BSD-3-Clause
// Tests of views use random types and a naive list of what they mean.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/definition.h"

namespace lamina::io {

// Lists the offset of every data byte of an element at `base`.
inline void List(const datatype::Datatype& type, std::int64_t base,
                 std::vector<std::int64_t>* offsets) {
  if (type.predefined) {
    for (std::int64_t i = 0; i < type.size; ++i) offsets->push_back(base + i);
    return;
  }
  for (const datatype::Part& part : type.definition->parts)
    for (std::int64_t block = 0; block < part.repeats; ++block)
      for (std::int64_t i = 0; i < part.count; ++i)
        List(*part.type, base + part.displacement + block * part.stride + i * part.type->extent,
             offsets);
}

// Makes random types whose data ascends and whose copies do, too.
class Ascending {
 public:
  explicit Ascending(unsigned seed) : random_(seed) {}

  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // Makes a type, which the caller owns.
  datatype::Datatype* Make(int depth) {
    if (depth == 0) {
      const MPI_Datatype leaves[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
      return datatype::FindDatatype(leaves[Between(0, 3)]);
    }
    datatype::Datatype* inner = Make(depth - 1);
    datatype::Datatype* made = nullptr;
    if (Between(0, 1) == 0) {
      const std::int64_t block = Between(1, 3);
      made =
          datatype::MakeVector(Between(1, 12), block, inner->extent * block + Between(0, 9), inner);
    } else {
      std::vector<datatype::Part> parts;
      std::int64_t at = 0;
      for (std::int64_t i = Between(1, 6); i > 0; --i) {
        at += Between(0, 7);
        const std::int64_t count = Between(1, 4);
        parts.push_back(datatype::Part{inner, at, count});
        at += count * inner->extent;
      }
      made = datatype::MakeBlocks(std::move(parts));
    }
    datatype::Release(inner);
    datatype::Datatype* resized =
        datatype::MakeResized(0, made->true_lower + made->true_extent + Between(0, 5), made);
    datatype::Release(made);
    return resized;
  }

 private:
  std::mt19937 random_;
};

}  // namespace lamina::io
