// SPDX-License-Identifier: BSD-3-Clause
// Where an access to a window goes.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "runtime/datatype/datatype.h"

namespace lamina::rma {

// `count` elements of `type` at a displacement in the target's units.
struct Goal {
  Rank target;
  std::int64_t displacement;
  std::int64_t count;
  const datatype::Datatype* type;

  std::int64_t bytes() const { return count * type->size; }
};

}  // namespace lamina::rma
