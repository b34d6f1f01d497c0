// SPDX-License-Identifier: BSD-3-Clause
// This reads and writes the text of LAMINA_ORIGINS, which says where the launcher found the
// parameters that it hands to its children. README.md describes the format. Only param.cc uses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/base/param.h"

namespace lamina::param {

struct Provenance {
  std::string name;  // dotted
  Origin origin;
  std::string where;
  std::string fingerprint;  // of the value
};

// The fingerprint shows whether somebody changed a value on its way.
std::string Fingerprint(std::string_view value);

// Writes the entry of one parameter; entries are joined by ';'.
std::string WriteOrigin(std::string_view name, const Found& found);
// Returns the origins by variable name. Entries that make no sense are left out, and the
// environment is then the origin.
std::unordered_map<std::string, Provenance> ReadOrigins(std::string_view text);

// True for names of letters, digits, '.', '_' and '-' that are not empty.
bool IsParameterName(std::string_view name);

}  // namespace lamina::param
