// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/hints.h"

#include <mpi.h>

#include <bit>
#include <cstdlib>

#include "runtime/base/text.h"

namespace lamina::rma {
namespace {

void TakeFlag(const core::Info& info, const char* key, bool* value) {
  const std::string* text = info.Find(key);
  if (text != nullptr && (*text == "true" || *text == "false")) *value = *text == "true";
}

// True if the text is a list without blanks of rar, raw, war and waw, or "none".
bool IsOrdering(const std::string& text) {
  if (text == "none") return true;
  for (const std::string_view piece : Split(text, ','))
    if (piece != "rar" && piece != "raw" && piece != "war" && piece != "waw") return false;
  return true;
}

const char* Word(bool value) { return value ? "true" : "false"; }

}  // namespace

void TakeLater(const core::Info* info, Hints* hints) {
  if (info == nullptr) return;
  if (const std::string* text = info->Find("accumulate_ops");
      text != nullptr && (*text == "same_op" || *text == "same_op_no_op"))
    hints->accumulate_ops = *text;
  if (const std::string* text = info->Find("accumulate_ordering");
      text != nullptr && IsOrdering(*text))
    hints->accumulate_ordering = *text;
}

void Take(const core::Info* info, Hints* hints) {
  if (info == nullptr) return;
  TakeLater(info, hints);
  TakeFlag(*info, "no_locks", &hints->no_locks);
  TakeFlag(*info, "same_size", &hints->same_size);
  TakeFlag(*info, "same_disp_unit", &hints->same_disp_unit);
  TakeFlag(*info, "alloc_shared_noncontig", &hints->noncontiguous);
  if (const std::string* text = info->Find("mpi_accumulate_granularity"); text != nullptr)
    hints->accumulate_granularity = std::strtoul(text->c_str(), nullptr, 10);
  if (const std::string* text = info->Find("mpi_minimum_memory_alignment"); text != nullptr)
    if (const unsigned long bytes = std::strtoul(text->c_str(), nullptr, 10);
        std::has_single_bit(bytes) && bytes <= kAlignmentMax)
      hints->alignment = bytes;
  if (const std::string* text = info->Find("mpi_assert_memory_alloc_kinds"); text != nullptr)
    hints->memory_kinds = *text;
}

void List(const Hints& hints, int flavor, core::Info* info) {
  info->Set("no_locks", Word(hints.no_locks));
  info->Set("accumulate_ordering", hints.accumulate_ordering);
  info->Set("accumulate_ops", hints.accumulate_ops);
  info->Set("mpi_accumulate_granularity", std::to_string(hints.accumulate_granularity));
  info->Set("same_size", Word(hints.same_size));
  info->Set("same_disp_unit", Word(hints.same_disp_unit));
  if (flavor == MPI_WIN_FLAVOR_SHARED)
    info->Set("alloc_shared_noncontig", Word(hints.noncontiguous));
  if (hints.alignment != 0)
    info->Set("mpi_minimum_memory_alignment", std::to_string(hints.alignment));
  if (!hints.memory_kinds.empty()) info->Set("mpi_assert_memory_alloc_kinds", hints.memory_kinds);
}

}  // namespace lamina::rma
