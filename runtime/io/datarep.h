// SPDX-License-Identifier: BSD-3-Clause
// A data representation says how the basic elements of a file are laid out and turned into those of
// memory (MPI-5.0, section 14.5): "native", "internal" (which is the same, because all processes
// are alike), "external32", and what the application has registered.
//
// Threads: the caller holds the library lock, because conversion functions of the application may
//          call MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/datatype/datatype.h"
#include "runtime/io/failure.h"

namespace lamina::io {

// These are the functions of MPI_Register_datarep. A null conversion means that data of the file is
// as in memory. Either the int forms or the large ones are set.
struct Conversions {
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_conversion_function_c* read_large = nullptr;
  MPI_Datarep_conversion_function_c* write_large = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;
};

struct Datarep {
  enum class Kind { kNative, kExternal32, kRegistered };
  std::string name;
  Kind kind = Kind::kNative;
  Conversions conversions = {};

  bool native() const { return kind == Kind::kNative; }
};

// Returns null if there is none of that name. What it returns lives as long as the process.
const Datarep* FindDatarep(const std::string& name);
Failure RegisterDatarep(const std::string& name, const Conversions& conversions);

// Finds how many bytes one element of `type` has in a file of this representation.
Failure FileBytes(const Datarep& datarep, const datatype::Datatype& type, std::int64_t* bytes);

// Turns all of `from` into the bytes of a file, which `into` has room for.
Failure Encode(const Datarep& datarep, const datatype::Buffer& from, std::span<std::byte> into);
// Does the reverse with as many whole basic elements as `from` has, which may be fewer than `into`
// has room for. Sets `memory_bytes` to the data bytes written to memory.
Failure Decode(const Datarep& datarep, std::span<std::byte> from, const datatype::Buffer& into,
               std::int64_t* memory_bytes);

}  // namespace lamina::io
