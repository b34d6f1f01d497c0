// SPDX-License-Identifier: BSD-3-Clause
// A datatype says where the bytes of a message lie in memory (MPI-5.0, chapter 5).
//
// A type is kept in two forms: the constructor call that made it (definition.h), and the layout of
// one element (layout.h), flattened once when the type is committed. Everything below counts in
// bytes, with 64 bits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/object/object.h"

namespace lamina::datatype {

// This says what one predefined type is made of, for reductions and for external32.
enum class Basic : std::uint8_t {
  kNone,  // derived, or not a single kind of element
  kByte,
  kChar,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kLong,  // 64 bits here, 32 in external32
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kUnsignedLong,
  kInt128,
  kFloat,
  kDouble,
  kLongDouble,
  kFloat16,
  kFloat128,
  kFloatComplex,
  kDoubleComplex,
  kLongDoubleComplex,
  kFloat16Complex,
  kFloat128Complex,
  kBool,
  kLogical1,
  kLogical2,
  kLogical4,
  kLogical8,
  kLogical16,
  kPacked,
  kWchar,
  kPair,  // a value and where it was found
};

struct Layout;      // where the bytes of one element lie: layout.h
struct Definition;  // how a derived type was made: definition.h
struct Extras;      // name and attributes given by the application: definition.h

struct Datatype : core::Object {
  static constexpr core::Kind kKind = core::Kind::kDatatype;
  constexpr Datatype() : Object(kKind) {}

  // The short path reads these members, so they come first.
  std::int64_t size = 0;         // bytes of data in one element
  std::int64_t extent = 0;       // from one element to the next
  bool contiguous = false;       // elements lie end to end without holes, data at offset true_lower
  bool committed = false;        // has a layout
  bool predefined = false;       // named, or made on demand: parametrised.h
  bool explicit_bounds = false;  // a bound was set by MPI_Type_create_resized or the like
  Basic basic = Basic::kNone;    // of predefined types
  Basic value = Basic::kNone;    // of pairs
  Basic index = Basic::kNone;    // of pairs; it lies where a C struct of the two would have it

  std::int64_t lower = 0;  // lower bound
  std::int64_t true_lower = 0;
  std::int64_t true_extent = 0;
  std::int64_t alignment = 1;      // largest of the basic elements'
  std::int64_t elements = 0;       // basic elements in one element; a pair such as MPI_2INT has two
  const Layout* layout = nullptr;  // null until committed

  std::uint32_t predefined_handle = 0;  // value of the MPI_Datatype constant; 0: has no name
  const char* predefined_name = "";
  Definition* definition = nullptr;  // owned; null for named predefined types
  Extras* extras = nullptr;          // owned; null until needed
};

// These are the predefined types, and the index of each plus one by the low byte of its handle; 0
// means that there is none. The other bits of a handle are kPredefinedBase.
inline constexpr std::uintptr_t kPredefinedBase = 0x200;
extern Datatype* const predefined_types;
struct PredefinedIndex {
  std::uint8_t by_low_byte[256] = {};
};
extern const PredefinedIndex predefined_index;

// Finds a predefined type or one of the application's, in constant time; returns null for
// MPI_DATATYPE_NULL and everything else.
[[gnu::always_inline]] inline Datatype* FindDatatype(MPI_Datatype handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if ((value & ~std::uintptr_t{0xff}) != kPredefinedBase) [[unlikely]]
    return core::FromHandle<Datatype>(handle);
  const std::uint8_t index = predefined_index.by_low_byte[value & 0xff];
  return index == 0 ? nullptr : &predefined_types[index - 1];
}
MPI_Datatype HandleOf(const Datatype* type);
// Makes the type ready for communication: flattens it and what it is made of. A second call does
// nothing.
void Commit(Datatype* type);
// Predefined types are not counted.
void Retain(Datatype* type);
// Frees the type at zero and lets go of the types it was made of.
void Release(Datatype* type);

// Returns `address` moved by `offset` bytes. The sum is made of integers, because MPI_BOTTOM, which
// is null, takes part.
inline std::byte* At(const void* address, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(offset));
}

// A buffer is `count` elements at `address`, whether they are there or are to come.
struct Buffer {
  void* address = nullptr;  // as the user gave it; MPI_BOTTOM is null
  std::int64_t count = 0;
  const Datatype* type = nullptr;

  std::int64_t bytes() const { return count * type->size; }
  bool contiguous() const { return type->contiguous || bytes() == 0; }
  // Returns the first byte of data; contiguous() must hold.
  std::byte* data() const { return At(address, type->true_lower); }
};

// Copies the packed bytes [position, position + into.size()) of `from` to `into`, in type map
// order. The range must lie within from.bytes(). Nothing is allocated.
void Pack(const Buffer& from, std::int64_t position, std::span<std::byte> into);
// Does the reverse of Pack.
void Unpack(std::span<const std::byte> from, std::int64_t position, const Buffer& into);
// Unpacks all of what another process has just written to memory that both share.
void UnpackFresh(std::span<const std::byte> from, const Buffer& into);
// Copies data from one layout to another, as many bytes as both have, without packing where either
// is contiguous.
void Copy(const Buffer& from, const Buffer& into);

}  // namespace lamina::datatype
