// SPDX-License-Identifier: BSD-3-Clause
// These are the predefined datatypes, by the low byte of their handle (MPI-5.0, chapter
// "Application Binary Interface"). Sizes are those of the C and Fortran compilers of Debian on
// x86-64.
#include "runtime/datatype/predefined.h"

#include <array>

#include "runtime/datatype/layout.h"

namespace lamina::datatype {
namespace {

struct Row {
  std::uint32_t handle;
  const char* name;
  Basic basic;
  Basic index = Basic::kNone;  // of pairs only, whose value is then `basic`
};

constexpr Row kRows[] = {
    {0x201, "MPI_AINT", Basic::kInt64},
    {0x202, "MPI_COUNT", Basic::kInt64},
    {0x203, "MPI_OFFSET", Basic::kInt64},
    {0x207, "MPI_PACKED", Basic::kPacked},
    {0x208, "MPI_SHORT", Basic::kInt16},
    {0x209, "MPI_INT", Basic::kInt32},
    {0x20a, "MPI_LONG", Basic::kLong},
    {0x20b, "MPI_LONG_LONG_INT", Basic::kInt64},
    {0x20c, "MPI_UNSIGNED_SHORT", Basic::kUint16},
    {0x20d, "MPI_UNSIGNED", Basic::kUint32},
    {0x20e, "MPI_UNSIGNED_LONG", Basic::kUnsignedLong},
    {0x20f, "MPI_UNSIGNED_LONG_LONG", Basic::kUint64},
    {0x210, "MPI_FLOAT", Basic::kFloat},
    {0x212, "MPI_C_COMPLEX", Basic::kFloatComplex},
    {0x213, "MPI_CXX_FLOAT_COMPLEX", Basic::kFloatComplex},
    {0x214, "MPI_DOUBLE", Basic::kDouble},
    {0x216, "MPI_C_DOUBLE_COMPLEX", Basic::kDoubleComplex},
    {0x217, "MPI_CXX_DOUBLE_COMPLEX", Basic::kDoubleComplex},
    {0x218, "MPI_LOGICAL", Basic::kLogical4},
    {0x219, "MPI_INTEGER", Basic::kInt32},
    {0x21a, "MPI_REAL", Basic::kFloat},
    {0x21b, "MPI_COMPLEX", Basic::kFloatComplex},
    {0x21c, "MPI_DOUBLE_PRECISION", Basic::kDouble},
    {0x21d, "MPI_DOUBLE_COMPLEX", Basic::kDoubleComplex},
    {0x21e, "MPI_CHARACTER", Basic::kChar},
    {0x220, "MPI_LONG_DOUBLE", Basic::kLongDouble},
    {0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Basic::kLongDoubleComplex},
    {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Basic::kLongDoubleComplex},
    {0x228, "MPI_FLOAT_INT", Basic::kFloat, Basic::kInt32},
    {0x229, "MPI_DOUBLE_INT", Basic::kDouble, Basic::kInt32},
    {0x22a, "MPI_LONG_INT", Basic::kLong, Basic::kInt32},
    {0x22b, "MPI_2INT", Basic::kInt32, Basic::kInt32},
    {0x22c, "MPI_SHORT_INT", Basic::kInt16, Basic::kInt32},
    {0x22d, "MPI_LONG_DOUBLE_INT", Basic::kLongDouble, Basic::kInt32},
    {0x230, "MPI_2REAL", Basic::kFloat, Basic::kFloat},
    {0x231, "MPI_2DOUBLE_PRECISION", Basic::kDouble, Basic::kDouble},
    {0x232, "MPI_2INTEGER", Basic::kInt32, Basic::kInt32},
    {0x238, "MPI_C_BOOL", Basic::kBool},
    {0x239, "MPI_CXX_BOOL", Basic::kBool},
    {0x23c, "MPI_WCHAR", Basic::kWchar},
    {0x240, "MPI_INT8_T", Basic::kInt8},
    {0x241, "MPI_UINT8_T", Basic::kUint8},
    {0x243, "MPI_CHAR", Basic::kChar},
    {0x244, "MPI_SIGNED_CHAR", Basic::kInt8},
    {0x245, "MPI_UNSIGNED_CHAR", Basic::kUint8},
    {0x247, "MPI_BYTE", Basic::kByte},
    {0x248, "MPI_INT16_T", Basic::kInt16},
    {0x249, "MPI_UINT16_T", Basic::kUint16},
    {0x250, "MPI_INT32_T", Basic::kInt32},
    {0x251, "MPI_UINT32_T", Basic::kUint32},
    {0x258, "MPI_INT64_T", Basic::kInt64},
    {0x259, "MPI_UINT64_T", Basic::kUint64},
    {0x2c0, "MPI_LOGICAL1", Basic::kLogical1},
    {0x2c1, "MPI_INTEGER1", Basic::kInt8},
    {0x2c8, "MPI_LOGICAL2", Basic::kLogical2},
    {0x2c9, "MPI_INTEGER2", Basic::kInt16},
    {0x2ca, "MPI_REAL2", Basic::kFloat16},
    {0x2d0, "MPI_LOGICAL4", Basic::kLogical4},
    {0x2d1, "MPI_INTEGER4", Basic::kInt32},
    {0x2d2, "MPI_REAL4", Basic::kFloat},
    {0x2d3, "MPI_COMPLEX4", Basic::kFloat16Complex},
    {0x2d8, "MPI_LOGICAL8", Basic::kLogical8},
    {0x2d9, "MPI_INTEGER8", Basic::kInt64},
    {0x2da, "MPI_REAL8", Basic::kDouble},
    {0x2db, "MPI_COMPLEX8", Basic::kFloatComplex},
    {0x2e0, "MPI_LOGICAL16", Basic::kLogical16},
    {0x2e1, "MPI_INTEGER16", Basic::kInt128},
    {0x2e2, "MPI_REAL16", Basic::kFloat128},
    {0x2e3, "MPI_COMPLEX16", Basic::kDoubleComplex},
    {0x2eb, "MPI_COMPLEX32", Basic::kFloat128Complex},
};
constexpr std::size_t kCount = std::size(kRows);

// Each type gets two groups and a layout; only a pair can have a hole inside.
struct Flat {
  Group groups[2];
  Layout layout;
};

constexpr Flat FlatOf(const Row& row) {
  Flat flat;
  const std::int64_t bytes = BytesOf(row.basic);
  const std::int64_t index_bytes = BytesOf(row.index);
  const std::int64_t index_offset = IndexOffset(row.basic, row.index);
  const bool hole = index_offset > bytes;
  flat.groups[0].pieces = 1;
  flat.groups[0].bytes = flat.groups[0].size = hole ? bytes : bytes + index_bytes;
  if (hole) {
    flat.groups[1].position = bytes;
    flat.groups[1].pieces = 1;
    flat.groups[1].bytes = flat.groups[1].size = index_bytes;
    flat.groups[1].offset = index_offset;
  }
  flat.layout.size = bytes + index_bytes;
  flat.layout.pieces = hole ? 2 : 1;
  return flat;
}

constexpr std::array<Flat, kCount> MakeFlat() {
  std::array<Flat, kCount> all;
  for (std::size_t i = 0; i < kCount; ++i) all[i] = FlatOf(kRows[i]);
  return all;
}
constexpr std::array<Flat, kCount> kFlat = MakeFlat();

constexpr std::array<Layout, kCount> MakeLayouts() {
  std::array<Layout, kCount> layouts;
  for (std::size_t i = 0; i < kCount; ++i) {
    layouts[i] = kFlat[i].layout;
    layouts[i].groups =
        std::span(kFlat[i].groups).first(static_cast<std::size_t>(kFlat[i].layout.pieces));
  }
  return layouts;
}
constexpr std::array<Layout, kCount> kLayouts = MakeLayouts();

constexpr std::array<Datatype, kCount> MakeTypes() {
  std::array<Datatype, kCount> types;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Row& row = kRows[i];
    Datatype& type = types[i];
    if (row.index == Basic::kNone) {
      DescribeSingle(&type, row.basic);
    } else {
      DescribePair(&type, row.basic, row.index);
    }
    type.layout = &kLayouts[i];
    type.predefined_handle = row.handle;
    type.predefined_name = row.name;
  }
  return types;
}
constinit std::array<Datatype, kCount> types = MakeTypes();

constexpr PredefinedIndex MakeIndex() {
  PredefinedIndex index;
  for (std::size_t i = 0; i < kCount; ++i)
    index.by_low_byte[kRows[i].handle - kPredefinedBase] = static_cast<std::uint8_t>(i + 1);
  return index;
}

}  // namespace

constinit Datatype* const predefined_types = types.data();
constinit const PredefinedIndex predefined_index = MakeIndex();

std::span<Datatype> PredefinedTypes() { return types; }

}  // namespace lamina::datatype
