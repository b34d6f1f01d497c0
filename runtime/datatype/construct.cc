// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/construct.h"

#include <algorithm>

namespace lamina::datatype {
namespace {

// This is the smallest interval that covers what was added.
struct Interval {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool empty = true;

  void Add(std::int64_t other_first, std::int64_t other_end) {
    first = empty ? other_first : std::min(first, other_first);
    end = empty ? other_end : std::max(end, other_end);
    empty = false;
  }
};

bool IsEmpty(const Part& part) { return part.count <= 0 || part.repeats <= 0; }

// Returns where the elements of `part` begin: the displacements of the lowest and the highest.
Interval Displacements(const Part& part, CheckedMath* math) {
  const std::int64_t across = math->Multiply(part.count - 1, part.type->extent);
  const std::int64_t along = math->Multiply(part.repeats - 1, part.stride);
  const auto reach = [&](std::int64_t a, std::int64_t b) {
    return math->Add(part.displacement, math->Add(a, b));
  };
  Interval range;
  range.Add(reach(std::min<std::int64_t>(0, across), std::min<std::int64_t>(0, along)),
            reach(std::max<std::int64_t>(0, across), std::max<std::int64_t>(0, along)));
  return range;
}

// Sets lower bound and extent. A bound that was set explicitly anywhere inside hides the others;
// without one the extent is padded to the alignment of the elements (section 5.1). A part with an
// empty type map has no bounds.
void SetBounds(Datatype* type, const std::vector<Part>& parts, CheckedMath* math) {
  Interval bounds;
  Interval true_bounds;
  for (const Part& part : parts) {
    const Datatype& child = *part.type;
    if (IsEmpty(part) || (child.size == 0 && !child.explicit_bounds)) continue;
    const Interval at = Displacements(part, math);
    if (child.explicit_bounds == type->explicit_bounds)
      bounds.Add(math->Add(at.first, child.lower),
                 math->Add(at.end, math->Add(child.lower, child.extent)));
    if (child.size > 0)
      true_bounds.Add(math->Add(at.first, child.true_lower),
                      math->Add(at.end, math->Add(child.true_lower, child.true_extent)));
  }
  type->lower = bounds.first;
  type->extent = math->Subtract(bounds.end, bounds.first);
  if (!type->explicit_bounds) {
    const std::int64_t over = type->extent % type->alignment;
    if (over > 0) type->extent = math->Add(type->extent, type->alignment - over);
  }
  type->true_lower = true_bounds.first;
  type->true_extent = math->Subtract(true_bounds.end, true_bounds.first);
}

Datatype* Make(std::vector<Part> parts) {
  Datatype* type = new Datatype;
  type->definition = new Definition;
  auto& held = type->definition->held;
  CheckedMath math;
  for (const Part& part : parts) {
    if (held.empty() || held.back() != part.type) held.push_back(part.type);
    if (IsEmpty(part)) continue;
    const std::int64_t copies = math.Multiply(part.count, part.repeats);
    type->size = math.Add(type->size, math.Multiply(copies, part.type->size));
    type->elements = math.Add(type->elements, math.Multiply(copies, part.type->elements));
    type->alignment = std::max(type->alignment, part.type->alignment);
    if (part.type->explicit_bounds) type->explicit_bounds = true;
  }
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  for (Datatype* child : held) Retain(child);
  SetBounds(type, parts, &math);
  type->definition->parts = std::move(parts);
  if (math.overflowed()) {
    Release(type);
    return nullptr;
  }
  return type;
}

void SetExplicitBounds(Datatype* type, std::int64_t lower, std::int64_t extent) {
  type->lower = lower;
  type->extent = extent;
  type->explicit_bounds = true;
}

// Repeats `inner` over one dimension of a distributed array and consumes it.
Datatype* Distribute(const Distribution& dimension, Datatype* inner) {
  const std::int64_t size = dimension.size;
  const std::int64_t processes = dimension.kind == MPI_DISTRIBUTE_NONE ? 1 : dimension.processes;
  std::int64_t block = dimension.argument;
  if (dimension.kind == MPI_DISTRIBUTE_NONE) {
    block = size;
  } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
    block = dimension.kind == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  }
  // A block longer than the array acts like one of the array's size, which cannot overflow below.
  block = std::min(block, size);
  const std::int64_t coordinate = dimension.kind == MPI_DISTRIBUTE_NONE ? 0 : dimension.coordinate;
  const std::int64_t extent = inner->extent;
  CheckedMath math;
  const std::int64_t first = math.Multiply(coordinate, block);
  const std::int64_t period = math.Multiply(processes, block);
  const std::int64_t bytes = math.Multiply(size, extent);
  Datatype* result = nullptr;
  if (!math.overflowed()) {
    const std::int64_t rest = std::max<std::int64_t>(size - first, 0);
    const std::int64_t full = rest / period + (rest % period >= block ? 1 : 0);
    const std::int64_t partial = rest % period < block ? rest % period : 0;
    std::vector<Part> parts;
    if (full > 0)
      parts.push_back(Part{inner, first * extent, block, full, full > 1 ? period * extent : 0});
    if (partial > 0) parts.push_back(Part{inner, (first + full * period) * extent, partial});
    result = Make(std::move(parts));
  }
  Release(inner);
  if (result != nullptr) SetExplicitBounds(result, 0, bytes);
  return result;
}

}  // namespace

Datatype* MakeContiguous(std::int64_t count, Datatype* type) {
  return Make({Part{type, 0, count}});
}

Datatype* MakeVector(std::int64_t count, std::int64_t block, std::int64_t stride_bytes,
                     Datatype* type) {
  return Make({Part{type, 0, block, count, stride_bytes}});
}

Datatype* MakeBlocks(std::vector<Part> parts) { return Make(std::move(parts)); }

Datatype* MakeResized(std::int64_t lower, std::int64_t extent, Datatype* type) {
  CheckedMath math;
  math.Add(lower, extent);
  Datatype* result = math.overflowed() ? nullptr : Make({Part{type}});
  if (result != nullptr) SetExplicitBounds(result, lower, extent);
  return result;
}

Datatype* MakeDup(Datatype* type) {
  Datatype* result = Make({Part{type}});
  result->lower = type->lower;
  result->extent = type->extent;
  result->explicit_bounds = type->explicit_bounds;
  if (type->committed) Commit(result);
  return result;
}

Datatype* MakeSubarray(std::span<const Dimension> dimensions, Datatype* type) {
  // The loop goes from the fastest dimension outwards: rows, planes and so on. `row` is the
  // distance of neighbours.
  Datatype* inner = type;
  Retain(inner);
  std::int64_t row = type->extent;
  std::int64_t displacement = 0;
  CheckedMath math;
  for (std::size_t i = dimensions.size(); i-- > 0 && inner != nullptr;) {
    const Dimension& dimension = dimensions[i];
    Datatype* wider = MakeVector(dimension.subsize, 1, row, inner);
    Release(inner);
    inner = wider;
    displacement = math.Add(displacement, math.Multiply(dimension.start, row));
    row = math.Multiply(row, dimension.size);
  }
  if (inner == nullptr) return nullptr;
  Datatype* result = math.overflowed() ? nullptr : Make({Part{inner, displacement}});
  Release(inner);
  if (result != nullptr) SetExplicitBounds(result, 0, row);
  return result;
}

Datatype* MakeDistributedArray(std::span<const Distribution> dimensions, Datatype* type) {
  Datatype* inner = type;
  Retain(inner);
  for (std::size_t i = dimensions.size(); i-- > 0 && inner != nullptr;)
    inner = Distribute(dimensions[i], inner);
  return inner;
}

}  // namespace lamina::datatype
