// SPDX-License-Identifier: BSD-3-Clause
// These are the regions of lamina/region.h, which the profile counts.
#include <lamina/region.h>

#include <cstddef>
#include <string_view>

#include "runtime/api/api.h"
#include "runtime/trace/profile.h"

namespace core = lamina::core;
namespace trace = lamina::trace;

namespace {

// Fortran fills names with blanks.
std::string_view Trimmed(const char* name, std::size_t length) {
  std::string_view text(name, length);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

void Begin(std::string_view name) {
  const core::Guard guard;
  trace::BeginRegion(name);
}

void End(std::string_view name) {
  const core::Guard guard;
  trace::EndRegion(name);
}

}  // namespace

extern "C" LAMINA_EXPORT void lamina_region_begin(const char* name) {
  if (trace::profile != nullptr && name != nullptr) Begin(name);
}

extern "C" LAMINA_EXPORT void lamina_region_end(const char* name) {
  if (trace::profile != nullptr && name != nullptr) End(name);
}

extern "C" LAMINA_EXPORT void lamina_region_begin_(const char* name, std::size_t length) {
  if (trace::profile != nullptr) Begin(Trimmed(name, length));
}

extern "C" LAMINA_EXPORT void lamina_region_end_(const char* name, std::size_t length) {
  if (trace::profile != nullptr) End(Trimmed(name, length));
}
