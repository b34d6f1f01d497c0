// SPDX-License-Identifier: BSD-3-Clause
// Memory of a window that this process reaches without its owner, and how data goes there and
// back: plain copies where it is mapped here, system calls where it is not.
//
// Functions return an MPI error class. The bytes have been found to lie within the window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"
#include "runtime/datatype/runs.h"
#include "runtime/rma/exclusion.h"

namespace lamina::rma {

using datatype::Buffer;
using datatype::Datatype;

// `offset` is where the place lies in the window, or its address in a dynamic one. All members
// count zones from the same offsets. The memory of a dynamic window may begin at null.
struct Place {
  std::byte* memory = nullptr;  // where it is, if it is mapped
  std::int32_t pid = 0;         // whose memory it is, if it is not; 0: it is mapped
  std::uint64_t address = 0;    // in that process
  std::uint64_t offset = 0;

  bool is_mapped() const { return pid == 0; }
};

// The bytes at a place that are accessed: elements of a datatype, or runs that a message brought.
struct Shape {
  std::int64_t count = 0;
  const Datatype* type = nullptr;
  std::span<const datatype::Run> runs;

  // See datatype::ForEachRun.
  template <class Visit>
  bool ForEachRun(const Visit& visit) const {
    if (type != nullptr) return datatype::ForEachRun(count, *type, visit);
    for (const datatype::Run& run : runs)
      if (!visit(run)) return false;
    return true;
  }
};

int Put(const Place& to, const Shape& shape, const Buffer& from);
int Get(const Place& from, const Shape& shape, const Buffer& into);

// What is made of the elements at a place: old op operand. `result`, if it has a type, gets the old
// elements. The operand of MPI_NO_OP is not looked at.
struct Accumulation {
  const datatype::Op* op = nullptr;
  const Datatype* basic = nullptr;
  Buffer operand;
  Buffer result;
};
int Accumulate(const Place& at, const Shape& shape, const Accumulation& it, Exclusion zones);

// Replaces one element by `desired` if it is `expected`; `result` gets the old one.
struct Swap {
  const void* expected;
  const void* desired;
  void* result;
  std::size_t bytes;
};
int CompareAndSwap(const Place& at, const Swap& it, Exclusion zones);

}  // namespace lamina::rma
