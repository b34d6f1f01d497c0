// SPDX-License-Identifier: BSD-3-Clause
// The memory of a buffer as runs, and the one basic type that a datatype is made of: what
// one-sided communication needs to know of a datatype at the other process.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/datatype/datatype.h"
#include "runtime/datatype/layout.h"

namespace lamina::datatype {

// A run is `count` pieces of `bytes` each, `stride` apart, the first `offset` bytes from the
// buffer's address.
struct Run {
  std::int64_t offset;
  std::int64_t bytes;
  std::int64_t stride;
  std::int64_t count;
};

// The lowest byte of data in a buffer, and the first byte behind its data, relative to its address.
// Both are 0 if there is no data.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
Span SpanOf(std::int64_t count, const Datatype& type);

// Returns the one predefined type that every element of `type` is, or null if there are several or
// none. A pair such as MPI_SHORT_INT is one element with a hole. Two types of the same kind of
// element, such as MPI_INT and MPI_INTEGER, are the same here.
const Datatype* Uniform(const Datatype& type);
// True if both are the same kind of element.
bool SameBasic(const Datatype& one, const Datatype& other);
// Finds a predefined type by what it is made of, as another process has said it. Returns null if
// there is none.
const Datatype* FindBasic(Basic basic, Basic value, Basic index);

namespace detail {

template <class Visit>
bool VisitLayout(const Layout& layout, std::int64_t offset, std::int64_t stride, std::int64_t count,
                 const Visit& visit);

template <class Visit>
bool VisitGroup(const Group& group, std::int64_t offset, const Visit& visit) {
  offset += group.offset;
  switch (group.kind) {
    case Group::Kind::kStrided:
      return visit(Run{offset, group.bytes, group.stride, group.pieces});
    case Group::Kind::kNested:
      return VisitLayout(*group.inner, offset, group.stride, group.pieces, visit);
    case Group::Kind::kListed:
      for (std::int64_t i = 0; i < group.pieces; ++i)
        if (!visit(Run{offset + group.offsets[i], group.bytes, 0, 1})) return false;
      return true;
    case Group::Kind::kMixed:
      for (std::int64_t i = 0; i < group.pieces; ++i)
        if (!visit(Run{offset + group.offsets[i], group.ends[i + 1] - group.ends[i], 0, 1}))
          return false;
      return true;
  }
  return true;
}

template <class Visit>
bool VisitLayout(const Layout& layout, std::int64_t offset, std::int64_t stride, std::int64_t count,
                 const Visit& visit) {
  if (layout.pieces == 1)
    return visit(Run{offset + layout.groups[0].offset, layout.size, stride, count});
  for (std::int64_t i = 0; i < count; ++i)
    for (const Group& group : layout.groups)
      if (!VisitGroup(group, offset + i * stride, visit)) return false;
  return true;
}

}  // namespace detail

// Calls `visit` with the runs of `count` elements of a committed type, in type map order. It stops
// and returns false if `visit` does.
template <class Visit>
bool ForEachRun(std::int64_t count, const Datatype& type, const Visit& visit) {
  if (count == 0 || type.size == 0) return true;
  if (type.contiguous) return visit(Run{type.true_lower, count * type.size, 0, 1});
  return detail::VisitLayout(*type.layout, 0, type.extent, count, visit);
}

}  // namespace lamina::datatype
