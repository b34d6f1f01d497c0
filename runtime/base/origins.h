// SPDX-License-Identifier: BSD-3-Clause
// The text of LAMINA_ORIGINS: where the launcher found the parameters that it hands to its
// children. README.md describes it. Used by param.cc alone.
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

// A value that somebody changed on its way has another one.
std::string Fingerprint(std::string_view value);

// The entry of one parameter. Entries are joined by ';'.
std::string WriteOrigin(std::string_view name, const Found& found);
// By variable name. Entries that make no sense are left out: the environment is then the origin.
std::unordered_map<std::string, Provenance> ReadOrigins(std::string_view text);

// Letters, digits, '.', '_' and '-', at least one.
bool IsParameterName(std::string_view name);

}  // namespace lamina::param
