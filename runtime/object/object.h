// SPDX-License-Identifier: BSD-3-Clause
// Every MPI object starts with the words below; this header also says how handles become objects.
//
// In the standard ABI a predefined handle is a constant below 0x1000 and a handle of ours is the
// address of its object (MPI-5.0, chapter "Application Binary Interface"). The first word of an
// object says what it is, so a freed or foreign handle is recognised before it is used.
#pragma once

#include <cstdint>

namespace lamina::core {

enum class Kind : std::uint32_t {
  kFreed = 0xdeadbeefu,
  kComm = 0x4c4d0001u,
  kGroup,
  kDatatype,
  kOp,
  kRequest,
  kErrhandler,
  kInfo,
  kMessage,
  kSession,
  kWin,
  kFile,
};

struct Object {
  explicit constexpr Object(Kind object_kind) : kind(object_kind) {}
  Kind kind;
  std::uint32_t references = 1;  // guarded by the library lock
};

inline constexpr std::uintptr_t kPredefinedEnd = 0x1000;

template <class Handle>
constexpr bool IsPredefined(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle) < kPredefinedEnd;
}

// Returns the object behind a handle that is not predefined, or null if the handle is no object of
// kind `T::kKind`.
template <class T, class Handle>
T* FromHandle(Handle handle) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  if (address < kPredefinedEnd || address % alignof(T) != 0) return nullptr;
  T* object = reinterpret_cast<T*>(address);
  return object->kind == T::kKind ? object : nullptr;
}

template <class Handle, class T>
Handle ToHandle(T* object) {
  return reinterpret_cast<Handle>(object);
}

}  // namespace lamina::core
