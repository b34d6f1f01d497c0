// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/runs.h"

#include "runtime/datatype/definition.h"
#include "runtime/datatype/parametrised.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {

Span SpanOf(std::int64_t count, const Datatype& type) {
  if (count == 0 || type.size == 0) return {};
  const std::int64_t last = (count - 1) * type.extent;
  return {type.true_lower + std::min<std::int64_t>(last, 0),
          type.true_lower + type.true_extent + std::max<std::int64_t>(last, 0)};
}

const Datatype* Uniform(const Datatype& type) {
  if (type.predefined) return type.basic == Basic::kNone ? nullptr : &type;
  const Datatype* found = nullptr;
  for (const Part& part : type.definition->parts) {
    if (part.count <= 0 || part.repeats <= 0 || part.type->size == 0) continue;
    const Datatype* const its = Uniform(*part.type);
    if (its == nullptr || (found != nullptr && !SameBasic(*found, *its))) return nullptr;
    found = its;
  }
  return found;
}

bool SameBasic(const Datatype& one, const Datatype& other) {
  return one.basic == other.basic && one.value == other.value && one.index == other.index;
}

const Datatype* FindBasic(Basic basic, Basic value, Basic index) {
  for (const Datatype& type : PredefinedTypes())
    if (type.basic == basic && type.value == value && type.index == index) return &type;
  if (basic != Basic::kPair) return nullptr;
  const auto single = [](Basic kind) {
    return const_cast<Datatype*>(FindBasic(kind, Basic::kNone, Basic::kNone));
  };
  Datatype* const values = value == Basic::kPair ? nullptr : single(value);
  Datatype* const indices = index == Basic::kPair ? nullptr : single(index);
  return values == nullptr || indices == nullptr ? nullptr : ValueIndex(values, indices);
}

}  // namespace lamina::datatype
