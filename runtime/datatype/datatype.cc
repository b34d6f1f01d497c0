// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/datatype.h"

#include <algorithm>

#include "runtime/datatype/definition.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

// Returns how many elements of its type `part` has.
std::int64_t CopiesOf(const Part& part) {
  return std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0);
}

void Flatten(Datatype* type) {
  if (type->layout != nullptr) return;
  LayoutBuilder builder;
  for (const Part& part : type->definition->parts) {
    if (CopiesOf(part) == 0 || part.type->size == 0) continue;
    Flatten(part.type);
    const Layout& child = *part.type->layout;
    if (part.repeats == 1) {
      builder.Append(child, part.displacement, part.count, part.type->extent);
    } else if (part.count == 1) {
      builder.Append(child, part.displacement, part.repeats, part.stride);
    } else {
      LayoutBuilder block;
      block.Append(child, 0, part.count, part.type->extent);
      builder.Append(block.Take(), part.displacement, part.repeats, part.stride);
    }
  }
  type->definition->layout = builder.Take();
  type->layout = type->definition->layout.get();
  const Layout& layout = *type->layout;
  type->contiguous =
      type->size == 0 || (layout.pieces == 1 && layout.groups[0].bytes == type->extent);
}

}  // namespace

MPI_Datatype HandleOf(const Datatype* type) {
  if (type->predefined_handle != 0)
    return reinterpret_cast<MPI_Datatype>(std::uintptr_t{type->predefined_handle});
  return core::ToHandle<MPI_Datatype>(const_cast<Datatype*>(type));
}

void Retain(Datatype* type) {
  if (!type->predefined) ++type->references;
}

void Release(Datatype* type) {
  if (type->predefined || --type->references > 0) return;
  for (Datatype* held : type->definition->held) Release(held);
  for (Datatype* held : type->definition->contents.types) Release(held);
  delete type->definition;
  delete type->extras;
  type->kind = core::Kind::kFreed;
  delete type;
}

void Commit(Datatype* type) {
  Flatten(type);
  type->committed = true;
}

Extras& ExtrasOf(Datatype* type) {
  if (type->extras == nullptr) type->extras = new Extras;
  return *type->extras;
}

void Record(Datatype* type, Contents contents) {
  for (Datatype* held : contents.types) Retain(held);
  type->definition->contents = std::move(contents);
}

std::int64_t ElementsIn(const Datatype& type, std::int64_t bytes) {
  if (type.size == 0) return bytes == 0 ? 0 : -1;
  const std::int64_t whole = bytes / type.size * type.elements;
  std::int64_t rest = bytes % type.size;
  if (rest == 0) return whole;
  if (type.predefined)  // a pair may have come without its index
    return type.elements == 2 && rest == BytesOf(type.value) ? whole + 1 : -1;
  std::int64_t elements = whole;
  for (const Part& part : type.definition->parts) {
    const std::int64_t copies = CopiesOf(part);
    const std::int64_t part_bytes = copies * part.type->size;
    if (rest < part_bytes) {
      const std::int64_t within = ElementsIn(*part.type, rest);
      return within < 0 ? -1 : elements + within;
    }
    elements += copies * part.type->elements;
    rest -= part_bytes;
  }
  return elements;
}

std::int64_t BytesOf(const Datatype& type, std::int64_t elements) {
  if (type.elements == 0) return 0;
  std::int64_t bytes = elements / type.elements * type.size;
  std::int64_t rest = elements % type.elements;
  if (rest == 0) return bytes;
  if (type.predefined) return bytes + BytesOf(type.value);
  for (const Part& part : type.definition->parts) {
    const std::int64_t copies = CopiesOf(part);
    if (rest < copies * part.type->elements) return bytes + BytesOf(*part.type, rest);
    bytes += copies * part.type->size;
    rest -= copies * part.type->elements;
  }
  return bytes;
}

}  // namespace lamina::datatype
