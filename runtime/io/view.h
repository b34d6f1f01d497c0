// SPDX-License-Identifier: BSD-3-Clause
// A view says which bytes of the file belong to the data, and what they are (MPI-5.0, section
// 14.3). It never changes once it is made; operations hold the one they began with.
//
// Positions count data bytes in the representation of the file; the user's offsets are positions in
// etypes.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/datatype/datatype.h"
#include "runtime/io/cursor.h"
#include "runtime/io/datarep.h"
#include "runtime/io/failure.h"

namespace lamina::io {

struct View {
  std::uint32_t references = 1;  // guarded by the library lock
  std::int64_t displacement = 0;
  datatype::Datatype* etype = nullptr;  // as the user gave them, held by reference
  datatype::Datatype* filetype = nullptr;
  const Datarep* datarep = nullptr;
  datatype::Datatype* form = nullptr;  // the file form of `filetype`, held by reference
  std::int64_t etype_bytes = 0;        // in the file
  // Copies of the form lie at this distance. Far apart means that only the first may be used.
  static constexpr std::int64_t kOnce = std::int64_t{1} << 61;
  std::int64_t stride = 0;
  bool dense = false;     // no holes behind the first data byte
  bool overlaps = false;  // some byte of the file belongs to the data twice

  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View();

  Cursor Begin(std::int64_t position) const;
  // Returns the offset of the data byte at `position`.
  std::int64_t OffsetAt(std::int64_t position) const;
  // Returns how many data bytes lie in front of `offset`.
  std::int64_t PositionAt(std::int64_t offset) const;
  // Says whether the data in front of `position` may be used.
  bool Has(std::int64_t position) const { return stride != kOnce || position <= form->size; }
};

inline void Retain(View* view) { ++view->references; }
inline void Release(View* view) {
  if (--view->references == 0) delete view;
}

// Says what MPI_File_set_view was given, or what a file begins with.
struct ViewArguments {
  std::int64_t displacement = 0;
  datatype::Datatype* etype = nullptr;
  datatype::Datatype* filetype = nullptr;
  const Datarep* datarep = nullptr;
  bool writable = false;  // then no byte may belong to the data twice
};
// Checks the arguments and makes the view with one reference.
Failure MakeView(const ViewArguments& arguments, View** view);

}  // namespace lamina::io
