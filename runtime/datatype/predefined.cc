// SPDX-License-Identifier: BSD-3-Clause
// The predefined datatypes, by the low byte of their handle (MPI-5.0, chapter "Application Binary
// Interface"; sizes of the C and Fortran compilers of Debian on x86-64).
#include "runtime/datatype/predefined.h"

#include <array>

namespace lamina::datatype {
namespace {

// `gap`: where the index of a pair starts, or 0 if the type is one piece without holes.
struct Row {
  std::uint32_t handle;
  const char* name;
  Basic basic;
  std::int64_t size;
  std::int64_t alignment;
  std::int64_t extent = 0;  // 0: as size
  std::int64_t gap = 0;
};

constexpr Row kRows[] = {
    {0x201, "MPI_AINT", Basic::kInt64, 8, 8},
    {0x202, "MPI_COUNT", Basic::kInt64, 8, 8},
    {0x203, "MPI_OFFSET", Basic::kInt64, 8, 8},
    {0x207, "MPI_PACKED", Basic::kPacked, 1, 1},
    {0x208, "MPI_SHORT", Basic::kInt16, 2, 2},
    {0x209, "MPI_INT", Basic::kInt32, 4, 4},
    {0x20a, "MPI_LONG", Basic::kInt64, 8, 8},
    {0x20b, "MPI_LONG_LONG_INT", Basic::kInt64, 8, 8},
    {0x20c, "MPI_UNSIGNED_SHORT", Basic::kUint16, 2, 2},
    {0x20d, "MPI_UNSIGNED", Basic::kUint32, 4, 4},
    {0x20e, "MPI_UNSIGNED_LONG", Basic::kUint64, 8, 8},
    {0x20f, "MPI_UNSIGNED_LONG_LONG", Basic::kUint64, 8, 8},
    {0x210, "MPI_FLOAT", Basic::kFloat, 4, 4},
    {0x212, "MPI_C_FLOAT_COMPLEX", Basic::kFloatComplex, 8, 4},
    {0x213, "MPI_CXX_FLOAT_COMPLEX", Basic::kFloatComplex, 8, 4},
    {0x214, "MPI_DOUBLE", Basic::kDouble, 8, 8},
    {0x216, "MPI_C_DOUBLE_COMPLEX", Basic::kDoubleComplex, 16, 8},
    {0x217, "MPI_CXX_DOUBLE_COMPLEX", Basic::kDoubleComplex, 16, 8},
    {0x218, "MPI_LOGICAL", Basic::kLogical4, 4, 4},
    {0x219, "MPI_INTEGER", Basic::kInt32, 4, 4},
    {0x21a, "MPI_REAL", Basic::kFloat, 4, 4},
    {0x21b, "MPI_COMPLEX", Basic::kFloatComplex, 8, 4},
    {0x21c, "MPI_DOUBLE_PRECISION", Basic::kDouble, 8, 8},
    {0x21d, "MPI_DOUBLE_COMPLEX", Basic::kDoubleComplex, 16, 8},
    {0x21e, "MPI_CHARACTER", Basic::kChar, 1, 1},
    {0x220, "MPI_LONG_DOUBLE", Basic::kLongDouble, 16, 16},
    {0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Basic::kLongDoubleComplex, 32, 16},
    {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Basic::kLongDoubleComplex, 32, 16},
    {0x228, "MPI_FLOAT_INT", Basic::kFloatInt, 8, 4},
    {0x229, "MPI_DOUBLE_INT", Basic::kDoubleInt, 12, 8, 16},
    {0x22a, "MPI_LONG_INT", Basic::kLongInt, 12, 8, 16},
    {0x22b, "MPI_2INT", Basic::kTwoInt, 8, 4},
    {0x22c, "MPI_SHORT_INT", Basic::kShortInt, 6, 4, 8, 4},
    {0x22d, "MPI_LONG_DOUBLE_INT", Basic::kLongDoubleInt, 20, 16, 32},
    {0x230, "MPI_2REAL", Basic::kTwoReal, 8, 4},
    {0x231, "MPI_2DOUBLE_PRECISION", Basic::kTwoDouble, 16, 8},
    {0x232, "MPI_2INTEGER", Basic::kTwoInt, 8, 4},
    {0x238, "MPI_C_BOOL", Basic::kBool, 1, 1},
    {0x239, "MPI_CXX_BOOL", Basic::kBool, 1, 1},
    {0x23c, "MPI_WCHAR", Basic::kWchar, 4, 4},
    {0x240, "MPI_INT8_T", Basic::kInt8, 1, 1},
    {0x241, "MPI_UINT8_T", Basic::kUint8, 1, 1},
    {0x243, "MPI_CHAR", Basic::kChar, 1, 1},
    {0x244, "MPI_SIGNED_CHAR", Basic::kInt8, 1, 1},
    {0x245, "MPI_UNSIGNED_CHAR", Basic::kUint8, 1, 1},
    {0x247, "MPI_BYTE", Basic::kByte, 1, 1},
    {0x248, "MPI_INT16_T", Basic::kInt16, 2, 2},
    {0x249, "MPI_UINT16_T", Basic::kUint16, 2, 2},
    {0x250, "MPI_INT32_T", Basic::kInt32, 4, 4},
    {0x251, "MPI_UINT32_T", Basic::kUint32, 4, 4},
    {0x258, "MPI_INT64_T", Basic::kInt64, 8, 8},
    {0x259, "MPI_UINT64_T", Basic::kUint64, 8, 8},
    {0x2c0, "MPI_LOGICAL1", Basic::kLogical1, 1, 1},
    {0x2c1, "MPI_INTEGER1", Basic::kInt8, 1, 1},
    {0x2c8, "MPI_LOGICAL2", Basic::kLogical2, 2, 2},
    {0x2c9, "MPI_INTEGER2", Basic::kInt16, 2, 2},
    {0x2ca, "MPI_REAL2", Basic::kFloat16, 2, 2},
    {0x2d0, "MPI_LOGICAL4", Basic::kLogical4, 4, 4},
    {0x2d1, "MPI_INTEGER4", Basic::kInt32, 4, 4},
    {0x2d2, "MPI_REAL4", Basic::kFloat, 4, 4},
    {0x2d3, "MPI_COMPLEX4", Basic::kFloat16Complex, 4, 2},
    {0x2d8, "MPI_LOGICAL8", Basic::kLogical8, 8, 8},
    {0x2d9, "MPI_INTEGER8", Basic::kInt64, 8, 8},
    {0x2da, "MPI_REAL8", Basic::kDouble, 8, 8},
    {0x2db, "MPI_COMPLEX8", Basic::kFloatComplex, 8, 4},
    {0x2e0, "MPI_LOGICAL16", Basic::kLogical16, 16, 16},
    {0x2e1, "MPI_INTEGER16", Basic::kInt128, 16, 16},
    {0x2e2, "MPI_REAL16", Basic::kFloat128, 16, 16},
    {0x2e3, "MPI_COMPLEX16", Basic::kDoubleComplex, 16, 8},
    {0x2eb, "MPI_COMPLEX32", Basic::kFloat128Complex, 32, 16},
};
constexpr std::size_t kCount = std::size(kRows);
constexpr std::uint32_t kBase = 0x200;

constexpr bool IsPair(Basic basic) {
  return basic >= Basic::kFloatInt && basic <= Basic::kTwoDouble;
}

// Two runs a type: only MPI_SHORT_INT has a hole inside.
constexpr std::array<Run, 2 * kCount> MakeRuns() {
  std::array<Run, 2 * kCount> runs{};
  for (std::size_t i = 0; i < kCount; ++i) {
    const Row& row = kRows[i];
    if (row.gap == 0) {
      runs[2 * i] = Run{0, row.size, 1, 0, 0};
    } else {
      const std::int64_t index_bytes = 4;
      runs[2 * i] = Run{0, row.size - index_bytes, 1, 0, 0};
      runs[2 * i + 1] = Run{row.gap, index_bytes, 1, 0, row.size - index_bytes};
    }
  }
  return runs;
}
constexpr std::array<Run, 2 * kCount> kRuns = MakeRuns();

constexpr std::array<Datatype, kCount> MakeTypes() {
  std::array<Datatype, kCount> types;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Row& row = kRows[i];
    Datatype& type = types[i];
    type.size = row.size;
    type.extent = row.extent != 0 ? row.extent : row.size;
    type.contiguous = type.size == type.extent;
    type.committed = true;
    type.predefined = true;
    type.basic = row.basic;
    type.true_extent = row.gap != 0 ? row.extent : row.size;
    type.alignment = row.alignment;
    type.elements = IsPair(row.basic) ? 2 : 1;
    type.runs = std::span(&kRuns[2 * i], row.gap == 0 ? 1 : 2);
    type.predefined_handle = row.handle;
    type.predefined_name = row.name;
  }
  return types;
}
constinit std::array<Datatype, kCount> types = MakeTypes();

// Handle - kBase -> position in `types`, plus one.
constexpr std::array<std::uint8_t, 256> MakeIndex() {
  std::array<std::uint8_t, 256> index{};
  for (std::size_t i = 0; i < kCount; ++i)
    index[kRows[i].handle - kBase] = static_cast<std::uint8_t>(i + 1);
  return index;
}
constexpr std::array<std::uint8_t, 256> kIndex = MakeIndex();

}  // namespace

Datatype* FindPredefined(std::uintptr_t handle) {
  if (handle < kBase || handle >= kBase + kIndex.size()) return nullptr;
  const std::uint8_t index = kIndex[handle - kBase];
  return index == 0 ? nullptr : &types[index - 1];
}

std::span<Datatype> PredefinedTypes() { return types; }

}  // namespace lamina::datatype
