// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/construct.h"

#include <algorithm>

#include "runtime/datatype/runs.h"

namespace lamina::datatype {
namespace {

// The smallest interval that covers what was added.
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

// Where the elements of `part` begin: displacements of the lowest and the highest.
Interval Displacements(const Part& part) {
  const std::int64_t across = (part.count - 1) * part.type->extent;
  const std::int64_t along = (part.repeats - 1) * part.stride;
  Interval range;
  range.Add(
      part.displacement + std::min<std::int64_t>(0, across) + std::min<std::int64_t>(0, along),
      part.displacement + std::max<std::int64_t>(0, across) + std::max<std::int64_t>(0, along));
  return range;
}

// Lower bound and extent. A bound that was set explicitly anywhere inside hides the others; without
// one the extent is padded to the alignment of the elements (section 5.1).
void SetBounds(Datatype* type, const std::vector<Part>& parts) {
  Interval bounds;
  Interval true_bounds;
  for (const Part& part : parts) {
    if (IsEmpty(part)) continue;
    const Datatype& child = *part.type;
    const Interval at = Displacements(part);
    if (child.explicit_bounds == type->explicit_bounds)
      bounds.Add(at.first + child.lower, at.end + child.lower + child.extent);
    if (child.size > 0)
      true_bounds.Add(at.first + child.true_lower, at.end + child.true_lower + child.true_extent);
  }
  type->lower = bounds.first;
  type->extent = bounds.end - bounds.first;
  if (!type->explicit_bounds) {
    const std::int64_t over = type->extent % type->alignment;
    if (over > 0) type->extent += type->alignment - over;
  }
  type->true_lower = true_bounds.first;
  type->true_extent = true_bounds.end - true_bounds.first;
}

std::vector<Run> Flatten(const std::vector<Part>& parts) {
  RunList list;
  for (const Part& part : parts) {
    if (IsEmpty(part)) continue;
    const Datatype& child = *part.type;
    if (part.repeats == 1) {
      list.AppendCopies(child.runs, part.displacement, part.count, child.extent);
      continue;
    }
    RunList block;
    block.AppendCopies(child.runs, 0, part.count, child.extent);
    list.AppendCopies(block.Take(), part.displacement, part.repeats, part.stride);
  }
  return list.Take();
}

void SetContiguous(Datatype* type) {
  type->contiguous = type->size == 0 || (type->runs.size() == 1 && type->runs[0].count == 1 &&
                                         type->runs[0].bytes == type->extent);
}

Datatype* Make(std::vector<Part> parts) {
  Datatype* type = new Datatype;
  Definition* definition = new Definition;
  type->definition = definition;
  for (const Part& part : parts) {
    definition->held.push_back(part.type);
    if (IsEmpty(part)) continue;
    const std::int64_t copies = part.count * part.repeats;
    type->size += copies * part.type->size;
    type->elements += copies * part.type->elements;
    type->alignment = std::max(type->alignment, part.type->alignment);
    if (part.type->explicit_bounds) type->explicit_bounds = true;
  }
  auto& held = definition->held;
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  for (Datatype* child : held) Retain(child);
  SetBounds(type, parts);
  definition->runs = Flatten(parts);
  definition->parts = std::move(parts);
  type->runs = definition->runs;
  SetContiguous(type);
  return type;
}

void SetExplicitBounds(Datatype* type, std::int64_t lower, std::int64_t extent) {
  type->lower = lower;
  type->extent = extent;
  type->explicit_bounds = true;
  SetContiguous(type);
}

// `inner` repeated over one dimension of a distributed array; `inner` is consumed.
Datatype* Distribute(const Distribution& dimension, Datatype* inner) {
  const std::int64_t size = dimension.size;
  const std::int64_t processes = dimension.kind == MPI_DISTRIBUTE_NONE ? 1 : dimension.processes;
  std::int64_t block = dimension.argument;
  if (dimension.kind == MPI_DISTRIBUTE_NONE) {
    block = size;
  } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
    block = dimension.kind == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  }
  const std::int64_t first =
      dimension.kind == MPI_DISTRIBUTE_NONE ? 0 : dimension.coordinate * block;
  const std::int64_t period = processes * block;
  const std::int64_t rest = std::max<std::int64_t>(size - first, 0);
  const std::int64_t full = rest / period + (rest % period >= block ? 1 : 0);
  const std::int64_t partial = rest % period < block ? rest % period : 0;
  const std::int64_t extent = inner->extent;
  std::vector<Part> parts;
  parts.push_back(Part{inner, first * extent, block, full, period * extent});
  if (partial > 0) parts.push_back(Part{inner, (first + full * period) * extent, partial});
  Datatype* result = Make(std::move(parts));
  Release(inner);
  SetExplicitBounds(result, 0, size * extent);
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
  Datatype* result = Make({Part{type}});
  SetExplicitBounds(result, lower, extent);
  return result;
}

Datatype* MakeDup(Datatype* type) {
  Datatype* result = Make({Part{type}});
  result->lower = type->lower;
  result->extent = type->extent;
  result->explicit_bounds = type->explicit_bounds;
  result->committed = type->committed;
  SetContiguous(result);
  return result;
}

Datatype* MakeSubarray(std::span<const Dimension> dimensions, Datatype* type) {
  // From the fastest dimension outwards: rows, planes, ... `row` is the distance of neighbours.
  Datatype* inner = type;
  Retain(inner);
  std::int64_t row = type->extent;
  std::int64_t displacement = 0;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    const Dimension& dimension = dimensions[i];
    Datatype* wider = MakeVector(dimension.subsize, 1, row, inner);
    Release(inner);
    inner = wider;
    displacement += dimension.start * row;
    row *= dimension.size;
  }
  Datatype* result = Make({Part{inner, displacement}});
  Release(inner);
  SetExplicitBounds(result, 0, row);
  return result;
}

Datatype* MakeDistributedArray(std::span<const Distribution> dimensions, Datatype* type) {
  Datatype* inner = type;
  Retain(inner);
  for (std::size_t i = dimensions.size(); i-- > 0;) inner = Distribute(dimensions[i], inner);
  return inner;
}

}  // namespace lamina::datatype
