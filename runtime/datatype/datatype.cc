// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/datatype.h"

#include <algorithm>

#include "runtime/datatype/definition.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {

Datatype* FindDatatype(MPI_Datatype handle) {
  if (core::IsPredefined(handle)) return FindPredefined(reinterpret_cast<std::uintptr_t>(handle));
  return core::FromHandle<Datatype>(handle);
}

MPI_Datatype HandleOf(const Datatype* type) {
  if (type->predefined)
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

Extras& ExtrasOf(Datatype* type) {
  if (type->extras == nullptr) type->extras = new Extras;
  return *type->extras;
}

void Record(Datatype* type, Contents contents) {
  for (Datatype* held : contents.types) Retain(held);
  type->definition->contents = std::move(contents);
}

namespace {

// Basic elements of predefined types: one, or a pair of unequal halves.
std::int64_t FirstHalfBytes(const Datatype& pair) {
  switch (pair.basic) {
    case Basic::kTwoReal:
    case Basic::kTwoDouble:
      return pair.size / 2;
    default:
      return pair.size - 4;  // the index is an int
  }
}

std::int64_t ElementsOfPredefined(const Datatype& type, std::int64_t bytes) {
  if (bytes == 0) return 0;
  return type.elements == 2 && bytes == FirstHalfBytes(type) ? 1 : -1;
}

}  // namespace

std::int64_t ElementsIn(const Datatype& type, std::int64_t bytes) {
  if (type.size == 0) return bytes == 0 ? 0 : -1;
  const std::int64_t whole = bytes / type.size * type.elements;
  std::int64_t rest = bytes % type.size;
  if (rest == 0) return whole;
  if (type.predefined) {
    const std::int64_t half = ElementsOfPredefined(type, rest);
    return half < 0 ? -1 : whole + half;
  }
  std::int64_t elements = whole;
  for (const Part& part : type.definition->parts) {
    const std::int64_t copies =
        std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0);
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
  if (type.predefined) return bytes + FirstHalfBytes(type);
  for (const Part& part : type.definition->parts) {
    const std::int64_t copies =
        std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0);
    if (rest < copies * part.type->elements) return bytes + BytesOf(*part.type, rest);
    bytes += copies * part.type->size;
    rest -= copies * part.type->elements;
  }
  return bytes;
}

}  // namespace lamina::datatype
