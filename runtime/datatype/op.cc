// SPDX-License-Identifier: BSD-3-Clause
// Each pair of operation and kind of element has its own loop, found once per call. The loops are
// plain, so that the compiler makes vectors of them, and it makes each of them twice: for every
// processor, and for those with wider vectors. Results have the same bits in both, because neither
// fuses a multiplication with an addition.
// same bits: neither fuses a multiplication with an addition.
#include "runtime/datatype/op.h"

#include <algorithm>
#include <array>
#include <climits>

#include "runtime/base/check.h"
#include "runtime/datatype/combine.h"
#include "runtime/datatype/half.h"

namespace lamina::datatype {
namespace {

using Kernel = void (*)(const void* first, const void* second, void* out, std::int64_t count);

// `out` may be `second`, because the compiler's own test for overlap lets that through as vectors.
template <class T, class Operation>
[[gnu::always_inline]] inline void Each(const void* first, const void* second, void* out,
                                        std::int64_t count) {
  const T* left = static_cast<const T*>(first);
  const T* right = static_cast<const T*>(second);
  T* result = static_cast<T*>(out);
  for (std::int64_t i = 0; i < count; ++i) result[i] = Operation::Apply(left[i], right[i]);
}

template <class T, class Operation>
void NarrowLoop(const void* first, const void* second, void* out, std::int64_t count) {
  Each<T, Operation>(first, second, out, count);
}

#if defined(__x86_64__)
template <class T, class Operation>
__attribute__((target("avx2"))) void WideLoop(const void* first, const void* second, void* out,
                                              std::int64_t count) {
  Each<T, Operation>(first, second, out, count);
}
#endif

// No vector holds numbers of 16 bytes, nor half floats, which are converted one by one.
template <class T>
constexpr bool kFitsVectors = std::is_arithmetic_v<T> && sizeof(T) <= 8;
template <class T>
constexpr bool kFitsVectors<Complex<T>> = kFitsVectors<T>;

template <class T, class Operation>
Kernel Loop() {
#if defined(__x86_64__)
  if constexpr (kFitsVectors<T>)
    if (__builtin_cpu_supports("avx2")) return WideLoop<T, Operation>;
#endif
  return NarrowLoop<T, Operation>;
}

// This copies member by member, because the padding behind the last pair need not be there.
template <class P, class Operation>
void PairLoop(const void* first, const void* second, void* out, std::int64_t count) {
  const P* left = static_cast<const P*>(first);
  const P* right = static_cast<const P*>(second);
  P* result = static_cast<P*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool equal = left[i].value == right[i].value;
    const bool is_left =
        equal ? left[i].where < right[i].where : Operation::IsBetter(left[i].value, right[i].value);
    const P& better = is_left ? left[i] : right[i];
    result[i].value = better.value;
    result[i].where = better.where;
  }
}

// These are the rows of table 6.1 (MPI-5.0): which kinds of element a group of operations takes.

// The table does not name characters, but every other MPI takes them for small integers, and
// programs have come to rely on it.
template <class Operation>
Kernel OnIntegers(Basic basic) {
  switch (basic) {
    case Basic::kChar:
    case Basic::kInt8:
      return Loop<std::int8_t, Operation>();
    case Basic::kInt16:
      return Loop<std::int16_t, Operation>();
    case Basic::kInt32:
      return Loop<std::int32_t, Operation>();
    case Basic::kInt64:
    case Basic::kLong:
      return Loop<std::int64_t, Operation>();
    case Basic::kInt128:
      return Loop<__int128, Operation>();
    case Basic::kUint8:
      return Loop<std::uint8_t, Operation>();
    case Basic::kUint16:
      return Loop<std::uint16_t, Operation>();
    case Basic::kUint32:
      return Loop<std::uint32_t, Operation>();
    case Basic::kUint64:
    case Basic::kUnsignedLong:
      return Loop<std::uint64_t, Operation>();
    default:
      return nullptr;
  }
}

template <class Operation>
Kernel OnOrdered(Basic basic) {
  switch (basic) {
    case Basic::kFloat16:
      return Loop<Half, Operation>();
    case Basic::kFloat:
      return Loop<float, Operation>();
    case Basic::kDouble:
      return Loop<double, Operation>();
    case Basic::kLongDouble:
      return Loop<long double, Operation>();
    case Basic::kFloat128:
      return Loop<__float128, Operation>();
    default:
      return OnIntegers<Operation>(basic);
  }
}

template <class Operation>
Kernel OnNumbers(Basic basic) {
  switch (basic) {
    case Basic::kFloat16Complex:
      return Loop<Complex<Half>, Operation>();
    case Basic::kFloatComplex:
      return Loop<Complex<float>, Operation>();
    case Basic::kDoubleComplex:
      return Loop<Complex<double>, Operation>();
    case Basic::kLongDoubleComplex:
      return Loop<Complex<long double>, Operation>();
    case Basic::kFloat128Complex:
      return Loop<Complex<__float128>, Operation>();
    default:
      return OnOrdered<Operation>(basic);
  }
}

template <class Operation>
Kernel OnLogicals(Basic basic) {
  switch (basic) {
    case Basic::kBool:
    case Basic::kLogical1:
      return Loop<std::uint8_t, Operation>();
    case Basic::kLogical2:
      return Loop<std::uint16_t, Operation>();
    case Basic::kLogical4:
      return Loop<std::uint32_t, Operation>();
    case Basic::kLogical8:
      return Loop<std::uint64_t, Operation>();
    case Basic::kLogical16:
      return Loop<unsigned __int128, Operation>();
    default:
      return OnIntegers<Operation>(basic);
  }
}

template <class Operation>
Kernel OnBits(Basic basic) {
  return basic == Basic::kByte ? Loop<std::uint8_t, Operation>() : OnIntegers<Operation>(basic);
}

template <class Operation, class Value>
Kernel OnPairsOf(Basic index) {
  switch (index) {
    case Basic::kInt8:
      return PairLoop<Pair<Value, std::int8_t>, Operation>;
    case Basic::kInt16:
      return PairLoop<Pair<Value, std::int16_t>, Operation>;
    case Basic::kInt32:
      return PairLoop<Pair<Value, std::int32_t>, Operation>;
    case Basic::kInt64:
    case Basic::kLong:
      return PairLoop<Pair<Value, std::int64_t>, Operation>;
    case Basic::kUint8:
      return PairLoop<Pair<Value, std::uint8_t>, Operation>;
    case Basic::kUint16:
      return PairLoop<Pair<Value, std::uint16_t>, Operation>;
    case Basic::kUint32:
      return PairLoop<Pair<Value, std::uint32_t>, Operation>;
    case Basic::kUint64:
    case Basic::kUnsignedLong:
      return PairLoop<Pair<Value, std::uint64_t>, Operation>;
    case Basic::kFloat:  // in Fortran both halves are of one kind
      return PairLoop<Pair<Value, float>, Operation>;
    case Basic::kDouble:
      return PairLoop<Pair<Value, double>, Operation>;
    default:
      return nullptr;
  }
}

template <class Operation>
Kernel OnPairs(const Datatype& type) {
  switch (type.value) {
    case Basic::kInt8:
      return OnPairsOf<Operation, std::int8_t>(type.index);
    case Basic::kInt16:
      return OnPairsOf<Operation, std::int16_t>(type.index);
    case Basic::kInt32:
      return OnPairsOf<Operation, std::int32_t>(type.index);
    case Basic::kInt64:
    case Basic::kLong:
      return OnPairsOf<Operation, std::int64_t>(type.index);
    case Basic::kUint8:
      return OnPairsOf<Operation, std::uint8_t>(type.index);
    case Basic::kUint16:
      return OnPairsOf<Operation, std::uint16_t>(type.index);
    case Basic::kUint32:
      return OnPairsOf<Operation, std::uint32_t>(type.index);
    case Basic::kUint64:
    case Basic::kUnsignedLong:
      return OnPairsOf<Operation, std::uint64_t>(type.index);
    case Basic::kFloat:
      return OnPairsOf<Operation, float>(type.index);
    case Basic::kDouble:
      return OnPairsOf<Operation, double>(type.index);
    case Basic::kLongDouble:
      return OnPairsOf<Operation, long double>(type.index);
    default:
      return nullptr;
  }
}

template <Kernel (*on)(Basic basic)>
Kernel OnSingles(const Datatype& type) {
  return on(type.basic);
}

struct Row {
  std::uint32_t handle;
  const char* name;
  Kernel (*find)(
      const Datatype& type);  // null for MPI_REPLACE and MPI_NO_OP, which are not for reductions
};
constexpr Row kRows[] = {
    {0x21, "MPI_SUM", OnSingles<OnNumbers<Sum>>},
    {0x22, "MPI_MIN", OnSingles<OnOrdered<Minimum>>},
    {0x23, "MPI_MAX", OnSingles<OnOrdered<Maximum>>},
    {0x24, "MPI_PROD", OnSingles<OnNumbers<Product>>},
    {0x28, "MPI_BAND", OnSingles<OnBits<BitAnd>>},
    {0x29, "MPI_BOR", OnSingles<OnBits<BitOr>>},
    {0x2a, "MPI_BXOR", OnSingles<OnBits<BitXor>>},
    {0x30, "MPI_LAND", OnSingles<OnLogicals<LogicalAnd>>},
    {0x31, "MPI_LOR", OnSingles<OnLogicals<LogicalOr>>},
    {0x32, "MPI_LXOR", OnSingles<OnLogicals<LogicalXor>>},
    {0x38, "MPI_MINLOC", OnPairs<MinimumLocation>},
    {0x39, "MPI_MAXLOC", OnPairs<MaximumLocation>},
    {0x3c, "MPI_REPLACE", nullptr},
    {0x3d, "MPI_NO_OP", nullptr},
};
constexpr std::uint32_t kBase = 0x20;
constexpr std::uint32_t kEnd = 0x40;

// The table is indexed by handle - kBase; unused slots have no name.
constexpr std::array<Op, kEnd - kBase> MakeOps() {
  std::array<Op, kEnd - kBase> ops;
  for (const Row& row : kRows) {
    Op& op = ops[row.handle - kBase];
    op.predefined_handle = row.handle;
    op.predefined = true;
    op.name = row.name;
    op.commutative = row.handle != 0x3c;
  }
  return ops;
}
constinit std::array<Op, kEnd - kBase> ops = MakeOps();

constexpr std::array<Kernel (*)(const Datatype&), kEnd - kBase> MakeFinders() {
  std::array<Kernel (*)(const Datatype&), kEnd - kBase> finders{};
  for (const Row& row : kRows) finders[row.handle - kBase] = row.find;
  return finders;
}
constexpr std::array<Kernel (*)(const Datatype&), kEnd - kBase> kFinders = MakeFinders();

Kernel FindKernel(const Op& op, const Datatype& type) {
  const auto find = kFinders[op.predefined_handle - kBase];
  return find != nullptr ? find(type) : nullptr;
}

void CallUser(const Op& op, const void* in, void* inout, std::int64_t count, const Datatype& type) {
  MPI_Datatype handle = HandleOf(&type);
  if (op.large_count) {
    MPI_Count length = count;
    reinterpret_cast<MPI_User_function_c*>(op.user)(const_cast<void*>(in), inout, &length, &handle);
    return;
  }
  for (std::int64_t first = 0; first < count;) {
    int length = static_cast<int>(std::min<std::int64_t>(count - first, INT_MAX));
    const std::int64_t offset = first * type.extent;
    first += length;
    reinterpret_cast<MPI_User_function*>(op.user)(At(in, offset), At(inout, offset), &length,
                                                  &handle);
  }
}

}  // namespace

Op* FindOp(MPI_Op handle) {
  if (!core::IsPredefined(handle)) return core::FromHandle<Op>(handle);
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < kBase || value >= kEnd) return nullptr;
  Op* op = &ops[value - kBase];
  return op->predefined ? op : nullptr;
}

MPI_Op HandleOf(const Op* op) {
  if (op->predefined) return reinterpret_cast<MPI_Op>(std::uintptr_t{op->predefined_handle});
  return core::ToHandle<MPI_Op>(const_cast<Op*>(op));
}

void Retain(Op* op) {
  if (!op->predefined) ++op->references;
}

void Release(Op* op) {
  if (op->predefined || --op->references > 0) return;
  op->kind = core::Kind::kFreed;
  delete op;
}

bool Fits(const Op& op, const Datatype& type) {
  return !op.predefined || FindKernel(op, type) != nullptr;
}

void Reduce(const Op& op, const void* in, void* inout, std::int64_t count, const Datatype& type) {
  Combine(op, in, inout, inout, count, type);
}

void Combine(const Op& op, const void* first, const void* second, void* out, std::int64_t count,
             const Datatype& type) {
  if (count == 0) return;
  if (!op.predefined) {
    if (out != second) Copy({const_cast<void*>(second), count, &type}, {out, count, &type});
    return CallUser(op, first, out, count, type);
  }
  const Kernel kernel = FindKernel(op, type);
  DCHECK(kernel != nullptr);
  kernel(first, second, out, count);
}

}  // namespace lamina::datatype
