// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/view.h"

#include <algorithm>

#include "runtime/datatype/layout.h"
#include "runtime/io/file_form.h"

namespace lamina::io {
namespace {

using datatype::Datatype;
using datatype::Group;
using datatype::Layout;
using Kind = Group::Kind;

// Collects the pieces of a layout in order and says what is wrong with them. Groups are looked at
// as a whole, so the cost does not grow with the number of pieces of a regular group.
class Walk {
 public:
  Walk(bool writable, std::int64_t unit) : writable_(writable), unit_(unit) {}

  Failure Add(const Layout& layout, std::int64_t base) {
    for (const Group& group : layout.groups)
      if (Failure failure = Add(group, base + group.offset); !failure.ok()) return failure;
    return {};
  }
  // Checks a piece that follows what was added.
  Failure Piece(std::int64_t offset, std::int64_t bytes) {
    if (offset < 0)
      return Fail(MPI_ERR_IO, "the filetype has data at displacement %lld, must not be negative",
                  static_cast<long long>(offset));
    if (any_ && (offset < last_ || (writable_ && offset < end_)))
      return Fail(
          MPI_ERR_IO,
          "the filetype has data at displacement %lld behind data at %lld...%lld, must %s",
          static_cast<long long>(offset), static_cast<long long>(last_),
          static_cast<long long>(end_),
          writable_ ? "not overlap or go back in a file opened for writing" : "not go back");
    if (any_ && unit_ > 0 && offset > end_ && (offset - end_) % unit_ != 0)
      return Fail(MPI_ERR_ARG, "the filetype has a hole of %lld bytes, which are no whole etypes",
                  static_cast<long long>(offset - end_));
    overlaps_ = overlaps_ || offset < end_;
    any_ = true;
    last_ = offset;
    end_ = std::max(end_, offset + bytes);
    return {};
  }
  bool overlaps() const { return overlaps_; }

 private:
  Failure Add(const Group& group, std::int64_t base) {
    if (group.kind == Kind::kListed || group.kind == Kind::kMixed) {
      for (std::int64_t i = 0; i < group.pieces; ++i) {
        const std::int64_t bytes =
            group.kind == Kind::kMixed ? group.ends[i + 1] - group.ends[i] : group.bytes;
        if (Failure failure = Piece(base + group.offsets[i], bytes); !failure.ok()) return failure;
      }
      return {};
    }
    // Copies of a regular group are alike, so the first two and the last show everything.
    const std::int64_t shown[] = {0, 1, group.pieces - 1};
    for (int i = 0; i < 3 && i < group.pieces; ++i) {
      const std::int64_t at = base + shown[i] * group.stride;
      Failure failure =
          group.kind == Kind::kNested ? Add(*group.inner, at) : Piece(at, group.bytes);
      if (!failure.ok()) return failure;
      if (shown[i] == group.pieces - 1) break;
    }
    return {};
  }

  const bool writable_;
  const std::int64_t unit_;  // bytes of an etype without holes; 0: holes are not checked
  bool any_ = false;
  bool overlaps_ = false;
  std::int64_t last_ = 0;
  std::int64_t end_ = 0;
};

Failure CheckType(const char* name, const Datatype* type) {
  if (type == nullptr) return Fail(MPI_ERR_TYPE, "%s is not a datatype", name);
  if (!type->committed) return Fail(MPI_ERR_TYPE, "%s is not committed", name);
  return {};
}

Failure CheckForm(View* view, bool writable) {
  const Datatype& form = *view->form;
  view->stride = form.extent;
  if (form.size == 0) return {};  // nothing can be read or written through it
  if (form.size % view->etype_bytes != 0)
    return Fail(MPI_ERR_ARG,
                "the filetype has %lld bytes of data, which are no whole etypes of %lld",
                static_cast<long long>(form.size), static_cast<long long>(view->etype_bytes));
  Walk walk(writable, view->etype->contiguous ? view->etype_bytes : 0);
  if (Failure failure = walk.Add(*form.layout, 0); !failure.ok()) return failure;
  if (form.extent <= 0)
    return Fail(MPI_ERR_IO, "the filetype has extent %lld, must be positive",
                static_cast<long long>(form.extent));
  // Where the next copy overlaps this one or goes back, there is only this one. PnetCDF makes
  // such filetypes, from parts with bounds of their own.
  const std::int64_t next = form.extent + FirstOffset(*form.layout);
  if (Failure failure = walk.Piece(next, 1); failure.error_class == MPI_ERR_IO)
    view->stride = View::kOnce;
  else if (!failure.ok())
    return failure;
  view->overlaps = walk.overlaps();
  return {};
}

bool IsDense(const Datatype& form) {
  return form.size == 0 || (form.layout->pieces == 1 && form.size == form.extent);
}

}  // namespace

View::~View() {
  if (etype != nullptr) datatype::Release(etype);
  if (filetype != nullptr) datatype::Release(filetype);
  if (form != nullptr) datatype::Release(form);
}

Cursor View::Begin(std::int64_t position) const {
  Cursor cursor(*form->layout, stride, displacement);
  cursor.Seek(position);
  return cursor;
}

std::int64_t View::OffsetAt(std::int64_t position) const {
  if (dense) return displacement + form->true_lower + position;
  return Begin(position).Next(1).offset;
}

std::int64_t View::PositionAt(std::int64_t offset) const {
  if (form->size == 0) return 0;
  if (dense) return std::max<std::int64_t>(0, offset - displacement - form->true_lower);
  return Begin(0).PositionAt(offset);
}

Failure MakeView(const ViewArguments& arguments, View** view) {
  if (Failure failure = CheckType("etype", arguments.etype); !failure.ok()) return failure;
  if (Failure failure = CheckType("filetype", arguments.filetype); !failure.ok()) return failure;
  if (arguments.displacement < 0)
    return Fail(MPI_ERR_ARG, "disp is %lld, must not be negative",
                static_cast<long long>(arguments.displacement));
  View* made = new View;
  made->displacement = arguments.displacement;
  made->datarep = arguments.datarep;
  made->etype = arguments.etype;
  made->filetype = arguments.filetype;
  datatype::Retain(made->etype);
  datatype::Retain(made->filetype);
  Failure failure = MakeFileForm(*made->datarep, made->filetype, &made->form);
  if (failure.ok()) failure = FileBytes(*made->datarep, *made->etype, &made->etype_bytes);
  if (failure.ok() && made->etype_bytes <= 0) failure = Fail(MPI_ERR_ARG, "etype has no data");
  if (failure.ok()) failure = CheckForm(made, arguments.writable);
  if (!failure.ok()) {
    Release(made);
    return failure;
  }
  made->dense = IsDense(*made->form);
  *view = made;
  return {};
}

}  // namespace lamina::io
