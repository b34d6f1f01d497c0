// SPDX-License-Identifier: BSD-3-Clause
// Collects the runs of a type map in order, merging what touches and compressing what repeats.
#pragma once

#include <span>
#include <vector>

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

class RunList {
 public:
  // `count` copies of `child`, the first moved by `displacement`, each `stride` after the last.
  void AppendCopies(std::span<const Run> child, std::int64_t displacement, std::int64_t count,
                    std::int64_t stride);
  // The runs, with packed positions filled in.
  std::vector<Run> Take();

 private:
  void Append(Run run);
  bool JoinsLast(const Run& run);

  std::vector<Run> runs_;
};

}  // namespace lamina::datatype
